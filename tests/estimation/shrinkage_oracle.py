"""The shrinkage, slow and plain: windows summed cell by cell, variances from their weights, no tables, no bins."""

from __future__ import annotations

from functools import cache

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage._row_contrasts import COUNTS_SEEN, NEIGHBOURS_SEEN, RING_SEEN
from sparsedp.estimation.shrinkage.mixture_prior import (
    CLASS_COUNT,
    FEW,
    GATE,
    MOST_ROUNDS,
    NULL_COUNT,
    ODDS_ROUNDS,
    POOLED_COUNT,
    ROUGH_COUNT,
    SCALES,
    SETTLED,
    SMOOTH_COUNT,
    VAGUE,
    noise_nodes,
    variance_shape,
)
from sparsedp.laws import DiscreteLaplaceLaw

Nodes = tuple[Floats, Floats]


def window(n: int, start: int, stop: int) -> Floats:
    """Weights of the mean of the mirrored cells start ≤ … < stop."""
    weights = np.zeros(n)
    for i in range(start, stop):
        place = i % (2 * n)
        weights[place if place < n else 2 * n - 1 - place] += 1 / (stop - start)
    return weights


def contrast_weights(n: int, level: int, gap: int) -> Floats:
    half = 2 ** (level - 1)
    return (window(n, gap - half, gap) - window(n, gap, gap + half)) / 2


def trend_weights(level: int, gap: int, n: int) -> list[tuple[float, int]] | None:
    """The trend at a gap: factors of the means of the windows around other gaps."""
    half, width = 2 ** (level - 1), 2**level
    left, right = gap >= 5 * half, n - gap >= 5 * half
    if left and right:
        near, far = 22 / 128, -3 / 128
        return [(near, gap - width), (-near, gap + width), (far, gap - 2 * width), (-far, gap + 2 * width)]
    if not left and not right:
        return None
    room = min(gap, n - gap, half) / half
    factor = room * (2 - room) / 4 * (1 if left else -1)
    direction = -1 if left else 1
    return [(factor, gap + 2 * direction * width), (-factor, gap + direction * width)]


def bend_weights(n: int, level: int, gap: int) -> Floats | None:
    trend = trend_weights(level, gap, n)
    if trend is None:
        return None
    half = 2 ** (level - 1)
    return contrast_weights(n, level, gap) - sum(f * window(n, c - half, c + half) for f, c in trend)


def surroundings_of(cells: Floats, level: int, gap: int, deviation: float) -> int:
    half, n = 2 ** (level - 1), len(cells)
    if gap < 3 * half or n - gap < 3 * half:
        return 0
    blocks = [float(cells[gap + k * half : gap + (k + 1) * half].sum()) for k in range(-3, 3)]
    unit = deviation * np.sqrt(2 * half)
    ring = abs(blocks[1] - blocks[4]) > RING_SEEN * unit
    energy = ((blocks[0] - blocks[1]) ** 2 + (blocks[4] - blocks[5]) ** 2) / 2
    counts = abs(blocks[0] + blocks[1] + blocks[4] + blocks[5]) > COUNTS_SEEN * deviation * np.sqrt(4 * half)
    return 1 + 4 * bool(counts) + 2 * bool(ring) + int(energy > (NEIGHBOURS_SEEN * unit) ** 2)


def densities(z: float, nodes: Nodes) -> Floats:
    total = SCALES[:, None] ** 2 + nodes[0]
    return np.asarray((nodes[1] * np.exp(-(z**2) / 2 / total) / np.sqrt(2 * np.pi * total)).sum(axis=1))


def posterior(z: float, nodes: Nodes, weights: Floats) -> tuple[float, float]:
    """Posterior mean of the noise, and density."""
    total = SCALES[:, None] ** 2 + nodes[0]
    joint = weights[:, None] * nodes[1] * np.exp(-(z**2) / 2 / total) / np.sqrt(2 * np.pi * total)
    return float((joint * nodes[0] / total * z).sum() / joint.sum()), float(joint.sum())


def fitted(values: list[float], worth: float, nodes: Nodes, start: Floats, pseudo: Floats, gate: float) -> Floats:
    rows = np.array([densities(z, nodes) for z in values])
    rows = rows.reshape(-1, len(SCALES))
    weights = start
    for _ in range(MOST_ROUNDS):
        share = weights * rows
        fresh = pseudo + worth * (share / share.sum(axis=1, keepdims=True)).sum(axis=0)
        fresh /= fresh.sum()
        weights, change = fresh, np.abs(fresh - weights).max()
        if change < SETTLED:
            break
    gain = worth * float(np.log(rows @ weights + 1e-300).sum() - np.log(rows[:, 0] + 1e-300).sum())
    trusted = 1 / (1 + np.exp(min(gate - gain, 700.0)))
    return np.asarray(trusted * weights + (1 - trusted) * np.eye(len(SCALES))[0])


def fitted_classes(
    values: list[float], kinds: list[int], worth: float, nodes: Nodes, finer: list[Floats], doubt: float
) -> list[Floats]:
    start = 0.9 * finer[0] + 0.1 * VAGUE
    pseudo = POOLED_COUNT * start + NULL_COUNT * doubt * np.eye(len(SCALES))[0]
    found = [fitted(values, worth, nodes, (start + VAGUE) / 2, pseudo, GATE * doubt)]
    for kind in range(1, len(finer)):
        own = [z for z, k in zip(values, kinds, strict=True) if k == kind]
        start = 0.45 * (finer[kind] + found[0]) + 0.1 * VAGUE
        pseudo = POOLED_COUNT * start + CLASS_COUNT * found[0]
        found.append(fitted(own, worth, nodes, (start + VAGUE) / 2, pseudo, GATE * doubt))
    return found


