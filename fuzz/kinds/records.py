"""Records: CSV, Parquet and Arrow as somebody else's program might have written them, and hostile declarations of them.

Ids, some labels, ages and amounts in them are secrets: whatever becomes of the records, nothing may quote one.
"""

from __future__ import annotations

import bz2
import gzip
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import sparsedp as sdp
from fuzz import hostile
from fuzz.sandbox import Doors
from fuzz.specimens import BY, Specimens, put
from fuzz.verdicts import SECRET_NUMBER, SECRET_TEXT


def declared(draw: random.Random) -> dict[str, Any]:
    """What is said of the records: mostly right."""
    asked: dict[str, Any] = {"domain": list(BY), "privacy_unit": "patient_id", "max_contributions": 3}
    if draw.random() < 0.2:
        asked |= {"value": "amount", "clamp": (0, 500), "resolution": "0.01"}
    if draw.random() < 0.2:
        asked["domain"] = draw.choice((["age:0..100/5"], ["age:0..99", "sex:F,M"], ["sex:F,M,other"], ["sex:F,M"]))
    if draw.random() < 0.1:
        asked["outside"] = draw.choice(({"sex": "other"}, {"age": "clamp"}, "drop", "clamp", {"sex": "M"}))
    if draw.random() < 0.1:
        asked["privacy_unit"] = draw.choice((None, ["patient_id", "sex"], "age", "amount", "day", "nobody", ""))
    if draw.random() < 0.15:
        asked[draw.choice(list(asked))] = draw.choice((hostile.value(draw), draw.choice(hostile.TEXTS)))
    return asked


def through_the_doors(doors: Doors, source: Callable[[], Any], asked: dict[str, Any], mechanism: str) -> None:
    """Look at the records, count them, and publish them from the ledger that is there; what is refused costs nothing.

    What a look finds is their owner's, secrets and all; that it can be printed is all that is asked of it.
    """
    found = doors.call("check", lambda: sdp.check(source(), **asked))
    doors.call("lines of a check", lambda: str(found))
    counts = doors.call("count", lambda: sdp.count(source(), **asked))
    if counts is not None:
        doors.answer("repr of counts", lambda: repr(counts))
    ledger = sdp.open_ledger("budget.db", "visits")

    def publish() -> Any:
        return sdp.publish(
            source(), to="out.release.parquet", epsilon="1e-6", ledger=ledger, mechanism=mechanism, **asked
        )

    release = doors.call("publish", publish)
    if release is not None:
        doors.answer("repr of a release", lambda: f"{release!r} {release.record} {ledger.entries}")


MECHANISMS = ("adaptive", *["laplace"] * 9)
"""For records that are let through. The errors of an adaptive release take several times as long as the rest of an
input, and what is odd about records is long behind them then: they are bounded counts."""


class CsvRecords:
    """CSV by its file, by a stream of bytes, and at the command line."""

    name = "csv"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """Changed CSV, perhaps compressed."""
        put({"budget.db": specimens.ledger["budget.db"]})
        content = mutated_csv(draw, specimens.csv)
        packing = draw.choice(("", "", "", "", ".gz", ".bz2", ".zst"))
        path = f"visits.csv{packing}"
        Path(path).write_bytes(_packed(draw, content, packing))
        asked = declared(draw)
        if draw.random() < 0.3:
            asked["csv"] = _dialect(draw)
        piped, typed = draw.random() < 0.2, draw.random() < 0.2
        mechanism = draw.choice(MECHANISMS)

        def run(doors: Doors) -> None:
            if typed:
                doors.command(*COMMAND, mechanism, "-" if piped else path, given=content if piped else b"")
            elif piped:
                through_the_doors(doors, lambda: io.BytesIO(content), asked, mechanism)
            else:
                through_the_doors(doors, lambda: path, asked, mechanism)

        return run


COMMAND = (
    *("release", "--by", BY[0], "--by", BY[1], "--unit", "patient_id", "--epsilon", "1e-6", "--dataset", "visits"),
    *("--ledger", "budget.db", "-o", "out.release.parquet", "--mechanism"),
)
"""All but the mechanism and the records."""


def _dialect(draw: random.Random) -> Any:
    return draw.choice(
        (
            {"delimiter": draw.choice((";", "\t", ",,", "", '"', "\n", "é", "\0", 5))},
            {"decimal": draw.choice((",", ".", "", "x", None))},
            {"quote": draw.choice(("'", '"', "", "''", "\0", "é"))},
            {"date_format": draw.choice(("%d.%m.%Y", "%Y-%m-%d", "%", "%q", "", {"day": "%Y"}, {"nobody": "%Y"}, 3))},
            {
                "encoding": draw.choice(
                    ("latin-1", "utf-16", "cp1252", "utf-8", "no such", "rot13", "hex", "\0", "idna")
                )
            },
            {draw.choice(hostile.TEXTS): draw.choice(hostile.TEXTS)},
            hostile.value(draw),
        )
    )


