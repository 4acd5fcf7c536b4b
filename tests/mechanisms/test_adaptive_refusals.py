"""Adaptive spends nothing on what it refuses, says why in one sentence, and debits before it draws."""

import re

import numpy as np
import pytest
from watching_source import WatchingSource

import sparsedp as sdp
from sparsedp.errors import InvalidInput, SparsedpError, UnknownName
from sparsedp.mechanisms._adaptive_shares import ROWS
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import RandomSource

SECRET = 987_654_321
GOOD = np.full(300, SECRET)
EVERY_WORKLOAD = pytest.mark.parametrize("workload", ROWS)


class ForbiddenSource(RandomSource):
    """Fails the test if anything is drawn."""

    def key(self) -> bytes:
        raise AssertionError("noise was drawn")


REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "epsilon zero": ({"epsilon": 0}, "epsilon is 0; give a number above zero"),
    "epsilon nan": ({"epsilon": float("nan")}, "epsilon is 'nan'"),
    "epsilon tiny": ({"epsilon": "1e-16"}, "so small that the noise would not fit 64-bit integers"),
    "rho tiny": ({"epsilon": None, "rho": "1e-34"}, "so small that the noise would not fit 64-bit integers"),
    "wide contribution": ({"epsilon": "1e-9", "contribution": 10**6}, "so small that the noise would not fit"),
    "delta one": ({"delta": 1}, "delta is 1; give a number between 0 and 1"),
    "delta above": ({"delta": 2}, "delta is 2; give a number between 0 and 1"),
    "delta nan": ({"delta": float("nan")}, "delta is 'nan'"),
    "both": ({"rho": 1}, "epsilon is given together with rho"),
    "none": ({"epsilon": None}, "epsilon is missing"),
    "negative": ({"counts": [SECRET, -1]}, "counts is negative somewhere"),
    "nan": ({"counts": [SECRET, float("nan")]}, "counts is not finite"),
    "empty": ({"counts": []}, "counts is empty"),
    "shape": ({"domain": sdp.Domain.of_shape((30, 9))}, "counts is an array of shape (300,); give the domain's shape"),
    "flattened": ({"domain": sdp.Domain.of_shape((30, 10))}, "counts is an array of shape (300,); give the domain's"),
    "domain": ({"domain": (300,)}, "domain is of type tuple"),
    "contribution": ({"contribution": 0}, "contribution is 0"),
    "neighbours": ({"neighbours": "replace"}, "did you mean 'replace_one'"),
    "sampler": ({"sampler": "opendq"}, "did you mean 'opendp'"),
    "a ledger in epsilon": ({"epsilon": None, "rho": 1}, "on a ledger that is kept in epsilon"),
    "too much": ({"epsilon": 11}, "The budget would be exceeded"),
}


@EVERY_WORKLOAD
@pytest.mark.parametrize(("change", "complaint"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_costs_nothing(workload: str, change: dict[str, object], complaint: str) -> None:
    ledger = sdp.Ledger(epsilon=10)
    call: dict[str, object] = {"counts": GOOD, "epsilon": 1, "ledger": ledger, "source": ForbiddenSource(), **change}
    counts = call.pop("counts")
    with pytest.raises(SparsedpError) as caught:
        Adaptive(workload).release(counts, **call)  # type: ignore[arg-type]
    sentence = str(caught.value)
    assert complaint in sentence
    assert "\n" not in sentence
    assert str(SECRET) not in sentence
    assert ledger.spent is None


@EVERY_WORKLOAD
@pytest.mark.parametrize("asked", [{"epsilon": "1e-30"}, {"rho": "1e-60"}, {"epsilon": "1e-60", "delta": "1e-70"}])
def test_the_remedy_for_a_tiny_budget_works(workload: str, asked: dict[str, str]) -> None:
    """The widest noise that is let through is drawn by every phase, for flat cells and for rough ones."""
    named = next(iter(asked))
    with pytest.raises(InvalidInput, match="would not fit") as caught:
        Adaptive(workload).measure(GOOD, **asked)  # type: ignore[arg-type]
    remedy = re.search(r"give at least (\S+)\.$", str(caught.value))
    assert remedy is not None
    for counts in (GOOD, np.where(np.arange(300) % 2, 2**61, 0), np.zeros((32, 32), np.int64)):
        synopsis = Adaptive(workload).measure(counts, **{**asked, named: remedy.group(1)})  # type: ignore[arg-type]
        assert synopsis.private
        assert np.isfinite(synopsis.recover().values).all()


@pytest.mark.parametrize("workload", ["cell", "", None, 5])
def test_unknown_workloads_are_refused(workload: object) -> None:
    with pytest.raises(InvalidInput, match="workload is") as caught:
        Adaptive(workload)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    with pytest.raises(UnknownName, match="did you mean 'ranges'"):
        Adaptive("rangse")


def test_parts_cannot_be_measured_apart() -> None:
    ledger = sdp.Ledger(epsilon=1)
    mechanism = Adaptive()
    with pytest.raises(InvalidInput, match="decides what to measure by looking at the whole table; call `measure`"):
        mechanism.plan(300)
    with pytest.raises(InvalidInput, match="looking at the whole table"):
        mechanism.sense(GOOD)
    for raw, complaint in ((sdp.Laplace().sense(GOOD), "looking at the whole table"), (GOOD, "raw is of type ndarray")):
        with pytest.raises(InvalidInput, match=complaint):
            mechanism.perturb(raw, epsilon=1, ledger=ledger, source=ForbiddenSource())  # type: ignore[arg-type]
    assert ledger.spent is None


@EVERY_WORKLOAD
@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="0.5"), sdp.Budget(epsilon="0.5", delta="1e-9")], ids=str)
@pytest.mark.parametrize("shape", [(300,), (32, 32)], ids=str)
def test_the_whole_budget_is_debited_before_any_noise_is_drawn(
    workload: str, budget: sdp.Budget, shape: tuple[int, ...]
) -> None:
    ledger = sdp.Ledger(epsilon=1, delta=budget.delta)
    source = WatchingSource(ledger)
    counts = np.arange(300) if len(shape) == 1 else np.zeros(shape, np.int64)
    Adaptive(workload).measure(counts, epsilon=budget, ledger=ledger, source=source)
    assert len(source.spent) >= 2
    assert all(spent == budget for spent in source.spent)
    assert ledger.spent == budget
    assert len(ledger.entries) == 1


def test_a_public_total_for_every_cell_leaves_nothing_to_protect() -> None:
    counts = np.arange(8)
    for table, constraints in (
        (counts, sdp.Constraints(totals={0: counts})),
        (counts.reshape(2, 4), sdp.Constraints(totals={(0, 1): counts.reshape(2, 4)})),
        (counts[:1], sdp.Constraints(total=0)),
    ):
        ledger = sdp.Ledger(epsilon=1)
        with pytest.raises(InvalidInput, match="with a public total for every cell"):
            sdp.Adaptive().release(table, epsilon=1, constraints=constraints, ledger=ledger)
        assert ledger.spent is None
