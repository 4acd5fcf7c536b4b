"""Shrinkage of a row by definition: every window and contrast summed cell by cell, every class by its sentence."""

from math import sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage._boxes import COUNTS_DETECTED, JUMP_DETECTED, OCCUPIED, ROUGH
from sparsedp.estimation.shrinkage.mixture_prior import (
    CLASSES,
    GAUSSIAN_FROM,
    GRID,
    NO_CLASS,
    VAGUE_WEIGHTS,
    Evidence,
    Population,
    count,
    noise_nodes,
    removed_share,
    scepticism,
    variance_shape,
    worth_of,
)
from sparsedp.laws import IndependentLaw


def mirrored(cells: Floats, place: int) -> float:
    """The cell at any place of a row that goes on as its own mirror image."""
    place %= 2 * len(cells)
    return float(cells[min(place, 2 * len(cells) - 1 - place)])


def windows(cells: Floats, width: int) -> tuple[Floats, Floats]:
    """Means and contrasts of a row at every gap."""
    half = width // 2
    around = [[mirrored(cells, gap + step) for step in range(-half, half)] for gap in range(len(cells) + 1)]
    left, right = (np.array([np.mean(each[part]) for each in around]) for part in (slice(half), slice(half, None)))
    return 0.5 * (left + right), 0.5 * (left - right)


def class_of(contrasts: Floats, heights: Floats, gap: int, apart: int, unit: float, centre: float) -> int:
    """Of one contrast, by those before and after it and by the windows on either side."""
    before, after = gap - apart, gap + apart
    if before < 0 or after >= len(contrasts):
        return NO_CLASS
    rough = sqrt(0.5 * (contrasts[before] ** 2 + contrasts[after] ** 2)) > ROUGH
    jump = abs(heights[before] - heights[after]) > JUMP_DETECTED * sqrt(2.0) * unit
    counts = abs(heights[before] + heights[after] + 2.0 * centre) > COUNTS_DETECTED * sqrt(2.0) * unit
    return 1 + int(rough) + 2 * int(jump) + OCCUPIED * int(counts)


def shrink_slowly(observed: Floats, law: IndependentLaw) -> Floats:
    """What `shrink` makes of a row of independent noise."""
    n, centre = len(observed), float(round(float(observed.mean())))
    cells, basis = observed - centre, np.eye(n)
    finer, width, noise_in = np.tile(VAGUE_WEIGHTS, (CLASSES, 1)), 1, {}
    while width < n:
        width *= 2
        unit = sqrt(law.variance / width)
        heights, contrasts = windows(cells, width)
        deviations = sqrt(width) * np.sqrt(np.sum([windows(one, width)[1] ** 2 for one in basis], axis=0))
        seen = np.divide(contrasts, unit * deviations, out=np.zeros(n + 1), where=deviations > 1e-6)
        classes = [class_of(seen, heights, gap, width, unit, centre) for gap in range(n + 1)]
        counts = np.zeros((CLASSES, len(GRID) + 1))
        for gap in range(1, n):
            count(float(seen[gap]), counts, classes[gap])
        evidence = Evidence.of(*noise_nodes(min(width * variance_shape(law), GAUSSIAN_FROM)))
        prior = Population.learn(worth_of(float(width)) * counts[:, :-1], evidence, finer, scepticism(n))
        finer = prior.weights
        shares = [removed_share(prior.tables[kind], float(value)) for kind, value in zip(classes, seen, strict=True)]
        noise_in[width] = np.array(shares) * contrasts
    means = np.zeros(n + 1)
    while width > 1:
        contrasts, width = noise_in[width], width // 2
        means = _halves(means, contrasts, width)
    return np.asarray(observed - (means - means.mean()))


def _halves(means: Floats, contrasts: Floats, width: int) -> Floats:
    """The noise in windows half as wide: each is the mean of what the two wider ones say of which it is a half."""
    n = len(means) - 1

    def at(gap: int) -> tuple[float, float]:
        inside = -gap if gap < 0 else 2 * n - gap if gap > n else gap
        return float(means[inside]), float(contrasts[inside] if inside == gap else -contrasts[inside])

    found = []
    for place in range(n if width == 1 else n + 1):
        before, after = (place, place + 1) if width == 1 else (place - width // 2, place + width // 2)
        (mean_before, apart_before), (mean_after, apart_after) = at(before), at(after)
        found.append(0.5 * (mean_before - apart_before + mean_after + apart_after))
    return np.array(found)
