"""A synopsis goes to a small file and comes back the same, elsewhere, without the data."""

import dataclasses
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparsedp as sdp
from every_mechanism import AS_THEY_COME
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files import columns_file
from sparsedp.mechanisms.base import Mechanism
from sparsedp.noise.source import SeededSource

DATA = np.repeat([3, 40, 0, 12, 12, 90, 7, 1], 25)
MECHANISMS: dict[str, Mechanism] = {
    **AS_THEY_COME,
    "hierarchical of three": sdp.Hierarchical(branching=3),
    "compressive of eight": sdp.Compressive(sparsity=8, seed=1),
    "compressive, bernoulli, cosine": sdp.Compressive(basis="cosine", sensing="bernoulli", sparsity=8, seed=1),
    "compressive, db4": sdp.Compressive(basis="db4", recovery="basis_pursuit", sparsity=8, seed=1),
}


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS.keys())
def test_saved_and_opened_recovers_the_same(mechanism: Mechanism, tmp_path: Path) -> None:
    synopsis = mechanism.measure(DATA, epsilon="0.5", contribution=2, neighbours="replace_one")
    path = synopsis.save(tmp_path / "x.synopsis")
    again = sdp.open_synopsis(path)
    np.testing.assert_array_equal(again.values, synopsis.values)
    assert again.plan.describe() == synopsis.plan.describe()
    assert again.law == synopsis.law
    assert again.guarantee == synopsis.guarantee
    assert again.spent == sdp.Budget(epsilon="0.5")
    np.testing.assert_array_equal(again.recover().values, synopsis.recover().values)


OTHER_BUDGETS = [sdp.Budget(rho="0.2"), sdp.Budget(epsilon="0.5", delta="1e-7")]


@pytest.mark.parametrize("budget", OTHER_BUDGETS, ids=str)
@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS.keys())
def test_gaussian_synopses_are_saved_and_opened(mechanism: Mechanism, budget: sdp.Budget, tmp_path: Path) -> None:
    synopsis = mechanism.measure(DATA, epsilon=budget, contribution=2)
    again = sdp.open_synopsis(synopsis.save(tmp_path / "x.synopsis"))
    assert again.law == synopsis.law
    assert again.guarantee == synopsis.guarantee
    assert again.spent == budget
    assert again.guarantee.rho == synopsis.guarantee.rho
    assert repr(again) == repr(synopsis)
    release = again.recover()
    np.testing.assert_array_equal(release.values, synopsis.recover().values)
    reopened = sdp.open_release(release.save(tmp_path / "x.parquet"))
    assert reopened.guarantee == synopsis.guarantee
    assert reopened.spent == budget
    assert reopened.noise == synopsis.law.describe()


def test_a_file_that_promises_more_than_its_rho_gives_is_refused(tmp_path: Path) -> None:
    synopsis = sdp.Laplace().measure(DATA, epsilon="0.5", delta="1e-7")
    columns, description = columns_file.read(synopsis.save(tmp_path / "x.synopsis"), "synopsis")
    description["guarantee"]["stated"]["delta"] = "1e-8"
    columns_file.write(tmp_path / "x.synopsis", "synopsis", columns, description)
    with pytest.raises(BadFile, match="does not give that much"):
        sdp.open_synopsis(tmp_path / "x.synopsis")


def test_the_noise_has_a_variance_and_laplace_noise_a_scale() -> None:
    pure = sdp.Laplace().measure(DATA, epsilon="0.5")
    assert pure.noise_scale == 2
    assert pure.noise_variance == pytest.approx(2 * np.exp(-0.5) / (1 - np.exp(-0.5)) ** 2)
    gaussian = sdp.Laplace().measure(DATA, rho="1/32")
    assert gaussian.noise_variance == pytest.approx(16)
    with pytest.raises(InvalidInput, match="noise_scale is not a property of Gaussian noise; use `noise_variance`"):
        _ = gaussian.noise_scale


