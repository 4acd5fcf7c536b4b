"""The tree's layout: root first, level by level."""

import numpy as np
import pytest

from sparsedp.errors import InvalidInput
from sparsedp.sensing.tree import Tree


def test_layout() -> None:
    tree = Tree(5, branching=2)
    assert tree.level_sizes == (1, 2, 3, 5)
    assert tree.level_starts == (0, 1, 3, 6)
    assert tree.apply(np.array([1, 2, 3, 4, 5])).tolist() == [15, 10, 5, 3, 7, 5, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("n", "branching", "levels"), [(1, 2, 1), (2, 2, 2), (3, 2, 3), (8, 2, 4), (9, 3, 3), (10, 3, 4)]
)
def test_levels(n: int, branching: int, levels: int) -> None:
    assert Tree(n, branching).levels == levels


def test_wide_trees_have_no_rows_for_missing_cells() -> None:
    assert Tree(2**16 + 1, branching=2**16).rows == 1 + 2 + 2**16 + 1


@pytest.mark.parametrize("branching", [1, 0, 2.0, 2**16 + 1])
def test_impossible_branching_is_refused(branching: int) -> None:
    with pytest.raises(InvalidInput, match="branching"):
        Tree(4, branching)
