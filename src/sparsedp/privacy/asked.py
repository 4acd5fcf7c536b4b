"""What a caller asks for: `epsilon=`, `rho=`, or `epsilon=` with `delta=`; exactly one of the three."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import rho_for

FORMS = "give epsilon=, or rho=, or epsilon= with delta="


@dataclass(frozen=True)
class Asked:
    """A budget as it is stated, and the ρ that is spent on it; None under pure ε, which is spent itself."""

    budget: Budget
    rho: Fraction | None = None

    def part(self, share: Fraction) -> Budget:
        """What `share` of the budget comes to, in what phases add up in: ε under pure ε, ρ otherwise."""
        if self.rho is not None:
            return Budget(rho=self.rho * share)
        if self.budget.epsilon is None or self.budget.delta:
            raise InvalidInput("budget", f"{self.budget}", "say which rho is spent on it")
        return Budget(epsilon=self.budget.epsilon * share)


def asked_for(epsilon: object = None, rho: object = None, delta: object = None) -> Asked:
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
                raise InvalidInput(name, "given together with rho", FORMS)
        amount = validate.budget("rho", rho)
        return Asked(Budget(rho=amount), amount)
    if epsilon is None:
        if delta is not None:
            raise InvalidInput("delta", "given without epsilon", FORMS)
        raise InvalidInput("epsilon", "missing", FORMS)
    amount = validate.budget("epsilon", epsilon)
    if delta is None:
        return Asked(Budget(epsilon=amount))
    if validate.exact_number("delta", delta, validate.SHARE_WANTED) == 0:
        raise InvalidInput("delta", "0", "leave it out for pure ε")
    small = validate.budget("delta", validate.share("delta", delta))
    return Asked(Budget(epsilon=amount, delta=small), rho_for(amount, small))
