"""The grid that follows the counts: nested, aligned, and as fine as its sums are seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.arrays import Floats, Ints
from sparsedp.mechanisms import adaptive
from sparsedp.mechanisms._adaptive_grid import (
    DENSE_BLOCK,
    DETECTED,
    EVENLY_DRAWN,
    LEAST_BLOCKS,
    LEAST_UNEVEN,
    MEAN_DETECTED,
    OF_PARTS,
    STEP,
    block_size,
    cells_of_dense_blocks,
    cells_pay,
    dense_from,
    part_sizes,
    towards_the_first,
    unevenness_of_halves,
)
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.parts_of_blocks import cut_blocks

SIZES = st.sampled_from([16, 64, 256])


def parts(sums: Floats, size: int, n: int, deviation: float, of_sums: float) -> Ints:
    """The first cells of the parts of all blocks."""
    return cut_blocks(part_sizes(sums, size, deviation, of_sums), size, n)


def parts_of_one(total: float, size: int, deviation: float, uneven: float) -> int:
    """How many cells the parts of one block have: the nearest power of two, on a scale of powers of two; one, if the
    block's cells are dense.
    """
    if total / size >= DENSE_BLOCK * deviation:
        return 1
    found, best = size, float("inf")
    for part in (2**power for power in range(size.bit_length())):
        off = abs(np.log2(size / part) - np.log2(max(total, 1.0) * np.sqrt(uneven) / (OF_PARTS * deviation)))
        if off < best - 1e-9:
            found, best = part, off
    return found


@given(SIZES, st.integers(1, 900), st.floats(0.5, 100), st.integers(0, 2**32))
def test_parts_are_those_of_a_plain_loop(size: int, n: int, deviation: float, seed: int) -> None:
    blocks = -(-n // size)
    spread = DENSE_BLOCK * size * deviation
    sums = np.random.default_rng(seed).normal(0, spread, blocks) ** 2 / spread - deviation
    uneven = unevenness_of_halves(sums, 3 * deviation)
    expected = []
    for block, total in enumerate(sums):
        end = min((block + 1) * size, n)
        expected += list(range(block * size, end, parts_of_one(total, size, deviation, uneven)))
    assert parts(sums, size, n, deviation, 3 * deviation).tolist() == expected


@given(SIZES, st.integers(1, 900), st.integers(0, 2**32))
def test_blocks_are_whole_parts_together(size: int, n: int, seed: int) -> None:
    sums = np.random.default_rng(seed).exponential(300, -(-n // size))
    starts = parts(sums, size, n, 10.0, 30.0)
    assert set(range(0, n, size)) <= set(starts.tolist())
    lengths = np.diff(starts, append=n)
    assert (lengths > 0).all()
    assert (starts % (1 << np.ceil(np.log2(lengths)).astype(int)) == 0).all(), "aligned, so that they are boxes"


def test_dense_blocks_have_small_parts_and_empty_ones_are_whole() -> None:
    deviation = 10.0
    dense = DENSE_BLOCK * deviation * 64
    sums = np.array([-1e3, 0.0, OF_PARTS * deviation, 4 * OF_PARTS * deviation, dense - 1, dense, float(2**62), 0.0])
    assert unevenness_of_halves(sums, deviation) == pytest.approx(1.0)
    starts = parts(sums, 64, 64 * len(sums), deviation, deviation)
    assert np.histogram(starts, np.arange(0, 64 * len(sums) + 1, 64))[0].tolist() == [1, 1, 1, 4, 32, 64, 64, 1]
    assert len(parts(sums, 64, 64 * len(sums), 0.0, 0.0)) == 8 * 64, "without noise every cell is a part"


def test_lumpy_blocks_have_smaller_parts_than_even_ones() -> None:
    """The same sum in a block, beside others that are alike, or that are empty."""
    even, lumpy = np.full(64, 300.0), np.where(np.arange(64) % 7 == 0, 300.0, 0.0)
    of_even, of_lumpy = (np.diff(parts(sums, 64, 64**2, 10.0, 40.0))[0] for sums in (even, lumpy))
    assert of_even == 4 * of_lumpy


@pytest.mark.parametrize(("law", "expected"), [("uniform", 1 / 3), ("one half", 1.0), ("even", LEAST_UNEVEN)])
def test_unevenness_is_that_of_the_halves_without_the_noise(law: str, expected: float) -> None:
    """Means over 4,096 blocks by twos, and by twos again, which all divide alike; noise is far from nothing."""
    random = np.random.default_rng(3)
    sums, deviation = np.full(1024, 4000.0), 300.0
    for _ in range(2):
        share = random.random(len(sums))
        share = {"uniform": share, "one half": np.rint(share), "even": np.full(len(sums), 0.5)}[law]
        sums = np.stack([sums * share, sums * (1 - share)], axis=1).reshape(-1)
    noisy = sums + random.laplace(0, deviation / np.sqrt(2), len(sums))
    assert unevenness_of_halves(noisy, deviation) == pytest.approx(expected, rel=0.1)
    if law == "uniform":
        assert unevenness_of_halves(noisy, 1e-9) != pytest.approx(expected, rel=0.02), "the noise matters"


def test_unevenness_of_four_blocks_by_hand() -> None:
    """By twos 90 + 10 and 40 + 60, then 100 + 100; of the noise, 2·25·2 is taken off twos and 2·50 off fours."""
    differences = max(80**2 + 20**2 - 100, 0) + 0
    wholes = 100**2 + 100**2 - 100 + 200**2 - 100
    unsure = 4 * 25 * np.sqrt(2) + 4 * 50
    expected = (differences + unsure / 3) / (wholes + unsure)
    assert unevenness_of_halves(np.array([90.0, 10.0, 40.0, 60.0]), 5.0) == pytest.approx(expected, rel=1e-9)
    assert expected > LEAST_UNEVEN


def test_unevenness_of_noise_alone_is_that_of_any_division() -> None:
    random = np.random.default_rng(4)
    found = [unevenness_of_halves(random.laplace(0, 1, 16), np.sqrt(2)) for _ in range(400)]
    assert 0.7 * EVENLY_DRAWN < np.median(found) < 1.5 * EVENLY_DRAWN
    assert LEAST_UNEVEN <= min(found) <= max(found) <= 1.0
    for few in (0, 1, 2, 3):
        assert LEAST_UNEVEN <= unevenness_of_halves(np.full(few, 5.0), 1.0) <= 1.0


@given(SIZES, st.integers(1, 900), st.floats(0.5, 100), st.integers(0, 2**32))
def test_cells_of_busy_blocks_are_those_of_a_plain_loop(size: int, n: int, deviation: float, seed: int) -> None:
    sums = np.random.default_rng(seed).normal(DETECTED * deviation, 2 * deviation, -(-n // size))
    expected = []
    for block, total in enumerate(sums):
        cells = range(block * size, min((block + 1) * size, n))
        expected += list(cells) if total >= DETECTED * deviation else [cells[0]]
    assert cells_of_dense_blocks(sums, size, n, deviation).tolist() == expected


@given(st.integers(1, 5), st.sampled_from([2, 4, 16]), st.floats(1, 300), st.integers(0, 2**32))
def test_whether_cells_pay_is_that_of_a_plain_loop(blocks: int, part: int, expected: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    cells, deviation = random.laplace(0, 3, (blocks, 16)), 2.0
    cells[random.random(cells.shape) < 0.1] += 20.0
    sums = random.uniform(20, 200, blocks)
    paying = 0
    for block, about in zip(cells, sums, strict=True):
        within = sum(
            np.sum((block[first : first + part] - block[first : first + part].mean()) ** 2)
            for first in range(0, 16, part)
        )
        noise = deviation**2 * (16 - 16 / part)
        paying += (within - noise) / about * expected >= 16 * deviation**2
    assert cells_pay(cells, sums, part, expected, deviation) == (paying >= blocks / 2)


def test_cells_pay_where_few_are_full_and_not_where_all_are_alike_or_one_block_differs() -> None:
    random = np.random.default_rng(2)
    deviation, blocks, size = 10.0, 8, 64
    dense = dense_from(size, deviation)
    noise = random.laplace(0, deviation / np.sqrt(2), (blocks, size))
    sums = np.full(blocks, 1.4 * dense)
    full = np.where(np.arange(size) % 16 == 5, 1.4 * dense / 4, 0.0)
    assert cells_pay(noise + full, sums, 8, dense / 1.4, deviation)
    assert not cells_pay(noise + 1.4 * dense / size, sums, 8, dense / 1.4, deviation)
    assert not cells_pay(noise + np.repeat([10.0, 30.0], 32), sums, 8, dense / 1.4, deviation), "parts show that"
    assert not cells_pay(
        noise + 2.0 * deviation, np.full(blocks, 128.0 * deviation), 64, 166.0 * deviation, deviation
    ), "what the noise makes them differ by does not count"
    odd = noise + 1.4 * dense / size
    odd[0] = 100.0 * full
    assert not cells_pay(odd, sums, 8, dense / 1.4, deviation)


def test_thin_blocks_of_a_rough_table_are_measured_in_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of few people, drawn again and again: most cells are empty, in dense places and in thin ones."""
    random = np.random.default_rng(5)
    people = np.histogramdd(random.normal(32, 7, (1500, 2)), [range(65)] * 2)[0].astype(np.int64)
    counts = 150 * people

    def error() -> float:
        releases = [Adaptive().release(counts, epsilon="0.1", source=SeededSource(seed)).values for seed in range(4)]
        return float(np.sqrt(np.mean([(values - counts) ** 2 for values in releases])))

    in_turns = error()
    monkeypatch.setattr(adaptive, "cells_pay", lambda *_: False)
    assert in_turns < 0.7 * error()


