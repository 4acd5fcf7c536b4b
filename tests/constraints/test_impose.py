import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_tables import KnownTable, assert_obeys, known_table

from sparsedp.arrays import Floats
from sparsedp.constraints import Constraints, impose
from sparsedp.constraints._impose import spread_totals
from sparsedp.errors import InvalidInput

KINDS = {
    "nothing": ((37,), {}),
    "total": ((37,), {"total": True}),
    "zeros": ((37,), {"zeros": True}),
    "total and zeros": ((6, 7), {"total": True, "zeros": True}),
    "every cell": ((9,), {"margins": [(0,)]}),
    "one axis": ((6, 7), {"margins": [(1,)], "total": True}),
    "one axis and zeros": ((6, 7), {"margins": [(0,)], "zeros": True}),
    "two axes": ((6, 7), {"margins": [(0,), (1,)]}),
    "two axes and zeros": ((6, 7), {"margins": [(0,), (1,)], "zeros": True, "total": True}),
    "two overlapping margins": ((4, 5, 3), {"margins": [(0, 1), (1, 2)], "zeros": True}),
    "a margin within a margin": ((4, 5, 3), {"margins": [(0, 1), (1,)], "zeros": True}),
    "rising": ((37,), {"monotone": {0: "increasing"}}),
    "falling with zeros": ((6, 7), {"monotone": {1: "decreasing"}, "zeros": True}),
    "falling with a total": ((37,), {"monotone": {0: "decreasing"}, "total": True}),
    "rising within totals": ((6, 7), {"monotone": {1: "increasing"}, "margins": [(0,)], "zeros": True}),
    "two monotone axes": ((6, 7), {"monotone": {0: "increasing", 1: "decreasing"}, "zeros": True}),
    "two monotone axes within totals": (
        (3, 5, 4),
        {"monotone": {1: "decreasing", 2: "increasing"}, "margins": [(0,)], "total": True},
    ),
}  # fmt: skip
NO_INTEGERS = {
    "three axes": ((4, 5, 3), {"margins": [(0,), (1,), (2,)]}),
    "three pairs of axes": ((4, 3, 3), {"margins": [(0, 1), (1, 2), (0, 2)], "zeros": True}),
    "totals along a rising axis": ((6, 7), {"monotone": {1: "increasing"}, "margins": [(1,)]}),
    "totals across and along": ((6, 7), {"monotone": {1: "decreasing"}, "margins": [(0,), (1,)], "zeros": True}),
}  # fmt: skip
CLOSE = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
EVERY = [(name, integers) for name in KINDS for integers in (False, True)] + [(name, False) for name in NO_INTEGERS]


def table_of(name: str, seed: int, *, weighted: bool = False, integers: bool = False, noise: float = 5.0) -> KnownTable:
    shape, known = {**KINDS, **NO_INTEGERS}[name]
    return known_table(seed, shape, weighted=weighted, integers=integers, noise=noise, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "integers"), EVERY)
def test_what_comes_out_obeys(name: str, integers: bool, weighted: bool) -> None:
    for seed in range(8):
        known = table_of(name, seed, weighted=weighted, integers=integers, noise=10.0 ** (seed % 4 - 1))
        before = known.estimate.copy()
        assert_obeys(impose(known.estimate, known.constraints, known.variance), known.constraints)
        np.testing.assert_array_equal(known.estimate, before)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "integers"), EVERY)
def test_a_table_that_obeys_stays(name: str, integers: bool, weighted: bool) -> None:
    known = table_of(name, 3, weighted=weighted, integers=integers)
    counts = known.counts.astype(float)
    np.testing.assert_allclose(impose(counts, known.constraints, known.variance), counts, rtol=1e-12, atol=1e-12)
    once = impose(known.estimate, known.constraints, known.variance)
    # Twenty digits below the largest cell nothing is promised: the totals themselves are known to 10⁻⁹ only.
    again = impose(once, known.constraints, known.variance)
    np.testing.assert_allclose(again, once, rtol=1e-7, atol=1e-7)


