"""Descriptions come from files: whatever they hold, one sentence and no traceback of another kind."""

from typing import Any

import pytest

from sparsedp.errors import BadFile, InvalidInput, SparsedpError, UnknownName
from sparsedp.sensing import SENSINGS, sensing_from


def test_names() -> None:
    assert {"direct", "bernoulli", "hadamard", "tree", "haar"} <= set(SENSINGS)
    assert all(sensing.name == name for name, sensing in SENSINGS.items())


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"n": 5},
        [],
        None,
        {"name": "direct"},
        {"name": "direct", "n": 5, "rows": 3},
        {"name": "hadamard", "n": 5},
        {"name": "tree", "n": 5, "branching": 2, 3: 4},
    ],
)
def test_missing_or_foreign_fields_are_a_bad_file(description: Any) -> None:
    with pytest.raises(BadFile):
        sensing_from(description)


@pytest.mark.parametrize(
    "description",
    [
        {"name": 3, "n": 5},
        {"name": "direct", "n": "5"},
        {"name": "direct", "n": 0},
        {"name": "direct", "n": 2**40},
        {"name": "hadamard", "n": 5, "rows": 6, "seed": 1},
        {"name": "bernoulli", "n": 5, "rows": 2, "seed": -1},
        {"name": "tree", "n": 5, "branching": 1},
        {"name": "tree", "n": 5},
    ],
)
def test_impossible_values_are_refused(description: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        sensing_from(description)


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'hadamard'"):
        sensing_from({"name": "hadamrd", "n": 5, "rows": 2, "seed": 1})
    assert issubclass(UnknownName, SparsedpError)
