"""Every course that events can take in Adaptive, whatever the looks see: the shares add up to the budget, exactly."""

from fractions import Fraction
from itertools import product
from math import inf, sqrt

import numpy as np
import numpy.typing as npt
import pytest

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.laws import LayersLaw
from sparsedp.mechanisms import adaptive
from sparsedp.mechanisms._adaptive_shares import (
    GAUSSIAN,
    LAPLACE,
    ROWS,
    SMALL_BLOCK,
    layers_of_blocks,
    regular_layers,
    shares_for,
)
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums

N = 1024
GROUPS = {
    "one": [0],
    "some": [0, 512, 768, 776, 780, 784, 800],
    "many": list(range(0, N, 16)),
    "small": list(range(0, N, 4)),
    "towards the first": [0, 64, 128, 256, 512],
    "towards the last": [0, 512, 768, 896, 960],
}
PARTS = {"blocks": {}, "some": {4: 4, 5: 4, 6: 4, 7: 4, 10: 8}, "cells": dict.fromkeys(range(N), 1)}
"""How many cells the parts of blocks have that are not measured whole."""
ROW, TABLE = (N,), (32, 32)
LOOKS = (-50.0, 1e6)
BRANCHES = {ROW: list(product(LOOKS, GROUPS)), TABLE: list(product(LOOKS, PARTS))}
"""What a look sees (of tables that of "cells" alone), and which groups the tree, the grid or the blocks' sums find."""


def dense(groups: str, size: int) -> list[int]:
    """The cells of the second block and the other blocks, if some are found; else all cells."""
    return sorted({*range(0, N, size), *range(size, 2 * size)}) if groups == "some" else list(range(N))


def part_sizes(groups: str, size: int) -> Ints:
    """How many cells the parts of each block of `size` cells have."""
    return np.array([PARTS[groups].get(block, size) for block in range(N // size)], np.int64)


def branches(
    shape: tuple[int, ...],
    workload: str,
    budget: sdp.Budget,
    counts: Ints | None = None,
    *,
    few_records: bool = True,
) -> dict[tuple[float, str], sdp.Synopsis]:
    """A synopsis for all that private tests may find. `few_records`: whether "cells" takes the total to be little."""
    found = {}
    table = np.ones(shape, np.int64) if counts is None else counts.reshape(shape)
    for seen, groups in BRANCHES[shape]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(adaptive, "FEW_RECORDS", inf if few_records else -inf)
            patch.setattr(adaptive, "standing_out", lambda *_, seen=seen: seen)
            patch.setattr(adaptive, "detected_alone", lambda *_, seen=seen: seen)
            patch.setattr(adaptive, "flat_groups", lambda *_, groups=groups: np.array(GROUPS[groups], np.int64))
            patch.setattr(adaptive, "part_sizes", lambda _, size, *__, groups=groups: part_sizes(groups, size))
            patch.setattr(
                adaptive, "cells_of_dense_blocks", lambda _, size, *__, groups=groups: np.array(dense(groups, size))
            )
            found[seen, groups] = Adaptive(workload).measure(table, epsilon=budget)
    return found


@pytest.mark.parametrize("shape", BRANCHES, ids=str)
@pytest.mark.parametrize("workload", ROWS)
@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="3/7"), sdp.Budget(rho="2/9")], ids=str)
def test_every_branch_costs_the_budget(shape: tuple[int, ...], workload: str, budget: sdp.Budget) -> None:
    kinds = set()
    every = [
        one
        for few_records in (True, False)
        for one in branches(shape, workload, budget, few_records=few_records).values()
    ]
    for synopsis in every:
        expenses = synopsis.guarantee.expenses
        paid = [Fraction(each.budget.rho or each.budget.epsilon or 0) for each in expenses]
        assert min(paid) > 0
        assert sum(paid) == (budget.rho or budget.epsilon)
        assert isinstance(synopsis.sensing, GroupSums)
        kinds.add((tuple(each.purpose for each in expenses), isinstance(synopsis.sensing.layers[0], int)))
        assert shape == ROW or workload == "cells" or {each.purpose for each in expenses} == {"measure"}
    assert len(kinds) >= (3 if shape == ROW or workload == "cells" else 2), "courses were left out"


