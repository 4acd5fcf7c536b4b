"""A raw measurement Φ D: exact sums, as private as the data, and kept on the private side."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import numpy.typing as npt

from sparsedp.errors import InvalidInput, PrivateSide
from sparsedp.plan import Plan


class RawMeasurement:
    """Φ D before noise. Two with the same Φ add up, so parts of a data set can be measured apart and merged.

    It is as private as the data. It has no way to a file, a pickle, an array or a printed form; the one thing to do
    with it, besides merging, is to give it to `perturb`, which adds the noise.
    """

    __slots__ = ("__values", "plan")

    def __init__(self, plan: Plan, counts: npt.NDArray[np.int64]) -> None:
        self.plan = plan
        self.__values = plan.sensing.apply(counts)

    def __add__(self, other: RawMeasurement) -> RawMeasurement:
        """The measurement of both parts together: Φ D₁ + Φ D₂ = Φ (D₁ + D₂), modulo 2⁶⁴."""
        if not isinstance(other, RawMeasurement):
            return NotImplemented
        if self.plan != other.plan:
            raise InvalidInput(
                "other",
                "a measurement with another sensing matrix",
                "sense both parts with the same mechanism and seed",
            )
        merged = object.__new__(RawMeasurement)
        merged.plan = self.plan
        merged.__values = self.__values + other.__values
        return merged

    def copy_for_noise(self) -> npt.NDArray[np.int64]:
        """A fresh copy of the exact sums for the sampler to add noise to. PRIVATE until it has."""
        return self.__values.copy()

    def __repr__(self) -> str:
        sensing = self.plan.sensing
        return f"RawMeasurement({sensing.name}, {sensing.rows} rows of {sensing.n} cells; private)"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise PrivateSide(
            "A raw measurement is as private as the data and cannot be saved, sent or shown; "
            "give it to perturb(raw, epsilon=…), which makes a synopsis that can."
        )

    save = __array__ = __copy__ = __deepcopy__ = __reduce__ = __getstate__ = _refuse
    __reduce_ex__ = _refuse
