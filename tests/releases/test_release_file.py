"""A release's file: real types for every tool, the whole promise beside them, and the same answers when opened."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.axes.domain import Quantity
from sparsedp.counts import Counts
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files import columns_file
from sparsedp.files.columns_file import Contents
from sparsedp.noise.source import SeededSource
from sparsedp.releases import saved_form
from sparsedp.releases.saved_form import RecoveredErrors
from sparsedp.releases.uncertainty import CellErrors

DOMAIN = sdp.Domain(
    [
        sdp.Categories("region", ["north", "south, east"]),
        sdp.Bins("age", [0, 18, 65, float("inf")]),
        sdp.Calendar("hour", "2024-03-01T00:00Z", "1h", 12),
        sdp.Calendar("day", "2024-03-01", "1d", 3),
        sdp.Integers("dose", 1, 2),
    ]
)
COUNTS = np.random.default_rng(2).poisson(9, DOMAIN.shape)
RECORD = {"data_set": "visits", "spend": 3, "time": "2024-04-01T00:00:00+00:00", "total": "ε = 2", "left": "ε = 1.5"}
with noise_from(__name__):
    RELEASE = replace(sdp.release(COUNTS, epsilon="0.5", domain=DOMAIN), record=RECORD)
QUERIES: list[Any] = [
    (0, 1, 2, 0, 1),
    {"region": "north", "age": (0, 65)},
    {},
    np.arange(float(COUNTS.size)).reshape(DOMAIN.shape),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return RELEASE.save(tmp_path_factory.mktemp("file") / "x.parquet")


def test_every_tool_finds_real_types(path: Path) -> None:
    frame = pd.read_parquet(path)
    text, *numbers = (str(kind) for kind in frame.dtypes)
    assert text in ("str", "object")  # from pandas 3 on, and before
    assert numbers == ["float64", "float64", "datetime64[us, UTC]", "datetime64[us]", "int64", "float64", "float64"]
    assert dict(pl.read_parquet(path).schema) == {
        "region": pl.String(),
        "age_left": pl.Float64(),
        "age_right": pl.Float64(),
        "hour": pl.Datetime("us", "UTC"),
        "day": pl.Datetime("us"),
        "dose": pl.Int64(),
        "count": pl.Float64(),
        "stderr": pl.Float64(),
    }
    opened = duckdb.read_parquet(str(path))
    assert {name: str(kind) for name, kind in zip(opened.columns, opened.types, strict=True)} == {
        "region": "VARCHAR",
        "age_left": "DOUBLE",
        "age_right": "DOUBLE",
        "hour": "TIMESTAMP WITH TIME ZONE",
        "day": "TIMESTAMP",
        "dose": "BIGINT",
        "count": "DOUBLE",
        "stderr": "DOUBLE",
    }
    for found in (
        frame["count"].to_numpy(),
        pl.read_parquet(path)["count"].to_numpy(),
        duckdb.read_parquet(str(path)).fetchnumpy()["count"],
    ):
        np.testing.assert_array_equal(found, RELEASE.values.ravel())


def test_metadata_hold_domain_plan_promise_record_and_digest(path: Path) -> None:
    metadata = pq.read_metadata(path).metadata
    document = json.loads(metadata[b"sparsedp"])
    assert document["digest"] == RELEASE.digest
    assert document["domain"] == DOMAIN.describe()
    assert document["record"] == RECORD
    assert document["guarantee"]["statement"] == str(RELEASE.guarantee)
    assert document["guarantee"]["neighbours"] == {"contribution": 1, "relation": "add_remove"}
    assert document["spent"] == {"epsilon": "1/2"} == sdp.Budget(epsilon="0.5").describe()
    assert document["mechanism"] == document["plan"]["mechanism"] == "adaptive"
    assert document["plan"]["sensing"]["name"] == "marginals"
    assert document["written_by"] == f"sparsedp {sdp.__version__}"
    assert metadata[b"sparsedp.synopsis"].isascii()  # other readers take metadata for text
    assert b"ARROW:schema" not in metadata  # it would hold all of this again


@pytest.mark.parametrize("workload", ["any", "cells", "ranges"])
@pytest.mark.parametrize("domain", [None, DOMAIN], ids=["a vector", "a table"])
def test_an_opened_release_answers_as_before(workload: str, domain: sdp.Domain | None, tmp_path: Path) -> None:
    counts = COUNTS if domain is not None else COUNTS.ravel()
    release = sdp.Adaptive(workload).release(counts, epsilon="0.5", domain=domain)
    again = sdp.open_release(release.save(tmp_path / "x.parquet"))
    for query in QUERIES if domain is not None else [3, (4, 90), slice(5, 7), np.arange(float(counts.size))]:
        assert again.interval(query) == release.interval(query)
    assert again.total() == release.total()
    assert again.stderr is not None
    assert release.stderr is not None
    np.testing.assert_array_equal(again.stderr, release.stderr)


def test_it_is_recovered_only_when_a_question_needs_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recovered: list[str | None] = []
    real = sdp.Synopsis.recover

    def watched(self: sdp.Synopsis, recovery: str | None = None) -> sdp.Release:
        recovered.append(recovery)
        return real(self, recovery)

    monkeypatch.setattr(sdp.Synopsis, "recover", watched)
    again = sdp.open_release(path)
    _ = again.stderr, again.digest, again.sql("select sum(count) from release"), again.box_sum(dose=1)
    assert recovered == []
    again.interval(QUERIES[1])
    again.interval(QUERIES[2])
    assert recovered == [RELEASE.recovery["name"]]


def test_saved_again_it_is_the_same(path: Path, tmp_path: Path) -> None:
    again = sdp.open_release(path)
    assert again.digest == RELEASE.digest
    assert again.record == RECORD
    assert again.plan == RELEASE.plan
    assert repr(again) == repr(RELEASE)
    twice = again.save(tmp_path / "y.parquet")
    assert sdp.open_release(twice).digest == RELEASE.digest
    del again.__dict__["digest"]
    assert again.digest == RELEASE.digest
    assert again.synopsis is not None
    assert RELEASE.synopsis is not None
    assert again.synopsis.digest == RELEASE.synopsis.digest


def test_the_synopsis_has_the_digest_of_its_file(tmp_path: Path) -> None:
    synopsis = sdp.Adaptive().measure(COUNTS, epsilon=1, domain=DOMAIN)
    path = synopsis.save(tmp_path / "x.synopsis")
    assert json.loads(pq.read_metadata(path).metadata[b"sparsedp"])["digest"] == synopsis.digest
    assert sdp.open_synopsis(path).digest == synopsis.digest
    assert synopsis.recover().digest != synopsis.recover("fused_layers").digest


@pytest.mark.parametrize("recovery", ["layers", "fused_layers", "layers_keeping_sums"])
def test_another_recovery_is_told_apart(recovery: str, tmp_path: Path) -> None:
    release = sdp.Adaptive().measure(COUNTS, epsilon=1, domain=DOMAIN).recover(recovery)
    again = sdp.open_release(release.save(tmp_path / "x.parquet"))
    assert again.interval(QUERIES[1]) == release.interval(QUERIES[1])


def test_a_large_synopsis_stays_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_form, "MOST_EMBEDDED", 100)
    path = RELEASE.save(tmp_path / "x.parquet")
    assert b"sparsedp.synopsis" not in pq.read_metadata(path).metadata
    again = sdp.open_release(path)
    assert isinstance(again.uncertainty, CellErrors)
    with pytest.raises(InvalidInput, match="this release keeps only the error of each"):
        again.interval(QUERIES[1])
    assert again.plan == RELEASE.plan


def test_independent_errors_need_no_synopsis(tmp_path: Path) -> None:
    path = sdp.Laplace().release(COUNTS, epsilon=1, domain=DOMAIN).save(tmp_path / "x.parquet")
    assert b"sparsedp.synopsis" not in pq.read_metadata(path).metadata


def test_values_of_another_recovery_get_the_errors_of_cells(tmp_path: Path) -> None:
    changed = replace(RELEASE, values=RELEASE.values + (np.arange(COUNTS.size) == 7).reshape(DOMAIN.shape))
    again = sdp.open_release(changed.save(tmp_path / "x.parquet"))
    assert isinstance(again.uncertainty, RecoveredErrors)
    told = r"only the error of each \(the synopsis in its file gives other values than the file has\)"
    with pytest.raises(InvalidInput, match=told):
        again.interval(QUERIES[1])
    with pytest.raises(InvalidInput, match=told):
        again.marginal("region").total()
    kept = again.interval(QUERIES[0])
    assert kept.high - kept.low == pytest.approx(2 * 1.959964 * again.stderr[QUERIES[0]])  # type: ignore[index]


def test_machines_may_round_differently(tmp_path: Path) -> None:
    changed = replace(RELEASE, values=RELEASE.values * (1 + 1e-12))
    again = sdp.open_release(changed.save(tmp_path / "x.parquet"))
    assert again.interval(QUERIES[1]).high == pytest.approx(RELEASE.interval(QUERIES[1]).high)
    assert saved_form.SAME < 1e-5


def test_a_marginal_is_saved_with_all_it_knows(tmp_path: Path) -> None:
    marginal = RELEASE.marginal("day", "region")
    again = sdp.open_release(marginal.save(tmp_path / "x.parquet"))
    assert again.digest == marginal.digest
    assert again.summed_to == ("day", "region")
    for query in ((1, 0), {"region": "north"}, {}):
        assert again.interval(query) == marginal.interval(query)


def test_the_unit_is_in_the_file_of_counted_records(tmp_path: Path) -> None:
    domain = sdp.Domain.parse(["sex:F,M", "hour:0..3"])
    counts = Counts(np.arange(8, dtype=np.int64).reshape(2, 4), domain, 3, ("patient", "clinic"), 3, Quantity(), False)
    path = sdp.release(counts, epsilon=1).save(tmp_path / "x.parquet")
    guarantee = json.loads(pq.read_metadata(path).metadata[b"sparsedp"])["guarantee"]
    assert guarantee["neighbours"] == {
        "relation": "add_remove",
        "contribution": 3,
        "counted": {"unit": ["patient", "clinic"], "records": 3},
    }
    assert "all records with the same patient and clinic" in guarantee["statement"]
    assert sdp.open_release(path).guarantee == sdp.open_release(path).marginal("sex").guarantee
    assert str(sdp.open_release(path).guarantee) == guarantee["statement"]


def rewritten(path: Path, description: dict[str, Any]) -> Path:
    contents = columns_file.open_contents(path, "release")
    changed = {name: fact for name, fact in {**contents.description, **description}.items() if fact is not None}
    return columns_file.save(path, Contents("release", contents.columns, changed, contents.utc, contents.embedded))


def test_a_file_of_an_earlier_version_opens(tmp_path: Path) -> None:
    """Which had no synopsis, plan, record or amount, and other words."""
    contents = columns_file.open_contents(RELEASE.save(tmp_path / "x.parquet"), "release")
    later = ("spent", "plan", "record", "written_by")
    earlier = {name: fact for name, fact in contents.description.items() if name not in later}
    earlier["guarantee"] = {**earlier["guarantee"], "statement": "Differentially private, in other words."}
    path = columns_file.save(tmp_path / "x.parquet", Contents("release", contents.columns, earlier, contents.utc))
    again = sdp.open_release(path)
    np.testing.assert_array_equal(again.values, RELEASE.values)
    assert again.guarantee == RELEASE.guarantee
    assert again.record is None
    assert again.digest == columns_file.open_contents(path, "release").digest


FORGERIES: dict[str, dict[str, Any]] = {
    "other words": {"guarantee": {**RELEASE.guarantee.describe(), "statement": "Perfectly private."}},
    "a smaller amount": {"spent": {"epsilon": "0.1"}},
    "no words": {"guarantee": {**RELEASE.guarantee.describe(), "statement": None}},
}


@pytest.mark.parametrize("description", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_promise_that_its_figures_do_not_give_is_refused(description: dict[str, Any], tmp_path: Path) -> None:
    path = RELEASE.save(tmp_path / "x.parquet")
    assert sdp.open_release(rewritten(path, {})).digest == RELEASE.digest
    with pytest.raises(BadFile, match="states another promise than its figures give"):
        sdp.open_release(rewritten(path, description))


@pytest.mark.parametrize(
    "recovery", [{"name": []}, {"name": "layers", "stats": [1]}, {"name": "layers", "stats": None}]
)
def test_a_recovery_that_is_described_otherwise_is_refused(recovery: dict[str, Any], tmp_path: Path) -> None:
    """Pages and answers look there."""
    path = RELEASE.save(tmp_path / "x.parquet")
    with pytest.raises(BadFile, match="it was not written by this library"):
        sdp.open_release(rewritten(path, {"recovery": recovery}))


def test_a_synopsis_within_whose_sensing_has_no_name_is_refused(tmp_path: Path) -> None:
    """One of a later version, with a name that is not known here, is kept and vouches for nothing."""
    path = RELEASE.save(tmp_path / "x.parquet")
    contents = columns_file.open_contents(path, "release")
    assert isinstance(RELEASE.synopsis, sdp.Synopsis)
    measured = columns_file.open_contents(RELEASE.synopsis.save(tmp_path / "y.parquet"), "synopsis")
    for name, refused in (({}, True), (7, True), ("of a later version", False)):
        described = {**measured.description, "sensing": {**measured.description["sensing"], "name": name}}
        within = {"synopsis": Contents("synopsis", measured.columns, described).packed()}
        columns_file.save(path, Contents("release", contents.columns, contents.description, contents.utc, within))
        if refused:
            with pytest.raises(BadFile, match="it was not written by this library"):
                sdp.open_release(path)
        else:
            assert sdp.open_release(path).digest


def test_a_page_is_made_whatever_a_recovery_says_of_its_layers(tmp_path: Path) -> None:
    described = {**RELEASE.recovery, "stats": {"layers": ["many"]}}
    release = sdp.open_release(rewritten(RELEASE.save(tmp_path / "x.parquet"), {"recovery": described}))
    assert release.report(tmp_path / "x.html").exists()


@pytest.mark.parametrize("record", [{"a": b"bytes"}, {"a": {1, 2}}])
def test_a_record_that_no_file_can_hold_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="record is not of texts and numbers"):
        replace(RELEASE, record=record)


@pytest.mark.parametrize("damage", ["gone", "changed", "another synopsis", "no base64"])
def test_the_digest_covers_the_synopsis(damage: str, tmp_path: Path) -> None:
    path = RELEASE.save(tmp_path / "x.parquet")
    table, metadata = pq.read_table(path), dict(pq.read_metadata(path).metadata)
    packed = metadata.pop(b"sparsedp.synopsis")
    if damage == "changed":
        metadata[b"sparsedp.synopsis"] = (
            packed[:400] + (b"AAAA" if packed[400:404] != b"AAAA" else b"BBBB") + packed[404:]
        )
    elif damage == "another synopsis":
        other = sdp.release(COUNTS, epsilon="0.5", domain=DOMAIN).save(tmp_path / "y.parquet")
        metadata[b"sparsedp.synopsis"] = pq.read_metadata(other).metadata[b"sparsedp.synopsis"]
    elif damage == "no base64":
        metadata[b"sparsedp.synopsis"] = packed[:-5]
    pq.write_table(pa.table(table).replace_schema_metadata(metadata), path)
    with pytest.raises(BadFile, match=r"does not match its digest|is not a readable Parquet file"):
        sdp.open_release(path)


def test_a_release_that_is_not_private_says_so_in_the_file(tmp_path: Path) -> None:
    release = sdp.Adaptive().release(COUNTS, epsilon=1, domain=DOMAIN, source=SeededSource(1))
    path = release.save(tmp_path / "x.parquet")
    assert "NOT PRIVATE" in json.loads(pq.read_metadata(path).metadata[b"sparsedp"])["guarantee"]["statement"]
    assert not sdp.open_release(path).private


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e300])
def test_values_beyond_any_count_are_refused(value: float, tmp_path: Path) -> None:
    contents = columns_file.open_contents(RELEASE.save(tmp_path / "x.parquet"), "release")
    values = contents.columns["count"].astype(np.float64, copy=True)
    values[1] = value
    columns = {**contents.columns, "count": values}
    forged = Contents("release", columns, contents.description, contents.utc, contents.embedded)
    with pytest.raises(BadFile, match="it was not written by this library"):
        sdp.open_release(columns_file.save(tmp_path / "x.parquet", forged))