def test_small_groups_are_measured_cell_by_cell() -> None:
    sensing = branches(ROW, "any", sdp.Budget(epsilon=1))[-50.0, "some"].sensing
    assert isinstance(sensing, GroupSums)
    assert sensing.starts[0].tolist() == [0, 512, 768, 776, 777, 778, 779, 780, 781, 782, 783, 784, 800]


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_groups_are_one_layer(workload: str) -> None:
    sensing = branches(ROW, workload, sdp.Budget(epsilon=1))[-50.0, "many"].sensing
    assert isinstance(sensing, GroupSums)
    assert sensing.layers == [[0, 1, 2, 4, 8, *GROUPS["many"][1:-1], 1008, 1016, 1020, 1022, 1023]]


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_the_first_group_is_measured_down_to_the_first_cell(workload: str) -> None:
    sensing = branches(ROW, workload, sdp.Budget(epsilon=1))[-50.0, "towards the first"].sensing
    assert isinstance(sensing, GroupSums)
    assert sensing.layers == [[0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]]


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_the_last_group_is_measured_down_to_the_last_cell(workload: str) -> None:
    sensing = branches(ROW, workload, sdp.Budget(epsilon=1))[-50.0, "towards the last"].sensing
    assert isinstance(sensing, GroupSums)
    assert sensing.layers == [[0, 512, 768, 896, 960, 992, 1008, 1016, 1020, 1022, 1023]]


@pytest.mark.parametrize("workload", ROWS)
def test_nothing_but_the_looks_decides_what_is_measured(workload: str) -> None:
    """The same looks, very different counts: the same groups, the same noise, the same expenses."""
    budget = sdp.Budget(epsilon="3/7")
    rows = [np.zeros(N, np.int64), np.full(N, 2**40), 7 * np.arange(N) ** 3 + 1]
    for few_records in (True, False):
        plain, *others = (branches(ROW, workload, budget, row, few_records=few_records) for row in rows)
        for other in others:
            for course, one in plain.items():
                assert one.sensing == other[course].sensing
                assert one.law == other[course].law
                assert one.guarantee == other[course].guarantee


