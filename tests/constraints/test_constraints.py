import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sparsedp.constraints import Constraints
from sparsedp.constraints.constraints import mask_from, runs_of
from sparsedp.errors import InvalidInput, UnknownName


@pytest.mark.parametrize(
    ("given", "shape", "said"),
    [
        ({"total": -1}, (4,), "total"),
        ({"total": 1.5}, (4,), "total"),
        ({"total": True}, (4,), "total"),
        ({"total": 2**54}, (4,), "total"),
        ({"totals": [3, 4]}, (2, 2), "of type list"),
        ({"totals": {0: [3, -4]}}, (2, 2), "negative somewhere"),
        ({"totals": {0: [2**53, 1]}}, (2, 2), "beyond 2**53"),
        ({"totals": {0: [1e30, 1]}}, (2, 2), "beyond 2**53"),
        ({"totals": {0: [0.5, 1]}}, (2, 2), "not whole numbers"),
        ({"totals": {0: ["a", "b"]}}, (2, 2), "not whole numbers"),
        ({"totals": {0: [[1], [1, 2]]}}, (2, 2), "not an array"),
        ({"totals": {0: 7}}, (2, 2), "not whole numbers"),
        ({"totals": {0: [1, 2, 3]}}, (2, 2), "of shape (3,)"),
        ({"totals": {2: [1, 2]}}, (2, 2), "axis 2"),
        ({"totals": {"day": [1, 2]}}, (2, 2), "no names"),
        ({"totals": {1.5: [1, 2]}}, (2, 2), "of type float"),
        ({"totals": {(): [1, 2]}}, (2, 2), "at least one axis"),
        ({"totals": {(0, -2): [[1, 2], [1, 2]]}}, (2, 2), "each only once"),
        ({"totals": {0: [1, 2], 1: [1, 1]}}, (2, 2), "axis 0 and those of axis 1 add up to 3 and 2"),
        ({"totals": {0: [1, 2], -2: [2, 1]}}, (2, 2), "at the same place"),
        ({"totals": {0: [1, 2]}, "total": 4}, (2, 2), "axis 0 and the grand total add up to 3 and 4"),
        ({"totals": {(0, 1): [[1, 2], [3, 4]], (1, 2): [[1, 0], [0, 9]]}}, (2, 2, 2), "4 and 1 at the same place"),
        ({"zeros": [True, False]}, (3,), "mask of shape (2,)"),
        ({"zeros": [0, 1, 0]}, (3,), "array of type int64"),
        ({"zeros": [True, True], "total": 1}, (2,), "all its cells must be zero"),
        ({"zeros": [[True, True], [False, False]], "totals": {0: [1, 1]}}, (2, 2), "all its cells must be zero"),
        ({"zeros": [True, False], "total": 1, "monotone": {0: "decreasing"}}, (2,), "all its cells must be zero"),
        ({"monotone": {0: "up"}}, (2,), "choose one of decreasing, increasing"),
        ({"monotone": {0: 1}}, (2,), "of type int"),
        ({"monotone": {1: "increasing"}}, (2,), "axis 1"),
        ({"monotone": {None: "increasing"}}, (2,), "of type NoneType"),
        ({"monotone": "increasing"}, (2,), "of type str"),
        ({"monotone": {0: "increasing", -1: "decreasing"}}, (2,), "both increasing and decreasing"),
        ({"monotone": {0: "increasing"}, "totals": {0: [2, 1]}}, (2, 2), "contradictory"),
        ({"zeros": [[True, False], [False, True]], "totals": {0: [3, 1], 1: [2, 2]}}, (2, 2), "contradictory"),
        ({"integers": 1}, (2,), "say True or False"),
        ({"integers": True, "totals": {0: [1, 1], 1: [1, 1], 2: [1, 1]}}, (2, 2, 2), "3 margins"),
        ({"integers": True, "totals": {0: [1, 1]}, "monotone": {0: "increasing"}}, (2, 2), "a monotone axis"),
        (
            {"integers": True, "totals": {0: [1, 1], 1: [1, 1]}, "monotone": {2: "increasing"}},
            (2, 2, 2),
            "2 margins",
        ),
        ({"integers": True, "totals": {0: [2**41, 0], 1: [2**41, 0]}}, (2, 2), "beyond 2**40"),
        ({"totals": {0: [1, 1]}, "monotone": {0: "increasing", 1: "increasing"}}, (2, 2), "several axes are monotone"),
    ],
)
def test_what_no_table_can_obey_is_refused_in_one_sentence(
    given: dict[str, Any], shape: tuple[int, ...], said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        Constraints(**given).checked(shape)
    message = str(refused.value)
    assert said in message
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 200


def test_a_large_contradiction_of_one_person_is_found() -> None:
    """Half of a billion are where they cannot all be, but for one."""
    zeros = [[True, False], [False, True]]
    many = 10**9
    assert Constraints(zeros=zeros, totals={0: [many, many], 1: [many, many]}).checked((2, 2)).margins
    with pytest.raises(InvalidInput, match="contradictory"):
        Constraints(zeros=zeros, totals={0: [many + 1, many], 1: [many + 1, many]}).checked((2, 2))


def test_three_margins_that_agree_in_pairs_can_still_contradict() -> None:
    """Each pair of three coins differs: no eight cells have such margins, though every two margins agree."""
    differ = [[0, 1], [1, 0]]
    with pytest.raises(InvalidInput, match="contradictory"):
        Constraints(totals={(0, 1): differ, (1, 2): differ, (0, 2): differ}).checked((2, 2, 2))
    assert len(Constraints(totals={(0, 1): differ, (1, 2): differ}).checked((2, 2, 2)).margins) == 2


def test_names_of_axes() -> None:
    constraints = Constraints(totals={"day": [1, 2, 3], ("region", "day"): [[1, 1, 1], [0, 1, 2]]})
    checked = constraints.checked((2, 3), axis_names=["region", "day"])
    assert [margin.axes for margin in checked.margins] == [(0, 1)]
    with pytest.raises(UnknownName, match="did you mean 'region'"):
        Constraints(monotone={"regoin": "increasing"}).checked((2, 3), axis_names=["region", "day"])
    with pytest.raises(InvalidInput, match="one for each of the 2 axes"):
        Constraints().checked((2, 3), axis_names=["region"])


def test_axes_in_any_order_are_one_margin() -> None:
    sums = np.arange(6).reshape(2, 3)
    forward = Constraints(totals={(0, 2): sums}).checked((2, 4, 3))
    backward = Constraints(totals={(2, 0): sums.T}).checked((2, 4, 3))
    assert forward.margins[0].axes == backward.margins[0].axes
    np.testing.assert_array_equal(forward.margins[0].totals, backward.margins[0].totals)


def test_zeros_reach_as_far_as_they_must() -> None:
    rising = Constraints(zeros=[False, False, True, False], monotone={0: "increasing"}).checked((4,))
    assert rising.free.tolist() == [False, False, False, True]
    falling = Constraints(zeros=[False, False, True, False], monotone={0: "decreasing"}).checked((4,))
    assert falling.free.tolist() == [True, True, False, False]
    everywhere = Constraints(zeros=[False, True], monotone={0: "increasing"}, total=0).checked((2,))
    assert not everywhere.free.any()
    empty_slice = Constraints(totals={1: [0, 5]}).checked((2, 2))
    assert empty_slice.free.tolist() == [[False, True], [False, True]]


@pytest.mark.parametrize(
    ("constraints", "invariant"),
    [
        (Constraints(), False),
        (Constraints(zeros=[True], monotone={0: "increasing"}, integers=True), False),
        (Constraints(total=0), True),
        (Constraints(totals={0: [1]}), True),
        (Constraints(totals={}), False),
    ],
)
def test_public_totals_are_an_invariant(constraints: Constraints, invariant: bool) -> None:
    assert constraints.is_invariant is invariant


FULL = Constraints(
    total=6,
    totals={0: np.array([3, 3]), ("region", 1): [[1.0, 2.0], [3.0, 0.0]]},
    zeros=np.array([[False, False], [False, True]]),
    monotone={"region": "increasing"},
    integers=True,
)


@pytest.mark.parametrize("constraints", [Constraints(), FULL, Constraints(total=3), Constraints(zeros=[True, False])])
def test_a_description_gives_the_constraints_back(constraints: Constraints) -> None:
    again = Constraints.from_description(json.loads(json.dumps(constraints.describe())))
    assert again == constraints
    assert hash(again) == hash(constraints)
    assert again != Constraints(total=4)


def test_what_it_says() -> None:
    assert str(FULL) == (
        "Cells are non-negative whole numbers; 1 cell is known to be zero; counts are increasing along region; "
        "the public total and the public totals of axis 0 and the public totals of region by axis 1 are kept."
    )


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"integers": "yes"},
        {"integers": False, "totals": [3]},
        {"integers": False, "totals": {"a": 1}},
        {"integers": False, "monotone": [[0]]},
        {"integers": False, "zeros": {"shape": [3], "runs": [1, 1]}},
        {"integers": False, "zeros": {"shape": [3], "runs": [4, -1]}},
        {"integers": False, "zeros": {"shape": [2**40], "runs": [2**40]}},
        {"integers": False, "zeros": {"shape": [3]}},
        {"integers": False, "zeros": {"shape": [2], "runs": [2**63, 2**63 + 2]}},
    ],
)
def test_a_damaged_description_is_refused(description: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Constraints.from_description(description)


def test_what_was_given_can_no_longer_be_changed() -> None:
    zeros, totals = np.array([True, False]), np.array([0, 3])
    constraints = Constraints(zeros=zeros, totals={0: totals})
    zeros[1], totals[1] = True, 9
    assert constraints == Constraints(zeros=[True, False], totals={0: [0, 3]})
    assert constraints.totals is not None
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(constraints.totals[0])[0] = 1


@given(mask=arrays(np.bool_, array_shapes(max_dims=3, max_side=6)))
def test_a_mask_from_its_runs(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
    np.testing.assert_array_equal(mask_from(runs_of(mask)), mask)


def test_long_runs_are_short_to_write() -> None:
    assert runs_of(np.arange(10**6) > 1000) == {"shape": [10**6], "runs": [1001, 998_999]}


@given(st.integers(0, 5))
def test_a_mask_without_cells(size: int) -> None:
    np.testing.assert_array_equal(mask_from(runs_of(np.zeros((0, size), bool))), np.zeros((0, size), bool))
