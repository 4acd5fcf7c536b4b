"""Releases and synopses: Parquet with a description and a digest in its metadata, changed at every level.

Half of them are changed in what they say, with a digest that is right again, so that the checks behind it are reached.
"""

from __future__ import annotations

import base64
import io
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sparsedp as sdp
from fuzz import hostile
from fuzz.sandbox import Doors
from fuzz.specimens import Specimens
from sparsedp.files.columns_file import Contents, Packed

KEY, EMBEDDED = b"sparsedp", b"sparsedp."


@dataclass(frozen=True)
class Opened:
    """Such a file in parts, none of them checked."""

    table: Any
    document: Any
    embedded: Mapping[str, bytes]


def taken_apart(content: bytes) -> Opened:
    """The columns, the description and what is embedded."""
    table = pq.read_table(io.BytesIO(content), use_threads=False)
    metadata = table.schema.metadata
    packed = {name[len(EMBEDDED) :].decode(): base64.b64decode(text) for name, text in metadata.items() if name != KEY}
    return Opened(table.replace_schema_metadata(None), json.loads(metadata[KEY]), packed)


@lru_cache(maxsize=64)
def _whole(content: bytes) -> Opened:
    """A specimen in parts: each is taken apart once in a child, and nothing changes what it has here."""
    return taken_apart(content)


def put_together(draw: random.Random, parts: Opened) -> bytes:
    """A file of them whose digest is that of what it says, as far as that has one."""
    document = parts.document
    if isinstance(document, dict) and parts.embedded and isinstance(document.get("embedded"), dict):
        digests = {name: _digest_within(content) for name, content in parts.embedded.items()}
        document = {**document, "embedded": {**document["embedded"], **digests}}
    text = hostile.json_text(draw, document)
    try:
        said = json.loads(text)
        text = json.dumps({**said, "digest": _digest(parts.table, said, parts.embedded)}, sort_keys=True)
    except Exception:  # what has no digest is given as it is
        pass
    metadata = {KEY: text.encode(errors="surrogatepass")}
    metadata |= {EMBEDDED + name.encode(): base64.b64encode(content) for name, content in parts.embedded.items()}
    sink = io.BytesIO()
    packing = draw.choice(("zstd", "zstd", "zstd", "none", "snappy", "gzip"))
    with pq.ParquetWriter(sink, parts.table.schema, compression=packing, store_schema=draw.random() < 0.1) as writer:
        writer.write_table(
            parts.table, row_group_size=7 if parts.table.num_rows < 1000 and draw.random() < 0.2 else None
        )
        writer.add_key_value_metadata(metadata)
    return sink.getvalue()


def _digest(table: Any, said: Any, embedded: Mapping[str, bytes]) -> str:
    """What the library would make of it."""
    columns = {name: np.asarray(table.column(name).to_numpy()) for name in table.column_names}
    utc = {entry.name for entry in table.schema if getattr(entry.type, "tz", None) == "UTC"}
    names = said.get("embedded", {})
    packed = {name: Packed(embedded[name], known) for name, known in names.items()}
    description = {name: entry for name, entry in said.items() if name not in ("format", "kind", "digest", "embedded")}
    return Contents(said["kind"], columns, description, utc, packed).digest


def _digest_within(content: bytes) -> Any:
    try:
        return taken_apart(content).document["digest"]
    except Exception:
        return "0" * 64


def mutated(draw: random.Random, content: bytes, others: list[bytes], *, deep: int = 1) -> bytes:
    """The file changed in its bytes, in its description, in its columns, or in the file within it."""
    how = draw.random()
    if how < 0.25:
        return hostile.damaged(draw, content, others)
    parts = _whole(content)
    if parts.embedded and how < 0.50 and deep:
        name = draw.choice(list(parts.embedded))
        parts = replace(
            parts,
            embedded={**parts.embedded, name: mutated(draw, parts.embedded[name], others, deep=deep - 1)},
        )
    elif how < 0.80:
        pool = hostile.pool_of([_whole(other).document for other in draw.sample(others, min(4, len(others)))])
        document = hostile.mutated_tree(draw, parts.document, pool)
        if isinstance(document, dict) and draw.random() < 0.4:
            document["written_by"] = "sparsedp 0.0"  # whose words may be other words
        parts = replace(parts, document=document)
    else:
        parts = replace(parts, table=_other_columns(draw, parts.table))
    if draw.random() < 0.1:
        parts = replace(parts, table=_other_columns(draw, parts.table))
    try:
        return put_together(draw, parts)
    except pa.ArrowInvalid:  # columns that no Parquet file can hold, such as times beyond its integers
        return hostile.damaged(draw, content, others)


