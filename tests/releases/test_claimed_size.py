"""A forged file that would unpack to gigabytes is refused by its metadata, before a column of it is read."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files import parquet_claims
from sparsedp.files.columns_file import Contents, Packed, contents_of
from sparsedp.files.parquet_claims import claim_of
from sparsedp.releases.claims import embedded_needs

with noise_from(__name__):
    TABLE = sdp.release(np.arange(100), epsilon=1, domain=sdp.Domain.parse(["age:0..99"]))
    VECTOR = sdp.release(np.arange(100), epsilon=1)
HUGE = 2**31


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No column may be decoded."""

    def decoded(*_: object, **__: object) -> None:
        raise AssertionError("columns were read")

    monkeypatch.setattr(pq.ParquetFile, "read", decoded)


def written(path: Path, table: pa.Table, document: dict[str, Any] | bytes) -> Path:
    """A Parquet file with a description of ours."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pq.ParquetWriter(path, table.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({b"sparsedp": text})
    return path


def described(release: sdp.Release, path: Path, **description: Any) -> dict[str, Any]:
    """The description of a release, but for some of it."""
    document = {**json.loads(pq.read_metadata(release.save(path)).metadata[b"sparsedp"]), **description}
    return {name: fact for name, fact in document.items() if fact is not None}


def forged(release: sdp.Release, path: Path, rows: int, **description: Any) -> Path:
    """A file with the metadata of the release, but for some, and so many rows of zeros."""
    table = pa.table({name: np.zeros(rows) for name in ("age", "count", "stderr")})
    return written(path, table, described(release, path, **description))


def repeated(path: Path, times: int) -> Path:
    """The same rows so many times over, in a file hardly larger: its footer names the same pages again and again."""
    content, footer = path.read_bytes(), pq.read_metadata(path)
    for _ in range(times.bit_length() - 1):
        footer.append_row_groups(pq.read_metadata(pa.BufferReader(_alone(footer))))
    before = content[: len(content) - 8 - int.from_bytes(content[-8:-4], "little")]
    path.write_bytes(before + _alone(footer)[4:])
    return path


def _alone(footer: Any) -> bytes:
    sink = pa.BufferOutputStream()
    footer.write_metadata_file(sink)
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("rows", [0, 99, 101, 1_000_000])
@pytest.mark.parametrize("release", [TABLE, VECTOR], ids=["a table", "a vector"])
def test_other_rows_than_cells(release: sdp.Release, rows: int, tmp_path: Path) -> None:
    path = forged(release, tmp_path / "x.parquet", rows)
    with pytest.raises(BadFile, match="has not as many rows as it describes cells"):
        sdp.open_release(path)


@pytest.mark.usefixtures("unread")
def test_many_rows_in_a_small_file(tmp_path: Path) -> None:
    """2³¹ cells, as many as there may be, in 200 KB; and 26 axes of two cells, which are 2²⁶ in 28 columns."""
    wide = {"plan": {"sensing": {"n": HUGE}}, "domain": None}
    path = repeated(forged(VECTOR, tmp_path / "x.parquet", 2**20, **wide), HUGE >> 20)
    axes = [{"kind": "integers", "name": f"a{place}", "first": 0, "last": 1} for place in range(26)]
    names = [axis["name"] for axis in axes] + ["count", "stderr"]
    document = described(TABLE, tmp_path / "y.parquet", domain={"axes": axes})
    table = pa.table({name: np.zeros(2**16) for name in names})
    other = repeated(written(tmp_path / "y.parquet", table, document), 2**10)
    for forgery, rows in ((path, HUGE), (other, 2**26)):
        assert pq.read_metadata(forgery).num_rows == rows
        assert forgery.stat().st_size < 4_000_000
        with pytest.raises(BadFile, match=r"would take about \d.*GB of memory.*say memory="):
            sdp.open_release(forgery)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("domain", [None, {"axes": 5}, [], "age"])
def test_many_rows_of_a_file_that_does_not_say_how_many(domain: Any, tmp_path: Path) -> None:
    path = forged(TABLE, tmp_path / "x.parquet", 200_000, domain=domain, plan=None)
    with pytest.raises(BadFile, match=r"would take about 14\.4MB of memory"):
        sdp.open_release(path, memory="14MB")


def test_labels_that_are_long_and_repeated(tmp_path: Path) -> None:
    """100 KB of text in a dictionary, which a hundred thousand rows name."""
    label, cells = "x" * 100_000, 100_000
    axes = [{"kind": "categories", "name": "a", "labels": [label]}]
    axes.append({"kind": "integers", "name": "b", "first": 1, "last": cells})  # type: ignore[dict-item]
    document = described(TABLE, tmp_path / "x.parquet", domain={"axes": axes}, plan=None)
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(cells, np.int32)), pa.array([label]))
    columns = {"a": text, "b": np.arange(1, cells + 1), "count": np.zeros(cells), "stderr": np.zeros(cells)}
    path = written(tmp_path / "x.parquet", pa.table(columns), document)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(BadFile, match="labels of 10GB in one column"):
        sdp.open_release(path)


def test_what_a_caller_trusts_opens(tmp_path: Path) -> None:
    """Equal cells take next to nothing in a file, and honestly so."""
    release = replace(sdp.release(np.zeros(2**17), epsilon=1), synopsis=None)
    path = replace(release, values=np.zeros(2**17), uncertainty=None).save(tmp_path / "x.parquet")
    with pytest.raises(BadFile, match=r'of memory, which is much for a file of .*, say memory="6\.292MB" or more'):
        sdp.open_release(path, memory="5MB")
    assert len(sdp.open_release(path, memory="6.3MB")) == len(sdp.open_release(path)) == 2**17
    for size in ("much", 0, True, 2.5):
        with pytest.raises(InvalidInput, match="memory is"):
            sdp.open_release(path, memory=size)  # type: ignore[arg-type]


SENSINGS = [
    {"name": "group_sums", "n": HUGE, "layers": [HUGE]},
    {"name": "hadamard", "n": HUGE, "rows": 1, "seed": 1},
    {"name": "bernoulli", "n": HUGE, "rows": 1, "seed": 1},
    {"name": "ticks_and_totals", "n": 1, "every": HUGE},
]


def synopsis_with(path: Path, **description: Any) -> Path:
    """A synopsis of one value, undamaged by its digest, that speaks of other cells."""
    synopsis = sdp.Laplace().measure([5], epsilon=1)
    facts = {**synopsis._contents.description, **description}
    path.write_bytes(Contents("synopsis", {"value": np.array([5])}, facts).packed().content)
    return path


@pytest.mark.parametrize("sensing", SENSINGS[:3], ids=lambda sensing: str(sensing["name"]))
def test_a_small_synopsis_of_many_cells(sensing: dict[str, Any], tmp_path: Path) -> None:
    path = synopsis_with(tmp_path / "x.synopsis", sensing=sensing)
    assert path.stat().st_size < 2000
    with pytest.raises(BadFile, match=r"would take about 68\.72GB of memory"):
        sdp.open_synopsis(path)


def test_a_model_of_a_table_takes_more_than_its_cells(tmp_path: Path) -> None:
    sensing = {"name": "marginals", "shape": [2**13, 2**12], "layers": [["all", "all"]], "ordered": [True, True]}
    with pytest.raises(BadFile, match=r"would take about 3\.222GB of memory"):
        sdp.open_synopsis(synopsis_with(tmp_path / "x.synopsis", sensing=sensing))


ABSURD: dict[str, dict[str, Any]] = {
    "axes without end": {"sensing": {"name": "haar_table", "shape": [HUGE] * 10_000, "ordered": [True] * 10_000}},
    "a mask of gigabytes": {"constraints": {"integers": False, "zeros": {"shape": [HUGE], "runs": [HUGE]}}},
    "a mask without end": {"constraints": {"integers": False, "zeros": {"shape": [HUGE] * 10_000, "runs": [1]}}},
    "a sparsity of no number": {"recovery": {"name": "vamp", "basis": "haar", "sparsity": [1]}},
    "no mechanism": {"mechanism": {"name": "laplace"}},
    "other cells": {"sensing": {"name": "direct", "n": 2}},
    "no sensing": {"sensing": None},
    "an unknown sensing": {"sensing": {"name": "mine"}},
    "a promise that is none": {"guarantee": {"expenses": [], "neighbours": {}, "private": True}},
    "a scale of a million digits": {"noise": {"name": "discrete_laplace", "scale": "9" * 1_000_000}},
    "an exponent": {"noise": {"name": "discrete_laplace", "scale": "1e300000000"}},
}


@pytest.mark.parametrize("absurd", ABSURD)
def test_a_synopsis_that_describes_something_absurd(absurd: str, tmp_path: Path) -> None:
    path = synopsis_with(tmp_path / "x.synopsis", **ABSURD[absurd])
    with pytest.raises(BadFile) as refused:
        sdp.open_synopsis(path)
    assert str(path) in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_table_of_equal_labels_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput, match="'last' in it twice"):
        sdp.Categories("a", [*map(str, range(300_000)), "last", "last"])


@pytest.mark.usefixtures("unread")
def test_absurd_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = TABLE.save(tmp_path / "x.parquet")
    monkeypatch.setattr(parquet_claims, "MOST_FOOTER", 100)
    with pytest.raises(BadFile, match="far more metadata than a release"):
        sdp.open_release(path)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("opened", [sdp.open_release, sdp.open_synopsis])
@pytest.mark.parametrize(
    "document",
    [b"[" * 100_000, b'{"a":' * 100_000, b'{"kind": ' + b"9" * 1_000_000 + b"}", b"[]", b"5", b'{"kind": {}}', b"\xff"],
    ids=["nested", "nested objects", "a million digits", "a list", "a number", "another kind", "no text"],
)
def test_a_description_that_is_none(document: bytes, opened: Callable[[Path], Any], tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", pa.table({"count": np.zeros(1)}), document)
    with pytest.raises(BadFile, match=r"x\.parquet is Parquet, but was not written by sparsedp"):
        opened(path)


KINDS = {
    "lists": pa.array([[1.0]]),
    "decimals": pa.array([1]).cast(pa.decimal128(38)),
    "bytes": pa.array([b"x"]),
    "32 bits": pa.array([1], pa.int32()),
}


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_other_kinds(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", pa.table({"count": KINDS[kind]}), {"kind": "release", "format": 1})
    with pytest.raises(BadFile, match="has columns of other kinds than a file of sparsedp"):
        sdp.open_release(path)


def test_a_file_that_lacks_values(tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", pa.table({"count": [1.0, None]}), {"kind": "release", "format": 1})
    with pytest.raises(BadFile, match="lacks values"):
        sdp.open_release(path)


@pytest.mark.parametrize("settings", [{}, {"use_dictionary": False}, {"compression": "gzip"}, {"data_page_size": 100}])
@pytest.mark.parametrize("rows", [1, 1000, 100_000])
def test_pages_say_how_large_they_are(settings: dict[str, Any], rows: int, tmp_path: Path) -> None:
    """What is read in the pages' headers adds up to what the footer says, which counts the headers, too."""
    words = np.array([f"word {number % 97}" for number in range(rows)], dtype=object)
    table = pa.table({"cell": np.arange(rows), "word": words, "count": np.random.default_rng(1).normal(size=rows)})
    path = tmp_path / "x.parquet"
    settings = {"data_page_version": "2.0" if rows == 1000 else "1.0", **settings}
    with pq.ParquetWriter(path, table.schema, store_schema=False, **settings) as writer:
        writer.write_table(table, row_group_size=30_000)
        writer.add_key_value_metadata({b"sparsedp": b"{}"})
    footer = pq.read_metadata(path)
    chunks = [footer.row_group(group).column(place) for group in range(footer.num_row_groups) for place in range(3)]
    stated = sum(chunk.total_uncompressed_size for chunk in chunks)
    with pa.OSFile(str(path)) as source:
        claim = claim_of(source, path.stat().st_size, "x")
    pages = 2 + rows // 10
    assert stated - 200 * pages * len(chunks) <= claim.unpacked < stated
    assert (claim.rows, claim.columns) == (rows, ("cell", "word", "count"))


