"""The nearest point of the ℓ₁ ball, in expected O(n): no sort."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel


@kernel
def project_onto_l1_ball(vector: Floats, radius: float) -> Floats:
    """The point of {‖x‖₁ ≤ radius} nearest to `vector`; a vector already inside is returned as a copy.

    The projection is a soft threshold whose level ρ solves Σ max(|vᵢ| − ρ, 0) = radius. One pass keeps a shrinking
    set of candidates above a lower bound of ρ, then the set is pruned until it is exact (L. Condat, "Fast
    projection onto the simplex and the ℓ₁ ball", 2016).
    """
    n = vector.size
    total = 0.0
    for i in range(n):
        total += abs(vector[i])
    if total <= radius:
        return vector.copy()
    projected = np.zeros(n)
    if radius <= 0.0:
        return projected

    kept = np.empty(n)
    deferred = np.empty(n)
    kept_count, deferred_count = 1, 0
    kept[0] = abs(vector[0])
    level = kept[0] - radius
    for i in range(1, n):
        size = abs(vector[i])
        if size > level:
            level += (size - level) / (kept_count + 1)
            if level > size - radius:
                kept[kept_count] = size
                kept_count += 1
            else:
                # `size` alone already fills the ball: everything kept so far is put aside for a second look.
                for j in range(kept_count):
                    deferred[deferred_count + j] = kept[j]
                deferred_count += kept_count
                kept[0] = size
                kept_count = 1
                level = size - radius
    for i in range(deferred_count):
        if deferred[i] > level:
            kept[kept_count] = deferred[i]
            kept_count += 1
            level += (deferred[i] - level) / kept_count
    while True:
        # The running updates round; the level is recomputed from the set, so the answer is exact when the set is.
        total = 0.0
        for i in range(kept_count):
            total += kept[i]
        level = max((total - radius) / kept_count, 0.0)
        remaining = 0
        for i in range(kept_count):
            if kept[i] > level:
                kept[remaining] = kept[i]
                remaining += 1
        if remaining == kept_count or remaining == 0:
            break
        kept_count = remaining

    for i in range(n):
        size = abs(vector[i]) - level
        if size > 0.0:
            projected[i] = size if vector[i] > 0.0 else -size
    return projected