@pytest.mark.parametrize("shape", BRANCHES, ids=str)
def test_cells_are_not_measured_where_there_are_few_records_and_few_are_seen_alone(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The noisy total alone decides, and then a look: each beside a public threshold."""
    unit = sqrt(2) / 0.1
    for records, seen, by_cells in [
        (400, 0.0, True),
        (200, 41.0, True),
        (200, 39.0, False),
    ]:
        monkeypatch.setattr(adaptive, "detected_alone", lambda *_, seen=seen: seen)
        counts = np.zeros(shape, np.int64)
        counts.flat[0] = records * unit
        synopsis = Adaptive("cells").measure(counts, epsilon="0.1", source=SeededSource(2))
        assert isinstance(synopsis.sensing, GroupSums)
        assert (synopsis.sensing.layers[0] == 1) == by_cells
        purposes = [each.purpose for each in synopsis.guarantee.expenses]
        assert ("see whether cells stand out" in purposes) == (records < 300)
    signed = Adaptive("cells").measure(np.zeros(shape, np.int64), epsilon="0.1", negative=True)
    assert isinstance(signed.sensing, GroupSums)
    assert signed.sensing.layers == [1, N], "where counts may be negative, a small total is no sign of few records"


def test_the_look_is_measured_in_units_that_are_public(monkeypatch: pytest.MonkeyPatch) -> None:
    units = []

    def seen(row: Ints, unit: float, add: object) -> float:
        units.append(unit)
        return 0.0

    monkeypatch.setattr(adaptive, "standing_out", seen)
    monkeypatch.setattr(adaptive, "detected_alone", seen)
    monkeypatch.setattr(adaptive, "FEW_RECORDS", inf)
    for counts in (np.zeros(N, np.int64), np.full(N, 2**40), 7 * np.arange(N) ** 3 + 1):
        Adaptive().measure(counts, epsilon=1)
        Adaptive("cells").measure(counts, epsilon=1)
    assert len(set(units)) == 1
    assert len(units) == 6


def test_groups_are_not_looked_for_where_cells_are_known_to_be_zero() -> None:
    """A group's sum would be spread over them, and lost."""
    counts = 10 * (np.arange(N) % 2 == 0)
    known = sdp.Constraints(zeros=counts == 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "standing_out", lambda *_: 0.0)
        purposes = [
            {each.purpose for each in Adaptive().measure(counts, epsilon=1, constraints=each).guarantee.expenses}
            for each in (None, known)
        ]
    assert purposes == [{"see whether cells stand out", "find where the cells are flat", "measure"}, {"measure"}]


@pytest.mark.parametrize("workload", ["any", "ranges"])
@pytest.mark.parametrize("budget", [sdp.Budget(epsilon=1), sdp.Budget(rho=1)], ids=str)
def test_regular_layers_are_those_of_the_kind_of_noise(workload: str, budget: sdp.Budget) -> None:
    found = branches(ROW, workload, budget)[1e6, "one"].sensing
    assert isinstance(found, GroupSums)
    by_power = [[size for size, _ in regular_layers(N, ROWS[workload], power)] for power in (LAPLACE, GAUSSIAN)]
    assert by_power[0] != by_power[1]
    assert found.layers == by_power[budget.rho is not None]


@pytest.mark.parametrize("workload", ["any", "ranges"])
@pytest.mark.parametrize("n", [N, 8 * N])
def test_the_threshold_is_the_stated_one(workload: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    threshold = shares_for(workload, (n,), (True,)).stands_out_from(n)
    for seen, grouped in ((np.nextafter(threshold, 0), True), (threshold, False)):
        monkeypatch.setattr(adaptive, "standing_out", lambda *_, seen=seen: seen)
        monkeypatch.setattr(adaptive, "cells_of_dense_blocks", lambda *_: np.arange(n))
        sensing = Adaptive(workload).measure(np.zeros(n, np.int64), epsilon=1).sensing
        assert isinstance(sensing, GroupSums)
        assert isinstance(sensing.layers[0], list) == grouped


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_tables_are_measured_in_parts_of_blocks(workload: str) -> None:
    """The shares of the layers are the same whatever the parts are."""
    shares = shares_for(workload, TABLE, (True, True))
    for (_, groups), synopsis in branches(TABLE, workload, sdp.Budget(epsilon=1)).items():
        assert isinstance(synopsis.sensing, GroupSums)
        parts = [
            cell
            for block, part in enumerate(part_sizes(groups, SMALL_BLOCK))
            for cell in range(block * SMALL_BLOCK, (block + 1) * SMALL_BLOCK, part)
        ]
        assert synopsis.sensing.layers == [1 if groups == "cells" else parts, SMALL_BLOCK, N]
        paid = [each.budget.epsilon for each in synopsis.guarantee.expenses]
        assert paid == [share for _, share in layers_of_blocks(N, shares.cells, SMALL_BLOCK)]


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_the_grid_follows_noisy_sums_alone(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are chosen by the measured total, parts by the measured sums of blocks, each beside its own noise."""
    seen: dict[str, object] = {}

    def size(total: float, n: int, least: int, deviation: float) -> int:
        seen["total"], seen["noise of blocks"] = [total], deviation
        return 64

    def sizes(sums: npt.NDArray[np.float64], size: int, deviation: float, of_sums: float) -> Ints:
        seen["sums"], seen["noise of parts"], seen["noise of sums"] = sums.tolist(), deviation, of_sums
        return np.full(len(sums), 32)

    monkeypatch.setattr(adaptive, "block_size", size)
    monkeypatch.setattr(adaptive, "part_sizes", sizes)
    synopsis = Adaptive(workload).measure(np.full(TABLE, 3), epsilon="0.1", source=SeededSource(1))
    assert isinstance(synopsis.sensing, GroupSums)
    assert isinstance(synopsis.law, LayersLaw)
    of_parts, of_blocks, _ = (sqrt(layer.variance) for layer in synopsis.law.layers)
    *_, blocks, total = synopsis.sensing.split(synopsis.values.astype(np.float64))
    assert seen == {
        "total": total.tolist(),
        "noise of blocks": of_blocks,
        "sums": blocks.tolist(),
        "noise of parts": of_parts,
        "noise of sums": of_blocks,
    }
    assert synopsis.sensing.starts[0].tolist() == [0, 1, 2, 4, 8, 16, *range(32, N, 32)]
    assert total[0] != 3 * N, "the noise at this seed is not zero"


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_blocks_are_busy_by_their_noisy_sums_alone(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where cells stand out: given the sums of the smallest blocks as they were published, and their noise."""
    seen = []

    def watched(sums: npt.NDArray[np.float64], size: int, n: int, deviation: float) -> Ints:
        seen.append((sums.tolist(), size, n, deviation))
        return np.array(dense("some", size))

    monkeypatch.setattr(adaptive, "cells_of_dense_blocks", watched)
    monkeypatch.setattr(adaptive, "standing_out", lambda *_: 1e6)
    synopsis = Adaptive(workload).measure(np.full(N, 3), epsilon="0.1", source=SeededSource(1))
    assert isinstance(synopsis.sensing, GroupSums)
    assert isinstance(synopsis.law, LayersLaw)
    size = synopsis.sensing.layers[1]
    assert isinstance(size, int)
    _, sums, *_ = synopsis.sensing.split(synopsis.values.astype(np.float64))
    assert seen == [(sums.tolist(), size, N, sqrt(synopsis.law.layers[1].variance))]
    assert len(synopsis.sensing.starts[0]) < N


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_all_cells_of_a_row_are_measured_where_they_stand_out_and_may_be_negative(
    workload: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small sum does not say that there is little."""
    monkeypatch.setattr(adaptive, "standing_out", lambda *_: 1e6)
    synopsis = Adaptive(workload).measure(np.tile([-300, 300], N // 2), epsilon=1, negative=True)
    assert isinstance(synopsis.sensing, GroupSums)
    assert synopsis.sensing.layers[0] == 1


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_no_grid_follows_counts_that_may_be_negative(workload: str) -> None:
    """Their sums do not say how many records there are."""
    synopsis = Adaptive(workload).measure(np.full(TABLE, -3), epsilon=1, negative=True)
    assert isinstance(synopsis.sensing, GroupSums)
    assert synopsis.sensing.layers == [1, 64, N]
    assert {each.purpose for each in synopsis.guarantee.expenses} == {"measure"}


@pytest.mark.parametrize("shape", BRANCHES, ids=str)
def test_groups_that_are_too_many_for_a_file_are_measured_cell_by_cell(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    finest: dict[str, list[int | list[int]]] = {"some": [], "most": []}
    for most, found in (("some", 23), ("most", 10**6)):
        monkeypatch.setattr(adaptive, "MOST_PARTS", found)
        for synopsis in branches(shape, "any", sdp.Budget(epsilon=1)).values():
            assert isinstance(synopsis.sensing, GroupSums)
            finest[most].append(synopsis.sensing.layers[0])
            assert sum(Fraction(each.budget.epsilon or 0) for each in synopsis.guarantee.expenses) == 1
            if synopsis.sensing.layers[0] == 1:
                assert np.isfinite(synopsis.recover().values).all()
    few = 23 + 10  # what is cut towards the ends is not counted
    assert all(isinstance(groups, int) or len(groups) <= few for groups in finest["some"])
    assert any(isinstance(groups, list) and len(groups) > few for groups in finest["most"])
