"""A case: one input at one total and one ε."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

EPSILON = "0.1"
TOTALS = (10**3, 10**4, 10**5, 10**6)
SETTINGS: tuple[tuple[int, str], ...] = (*((total, EPSILON) for total in TOTALS), (10**5, "1"), (10**5, "0.01"))
"""Total and ε of the six cases of every input."""

QUICK_SETTINGS = ((10**3, EPSILON), (10**5, EPSILON))


@dataclass(frozen=True, order=True)
class Case:
    """An input by name, how many records are drawn from it, and the ε they are published with."""

    input: str
    total: int
    epsilon: str

    @property
    def setting(self) -> str:
        """The total and ε, as tables show them."""
        return setting_name(self.total, self.epsilon)

    def __str__(self) -> str:
        return f"{self.input}, {self.setting}"


def setting_name(total: int, epsilon: str) -> str:
    """Such as "10⁵, ε = 0.1": the totals are powers of ten, and others are written out."""
    power = len(str(total)) - 1
    shown = f"10{str(power).translate(_SUPERSCRIPTS)}" if total == 10**power else f"{total:,}"
    return f"{shown}, ε = {epsilon}"


def cases_of(inputs: Iterable[str], settings: Iterable[tuple[int, str]] = SETTINGS) -> list[Case]:
    """Every input at every setting."""
    settings = tuple(settings)
    return [Case(name, total, epsilon) for name in inputs for total, epsilon in settings]


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