def nearest_by_cone_program(target: Floats, known: KnownTable, weights: Floats) -> Floats:
    table = cp.Variable(target.size)
    places = np.arange(target.size).reshape(target.shape)
    rules = [table >= 0]
    constraints = known.constraints
    if constraints.total is not None:
        rules.append(cp.sum(table) == constraints.total)  # type: ignore[attr-defined]
    for axes, wanted in (constraints.totals or {}).items():
        assert isinstance(axes, tuple)
        moved = np.moveaxis(places, axes, range(len(axes))).reshape(np.asarray(wanted).size, -1)
        rules += [cp.sum(table[row]) == total for row, total in zip(moved, np.ravel(wanted), strict=True)]  # type: ignore[attr-defined]
    if constraints.zeros is not None:
        rules.append(table[places[np.asarray(constraints.zeros)]] == 0)
    for axis, direction in (constraints.monotone or {}).items():
        lines = np.moveaxis(places, axis, 0)
        rise = table[lines[1:].ravel()] - table[lines[:-1].ravel()]
        rules.append(rise >= 0 if direction == "increasing" else rise <= 0)
    cost = cp.sum_squares(cp.multiply(table - target.ravel(), 1.0 / np.sqrt(weights.ravel())))  # type: ignore[attr-defined]
    cp.Problem(cp.Minimize(cost), rules).solve(solver=cp.CLARABEL, **CLOSE)  # type: ignore[no-untyped-call]
    return np.asarray(table.value).reshape(target.shape)


def distance(table: Floats, target: Floats, weights: Floats) -> float:
    return float(np.sum((table - target) ** 2 / weights))


# With several monotone axes and weights the totals are met by scaling, which is not the nearest.
@pytest.mark.parametrize(
    ("name", "weighted"),
    [
        (name, weighted)
        for name in [*KINDS, *NO_INTEGERS]
        for weighted in (False, True)
        if not (weighted and "two mon" in name)
    ],
)
def test_the_nearest_table_is_found(name: str, weighted: bool) -> None:
    for seed in range(3):
        known = table_of(name, seed, weighted=weighted)
        weights = np.ones(known.counts.shape) if known.variance is None else known.variance / known.variance.max()
        checked = known.constraints.checked(known.counts.shape)
        finest = max(checked.margins, key=lambda margin: margin.totals.size, default=None)
        # From the estimate without negative cells on, the answer is the nearest that obeys.
        start = spread_totals(
            known.estimate,
            weights,
            checked.free,
            () if finest is None else finest.axes,
            None if finest is None else finest.totals.astype(float),
        )
        nearest = nearest_by_cone_program(start, known, weights)
        table = impose(known.estimate, known.constraints, known.variance)
        wanted, found = distance(nearest, start, weights), distance(table, start, weights)
        assert found <= wanted + 1e-5 * (1.0 + wanted)
        np.testing.assert_allclose(table, nearest, atol=5e-3)


@given(seed=st.integers(0, 2**32), rows=st.integers(1, 9), columns=st.integers(1, 9), zeros=st.booleans())
def test_both_margins_of_any_table_can_be_met(seed: int, rows: int, columns: int, zeros: bool) -> None:
    known = known_table(seed, (rows, columns), margins=[(0,), (1,)], zeros=zeros, integers=True, noise=20.0)
    assert_obeys(impose(known.estimate, known.constraints), known.constraints)


def test_an_axis_by_name_is_the_axis() -> None:
    known = table_of("one axis", 0)
    by_name = Constraints(totals={"day": known.counts.sum(axis=0)})
    table = impose(known.estimate, by_name, axis_names=["region", "day"])
    np.testing.assert_array_equal(table, impose(known.estimate, Constraints(totals={-1: known.counts.sum(axis=0)})))


def test_large_totals_are_met_to_the_unit() -> None:
    generator = np.random.default_rng(0)
    counts = generator.integers(0, 2**30, (20, 30))
    constraints = Constraints(totals={(0,): counts.sum(axis=1), (1,): counts.sum(axis=0)}, integers=True)
    table = impose(counts + generator.normal(0.0, 1e5, counts.shape), constraints)
    assert_obeys(table, constraints)


@pytest.mark.parametrize(
    ("estimate", "variance", "given"),
    [
        ([], None, "empty"),
        ([1.0, np.nan], None, "not finite"),
        ([1.0, 2.0, 3.0], None, "of shape (3,)"),
        ([1.0, 2.0], [1.0], "not one number"),
        ([1.0, 2.0], [1.0, -1.0], "not one number"),
        ([1.0, 2.0], [1.0, np.inf], "not one number"),
    ],
)
def test_what_cannot_be_imposed_on_is_refused(estimate: list[float], variance: list[float] | None, given: str) -> None:
    checked = Constraints(integers=True).checked((2,))
    with pytest.raises(InvalidInput) as refused:
        impose(np.array(estimate), checked, variance)
    assert given in str(refused.value)


def test_numbers_too_large_for_digits_behind_the_point_are_whole_already() -> None:
    np.testing.assert_array_equal(impose(np.array([1e30, 2.4]), Constraints(integers=True)), [1e30, 2.0])


def test_variances_of_nothing_are_alike() -> None:
    estimate = np.array([3.0, -1.0, 2.0])
    np.testing.assert_array_equal(impose(estimate, Constraints(), np.zeros(3)), impose(estimate, Constraints()))
