"""A raw measurement Φ D: exact sums, as private as the data, and kept on the private side."""

from __future__ import annotations

from typing import NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput, PrivateSide
from sparsedp.plan import Plan
from sparsedp.privacy.neighbours import MOST_CONTRIBUTION
from sparsedp.validate import whole


class Noise(Protocol):
    """Noise that is calibrated already, with the source that it is drawn from."""

    def add_to(self, values: Ints) -> None:
        """Add fresh noise to every value, in place."""


class RawMeasurement:
    """Φ D before noise. Two with the same Φ add up, so parts of a data set can be measured apart and merged.

    It is as private as the data. It has no way to a file, a pickle, an array or a printed form; the one thing to do
    with it, besides merging, is to give it to `perturb`, which adds the noise. A part is merged once: merging it
    again would count its people twice, beyond their contribution.
    """

    __slots__ = ("__bound", "__parts", "__plan", "__values")

    def __init__(self, plan: Plan, counts: npt.NDArray[np.int64], *, bound: int | None = None) -> None:
        """`bound`: what one person adds to this part at most, where that was enforced while records were counted."""
        self.__plan = plan
        self.__bound = bound
        self.__values = plan.sensing.apply(counts)
        self.__parts = frozenset([object()])

    @property
    def plan(self) -> Plan:
        """The public plan it was sensed by."""
        return self.__plan

    def __add__(self, other: RawMeasurement) -> RawMeasurement:
        """The measurement of both parts together: Φ D₁ + Φ D₂ = Φ (D₁ + D₂), modulo 2⁶⁴."""
        if not isinstance(other, RawMeasurement):
            return NotImplemented
        if self.__plan.sensing.n != other.__plan.sensing.n:
            given = f"a measurement of {other.__plan.sensing.n} cells"
            raise InvalidInput("other", given, f"sense parts that all have {self.__plan.sensing.n} cells")
        if (self.__plan.domain, self.__plan.nonnegative) != (other.__plan.domain, other.__plan.nonnegative):
            given = "a measurement of another domain, or of signed values beside counts"
            raise InvalidInput("other", given, "sense all parts with the same domain= and negative=")
        if self.__plan != other.__plan:
            given = "a measurement with another sensing matrix"
            raise InvalidInput("other", given, "sense both parts with the same mechanism and seed")
        if self.__parts & other.__parts:
            raise InvalidInput("other", "merged in already", "merge each part once")
        merged = object.__new__(RawMeasurement)
        merged.__plan = self.__plan
        merged.__values = self.__values + other.__values
        merged.__parts = self.__parts | other.__parts
        bounds = [bound for bound in (self.__bound, other.__bound) if bound is not None]
        merged.__bound = max(bounds, default=None)
        return merged

    def checked_contribution(self, promised: int | None) -> int:
        """What one person adds over all parts, as the caller promises: never less than was enforced in one part."""
        if promised is None and self.__bound is None:
            return 1
        if promised is None and len(self.__parts) == 1 and self.__bound is not None:
            return self.__bound
        remedy = "give the most that one person adds over all parts together"
        if promised is None:
            given = f"missing, and records were counted with a bound of {self.__bound} in a part"
            raise InvalidInput("contribution", given, remedy)
        promised = whole("contribution", promised, most=MOST_CONTRIBUTION)
        if self.__bound is not None and promised < self.__bound:
            given = f"{promised}, less than the bound of {self.__bound} that one part was counted with"
            raise InvalidInput("contribution", given, remedy)
        return promised

    def __radd__(self, other: object) -> RawMeasurement:
        """So that `sum(parts)` works, which starts from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def with_noise(self, noise: Noise) -> Ints:
        """Φ D plus fresh noise on every value: the only way out."""
        values: Ints = self.__values.copy()
        noise.add_to(values)
        return values

    def __repr__(self) -> str:
        sensing = self.__plan.sensing
        return f"RawMeasurement({sensing.name}, {sensing.rows} rows of {sensing.n} cells; private)"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise PrivateSide(
            "A raw measurement is as private as the data and cannot be saved, sent or shown; "
            "give it to perturb(raw, epsilon=…), which makes a synopsis that can."
        )

    save = __array__ = __copy__ = __deepcopy__ = __reduce__ = __getstate__ = _refuse
    __reduce_ex__ = _refuse
