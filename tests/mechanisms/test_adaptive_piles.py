"""Which groups of a tree are taken apart, by a plain loop; and that a pile too low for the tree is found."""

from math import log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.mechanisms.adaptive_piles import (
    MOST_PILES,
    SEEN,
    SMALL,
    UNFOUND,
    may_hide_piles,
    piles_taken_apart,
)
from sparsedp.noise.source import SeededSource

PATH = [0, 8, 16, 32, 64, 128, 256, 512]


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        (PATH, True),
        ([0, 32, 64, 128, 256, 512], True),
        ([0, 64, 128, 256, 512], False),
        ([0, 1, 2, 3, 4, *PATH[1:]], False),
        ([*range(0, 128, 16), *range(128, 1024, 64)], False),
        ([0], False),
    ],
    ids=["down to 8", "down to 32", "only to 64", "down to a cell", "many groups", "one"],
)
def test_where_piles_may_hide(starts: list[int], expected: bool) -> None:
    assert may_hide_piles(np.array(starts), 1024) == expected


@pytest.mark.parametrize("n", [1025, 1027, 1030, 1055])
def test_the_end_of_the_row_makes_no_small_group(n: int) -> None:
    """What is left beyond 1,024 cells is a group, or single cells, because the row ends."""
    rest = list(range(1024, n)) if n <= 1028 else [1024]
    assert not may_hide_piles(np.array([0, 64, 128, 256, 512, *rest]), n)
    assert may_hide_piles(np.array([*PATH, *rest]), n)
    sums = np.full(len(PATH) + len(rest), 400.0)
    sums[: len(PATH)] = 0.0
    starts = np.array([*PATH, *rest])
    assert piles_taken_apart(starts, n, sums, 1.0, 100).tolist() == starts.tolist()


@given(st.lists(st.floats(-100, 2000), min_size=len(PATH), max_size=len(PATH)), st.floats(1, 60), st.integers(1, 100))
def test_groups_taken_apart_are_those_of_a_plain_loop(sums: list[float], deviation: float, decay: int) -> None:
    n, cells, whole, hiding = 1024, list[int](), list[int](), 0
    for start, end, total in zip(PATH, [*PATH[1:], n], sums, strict=True):
        size = end - start
        asked = decay * (1 + log2(n / size))
        if size <= SMALL and SEEN * deviation * sqrt(size) <= total <= UNFOUND * asked:
            hiding += 1
            cells += range(start, end)
        else:
            whole.append(start)
    expected = sorted(cells + whole) if hiding <= MOST_PILES else PATH
    assert piles_taken_apart(np.array(PATH), n, np.array(sums), deviation, decay).tolist() == expected


def test_a_pile_that_the_tree_is_too_coarse_for_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.zeros(4096, np.int64)
    counts[1234] = 470
    counts += np.random.default_rng(1).poisson(0.1, 4096)

    def heights() -> float:
        releases = [Adaptive().release(counts, epsilon="0.1", source=SeededSource(seed)) for seed in range(30)]
        return float(np.mean([release.values[1234] > 235 for release in releases]))

    found = heights()
    assert found > 0.5
    monkeypatch.setattr("sparsedp.mechanisms.adaptive.may_hide_piles", lambda *_: False)
    assert heights() < found - 0.2