def _other_columns(draw: random.Random, table: Any) -> Any:
    for _ in range(draw.choice((1, 1, 2))):
        try:
            table = draw.choice(COLUMN_CHANGES)(draw, table)
        except (pa.ArrowException, ValueError, TypeError, OverflowError, LookupError):
            continue  # not every column can be turned into every other
    return table


def _other_values(draw: random.Random, table: Any) -> Any:
    place = draw.randrange(table.num_columns)
    column = table.column(place).to_pylist()
    for _ in range(draw.choice((1, 1, 3, len(column)))):
        row = draw.randrange(len(column))
        column[row] = draw.choice((*hostile.NUMBERS[:30], None, *hostile.NUMBERS[-9:], hostile.near(draw, column[row])))
    return table.set_column(place, table.column_names[place], pa.array(column, table.column(place).type))


def _other_type(draw: random.Random, table: Any) -> Any:
    place = draw.randrange(table.num_columns)
    kinds = (
        *(pa.float32(), pa.float64(), pa.int8(), pa.int16(), pa.int32(), pa.uint64(), pa.bool_(), pa.string()),
        *(pa.large_string(), pa.binary(), pa.decimal128(38, 2), pa.timestamp("ns"), pa.timestamp("us", "UTC")),
        *(pa.timestamp("s", "Europe/Berlin"), pa.date32(), pa.time64("us"), pa.null(), pa.duration("us")),
    )
    kind = draw.choice(kinds)
    column = table.column(place)
    found = pa.nulls(len(column), kind) if draw.random() < 0.2 else column.cast(kind, safe=False)
    return table.set_column(place, table.column_names[place], found)


def _nested(draw: random.Random, table: Any) -> Any:
    place = draw.randrange(table.num_columns)
    column = table.column(place).combine_chunks()
    one = pa.chunked_array([column]).combine_chunks()
    made = draw.choice(
        (
            lambda: pa.StructArray.from_arrays([one], names=["x"]),
            lambda: pa.ListArray.from_arrays(pa.array(range(len(one) + 1), pa.int32()), one),
            lambda: one.dictionary_encode(),
        )
    )()
    return table.set_column(place, table.column_names[place], made)


def _other_rows(draw: random.Random, table: Any) -> Any:
    rows = table.num_rows
    many = draw.choice((0, 1, rows - 1, rows + 1, 2 * rows, 1000, 1000, 1 << 20))
    if many <= rows:
        return table.slice(0, max(many, 0))
    names = np.zeros(many, np.int64) if many > 5000 else np.arange(many) % max(rows, 1)
    return table.take(pa.array(names))


def _other_names(draw: random.Random, table: Any) -> Any:
    names = list(table.column_names)
    place = draw.randrange(len(names))
    column = table.column(place)
    how = draw.randrange(4)
    if how == 0:
        return table.drop_columns([names[place]])
    if how == 1:
        name = draw.choice((*names, "value", "stderr", "count", "total", draw.choice(hostile.TEXTS)))
        return table.append_column(name, column)
    if how == 2:
        names[place] = draw.choice((*names, *hostile.TEXTS))
        return table.rename_columns(names)
    return table.select(draw.sample(names, len(names)))


COLUMN_CHANGES: tuple[Callable[[random.Random, Any], Any], ...] = (
    *(_other_values, _other_values, _other_type, _other_type, _nested, _other_rows, _other_names),
)


SQL = (
    "select sum(count) from release",
    "select * from release order by 1 limit 3",
    "select * from read_csv('secret.csv')",
    "select * from 'secret.csv'",
    "select content from read_text('secret.csv')",
    "select * from glob('*')",
    "copy release to 'out.csv'",
    "attach 'budget.db'",
    "select * from release; select 1",
    "select getenv('HOME')",
    "select",
    "select * from duckdb_settings() limit 1",
    "explain select 1",
    "pragma database_list",
    "select cast('\x1b[2K' as varchar)",
    "select stderr from release",
    "select avg(stderr), any_value(columns(*)) from release",
    "select * from grouped limit 5",
    "select any_value(columns(*)) from grouped",
)


