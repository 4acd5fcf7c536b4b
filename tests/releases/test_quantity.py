"""Sums of a value: measured in whole steps, published in the value's own unit, errors and all."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sparsedp as sdp
from sparsedp.axes.domain import RECORDS, Quantity
from sparsedp.errors import InvalidInput
from sparsedp.noise.source import SeededSource
from sparsedp.plan import Plan
from sparsedp.synopsis import Synopsis

CENTS = Quantity("amount", Fraction(1, 100))
DOMAIN = sdp.Domain([sdp.Categories("region", ["north", "south"]), sdp.Integers("hour", 0, 31)])
STEPS = np.random.default_rng(1).poisson(4000, DOMAIN.shape)
MECHANISMS = {"adaptive": sdp.Adaptive(), "laplace": sdp.Laplace(), "ranges": sdp.Adaptive("ranges")}


def measured(name: str) -> Synopsis:
    return MECHANISMS[name].measure(STEPS, epsilon="0.01", contribution=500, domain=DOMAIN, source=SeededSource(3))


def in_cents(synopsis: Synopsis) -> Synopsis:
    return replace(synopsis, plan=replace(synopsis.plan, quantity=CENTS))


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_release_is_that_of_the_steps_times_the_resolution(name: str) -> None:
    steps = measured(name)
    plain, sums = steps.recover(), in_cents(steps).recover()
    np.testing.assert_array_equal(sums.values, plain.values / 100)
    assert plain.stderr is not None
    assert sums.stderr is not None
    np.testing.assert_allclose(sums.stderr, plain.stderr / 100, rtol=1e-14)
    for query in ((0, 3), {"hour": (3, 20)}, np.arange(64.0).reshape(2, 32) - 9):
        expected, found = plain.interval(query), sums.interval(query)
        told = np.array([found.low, found.high, found.estimate])
        np.testing.assert_allclose(told, np.array([expected.low, expected.high, expected.estimate]) / 100, rtol=1e-12)
    assert sums.quantity == CENTS
    assert ", total amount. " in repr(sums)


def test_a_step_is_the_nearest_float() -> None:
    """123 steps of a cent are 1.23, as people write it."""
    steps = np.arange(-3000.0, 3000.0)
    assert CENTS.in_units(steps).tolist() == [float(Fraction(int(step), 100)) for step in steps]
    assert Quantity("x", Fraction(1, 3)).in_units(steps).tolist() == [float(Fraction(int(step), 3)) for step in steps]
    assert RECORDS.in_units(steps) is steps


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_file_keeps_the_unit(name: str, tmp_path: Path) -> None:
    release = in_cents(measured(name)).recover()
    path = release.save(tmp_path / "x.parquet")
    assert list(pd.read_parquet(path).columns) == ["region", "hour", "total", "stderr"]
    again = sdp.open_release(path)
    assert again.quantity == CENTS
    assert again.digest == release.digest
    np.testing.assert_array_equal(again.values, release.values)
    for query in ((1, 3), {"hour": (3, 20)}):
        found, kept = again.interval(query), release.interval(query)
        assert (found.low, found.high) == pytest.approx((kept.low, kept.high), rel=1e-12)
    assert again.sql("select sum(total) from release").fetchone() == pytest.approx((release.values.sum(),))


def test_public_zeros_are_those_of_steps() -> None:
    zeros = np.zeros(DOMAIN.shape, np.bool_)
    zeros[0, :5] = True
    steps = np.where(zeros, 0, STEPS)
    known = sdp.Constraints(zeros=zeros, integers=True)
    synopsis = sdp.Laplace().measure(steps, epsilon=1, domain=DOMAIN, constraints=known)
    sums = in_cents(synopsis).recover()
    assert (sums.values[zeros] == 0).all()
    np.testing.assert_array_equal(sums.values, synopsis.recover().values / 100)
    assert sums.interval({"region": "north", "hour": (0, 5)}).high == 0


def test_a_synopsis_keeps_it(tmp_path: Path) -> None:
    synopsis = in_cents(measured("laplace"))
    again = sdp.open_synopsis(synopsis.save(tmp_path / "x.synopsis"))
    assert again.quantity == CENTS
    assert again.digest == synopsis.digest != measured("laplace").digest
    assert Plan.from_description(synopsis.plan.describe()) == replace(synopsis.plan, choosing=())


def test_the_column_of_sums_is_no_axis() -> None:
    domain = sdp.Domain([sdp.Categories("kind", ["a", "b"]), sdp.Integers("hour", 0, 3)])
    taken = replace(sdp.Laplace().plan(8, domain), quantity=CENTS)
    assert taken.quantity.column == "total"
    try:
        other = sdp.Domain([sdp.Integers("total", 0, 7)])
    except InvalidInput:
        return  # no domain has such an axis
    with pytest.raises(InvalidInput, match="domain is with an axis 'total' that needs the column 'total'"):
        replace(sdp.Laplace().plan(8, other), quantity=CENTS)


def test_quantities_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"resolution is 0\.5; give it with a value column only"):
        Quantity(None, Fraction(1, 2))
    with pytest.raises(InvalidInput, match="resolution is 0; give a number above zero"):
        Quantity("amount", Fraction(0))
    with pytest.raises(InvalidInput, match="value is of type int"):
        Quantity(5)  # type: ignore[arg-type]
