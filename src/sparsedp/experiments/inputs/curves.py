"""Synthetic shapes in one dimension, each with one trait that real histograms have."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.experiments.inputs.shape import CELLS, Shape, shape_of

STEPS, EMPTY_STEPS = 24, 4
SPIKES = 32
SPARSE_CELLS = 200
WAVES = 8
# Position, height and width of each of Donoho and Johnstone's bumps (Biometrika 81, 1994, table 1).
BUMPS = (
    (0.10, 4.0, 0.005),
    (0.13, 5.0, 0.005),
    (0.15, 3.0, 0.006),
    (0.23, 4.0, 0.010),
    (0.25, 5.0, 0.010),
    (0.40, 4.2, 0.030),
    (0.44, 2.1, 0.010),
    (0.65, 4.3, 0.010),
    (0.76, 3.1, 0.005),
    (0.78, 5.1, 0.008),
    (0.81, 4.2, 0.005),
)


def power_law_sorted() -> Shape:
    """Zipf's law, the most frequent first: cell i has probability ∝ 1/(i + 1)."""
    return shape_of(1 / np.arange(1.0, CELLS + 1))


def power_law_shuffled() -> Shape:
    """The same probabilities in an order that means nothing: neighbours say nothing about a cell."""
    return np.random.default_rng(1).permutation(power_law_sorted())


def spikes() -> Shape:
    """32 single cells, heights spread over three orders of magnitude; nothing elsewhere."""
    generator = np.random.default_rng(2)
    weights = np.zeros(CELLS)
    weights[generator.choice(CELLS, SPIKES, replace=False)] = np.exp(generator.uniform(0, np.log(1000), SPIKES))
    return shape_of(weights)


def steps() -> Shape:
    """24 constant stretches between random cells, heights over two orders of magnitude; four of them empty."""
    generator = np.random.default_rng(3)
    ends = np.sort(generator.choice(np.arange(1, CELLS), STEPS - 1, replace=False))
    heights = np.exp(generator.uniform(0, np.log(100), STEPS))
    heights[generator.choice(STEPS, EMPTY_STEPS, replace=False)] = 0
    return shape_of(np.repeat(heights, np.diff([0, *ends, CELLS])))


def bumps() -> Shape:
    """Donoho and Johnstone's `Bumps`: eleven peaks of different widths, smooth but for their tips."""
    return shape_of(sum(height * (1 + np.abs(_unit() - at) / width) ** -4.0 for at, height, width in BUMPS))


def sine() -> Shape:
    """Eight waves that never quite reach zero: smooth everywhere, flat nowhere."""
    return shape_of(1 + 0.9 * np.sin(2 * np.pi * WAVES * _unit()))


def smooth_and_spikes() -> Shape:
    """Half of the records in two broad humps, half of them in the single cells of `spikes`."""
    humps = np.exp(-(((_unit() - 0.3) / 0.1) ** 2)) + 0.6 * np.exp(-(((_unit() - 0.7) / 0.05) ** 2))
    return (shape_of(humps) + spikes()) / 2


def uniform() -> Shape:
    """Every cell alike."""
    return shape_of(np.ones(CELLS))


def sparse_cells() -> Shape:
    """200 random cells share everything, none of them rare: the other 3,896 are empty."""
    generator = np.random.default_rng(4)
    weights = np.zeros(CELLS)
    weights[generator.choice(CELLS, SPARSE_CELLS, replace=False)] = generator.uniform(0.5, 1.5, SPARSE_CELLS)
    return shape_of(weights)


def _unit() -> Floats:
    """The middle of every cell, as a part of the whole."""
    return (np.arange(CELLS) + 0.5) / CELLS