class Releases:
    """`sparsedp.open_release`, questions to what opened, and the commands that read a release."""

    name = "release"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """A changed release, beside a file with a secret that no question may reach."""
        others = list(specimens.releases.values())
        content = draw.choice(others)
        Path("visits.release.parquet").write_bytes(mutated(draw, content, others))
        Path("secret.csv").write_bytes(specimens.csv)
        asked = draw.sample(QUESTIONS, draw.choice((1, 2, 3)))
        command = draw.choice(COMMANDS) if draw.random() < 0.3 else None
        words = draw.choice(SQL)

        def run(doors: Doors) -> None:
            path = "visits.release.parquet"
            release = doors.call("open_release", lambda: sdp.open_release(path))
            if release is not None:
                doors.answer("repr of a release", lambda: repr(release))
                for name, ask in asked:
                    doors.call(name, lambda ask=ask: ask(release, draw))  # type: ignore[misc]
                doors.answer("release.sql", lambda: release.sql(words))
            if command is not None:
                doors.command(*command)

        return run


def _interval(release: Any, draw: random.Random) -> Any:
    box: dict[str, object] = {}
    if release.domain is not None:
        box = {
            draw.choice(release.domain.names): draw.choice((0, "F", "2024-01", (0, 3), "nowhere", slice(0, 1), None))
        }
    return release.interval(
        draw.choice((0, (0, 2), slice(0, 1), box, -1, 10**9, "F", None, [1.0])), draw.choice((0.95, 0.5))
    )


GROUPS = ("day.weekday", "day.week", "county.state", "age.band", "county", "nothing.there")

QUESTIONS: list[tuple[str, Callable[[Any, random.Random], Any]]] = [
    ("release.total", lambda release, draw: str(release.total())),
    ("release.interval", _interval),
    ("release.interval", _interval),
    ("release.mean", lambda release, draw: str(release.mean(draw.choice((None, "age", "day"))))),
    ("release.quantile", lambda release, draw: str(release.quantile(0.5))),
    ("release.cdf", lambda release, draw: str(release.cdf(points=5))),
    ("release.top", lambda release, draw: str(release.top(3, simultaneous=draw.random() < 0.5))),
    ("release.marginal", lambda release, draw: str(release.marginal(draw.choice(("sex", "day", "age"))).total())),
    ("release.marginal", lambda release, draw: str(release.marginal(draw.choice(GROUPS), "sex").stderr)),
    (
        "release.interval",
        lambda release, draw: release.interval({draw.choice(GROUPS): draw.choice((0, "Sat", "child"))}),
    ),
    ("release.report", lambda release, draw: release.report("page.html")),
    ("release.save", lambda release, draw: release.save("again.parquet")),
    ("release.to_pandas", lambda release, draw: str(release.to_pandas())),
    ("release.stderr", lambda release, draw: str(release.stderr)),
    ("release.times", lambda release, draw: str(release.times)),
    ("release.range_sum", lambda release, draw: release.range_sum(0, draw.choice((1, 3, 10**9, "2024-01-03")))),
    ("release.recover", lambda release, draw: release.synopsis and str(release.synopsis.recover())),
]

_FILE = "visits.release.parquet"
COMMANDS = (
    ("inspect", _FILE),
    ("inspect", _FILE, "--json"),
    ("query", _FILE, "--total"),
    ("query", _FILE, "select * from release"),
    ("query", _FILE, "select * from release", "--json"),
    ("query", _FILE, "--top", "3"),
    ("query", _FILE, "--marginal", "sex", "--csv"),
    ("query", _FILE, "--marginal", "day.weekday,sex", "--json"),
    ("query", _FILE, "--top", "2", "--marginal", "county.state"),
    ("query", _FILE, "--box", "day=2024-01-03..2024-01-05"),
    ("query", _FILE, "--median", "--axis", "day"),
    ("query", _FILE, "--cdf", "--axis", "age"),
    ("report", _FILE, "-o", "page.html"),
    ("compare", _FILE, _FILE),
)


class SynopsisFiles:
    """`sparsedp.open_synopsis`, and recoveries of what opened."""

    name = "synopsis"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """A changed synopsis."""
        others = list(specimens.synopses.values())
        Path("visits.synopsis").write_bytes(mutated(draw, draw.choice(others), others))
        recovery = draw.choice((None, None, "direct", "cosamp", "vamp", "basis_pursuit", "layers", "no such"))
        command = draw.random() < 0.2

        def run(doors: Doors) -> None:
            synopsis = doors.call("open_synopsis", lambda: sdp.open_synopsis("visits.synopsis"))
            if synopsis is not None:
                doors.answer("repr of a synopsis", lambda: repr(synopsis))
                release = doors.call("synopsis.recover", lambda: synopsis.recover(recovery))
                if release is not None:
                    doors.call("release.total", lambda: str(release.total()))
                    doors.call("release.save", lambda: release.save("again.parquet"))
                doors.call("synopsis.save", lambda: synopsis.save("again.synopsis"))
            if command:
                doors.command("inspect", "visits.synopsis")

        return run