@pytest.mark.usefixtures("unread")
def test_damaged_headers_of_pages(tmp_path: Path) -> None:
    """Whatever the header of a page is overwritten with, the file is read as it says or refused, in a sentence."""
    path = VECTOR.save(tmp_path / "x.parquet")
    content, chunk = path.read_bytes(), pq.read_metadata(path).row_group(0).column(0)
    first = min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
    random = np.random.default_rng(1)
    for _ in range(300):
        place = first + int(random.integers(12))
        path.write_bytes(content[:place] + random.bytes(1) + content[place + 1 :])
        with pytest.raises((BadFile, AssertionError)) as ended:
            sdp.open_release(path)
        assert isinstance(ended.value, BadFile) or str(ended.value) == "columns were read"


def packed(release: sdp.Release, rows: int, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Packed:
    """The synopsis of the release with another number of rows."""
    synopsis = release.synopsis
    assert isinstance(synopsis, sdp.Synopsis)
    description = json.loads(json.dumps(synopsis._contents.description))
    change(description)
    return Contents("synopsis", {"value": np.zeros(rows, np.int64)}, description).packed()


def test_an_embedded_synopsis_of_other_rows_than_its_plan() -> None:
    rows = TABLE.synopsis.values.size  # type: ignore[union-attr]
    contents_of(packed(TABLE, rows), "synopsis", embedded_needs)
    for other in (rows - 1, rows + 1):
        with pytest.raises(BadFile, match=f"embedded synopsis has {other} rows, and its plan has {rows}"):
            contents_of(packed(TABLE, other), "synopsis", embedded_needs)


def test_an_embedded_synopsis_of_a_plan_that_is_not_known_may_be_small() -> None:
    def another(description: dict[str, Any]) -> None:
        description["sensing"]["name"] = "of a later version"

    contents_of(packed(TABLE, 100, another), "synopsis", embedded_needs)
    with pytest.raises(BadFile, match=r"would take about 2.4KB"):
        contents_of(packed(TABLE, 100, another), "synopsis", embedded_needs, memory="2KB")
