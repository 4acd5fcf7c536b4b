"""Counts of records bring their domain and their bound to every mechanism, and no call can lower the bound."""

from fractions import Fraction

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.axes.domain import Quantity
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput

DOMAIN = sdp.Domain([sdp.Categories("sex", ["F", "M"]), sdp.Integers("hour", 0, 3)])


def counted(contribution: int = 3, quantity: Quantity | None = None, *, negative: bool = False) -> Counts:
    values = np.arange(8, dtype=np.int64).reshape(2, 4)
    records = quantity or Quantity()
    return Counts(values, DOMAIN, contribution, ("patient",), 3, records, negative)


@pytest.mark.parametrize("name", sorted(sdp.MECHANISMS))
def test_every_mechanism_takes_the_bound_from_the_counts(name: str) -> None:
    mechanism = sdp.MECHANISMS[name]()
    release = mechanism.release(counted(), epsilon=1)
    assert release.domain == DOMAIN
    assert release.guarantee.neighbours.contribution == 3
    assert "same patient" in str(release.guarantee)


def test_the_noise_is_that_of_the_enforced_bound() -> None:
    assert sdp.Laplace().measure(counted(), epsilon="0.5").noise_scale == 6
    assert sdp.Laplace().measure(counted(), epsilon="0.5", contribution=3).noise_scale == 6


@pytest.mark.parametrize("contribution", [1, 2, 4])
def test_another_bound_is_refused_before_anything_is_spent(contribution: int) -> None:
    ledger = sdp.Ledger(epsilon=1)
    with pytest.raises(InvalidInput, match="bound is enforced"):
        sdp.Laplace().measure(counted(), epsilon=1, contribution=contribution, ledger=ledger)
    assert ledger.spent is None


def test_another_domain_is_refused() -> None:
    with pytest.raises(InvalidInput, match="domain"):
        sdp.release(counted(), epsilon=1, domain=sdp.Domain([sdp.Integers("cell", 0, 7)]))


def test_sums_of_a_value_keep_their_unit() -> None:
    amounts = Quantity("amount", Fraction(1, 100))
    synopsis = sdp.Laplace().measure(counted(150_000, amounts), epsilon=1)
    assert synopsis.plan.quantity == amounts
    assert synopsis.recover().quantity == amounts


def test_signed_sums_may_come_out_negative() -> None:
    release = sdp.release(counted(quantity=Quantity("change", Fraction(1)), negative=True), epsilon="0.01")
    assert not release.nonnegative


def test_constraints_are_for_counts_of_records() -> None:
    with pytest.raises(InvalidInput, match="constraints"):
        sdp.release(
            counted(quantity=Quantity("amount", Fraction(1, 100))),
            epsilon=1,
            constraints=sdp.Constraints(integers=True),
        )


class TestParts:
    """Parts that were counted apart merge, with a bound that is never less than one part's own."""

    def test_one_part_keeps_its_bound(self) -> None:
        mechanism = sdp.Laplace()
        assert mechanism.perturb(mechanism.sense(counted()), epsilon=1).noise_scale == 3

    def test_merged_parts_need_a_promise(self) -> None:
        mechanism = sdp.Laplace()
        both = mechanism.sense(counted()) + mechanism.sense(counted(5))
        with pytest.raises(InvalidInput, match="over all parts together"):
            mechanism.perturb(both, epsilon=1)
        with pytest.raises(InvalidInput, match="less than the bound of 5"):
            mechanism.perturb(both, epsilon=1, contribution=4)
        assert mechanism.perturb(both, epsilon=1, contribution=8).noise_scale == 8

    def test_a_promise_is_checked_first(self) -> None:
        mechanism = sdp.Laplace()
        for wrong in ("3", 2.5, 0, None):
            with pytest.raises(InvalidInput, match="contribution"):
                mechanism.perturb(
                    mechanism.sense(counted()) + mechanism.sense(counted()),
                    epsilon=1,
                    contribution=wrong,  # type: ignore[arg-type]
                )
