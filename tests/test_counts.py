"""Counts are on the private side: they cannot be printed, pickled, copied or written to."""

import copy
import pickle

import numpy as np
import pytest

from sparsedp.axes import Integers
from sparsedp.axes.domain import Domain
from sparsedp.counts import Counts
from sparsedp.errors import PrivateSide


def some_counts() -> Counts:
    domain = Domain([Integers("age", 0, 2)])
    return Counts(np.array([7777, 0, 3]), domain, contribution=2, privacy_unit=("who",), max_contributions=2)


def test_they_hold_what_was_counted() -> None:
    counts = some_counts()
    assert counts.values.tolist() == [7777, 0, 3]
    assert counts.quantity.column == "count"
    assert not counts.negative


def test_they_do_not_show_themselves() -> None:
    for shown in (repr(some_counts()), str(some_counts()), f"{some_counts()}"):
        assert "7777" not in shown
        assert "private" in shown


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_they_cannot_be_carried_off(way: object) -> None:
    assert callable(way)
    with pytest.raises(PrivateSide, match="publish them instead"):
        way(some_counts())


def test_they_cannot_be_changed() -> None:
    counts = some_counts()
    with pytest.raises(ValueError, match="read-only"):
        counts.values[0] = 1
    with pytest.raises(AttributeError):
        counts.contribution = 1  # type: ignore[misc]