def mutated_csv(draw: random.Random, content: bytes) -> bytes:
    """Lines and fields that are quoted, cut, doubled, encoded or ended in ways that readers do not agree on."""
    lines = content.splitlines(keepends=True)
    for _ in range(draw.choice((1, 1, 2, 3, 5))):
        row = draw.choice((0, draw.randrange(len(lines)), draw.randrange(len(lines))))
        lines[row] = draw.choice(LINE_CHANGES)(draw, lines[row])
    content = b"".join(lines)
    how = draw.random()
    if how < 0.1:
        content = hostile.damaged(draw, content)
    elif how < 0.2:
        content = draw.choice(WHOLE_CHANGES)(draw, content)
    return content


def _field(draw: random.Random, line: bytes) -> bytes:
    fields = line.rstrip(b"\r\n").split(b",")
    place = draw.randrange(len(fields))
    fields[place] = draw.choice((*SPECIAL_FIELDS, hostile.text_of(draw).encode(errors="replace"), draw.randbytes(5)))
    return b",".join(fields) + b"\n"


_SECRET = SECRET_TEXT.encode()
SPECIAL_FIELDS = (
    *(
        b"",
        b'"',
        b'""',
        b'"""',
        b'"' + _SECRET,
        _SECRET + b'"',
        b'"a\nb"',
        b"'",
        b"\\",
        b'\\"',
        b"\0",
        b"\r",
        b" ",
        b"\t",
    ),
    *(
        b"\xff\xfe",
        b"\xc3",
        _SECRET + b"\xff",
        b"\xef\xbb\xbf",
        b"\x1a",
        b"nan",
        b"NULL",
        b"1e999",
        b"-1",
        b"%d" % SECRET_NUMBER,
    ),
    *(b"x" * 70_000, b"2024-01-05T25:00", b"0001-01-01", b"9" * 400, b"1.5.5", b"\xe2\x80\xa8", b"\x1b[31m" + _SECRET),
)
LINE_CHANGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _field,
    _field,
    _field,
    lambda draw, line: b"",
    lambda draw, line: line + line,
    lambda draw, line: line.rstrip(b"\r\n") + draw.choice((b"\r", b"\r\n", b"\n\r", b"", b"\r\r\n", b"\x0b", b"\x85")),
    lambda draw, line: line.rstrip(b"\r\n") + b",more,and more" * draw.choice((1, 3, 2000)) + b"\n",
    lambda draw, line: line[: draw.randrange(len(line) + 1)],
    lambda draw, line: b"#" + line,
    lambda draw, line: b'"' + line,
    lambda draw, line: line.replace(b",", draw.choice((b";", b"\t", b",,", b'","'))),
    lambda draw, line: b",".join(draw.sample(line.strip().split(b","), line.count(b",") + 1)) + b"\n",
)
WHOLE_CHANGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    lambda draw, content: b"",
    lambda draw, content: content.split(b"\n", 1)[-1],
    lambda draw, content: content.split(b"\n", 1)[0],
    lambda draw, content: content.replace(b"\n", b"\r"),
    lambda draw, content: content.replace(b"\n", b"\r\n"),
    lambda draw, content: content.decode(errors="replace").encode(
        draw.choice(("utf-16", "utf-16-be", "utf-32", "utf-7"))
    ),
    lambda draw, content: b"\xef\xbb\xbf" + content,
    lambda draw, content: content + content,
    lambda draw, content: b"\n\n\n" + content,
    lambda draw, content: bytes(draw.choice((1, 100, 70_000))) + content,
    lambda draw, content: content + bytes(4096),
    lambda draw, content: draw.randbytes(3000),
    lambda draw, content: b'"' + content,
)


def _packed(draw: random.Random, content: bytes, packing: str) -> bytes:
    if not packing:
        return content
    if packing == ".gz":
        packed = gzip.compress(content, 1)
    elif packing == ".bz2":
        packed = bz2.compress(content)
    else:
        packed = pa.compress(content, "zstd", asbytes=True)
    return draw.choice((packed, packed, hostile.damaged(draw, packed), content, packed + packed, packed[:-4]))


# ---- with types


