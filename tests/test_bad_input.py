"""Bad input: one clear sentence, nothing private in it, nothing spent and nothing drawn."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sparsedp as sdp
from every_mechanism import AS_THEY_COME
from sparsedp.errors import SparsedpError
from sparsedp.mechanisms.base import Mechanism
from sparsedp.noise.source import RandomSource, SeededSource

SECRET = 987_654_321


class ForbiddenSource(RandomSource):
    """Fails the test if anything is drawn."""

    def key(self) -> bytes:
        raise AssertionError("noise was drawn")


GOOD = np.array([SECRET, 1, 2, 3])
BAD_CALLS: dict[str, tuple[dict[str, object], str]] = {
    "nan": ({"counts": [SECRET, float("nan")]}, "counts is not finite"),
    "half": ({"counts": [SECRET, 0.5]}, "counts is not whole numbers"),
    "negative": ({"counts": [SECRET, -1]}, "counts is negative somewhere"),
    "empty": ({"counts": []}, "counts is empty"),
    "dimensions": ({"counts": np.full((1,) * 33, SECRET)}, "counts is an array of 33 dimensions"),
    "negative table": ({"counts": [[SECRET, -1]]}, "counts is negative somewhere"),
    "domain": ({"domain": (4,)}, "domain is of type tuple"),
    "shape": ({"domain": sdp.Domain.of_shape((2, 2))}, "counts is an array of shape (4,); give the domain's shape"),
    "huge": ({"counts": [SECRET, 2**64]}, "counts is beyond 64-bit integers"),
    "epsilon zero": ({"epsilon": 0}, "epsilon is 0; give a number above zero"),
    "epsilon negative": ({"epsilon": -1}, "epsilon is -1"),
    "epsilon nan": ({"epsilon": float("nan")}, "epsilon is 'nan'"),
    "epsilon text": ({"epsilon": "much"}, "epsilon is 'much'"),
    "epsilon infinite": ({"epsilon": float("inf")}, "epsilon is 'inf'"),
    "epsilon tiny": ({"epsilon": "1e-30"}, "so small that the noise would not fit"),
    "contribution zero": ({"contribution": 0}, "contribution is 0"),
    "contribution half": ({"contribution": 0.5}, "contribution is 0.5"),
    "neighbours": ({"neighbours": "replace"}, "did you mean 'replace_one'"),
    "sampler": ({"sampler": "opendq"}, "did you mean 'opendp'"),
    "source": ({"source": 42}, "source is of type int"),
    "ledger": ({"ledger": 5}, "ledger is of type int"),
    "epsilon endless": ({"epsilon": Fraction(1, 10**101)}, "about 1e-101; give at least 1e-100"),
    "epsilon and rho": (
        {"rho": 1},
        "epsilon is given together with rho; give epsilon=, or rho=",
    ),
    "rho and delta": ({"epsilon": None, "rho": 1, "delta": "1e-6"}, "delta is given together with rho"),
    "delta alone": ({"epsilon": None, "delta": "1e-6"}, "delta is given without epsilon"),
    "no budget": ({"epsilon": None}, "epsilon is missing"),
    "delta zero": ({"delta": 0}, "delta is 0; leave it out for pure ε"),
    "delta one": ({"delta": 1}, "delta is 1; give a number between 0 and 1"),
    "delta negative": ({"delta": -1}, "delta is -1; give a number between 0 and 1"),
    "delta nan": ({"delta": float("nan")}, "delta is 'nan'"),
    "rho zero": ({"epsilon": None, "rho": 0}, "rho is 0; give a number above zero"),
    "rho negative": ({"epsilon": None, "rho": "-1/2"}, "rho is -0.5"),
    "rho infinite": ({"epsilon": None, "rho": float("inf")}, "rho is 'inf'"),
    "rho tiny": ({"epsilon": None, "rho": "1e-60"}, "so small that the noise would not fit"),
    "a ledger in epsilon": ({"epsilon": None, "rho": 1}, "on a ledger that is kept in epsilon; ask for epsilon"),
    "a ledger without delta": ({"delta": "1e-6"}, "on a ledger that has no delta; ask for epsilon alone"),
    "epsilon endless text": ({"epsilon": "0." + "3" * 396}, "more than 100 digits"),
}


@pytest.mark.parametrize(("change", "complaint"), BAD_CALLS.values(), ids=BAD_CALLS.keys())
@pytest.mark.parametrize("mechanism", AS_THEY_COME.values(), ids=AS_THEY_COME.keys())
def test_bad_calls(mechanism: Mechanism, change: dict[str, object], complaint: str) -> None:
    ledger = sdp.Ledger(epsilon=10)
    call: dict[str, object] = {"counts": GOOD, "epsilon": 1, "ledger": ledger, "source": ForbiddenSource(), **change}
    counts = call.pop("counts")
    with pytest.raises(SparsedpError) as caught:
        mechanism.release(counts, **call)  # type: ignore[arg-type]
    sentence = str(caught.value)
    assert complaint in sentence
    assert "\n" not in sentence
    assert str(SECRET) not in sentence
    assert ledger.spent is None


@pytest.mark.parametrize("mechanism", [sdp.Laplace(), sdp.Compressive(seed=1)], ids=lambda each: each.name)
def test_the_remedy_for_a_tiny_epsilon_works(mechanism: Mechanism) -> None:
    with pytest.raises(SparsedpError) as caught:
        mechanism.release(GOOD, epsilon="1e-30")
    remedy = re.search(r"give at least (\S+)\.$", str(caught.value))
    assert remedy is not None
    assert mechanism.release(GOOD, epsilon=remedy.group(1)).private


def test_long_fractions_stay_printable(tmp_path: Path) -> None:
    ledger = sdp.Ledger(epsilon=1)
    for epsilon in (Fraction(1, 7**110), Fraction(1, 3**200)):
        release = sdp.Compressive().release(
            np.arange(40), epsilon=epsilon + Fraction(1, 100), ledger=ledger, contribution=2**32 - 1
        )
        assert sdp.open_release(release.save(tmp_path / "x.parquet")).spent == release.spent
    assert "about" in repr(ledger)


BAD_MECHANISMS: dict[str, tuple[Callable[[], object], str]] = {
    "basis": (lambda: sdp.Compressive(basis="har"), "did you mean 'haar'"),
    "sensing": (lambda: sdp.Compressive(sensing="hadamar"), "did you mean 'hadamard'"),
    "recovery": (lambda: sdp.Compressive(recovery="cosmap"), "did you mean 'cosamp'"),
    "selection": (lambda: sdp.Compressive(selection="plane"), "did you mean 'plain'"),
    "share": (lambda: sdp.Compressive(selection_share=1), "selection_share is 1"),
    "sparsity zero": (lambda: sdp.Compressive(sparsity=0), "sparsity is 0"),
    "sparsity text": (lambda: sdp.Compressive(sparsity="many"), "sparsity is 'many'"),
    "rows zero": (lambda: sdp.Compressive(sparsity=3, rows=0), "rows is 0"),
    "rows with auto": (lambda: sdp.Compressive(rows=7), "leave it out when the sparsity is 'auto'"),
    "tree outside haar": (lambda: sdp.Compressive(basis="cosine", recovery="vamp_tree"), "choose 'vamp'"),
    "constants": (lambda: sdp.Compressive(constants=5), "constants is of type int"),  # type: ignore[arg-type]
    "mechanism class": (lambda: sdp.release([1], epsilon=1, mechanism=sdp.Laplace), "give an object: Laplace()"),  # type: ignore[arg-type]
    "seed": (lambda: sdp.Compressive(seed=-1), "seed is -1"),
    "branching": (lambda: sdp.Hierarchical(branching=1), "branching is 1"),
    "mechanism": (lambda: sdp.release([1], epsilon=1, mechanism="laplase"), "did you mean 'laplace'"),
    "mechanism type": (lambda: sdp.release([1], epsilon=1, mechanism=3), "mechanism is of type int"),  # type: ignore[arg-type]
    "more rows than cells": (lambda: sdp.Compressive(sparsity=1, rows=5).release(GOOD, epsilon=1), "rows is 5"),
    "sparser than cells": (lambda: sdp.Compressive(sparsity=5).release(GOOD, epsilon=1), "sparsity is 5"),
    "seeded opendp": (
        lambda: sdp.Laplace().release(GOOD, epsilon=1, sampler="opendp", source=SeededSource(1)),
        "source is",
    ),
}


@pytest.mark.parametrize(("make", "complaint"), BAD_MECHANISMS.values(), ids=BAD_MECHANISMS.keys())
def test_bad_mechanisms(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(SparsedpError, match=re.escape(complaint)) as caught:
        make()
    assert str(SECRET) not in str(caught.value)


def test_public_checks_come_before_the_debit() -> None:
    for mechanism in (sdp.Compressive(sparsity=5), sdp.Compressive(sparsity=1, rows=9)):
        ledger = sdp.Ledger(epsilon=1)
        with pytest.raises(SparsedpError):
            mechanism.release(GOOD, epsilon=1, ledger=ledger, source=ForbiddenSource())
        assert ledger.spent is None


def test_budget_exceeded_draws_nothing() -> None:
    ledger = sdp.Ledger(epsilon=1)
    with pytest.raises(sdp.BudgetExceeded, match="Nothing was spent"):
        sdp.Laplace().release(GOOD, epsilon="1.1", ledger=ledger, source=ForbiddenSource())
    assert ledger.spent is None


def test_what_a_ledger_has_left_can_be_spent() -> None:
    ledger = sdp.Ledger(epsilon=1)
    sdp.release([1, 2], epsilon="0.3", ledger=ledger)
    sdp.release([1, 2], epsilon=ledger.remaining, ledger=ledger)
    assert ledger.remaining is None


def test_a_float_epsilon_is_the_decimal_it_prints_as() -> None:
    assert sdp.release([1, 2], epsilon=0.1).spent == sdp.Budget(epsilon="1/10")
