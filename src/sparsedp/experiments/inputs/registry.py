"""Every input by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparsedp.arrays import Integers
from sparsedp.datasets import paper_files
from sparsedp.experiments.inputs import curves, maps, real
from sparsedp.experiments.inputs.shape import Shape, drawn_counts


@dataclass(frozen=True)
class Input:
    """A named shape, one of a family. `needs`: the paper's file it is made from, if it is."""

    name: str
    family: str
    shape: Callable[[], Shape]
    needs: str | None = None

    @property
    def about(self) -> str:
        """What it is, in one line."""
        return (self.shape.__doc__ or "").strip().splitlines()[0]

    def counts(self, total: int) -> Integers:
        """The counts of `total` records drawn from the shape; see `drawn_counts`."""
        return drawn_counts(self.shape(), total)


_PAPER = (real.nettrace, real.search_logs, real.social_network)
_FLIGHTS = (
    real.hourly_departures,
    real.five_minute_departures,
    real.flights_per_aircraft,
    real.air_times,
    real.delays,
)
_CURVES = (
    curves.power_law_sorted,
    curves.power_law_shuffled,
    curves.spikes,
    curves.steps,
    curves.bumps,
    curves.sine,
    curves.smooth_and_spikes,
    curves.uniform,
    curves.sparse_cells,
)
_MAPS = (maps.blobs, maps.streets, maps.product)

FAMILIES: dict[str, tuple[Callable[[], Shape], ...]] = {
    "the paper's files": _PAPER,
    "flights": _FLIGHTS,
    "synthetic rows": _CURVES,
    "synthetic tables": _MAPS,
}

INPUTS: dict[str, Input] = {
    shape.__name__: Input(shape.__name__, family, shape, shape.__name__ if shape in _PAPER else None)
    for family, shapes in FAMILIES.items()
    for shape in shapes
}
"""Every input by name, family after family."""


def available_inputs() -> dict[str, Input]:
    """The inputs that can be made here: all but those whose files the user does not have."""
    held = paper_files.available()
    return {name: entry for name, entry in INPUTS.items() if entry.needs is None or entry.needs in held}