def test_gaussian_cells_are_shrunk_too() -> None:
    steps = np.repeat([3, 400, 0, 120], 64)
    synopsis = sdp.Laplace().measure(steps, rho="1/200", source=SeededSource(6))
    plain, shrunk = (np.linalg.norm(synopsis.recover(name).values - steps) for name in ("direct", "shrinkage"))
    assert shrunk < plain / 2


def test_another_process_recovers_without_the_data(tmp_path: Path) -> None:
    synopsis = sdp.Compressive(sparsity=6).measure(DATA, epsilon=1)
    path = synopsis.save(tmp_path / "x.synopsis")
    code = "import sys, sparsedp as s; print(s.open_synopsis(sys.argv[1]).recover().values.tolist())"
    printed = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout
    np.testing.assert_array_equal(json.loads(printed), synopsis.recover().values)


def test_the_file_is_small(tmp_path: Path) -> None:
    cells = 2**16
    path = sdp.Compressive(sparsity=8).measure(np.ones(cells, dtype=np.int64), epsilon=1).save(tmp_path / "x.synopsis")
    assert path.stat().st_size < cells * 8 / 50


def test_seeded_noise_is_marked_everywhere(tmp_path: Path) -> None:
    synopsis = sdp.Laplace().measure(DATA, epsilon=1, source=SeededSource(1))
    assert not synopsis.private
    assert not synopsis.recover().private
    assert "NOT PRIVATE" in repr(synopsis)
    assert "NOT PRIVATE" in repr(synopsis.recover())
    assert not sdp.open_synopsis(synopsis.save(tmp_path / "x.synopsis")).private
    assert not sdp.open_release(synopsis.recover().save(tmp_path / "x.parquet")).private
    assert sdp.Laplace().measure(DATA, epsilon=1).private


def test_another_decoder_costs_nothing() -> None:
    synopsis = sdp.Compressive(sparsity=6).measure(DATA, epsilon=5)
    for decoder in ("cosamp", "basis_pursuit", "vamp", "vamp_tree"):
        release = synopsis.recover(decoder)
        assert release.spent == synopsis.spent
        assert release.recovery["name"] == decoder
    with pytest.raises(InvalidInput, match="leave it out"):
        sdp.Laplace().measure(DATA, epsilon=5).recover("cosamp")
    with pytest.raises(InvalidInput, match="did you mean 'cosamp'"):
        synopsis.recover("cosam")


def test_values_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        sdp.Laplace().measure(DATA, epsilon=1).values[0] = 5


def write_text(path: Path) -> None:
    path.write_text("not parquet")


def write_foreign_parquet(path: Path) -> None:
    pq.write_table(pa.table({"value": [1, 2]}), path)


def write_release(path: Path) -> None:
    sdp.Laplace().release(DATA, epsilon=1).save(path)


def write_damaged(path: Path) -> None:
    sdp.Laplace().measure(DATA, epsilon=1).save(path)
    table = pq.read_table(path)
    values = table.column("value").to_numpy().copy()
    values[0] += 1
    pq.write_table(pa.table({"value": values}).replace_schema_metadata(table.schema.metadata), path)


def write_promise_changed(path: Path) -> None:
    sdp.Laplace().measure(DATA, epsilon=1).save(path)
    table = pq.read_table(path)
    metadata = {b"sparsedp": table.schema.metadata[b"sparsedp"].replace(b'"epsilon": "1"', b'"epsilon": "0.01"')}
    pq.write_table(table.replace_schema_metadata(metadata), path)


def write_truncated(path: Path) -> None:
    sdp.Laplace().measure(DATA, epsilon=1).save(path)
    path.write_bytes(path.read_bytes()[:-30])


def write_nothing(path: Path) -> None:
    assert not path.exists()


