"""The public family of inputs: proper shapes, the same for everybody, each with the trait it is there for."""

import hashlib

import numpy as np
import pytest

from sparsedp.errors import InvalidInput
from studies.inputs import CELLS, FAMILIES, INPUTS, SIDE, available_inputs, drawn_counts, fitted, shape_of

WITHOUT_FILES = [name for name, entry in INPUTS.items() if entry.needs is None]
TABLES = {"delays", "blobs", "streets", "product"}


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_a_shape_is_a_distribution_over_4096_cells(name: str) -> None:
    shape = INPUTS[name].shape()
    assert shape.shape == ((SIDE, SIDE) if name in TABLES else (CELLS,))
    assert np.all(shape >= 0)
    assert shape.sum() == pytest.approx(1)
    assert INPUTS[name].about.endswith(".")


def test_what_needs_a_file_is_offered_only_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("SPARSEDP_DATA", str(tmp_path))
    assert list(available_inputs()) == WITHOUT_FILES
    assert set(INPUTS) - set(WITHOUT_FILES) == {"nettrace", "search_logs", "social_network"}


def test_every_input_is_of_one_family() -> None:
    members = {family: {shape.__name__ for shape in shapes} for family, shapes in FAMILIES.items()}
    assert {name: entry.family for name, entry in INPUTS.items()} == {
        name: family for family, names in members.items() for name in names
    }
    assert sum(map(len, members.values())) == len(INPUTS)
    assert members["synthetic tables"] == TABLES - {"delays"}
    assert {name for name, entry in INPUTS.items() if entry.needs} == members["the paper's files"]


def test_counts_are_the_stated_draw() -> None:
    shape = INPUTS["bumps"].shape()
    expected = np.random.default_rng(3).multinomial(1000, shape)
    assert np.array_equal(drawn_counts(shape, 1000), expected)
    table = INPUTS["streets"].shape()
    expected = np.random.default_rng(3).multinomial(1000, table.ravel()).reshape(table.shape)
    assert np.array_equal(INPUTS["streets"].counts(1000), expected)
    with pytest.raises(InvalidInput, match="at least 1"):
        drawn_counts(shape, 0)


def test_fitting_sums_the_shortest_blocks_and_pads_behind() -> None:
    assert np.array_equal(fitted(np.arange(CELLS)), shape_of(np.arange(CELLS)))
    short = fitted(np.array([3, 1]))
    assert short[:3].tolist() == [0.75, 0.25, 0]
    long = fitted(np.ones(2 * CELLS + 1, dtype=np.int64))
    assert long.size == CELLS
    blocks = -(-(2 * CELLS + 1) // 3)
    assert np.count_nonzero(long) == blocks
    assert long[0] == pytest.approx(3 / (2 * CELLS + 1))
    assert long[blocks - 1] == pytest.approx((2 * CELLS + 1 - 3 * (blocks - 1)) / (2 * CELLS + 1))


def test_shuffling_keeps_the_probabilities() -> None:
    straight, shuffled = INPUTS["power_law_sorted"].shape(), INPUTS["power_law_shuffled"].shape()
    assert np.array_equal(np.sort(shuffled)[::-1], straight)
    assert straight[0] == pytest.approx(4096 * straight[-1])
    assert np.corrcoef(shuffled[1:], shuffled[:-1])[0, 1] < 0.1


def test_traits() -> None:
    counted = {name: np.count_nonzero(INPUTS[name].shape()) for name in ("spikes", "sparse_cells")}
    assert counted == {"spikes": 32, "sparse_cells": 200}
    assert np.count_nonzero(np.diff(INPUTS["steps"].shape())) <= 23
    assert np.count_nonzero(INPUTS["steps"].shape() == 0) > 100
    assert np.unique(INPUTS["uniform"].shape()).size == 1
    sine = np.abs(np.fft.rfft(INPUTS["sine"].shape()))
    assert np.flatnonzero(sine > 1e-9).tolist() == [0, 8]
    assert np.linalg.matrix_rank(INPUTS["product"].shape(), tol=1e-12) == 1
    assert np.linalg.matrix_rank(INPUTS["streets"].shape(), tol=1e-12) > 30


def test_synthetic_counts_never_change() -> None:
    """Figures in documents were measured on exactly these."""
    digest = hashlib.sha256()
    for name in ("spikes", "steps", "sparse_cells", "streets"):
        digest.update(INPUTS[name].counts(1000).astype("<i8").tobytes())
    assert digest.hexdigest()[:16] == "b2f3da73a61ecdf9"