def odd_table(draw: random.Random, table: Any) -> Any:
    """The records with other types, values, names and numbers of columns."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        place = draw.randrange(table.num_columns)
        name = table.column_names[place]
        how = draw.random()
        try:
            if how < 0.65:
                table = table.set_column(place, name, odd_column(draw, table.num_rows))
            elif how < 0.75:
                table = table.append_column(name, table.column(place))
            elif how < 0.85:
                table = table.drop_columns([name])
            elif how < 0.92:
                table = table.rename_columns(
                    [draw.choice(hostile.TEXTS[:60]) if one == name else one for one in table.column_names]
                )
            else:
                table = table.slice(0, draw.choice((0, 1, 3)))
        except (pa.ArrowException, ValueError, TypeError, OverflowError, KeyError):
            continue  # a column of that name is there twice, or has gone
    return table


def odd_column(draw: random.Random, rows: int) -> Any:
    """A column of any type, with odd values among the usual, and secrets."""
    make, kind = draw.choice(ODD_COLUMNS)
    values = [None if draw.random() < 0.05 else make(draw) for _ in range(rows)]
    return pa.array(values, kind)


def _text(draw: random.Random) -> str:
    text = draw.choice(
        ("F", "M", "", SECRET_TEXT, f"{SECRET_TEXT}\0", "2024-01-05", "12", "nan", hostile.text_of(draw))
    )
    return text.encode(errors="replace").decode()


ODD_COLUMNS: Sequence[tuple[Callable[[random.Random], Any], Any]] = (
    (_text, pa.string()),
    (_text, pa.large_string()),
    (_text, pa.string_view()),
    (_text, pa.dictionary(pa.int8(), pa.string())),
    (lambda draw: draw.choice((b"F", b"\xff\xfe", SECRET_TEXT.encode(), b"")), pa.binary()),
    (lambda draw: draw.choice((b"F" * 16, b"\xff" * 16)), pa.binary(16)),
    (lambda draw: draw.choice((0, 1, -1, SECRET_NUMBER, 2**63 - 1, -(2**63))), pa.int64()),
    (lambda draw: draw.choice((0, 1, 2**64 - 1, SECRET_NUMBER)), pa.uint64()),
    (lambda draw: draw.choice((0, 1, 127, -128)), pa.int8()),
    (
        lambda draw: draw.choice((0.0, -0.0, 1.5, float("nan"), float("inf"), -1e308, float(SECRET_NUMBER))),
        pa.float64(),
    ),
    (lambda draw: draw.choice((0.0, float("nan"), 1.5)), pa.float16()),
    (lambda draw: draw.choice((True, False)), pa.bool_()),
    (lambda draw: draw.choice((0, 1, 10**9, -(10**9))), pa.date32()),
    (lambda draw: draw.choice((0, 86_400_000, 1, -(2**62))), pa.date64()),
    (lambda draw: draw.choice((0, 1_704_067_200, 2**62, -(2**62))), pa.timestamp("s")),
    (lambda draw: draw.choice((0, 1_704_067_200_000_000, 2**62)), pa.timestamp("us", "UTC")),
    (lambda draw: draw.choice((0, 1_704_067_200_000_000_000)), pa.timestamp("ns", "Mars/Olympus")),
    (lambda draw: draw.choice((0, 86_399)), pa.time32("s")),
    (lambda draw: draw.choice((0, 1)), pa.duration("us")),
    (lambda draw: [draw.choice((1, SECRET_NUMBER))], pa.list_(pa.int64())),
    (lambda draw: {"x": SECRET_TEXT}, pa.struct([("x", pa.string())])),
    (lambda draw: [(SECRET_TEXT, 1)], pa.map_(pa.string(), pa.int64())),
    (lambda draw: None, pa.null()),
    (lambda draw: draw.choice((0, 10**20)), pa.decimal128(38, 2)),
    (lambda draw: draw.choice((0, 10**60)), pa.decimal256(76, 0)),
)


class ParquetRecords:
    """Parquet files of records."""

    name = "parquet"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """A file with other columns, damaged bytes, or both."""
        put({"budget.db": specimens.ledger["budget.db"]})
        table = odd_table(draw, specimens.records) if draw.random() < 0.6 else specimens.records
        sink = io.BytesIO()
        try:
            pq.write_table(
                table, sink, row_group_size=draw.choice((None, 7)), use_deprecated_int96_timestamps=draw.random() < 0.1
            )
        except (pa.ArrowException, OverflowError):
            pq.write_table(specimens.records, sink)
        content = sink.getvalue()
        Path("visits.parquet").write_bytes(hostile.damaged(draw, content) if draw.random() < 0.5 else content)
        asked, typed, mechanism = declared(draw), draw.random() < 0.15, draw.choice(MECHANISMS)

        def run(doors: Doors) -> None:
            if typed:
                doors.command(*COMMAND, mechanism, "visits.parquet")
            else:
                through_the_doors(doors, lambda: "visits.parquet", asked, mechanism)

        return run


class ArrowRecords:
    """Arrow files and streams of records, read by Arrow and handed over as a reader or a table."""

    name = "arrow"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """As for Parquet. What Arrow itself does not open never comes to us."""
        put({"budget.db": specimens.ledger["budget.db"]})
        table = odd_table(draw, specimens.records) if draw.random() < 0.7 else specimens.records
        sink = io.BytesIO()
        stream = draw.random() < 0.6
        make = pa.ipc.new_stream if stream else pa.ipc.new_file
        with make(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=draw.choice((None, 7)))
        content = sink.getvalue()
        Path("visits.arrow").write_bytes(hostile.damaged(draw, content) if draw.random() < 0.5 else content)
        asked, as_reader, mechanism = declared(draw), draw.random() < 0.5, draw.choice(MECHANISMS)

        def source() -> Any:
            opened = (pa.ipc.open_stream if stream else pa.ipc.open_file)("visits.arrow")
            return opened if as_reader and stream else opened.read_all()

        def run(doors: Doors) -> None:
            try:
                source()
            except (pa.ArrowException, OSError, ValueError, TypeError, MemoryError):
                return
            through_the_doors(doors, source, asked, mechanism)

        return run