WRONG_FILES = {
    write_nothing: "There is no file",
    write_text: "not a readable Parquet file",
    write_foreign_parquet: "was not written by sparsedp",
    write_release: "open it with open_release",
    write_damaged: "does not match its digest",
    write_promise_changed: "does not match its digest",
    write_truncated: "not a readable Parquet file",
}


@pytest.mark.parametrize(("write", "complaint"), WRONG_FILES.items(), ids=lambda case: getattr(case, "__name__", ""))
def test_wrong_files_get_one_sentence(write: object, complaint: str, tmp_path: Path) -> None:
    assert callable(write)
    write(tmp_path / "x")
    with pytest.raises(BadFile, match=complaint):
        sdp.open_synopsis(tmp_path / "x")


@pytest.mark.parametrize("text", ["[]", "7", "null", '"synopsis"', "[" * 100_000 + "]" * 100_000])
def test_metadata_that_are_no_description(text: str, tmp_path: Path) -> None:
    table = pa.table({"value": [1, 2]}).replace_schema_metadata({b"sparsedp": text.encode()})
    pq.write_table(table, tmp_path / "x")
    with pytest.raises(BadFile, match="was not written by sparsedp"):
        sdp.open_synopsis(tmp_path / "x")


@pytest.mark.parametrize("noise", [[1], None, {"name": "layers", "layers": "aaa"}, {"name": "layers", "layers": [7]}])
def test_noise_that_is_no_law(noise: object, tmp_path: Path) -> None:
    sdp.Laplace().measure(DATA, epsilon=1).save(tmp_path / "x")
    columns, description = columns_file.read(tmp_path / "x", "synopsis")
    columns_file.write(tmp_path / "x", "synopsis", columns, {**description, "noise": noise})
    with pytest.raises(BadFile, match="cannot be used: noise law is"):
        sdp.open_synopsis(tmp_path / "x")


def test_a_failed_write_leaves_the_old_file_and_no_scraps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synopsis = sdp.Laplace().measure(DATA, epsilon=1)
    path = synopsis.save(tmp_path / "x.synopsis")
    before = path.read_bytes()

    def disk_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", disk_full)
    with pytest.raises(BadFile, match="No space left on device; nothing was left half-written"):
        dataclasses.replace(synopsis, values=np.zeros_like(synopsis.values)).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(BadFile, match="Could not write"):
        synopsis.save(tmp_path / "no such folder" / "x.synopsis")


@pytest.mark.parametrize("workload", ["any", "cells"])
def test_a_caller_who_makes_every_underflow_an_error_loses_nothing(workload: str) -> None:
    counts = np.random.default_rng(0).poisson(3, 512)
    ledger = sdp.Ledger(epsilon=1)
    with np.errstate(all="raise"):
        release = sdp.release(counts, epsilon=1, mechanism=sdp.Adaptive(workload), ledger=ledger)
        assert release.stderr is not None
        assert np.isfinite(release.stderr).all()
        for query in (3, (10, 200)):
            interval = release.interval(query, 0.5)
            assert interval.low <= interval.high


def test_a_table_measured_cell_by_cell_may_be_shrunk_as_a_table() -> None:
    table = np.random.default_rng(1).poisson(5, (24, 16))
    synopsis = sdp.Laplace().measure(table, epsilon="0.2")
    shrunk = synopsis.recover("shrinkage")
    assert shrunk.values.shape == (24, 16)
    assert shrunk.stderr is not None
    assert shrunk.stderr.shape == (24, 16)
    assert np.linalg.norm(shrunk.values - table) < 0.7 * np.linalg.norm(synopsis.recover().values - table)


def test_a_domain_of_another_shape_than_what_was_measured_is_refused() -> None:
    synopsis = sdp.Adaptive().measure(np.full((16, 32), 3), epsilon=1)
    with pytest.raises(InvalidInput, match="another shape"):
        replace(synopsis.plan, domain=sdp.Domain.parse(["a:0..31", "b:0..15"]))