def test_blocks_grow_until_their_sums_are_seen() -> None:
    n, deviation = 2**16, 50.0
    total = MEAN_DETECTED * deviation * n / 64
    assert block_size(total, n, 64, deviation) == 64
    assert block_size(total * 0.99, n, 64, deviation) == 64 * STEP
    assert block_size(total / STEP, n, 64, deviation) == 64 * STEP
    for nothing in (0.0, -1e6, -(2.0**63)):
        largest = block_size(nothing, n, 64, deviation)
        assert n // largest == LEAST_BLOCKS
    assert block_size(0.0, 300, 64, deviation) == 64, "a small table has few blocks"


def test_a_block_that_is_cut_is_cut_down_to_the_first_cell() -> None:
    for starts, expected in [
        ([0, 8, 16, 32, 64], [0, 1, 2, 4, 8, 16, 32, 64]),
        ([0, 32, 64, 65], [0, 1, 2, 4, 8, 16, 32, 64, 65]),
        ([0, 1, 2, 3], [0, 1, 2, 3]),
        ([0, 64, 96], [0, 64, 96]),
        ([0], [0]),
    ]:
        assert towards_the_first(np.array(starts), 64).tolist() == expected


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_a_pile_in_the_corner_of_a_table_is_found(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two numbers of events, many of them zero: too few for the cells around to be measured."""
    random = np.random.default_rng(1)
    events = random.poisson(random.gamma(1.0, 6.0, (2000, 1)) * np.ones(2))
    events[random.random(2000) < 0.15] = 0
    counts = np.histogramdd(events, [range(65)] * 2)[0].astype(np.int64)

    def off() -> tuple[float, float]:
        found, held = [], []
        for seed in range(12):
            release = sdp.Adaptive(workload).release(counts, epsilon="0.1", source=SeededSource(seed))
            interval = release.interval((0, 0))
            found.append(release.values - counts)
            held.append(interval.low <= counts[0, 0] <= interval.high)
        return float(np.sqrt(np.mean(np.square(found)))), float(np.mean(held))

    error, held = off()
    assert held > 0.7
    monkeypatch.setattr(adaptive, "towards_the_first", lambda starts, size: starts)
    assert error < 0.7 * off()[0]


def test_thresholds_are_those_that_were_tried() -> None:
    """In numbers, as halves and doubles of them were seen to err more: on spikes, on air times, on large tables."""
    noise = 10.0
    assert cells_of_dense_blocks(np.array([2.9, 3.1]) * noise, 4, 8, noise).tolist() == [0, 4, 5, 6, 7]
    assert block_size(0.55 * noise * 64, 64 * 64, 64, noise) > block_size(0.65 * noise * 64, 64 * 64, 64, noise) == 64
    assert dense_from(64, noise) == pytest.approx(0.7 * noise * 64)
    alike, one_full = np.full(16, 1000.0), np.where(np.arange(16) == 3, 1000.0, 0.0)
    assert part_sizes(alike, 256, noise, 1.0)[0] == 16, "where halves are alike, parts are large"
    assert part_sizes(one_full, 256, noise, 1.0)[3] == 4, "where they are not, small"
