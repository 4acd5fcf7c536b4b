"""What is publicly known has no error, and what is not has no less for it."""

import numpy as np
import pytest

import sparsedp as sdp

REGIONS = sdp.Domain([sdp.Categories("region", list("abcd")), sdp.Bins("age", list(range(9)))])
COUNTS = np.random.default_rng(1).integers(0, 50, REGIONS.shape)


@pytest.mark.parametrize("mechanism", ["adaptive", "laplace"])
def test_public_totals_and_zeros_have_no_error(mechanism: str) -> None:
    zeros = np.zeros(REGIONS.shape, np.bool_)
    zeros[0, 0] = True
    counts = np.where(zeros, 0, COUNTS)
    known = sdp.Constraints(totals={"region": counts.sum(axis=1)}, zeros=zeros)
    release = sdp.release(counts, epsilon="0.5", domain=REGIONS, constraints=known, mechanism=mechanism)
    for query, truth in (({"region": "b"}, counts[1].sum()), ({}, counts.sum()), ((0, 0), 0)):
        interval = release.interval(query)
        assert interval.low == pytest.approx(truth)
        assert interval.high == pytest.approx(truth)
    assert release.stderr is not None
    assert release.stderr[0, 0] == 0.0
    assert (release.stderr[~zeros] > 0.0).all()
    unknown = release.interval({"age": (0, 3)})
    assert unknown.high > unknown.low


def test_two_public_margins_leave_what_they_do_not_say() -> None:
    known = sdp.Constraints(totals={"region": COUNTS.sum(axis=1), "age": COUNTS.sum(axis=0)})
    release = sdp.release(COUNTS, epsilon="0.5", domain=REGIONS, constraints=known, mechanism="laplace")
    both = np.add.outer(np.arange(4.0), np.arange(8.0))
    interval = release.interval(both)
    assert interval.low == pytest.approx((both * COUNTS).sum(), rel=1e-6)
    assert interval.high == pytest.approx(interval.low, rel=1e-6)
    assert release.interval({"region": ["a", "b"], "age": (0, 4)}).high > 0.0


def test_without_totals_nothing_changes() -> None:
    plain = sdp.release(COUNTS, epsilon="0.5", domain=REGIONS, mechanism="laplace")
    whole = sdp.release(
        COUNTS, epsilon="0.5", domain=REGIONS, constraints=sdp.Constraints(integers=True), mechanism="laplace"
    )
    assert plain.stderr is not None
    assert whole.stderr is not None
    np.testing.assert_array_equal(plain.stderr, whole.stderr)
