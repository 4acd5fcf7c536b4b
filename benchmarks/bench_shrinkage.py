"""How fast the shrinkage is: against one `scipy.fft.dct` of the same length in the same run, and how its cost grows.

The cosine transform runs on one thread, the shrinkage on as many as it takes (two). Exit status 1 if the shrinkage of
2²⁰ cells takes more than 20 transforms: a release is allowed 40, and has its noise to draw and its constraints to meet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from side_by_side import least_times

# isort: split
import numpy as np
from scipy.fft import dct

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage.frame import shrink
from sparsedp.laws import DiscreteLaplaceLaw

EXPONENTS = range(16, 23, 2)
JUDGED = 20
TARGET = 20.0
LAW = DiscreteLaplaceLaw(Fraction(10))


def noisy_steps(n: int) -> Floats:
    generator = np.random.default_rng(n)
    chance = -np.expm1(-0.1)
    noise = generator.geometric(chance, n) - generator.geometric(chance, n)
    return (np.repeat(generator.integers(0, 100, n // 4096), 4096) + noise).astype(np.float64)


def main() -> int:
    print("  cells       dct  shrinkage      ratio   with variances   ns a cell")
    met = True
    for exponent in EXPONENTS:
        n = 2**exponent
        cells = noisy_steps(n)
        variances = np.full(exponent, LAW.variance)
        variances[5:] /= 2.0
        turns = 9 if exponent <= JUDGED else 3
        calls: dict[str, tuple[Callable[[], object], int]] = {
            "dct": (partial(dct, cells, workers=1), turns),
            "shrink": (partial(shrink, cells, LAW), turns),
            "fused": (partial(shrink, cells, LAW, variances), turns),
        }
        times = least_times(calls)
        reference, taken, fused = (times[name][1] for name in ("dct", "shrink", "fused"))
        ratio = taken / reference
        met &= exponent != JUDGED or ratio <= TARGET
        note = f" (target {TARGET:g})" if exponent == JUDGED else ""
        print(
            f"  2^{exponent} {reference * 1e3:9.2f} ms {taken * 1e3:7.1f} ms {ratio:8.1f}"
            f"   {fused / reference:14.1f} {taken / n * 1e9:11.0f}{note}"
        )
    print("target met" if met else "THE TARGET WAS MISSED")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
