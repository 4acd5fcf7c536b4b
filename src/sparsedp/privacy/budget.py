"""A privacy budget in exact rationals."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable
from sparsedp.privacy.conversion import rho_for


@dataclass(frozen=True, init=False)
class Budget:
    """How much privacy is spent: pure ε, (ε, δ), or ρ-zCDP; always exact rationals.

    `Budget(epsilon="0.5")`, `Budget(epsilon=1, delta="1e-9")`, `Budget(rho="1/8")`. A float means the decimal it
    prints as, so `epsilon=0.1` is one tenth. Budgets of one kind add up (basic composition for ε and δ, which adds
    both; ρ adds exactly); two kinds do not mix.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    protects: str | None = field(compare=False)
    """Whom it is counted for, in words, where that needs saying: in streams. Equal amounts are equal all the same."""

    def __init__(self, *, epsilon: object = None, delta: object = 0, rho: object = None) -> None:
        if (epsilon is None) == (rho is None):
            given = "missing" if epsilon is None else "given together with rho"
            raise InvalidInput("epsilon", given, "give exactly one of epsilon and rho")
        wanted = "give a number from 0 up to, but not including, 1"
        small = validate.exact_number("delta", delta, wanted)
        if not 0 <= small < 1:
            raise InvalidInput("delta", validate.shown(small), wanted)
        if rho is not None and small != 0:
            raise InvalidInput("delta", validate.shown(small), "leave it out when rho is given")
        object.__setattr__(self, "epsilon", None if epsilon is None else validate.positive("epsilon", epsilon))
        object.__setattr__(self, "delta", small)
        object.__setattr__(self, "rho", None if rho is None else validate.positive("rho", rho))
        object.__setattr__(self, "protects", None)

    def __add__(self, other: Budget) -> Budget:
        if not isinstance(other, Budget):
            return NotImplemented
        if self.rho is not None and other.rho is not None:
            return Budget(rho=self.rho + other.rho)
        if self.epsilon is not None and other.epsilon is not None:
            return Budget(epsilon=self.epsilon + other.epsilon, delta=self.delta + other.delta)
        raise InvalidInput("budget", "of another kind", "add ε to ε or ρ to ρ")

    def covers(self, other: Budget) -> bool:
        """Whether spending `other` stays within this budget."""
        if self.rho is not None and other.rho is not None:
            return other.rho <= self.rho
        if self.epsilon is not None and other.epsilon is not None:
            return other.epsilon <= self.epsilon and other.delta <= self.delta
        return False

    def counted_for(self, protects: str | None) -> Budget:
        """The same amount, saying whom it is counted for."""
        same = Budget(epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        object.__setattr__(same, "protects", protects)
        return same

    @property
    def rho_spent(self) -> Fraction | None:
        """The ρ that is spent on it: of (ε, δ) the greatest that gives it; None under pure ε, spent itself."""
        return rho_for(self.epsilon, self.delta) if self.delta else self.rho

    def part(self, share: Fraction) -> Budget:
        """What `share` of it comes to, in what phases add up in: ε under pure ε, ρ otherwise."""
        rho = self.rho_spent
        if rho is not None:
            return Budget(rho=rho * share)
        assert self.epsilon is not None  # noqa: S101  # one of the two is set at construction
        return Budget(epsilon=self.epsilon * share)

    def __str__(self) -> str:
        return self.amount if self.protects is None else printable(f"{self.amount} for {self.protects}")

    @property
    def amount(self) -> str:
        """How much, without for whom."""
        if self.rho is not None:
            return f"ρ = {_small(self.rho)}"
        assert self.epsilon is not None  # noqa: S101  # one of the two is set at construction
        small = f", δ = {_small(self.delta)}" if self.delta else ""
        return f"ε = {validate.shown(self.epsilon)}{small}"

    def __repr__(self) -> str:
        return f"Budget({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Budget(**description)` gives it back."""
        fields = {"epsilon": self.epsilon, "delta": self.delta or None, "rho": self.rho}
        return {name: str(value) for name, value in fields.items() if value is not None}


def _small(number: Fraction) -> str:
    """A rational as people write small ones: 1e-9, 0.02435597035, 1/3."""
    decimal = Decimal(number.numerator) / Decimal(number.denominator)
    if Fraction(decimal) != number:
        return validate.shown(number)
    return f"{decimal.normalize():e}" if abs(number) < Fraction(1, 1000) else f"{decimal:f}"


# What a caller asks for: `epsilon=`, `rho=`, or `epsilon=` with `delta=`; exactly one of the three.

_FORMS = "give epsilon=, or rho=, or epsilon= with delta="


def asked_for(epsilon: object = None, rho: object = None, delta: object = None) -> Budget:
    """The budget of a call, or what contradicts itself in it. A `Budget` of any kind may stand for `epsilon`."""
    if isinstance(epsilon, Budget):
        for name, other in (("rho", rho), ("delta", delta)):
            if other is not None:
                raise InvalidInput(name, "given beside a Budget", "leave it out: the budget says it all")
        given = epsilon
        epsilon, rho, delta = given.epsilon, given.rho, given.delta or None
    if rho is not None:
        for name, other in (("epsilon", epsilon), ("delta", delta)):
            if other is not None:
                raise InvalidInput(name, "given together with rho", _FORMS)
        return Budget(rho=validate.budget("rho", rho))
    if epsilon is None:
        if delta is not None:
            raise InvalidInput("delta", "given without epsilon", _FORMS)
        raise InvalidInput("epsilon", "missing", _FORMS)
    amount = validate.budget("epsilon", epsilon)
    if delta is None:
        return Budget(epsilon=amount)
    if validate.exact_number("delta", delta, validate.SHARE_WANTED) == 0:
        raise InvalidInput("delta", "0", "leave it out for pure ε")
    return Budget(epsilon=amount, delta=validate.budget("delta", validate.share("delta", delta)))
