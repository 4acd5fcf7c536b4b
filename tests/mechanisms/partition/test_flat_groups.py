"""The tree as it is grown follows the rule in private_tree.md: against plain recursion, with noise from a script."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_oracle import Node, grown_tree

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition import private_tree
from sparsedp.mechanisms.partition.deviation import node_deviations
from sparsedp.mechanisms.partition.private_tree import decay_of, flat_groups, singled

scales = st.fractions(min_value=Fraction(1, 50), max_value=20, max_denominator=50)
rows = st.lists(st.integers(-5, 60), min_size=1, max_size=70)


class ScriptedNoise:
    """Noise of a node drawn from a seed and the node alone, whatever the order in which nodes are looked at."""

    def __init__(self, seed: int, spread: int, n: int) -> None:
        self.seed, self.spread, self.n = seed, spread, n
        self.looks: list[list[Node]] = []

    def of(self, node: Node) -> int:
        drawn = np.random.default_rng([self.seed, node.start, node.size]).integers(-self.spread, self.spread + 1)
        return int(drawn)

    def watch(self, row: Integers, nodes: Integers, size: int) -> Integers:
        depth = len(self.looks)
        self.looks.append([Node(int(node) * size, size, depth) for node in nodes])
        return node_deviations(row, nodes, size)

    def add_to(self, scores: Integers) -> None:
        assert scores.dtype == np.int64
        scores += np.array([self.of(node) for node in self.looks[-1]], np.int64)


def grown(row: Integers, scale: Fraction, noise: ScriptedNoise, least: int) -> list[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(private_tree, "node_deviations", noise.watch)
        return list(map(int, flat_groups(row, scale, noise.add_to, least)))


@given(rows, scales, st.sampled_from([1, 2, 3, 4, 16]), st.integers(0, 2**30), st.sampled_from([0, 3, 40]))
def test_it_is_the_tree_of_the_rule(row: list[int], scale: Fraction, least: int, seed: int, spread: int) -> None:
    noise = ScriptedNoise(seed, spread, len(row))
    starts = grown(np.array(row, np.int64), scale, noise, least)
    expected, looked = grown_tree(row, decay_of(scale), noise.of, least)
    assert starts == expected
    assert sum(map(len, noise.looks)) == looked == len({node for look in noise.looks for node in look})


@given(rows, st.integers(0, 2**30))
def test_groups_hold_every_cell_once(row: list[int], seed: int) -> None:
    starts = grown(np.array(row, np.int64), Fraction(2), ScriptedNoise(seed, 30, len(row)), 1)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert starts[-1] < len(row)


def always(amount: int, looks: list[int] | None = None) -> Callable[[Integers], None]:
    def add(scores: Integers) -> None:
        scores += amount
        if looks is not None:
            looks.append(len(scores))

    return add


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 255, 256, 257])
def test_always_and_never_halved(n: int) -> None:
    row = np.zeros(n, np.int64)
    looks: list[int] = []
    assert flat_groups(row, Fraction(1), always(100, looks)).tolist() == list(range(n))
    assert len(looks) == (n - 1).bit_length()
    assert flat_groups(row, Fraction(1), always(-100)).tolist() == [0]
    assert flat_groups(row, Fraction(1), always(100), least=16).tolist() == list(range(0, n, 16))


def test_the_row_is_left_alone() -> None:
    row = 2**40 - np.arange(16, dtype=np.int64) * 2**36
    kept = row.tolist()
    assert len(flat_groups(row, Fraction(1), always(5))) == 16
    assert row.tolist() == kept


@pytest.mark.parametrize("count", [2**62, -(2**62), 2**63 - 1, -(2**63)])
def test_the_largest_counts_do_not_turn_the_sign(count: int) -> None:
    """A spike of any size is split off, cell by cell, and the flat cells beside it are not."""
    row = np.zeros(64, np.int64)
    row[37] = count
    starts = flat_groups(row, Fraction(10), always(0))
    assert starts.tolist() == [0, 32, 36, 37, 38, 40, 48]


@given(st.sets(st.integers(1, 69), max_size=20), st.integers(70, 80), st.sampled_from([1, 2, 4, 100]))
def test_small_groups_are_taken_apart(later: set[int], n: int, most: int) -> None:
    starts = [0, *sorted(later)]
    expected: list[int] = []
    for start, end in zip(starts, [*starts[1:], n], strict=True):
        expected += range(start, end) if end - start <= most else [start]
    assert singled(np.array(starts, np.int64), n, most).tolist() == expected
