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
from sparsedp.columns_file import Contents, Packed
from sparsedp.errors import BadFile
from sparsedp.releases import claimed_size
from sparsedp.releases.claimed_size import check_embedded_size

TABLE = sdp.release(np.arange(100), epsilon=1, domain=sdp.Domain.parse(["age:0..99"]))
VECTOR = sdp.release(np.arange(100), epsilon=1)


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No column may be decoded."""

    def decoded(*_: object, **__: object) -> None:
        raise AssertionError("columns were read")

    monkeypatch.setattr(pq, "read_table", decoded)


def forged(release: sdp.Release, path: Path, rows: int, **description: Any) -> Path:
    """A file with the metadata of the release, but for some, and so many rows of zeros."""
    metadata = dict(pq.read_metadata(release.save(path)).metadata)
    document = {**json.loads(metadata[b"sparsedp"]), **description}
    metadata[b"sparsedp"] = json.dumps({name: fact for name, fact in document.items() if fact is not None}).encode()
    table = pa.table({name: np.zeros(rows) for name in ("age", "count", "stderr")})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(metadata)
    return path


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("rows", [0, 99, 101, 1_000_000])
@pytest.mark.parametrize("release", [TABLE, VECTOR], ids=["a table", "a vector"])
def test_other_rows_than_cells(release: sdp.Release, rows: int, tmp_path: Path) -> None:
    path = forged(release, tmp_path / "x.parquet", rows)
    with pytest.raises(BadFile, match="has not as many rows as it describes cells"):
        sdp.open_release(path)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("domain", [None, {"axes": 5}, [], "age"])
def test_many_rows_of_a_file_that_does_not_say_how_many(
    domain: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimed_size, "MOST_UNDESCRIBED", 1000)
    path = forged(TABLE, tmp_path / "x.parquet", 200_000, domain=domain, plan=None)
    assert path.stat().st_size < 200_000
    with pytest.raises(BadFile, match="has not as many rows"):
        sdp.open_release(path)


def test_an_undescribed_file_with_a_byte_for_each_row_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claimed_size, "MOST_UNDESCRIBED", 10)
    plain = replace(VECTOR, plan=None, synopsis=None)
    np.testing.assert_array_equal(sdp.open_release(plain.save(tmp_path / "x.parquet")).values, plain.values)


@pytest.mark.usefixtures("unread")
def test_absurd_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = TABLE.save(tmp_path / "x.parquet")
    monkeypatch.setattr(claimed_size, "MOST_FOOTER", 100)
    with pytest.raises(BadFile, match="far more metadata than a release"):
        sdp.open_release(path)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("document", [b"[" * 100_000, b"[]", b"5"], ids=["nested", "a list", "a number"])
def test_a_description_that_is_none(document: bytes, tmp_path: Path) -> None:
    with pq.ParquetWriter(tmp_path / "x.parquet", pa.schema([("count", pa.float64())])) as writer:
        writer.add_key_value_metadata({b"sparsedp": document})
    with pytest.raises(BadFile, match="not one of this library's"):
        sdp.open_release(tmp_path / "x.parquet")


def packed(release: sdp.Release, rows: int, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Packed:
    """The synopsis of the release with another number of rows."""
    synopsis = release.synopsis
    assert isinstance(synopsis, sdp.Synopsis)
    description = json.loads(json.dumps(synopsis._contents.description))
    change(description)
    return Contents("synopsis", {"value": np.zeros(rows, np.int64)}, description).packed()


def test_an_embedded_synopsis_of_more_rows_than_its_plan() -> None:
    rows = TABLE.synopsis.values.size  # type: ignore[union-attr]
    check_embedded_size(packed(TABLE, rows).content)
    with pytest.raises(BadFile, match="embedded synopsis has more rows than its plan"):
        check_embedded_size(packed(TABLE, rows + 1).content)


def test_an_embedded_synopsis_of_a_plan_that_is_not_known_may_be_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def another(description: dict[str, Any]) -> None:
        description["sensing"]["name"] = "of a later version"

    check_embedded_size(packed(TABLE, 100, another).content)
    monkeypatch.setattr(claimed_size, "MOST_UNDESCRIBED", 10)
    with pytest.raises(BadFile, match="more rows than its plan"):
        check_embedded_size(packed(TABLE, 100, another).content)
