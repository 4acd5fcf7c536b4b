"""The tree as it is grown follows the rule in private_tree.md: against plain recursion, with coins from a script."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_oracle import Node, grown_tree

from sparsedp.arrays import Ints
from sparsedp.mechanisms import _private_tree
from sparsedp.mechanisms._private_tree import Coins, Unevenness, flat_groups

decays = st.integers(1, 20)
rows = st.lists(st.integers(-5, 60), min_size=1, max_size=70)


class ScriptedCoins:
    """A node's coin falls by a seed, the node and its score, whatever the order in which nodes are looked at."""

    def __init__(self, seed: int, spread: int) -> None:
        self.seed, self.spread = seed, spread
        self.looks: list[list[Node]] = []

    def of(self, node: Node, score: int) -> bool:
        drawn = np.random.default_rng([self.seed, node.start, node.size]).integers(-self.spread, self.spread + 1)
        return bool(score + drawn > 3)

    def watch(self, row: Ints, slack: int) -> Unevenness:
        looks = self.looks

        class Watched(Unevenness):
            def of(self, groups: Ints, size: int) -> Ints:
                looks.append([Node(int(group) * size, size, len(looks)) for group in groups])
                return super().of(groups, size)

        return Watched(row, slack)

    def __call__(self, scores: Ints) -> npt.NDArray[np.bool_]:
        assert scores.dtype == np.int64
        assert scores.min(initial=0) >= 0
        return np.array([self.of(*each) for each in zip(self.looks[-1], scores.tolist(), strict=True)], np.bool_)


def grown(row: Ints, slack: int, decay: int, coins: ScriptedCoins, least: int) -> list[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_private_tree, "Unevenness", coins.watch)
        return list(map(int, flat_groups(row, slack, decay, coins, least)))


@given(
    rows,
    st.sampled_from([0, 4, 30]),
    decays,
    st.sampled_from([1, 2, 3, 4, 16]),
    st.integers(0, 2**30),
    st.sampled_from([0, 3, 40]),
)
def test_it_is_the_tree_of_the_rule(row: list[int], slack: int, decay: int, least: int, seed: int, spread: int) -> None:
    coins = ScriptedCoins(seed, spread)
    starts = grown(np.array(row, np.int64), slack, decay, coins, least)
    expected, looked = grown_tree(row, slack, decay, coins.of, least)
    assert starts == expected
    assert sum(map(len, coins.looks)) == looked == len({node for look in coins.looks for node in look})


@given(rows, st.integers(0, 2**30))
def test_groups_hold_every_cell_once(row: list[int], seed: int) -> None:
    starts = grown(np.array(row, np.int64), 3, 2, ScriptedCoins(seed, 30), 1)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert starts[-1] < len(row)


def from_score(least: int, looks: list[int] | None = None) -> Coins:
    """Coins that halve what has this score, and nothing else."""

    def coins(scores: Ints) -> npt.NDArray[np.bool_]:
        if looks is not None:
            looks.append(len(scores))
        return np.asarray(scores >= least)

    return coins


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 255, 256, 257])
def test_always_and_never_halved(n: int) -> None:
    row = np.zeros(n, np.int64)
    looks: list[int] = []
    assert flat_groups(row, 0, 1, from_score(0, looks)).tolist() == list(range(n))
    assert len(looks) == (n - 1).bit_length()
    assert flat_groups(row, 0, 1, from_score(1)).tolist() == [0]
    assert flat_groups(row, 0, 1, from_score(0), least=16).tolist() == list(range(0, n, 16))


def test_the_row_is_left_alone() -> None:
    row = 2**40 - np.arange(16, dtype=np.int64) * 2**36
    kept = row.tolist()
    assert len(flat_groups(row, 0, 1, from_score(0))) == 16
    assert row.tolist() == kept


@pytest.mark.parametrize("count", [2**62, -(2**62), 2**63 - 1, -(2**63)])
def test_the_largest_counts_do_not_turn_the_sign(count: int) -> None:
    """A spike of any size is split off, cell by cell, and the flat cells beside it are not."""
    row = np.zeros(64, np.int64)
    row[37] = count
    starts = flat_groups(row, 0, 10, from_score(1))
    assert starts.tolist() == [0, 32, 36, 37, 38, 40, 48]
