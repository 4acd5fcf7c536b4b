"""`epsilon=`, `rho=`, or `epsilon=` with `delta=`: exactly one of the three, and one sentence for anything else."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget, asked_for
from sparsedp.privacy.conversion import delta_of, rho_for

amounts = st.fractions(min_value=Fraction(1, 1000), max_value=100, max_denominator=1000)
deltas = st.integers(1, 30).flatmap(lambda power: st.fractions(0, 1).map(lambda part: (part + 1) / (3 * 10**power)))
shares = st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100)


@given(amounts, shares)
def test_epsilon_alone_is_pure(epsilon: Fraction, share: Fraction) -> None:
    asked = asked_for(epsilon=str(epsilon))
    assert asked == Budget(epsilon=epsilon) == asked_for(Budget(epsilon=epsilon))
    assert asked.part(share) == Budget(epsilon=epsilon * share)


@given(amounts, shares)
def test_rho_is_spent_as_it_is(rho: Fraction, share: Fraction) -> None:
    asked = asked_for(rho=str(rho))
    assert asked == Budget(rho=rho) == asked_for(Budget(rho=rho))
    assert asked.part(share) == Budget(rho=rho * share)


@given(amounts, deltas, shares)
def test_epsilon_with_delta_spends_a_rho_that_gives_them(epsilon: Fraction, delta: Fraction, share: Fraction) -> None:
    asked = asked_for(epsilon=epsilon, delta=delta)
    assert asked == Budget(epsilon=epsilon, delta=delta)
    assert asked.rho_spent is not None
    assert asked.rho_spent == rho_for(epsilon, delta)
    assert delta_of(asked.rho_spent, epsilon) <= delta
    assert asked.part(share) == Budget(rho=asked.rho_spent * share)
    assert asked_for(asked) == asked


FORMS = "give epsilon=, or rho=, or epsilon= with delta="
WRONG: dict[str, tuple[dict[str, object], str]] = {
    "nothing": ({}, f"epsilon is missing; {FORMS}."),
    "both": ({"epsilon": 1, "rho": 1}, f"epsilon is given together with rho; {FORMS}."),
    "all": ({"epsilon": 1, "rho": 1, "delta": "0.1"}, f"epsilon is given together with rho; {FORMS}."),
    "rho with delta": ({"rho": 1, "delta": "1e-6"}, f"delta is given together with rho; {FORMS}."),
    "delta alone": ({"delta": "1e-6"}, f"delta is given without epsilon; {FORMS}."),
    "delta 0": ({"epsilon": 1, "delta": 0}, "delta is 0; leave it out for pure ε."),
    "delta 1": ({"epsilon": 1, "delta": 1}, "delta is 1; give a number between 0 and 1, both excluded."),
    "delta negative": ({"epsilon": 1, "delta": -0.5}, "delta is -0.5; give a number between 0 and 1, both excluded."),
    "delta nan": (
        {"epsilon": 1, "delta": float("nan")},
        "delta is 'nan'; give a number between 0 and 1, both excluded.",
    ),
    "delta infinite": ({"epsilon": 1, "delta": float("inf")}, "delta is 'inf'; give a number between 0 and 1"),
    "delta endless": ({"epsilon": 1, "delta": Fraction(3**300, 5**300)}, "delta is a fraction of more than 100 digits"),
    "delta text": ({"epsilon": 1, "delta": "little"}, "delta is 'little'; give a number between 0 and 1"),
    "rho 0": ({"rho": 0}, "rho is 0; give a number above zero."),
    "rho negative": ({"rho": "-1/3"}, "rho is -1/3; give a number above zero."),
    "rho infinite": ({"rho": float("inf")}, "rho is 'inf'; give a finite number"),
    "rho of a type": ({"rho": [1]}, "rho is of type list; give a finite number"),
    "rho true": ({"rho": True}, "rho is True; give a finite number"),
    "delta tiny": ({"epsilon": 1, "delta": 1e-300}, "delta is about 1e-300; give at least 1e-100; usual is 1e-9."),
    "rho huge": ({"rho": "1e400"}, "rho is about 1e+400; give at most 1e+100; usual is 0.01 to 10."),
    "epsilon tiny": ({"epsilon": 1e-300}, "epsilon is about 1e-300; give at least 1e-100; usual is 0.01 to 10."),
    "rho endless": ({"rho": Fraction(3**300, 5**300)}, "rho is a fraction of more than 100 digits"),
    "epsilon 0 with delta": ({"epsilon": 0, "delta": "1e-6"}, "epsilon is 0; give a number above zero."),
    "a budget and rho": ({"epsilon": Budget(rho=1), "rho": 1}, "rho is given beside a Budget; leave it out"),
    "a budget and delta": ({"epsilon": Budget(epsilon=1), "delta": "0.1"}, "delta is given beside a Budget"),
    "a budget as rho": ({"rho": Budget(rho=1)}, "rho is of type Budget"),
}


@pytest.mark.parametrize(("given_so", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_contradictions(given_so: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        asked_for(**given_so)
    assert str(caught.value).startswith(sentence)