def smooth_chance(ratios: list[float], worth: float) -> float:
    chance = 0.5
    for _ in range(ODDS_ROUNDS):
        seen = worth * sum(chance * r / (1 - chance + chance * r) for r in ratios)
        chance = (seen + SMOOTH_COUNT) / (worth * len(ratios) + SMOOTH_COUNT + ROUGH_COUNT)
    return chance


def shrink_slowly(observed: Floats, law: DiscreteLaplaceLaw) -> Floats:
    n = len(observed)
    cells = observed - observed.mean()
    sd = float(np.sqrt(law.variance))
    levels = int(np.log2(2 * n))
    doubt = (n + 1) / (n + 1 + FEW)
    finer, finer_bends = [VAGUE] * 9, [VAGUE] * 9
    differences: list[dict[int, tuple[float, float, float]]] = []
    for level in range(1, levels + 1):
        nodes = noise_nodes(2**level * variance_shape(law))
        lags = [min(abs(k), 2**level) for k in range(-(2**level), 2**level + 1)]
        base = np.repeat([1.0, -1.0], 2 ** (level - 1)) / np.sqrt(2**level)
        worth = 1 / sum(float(base[: 2**level - lag] @ base[lag:]) ** 2 for lag in lags)
        rows = {gap: contrast_weights(n, level, gap) for gap in range(1, n)}
        norms = {gap: sd * float(np.linalg.norm(row)) for gap, row in rows.items()}
        z = {gap: float(row @ cells) / norms[gap] for gap, row in rows.items()}
        bent = {gap: row for gap in range(1, n) if (row := bend_weights(n, level, gap)) is not None}
        bent_norms = {gap: sd * float(np.linalg.norm(row)) for gap, row in bent.items()}
        e = {gap: float(row @ cells) / bent_norms[gap] for gap, row in bent.items()}
        kind = {gap: surroundings_of(observed, level, gap, sd) for gap in rows}
        finer = fitted_classes(list(z.values()), list(kind.values()), worth, nodes, finer, doubt)
        if bent:
            finer_bends = fitted_classes(list(e.values()), [kind[g] for g in e], worth, nodes, finer_bends, doubt)
        ratio = {
            gap: posterior(e[gap], nodes, finer_bends[kind[gap]])[1] / bent_norms[gap]
            / (posterior(z[gap], nodes, finer[kind[gap]])[1] / norms[gap])
            for gap in bent
        }  # fmt: skip
        smooth = [smooth_chance([r for g, r in ratio.items() if k in (0, kind[g])], worth) for k in range(9)]
        level_found = {}
        for gap in rows:
            noise = posterior(z[gap], nodes, finer[kind[gap]])[0] * norms[gap]
            if gap in bent:
                chance = smooth[kind[gap]] * ratio[gap]
                chance /= chance + 1 - smooth[kind[gap]]
                level_found[gap] = noise, posterior(e[gap], nodes, finer_bends[kind[gap]])[0] * bent_norms[gap], chance
            else:
                level_found[gap] = noise, 0.0, 0.0
        differences.append(level_found)

    half = 2 ** (levels - 1)
    tops = {gap: window(n, gap - half, gap + half) - 1 / n for gap in range(n + 1)}
    top_norms = {gap: sd * float(np.linalg.norm(row)) for gap, row in tops.items()}
    top = {gap: float(row @ cells) / top_norms[gap] if top_norms[gap] > 1e-6 * sd else 0.0 for gap, row in tops.items()}
    top_prior = fitted_classes([top[g] for g in range(1, n)], [0] * (n - 1), worth, nodes, finer[:1], doubt)[0]

    def reflected(gap: int) -> tuple[int, float]:
        gap %= 2 * n
        return (gap, 1.0) if gap <= n else (2 * n - gap, -1.0)

    @cache
    def mean(level: int, gap: int) -> float:
        """Noise removed from the mean of the 2^level mirrored cells around a gap."""
        gap, _ = reflected(gap)
        if level == levels:
            return posterior(top[gap], nodes, top_prior)[0] * top_norms[gap]
        step = 2 ** (level - 1)
        return 0.5 * (half_of(level + 1, gap + step, 1.0) + half_of(level + 1, gap - step, -1.0))

    @cache
    def half_of(level: int, gap: int, side: float) -> float:
        """… from the left (1) or right (−1) half of the window of 2^level cells around a gap."""
        gap, sign = reflected(gap)
        return mean(level, gap) + side * sign * difference(level, gap)

    @cache
    def difference(level: int, gap: int) -> float:
        if gap in (0, n):
            return 0.0
        own, bend, chance = differences[level - 1][gap]
        trend = trend_weights(level, gap, n) or []
        return (1 - chance) * own + chance * (bend + sum(f * mean(level, c) for f, c in trend))

    removed = np.array([0.5 * (half_of(1, i + 1, 1.0) + half_of(1, i, -1.0)) for i in range(n)])
    return np.asarray(observed - (removed - removed.mean()))
