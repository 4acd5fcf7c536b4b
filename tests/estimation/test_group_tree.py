"""Trees over groups: every group that was measured is a node, and parts make up their wholes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.estimation._tree_messages import NONE, GroupTree


def some_layers(n: int, seed: int) -> list[np.ndarray]:
    """Nested, finest first: each begins some of the groups of that before."""
    random = np.random.default_rng(seed)
    starts = np.union1d(np.zeros(1, np.int64), random.integers(0, n, random.integers(1, 30)))
    layers = [starts]
    for _ in range(int(random.integers(0, 3))):
        kept = layers[-1][random.random(len(layers[-1])) < 0.4]
        layers.append(np.union1d(np.zeros(1, np.int64), kept))
    return layers


@given(st.integers(1, 500), st.integers(0, 2**32), st.booleans())
def test_every_group_is_a_node(n: int, seed: int, halves: bool) -> None:
    layers = some_layers(n, seed)
    tree = GroupTree.over(layers[0], n, layers[1:], halves=halves)
    bounds = np.append(layers[0], n)
    assert len(tree.first) == 2 * len(layers[0]) - 1
    for layer in layers:
        ends = np.append(layer[1:], n)
        nodes = tree.nodes_of(layer, ends)
        np.testing.assert_array_equal(bounds[tree.first[nodes]], layer)
        np.testing.assert_array_equal(bounds[tree.last[nodes]], ends)


@given(st.integers(1, 500), st.integers(0, 2**32), st.booleans())
def test_parts_make_up_their_wholes_and_come_after_them(n: int, seed: int, halves: bool) -> None:
    layers = some_layers(n, seed)
    tree = GroupTree.over(layers[0], n, layers[1:], halves=halves)
    bounds = np.append(layers[0], n)
    for node, (left, right) in enumerate(zip(tree.left, tree.right, strict=True)):
        if left == NONE:
            assert right == NONE
            assert tree.last[node] - tree.first[node] == 1
            continue
        assert node < left < right
        assert tree.first[node] == tree.first[left] < tree.last[left] == tree.first[right] < tree.last[right]
        assert tree.last[right] == tree.last[node]
        begin, middle, end = bounds[tree.first[node]], bounds[tree.first[right]], bounds[tree.last[node]]
        assert tree.width_of_left[node] == pytest.approx((middle - begin) / (end - begin))


def test_blocks_are_halved_where_a_run_of_cells_is() -> None:
    starts = np.array([0, 32, 48, 64, 96, 128, 192])
    tree = GroupTree.over(starts, 256, [np.array([0, 64, 128, 192])], halves=True)
    assert tree.starts[tree.first[tree.right[0]]] == 128
    assert tree.starts[tree.first[tree.right[tree.left[0]]]] == 64


def test_a_chain_of_groups_is_parted_in_its_middle() -> None:
    """So what stands out at its end is few divisions away: not one on each of eleven levels."""
    starts = np.append(0, 1 << np.arange(11))
    balanced, halved = (GroupTree.over(starts, 2048, [], halves=halves) for halves in (False, True))
    assert depth_of_first(balanced) == 3
    assert depth_of_first(halved) == 11


def depth_of_first(tree: GroupTree) -> int:
    node, depth = 0, 0
    while tree.left[node] != NONE:
        node, depth = tree.left[node], depth + 1
    return depth
