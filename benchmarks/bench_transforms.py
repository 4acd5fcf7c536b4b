"""How fast the transforms are: against scipy's DCT in the same run, and how their cost grows with the length.

One thread. Exit status 1 if a target is missed:

- the Walsh–Hadamard and the Haar transform of 2²⁰ floats take at most 0.25 of one `scipy.fft.dct`;
- from 2¹⁶ to 2²⁴ the cost per n·log₂n (Hadamard) and per n (Haar) stays within a factor 2.

That second target has two readings, and both are printed. The one that is judged cuts the same 2²⁴ cells into vectors
of each length: every length moves the same memory, so what differs is the transform alone. The other transforms one
vector of each length again and again. It is not judged, and is beyond the factor on most machines: it spreads more,
because short vectors stay in cache and long ones cannot. A plain copy stands beside both, to show the memory's part.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from math import log2

from side_by_side import least_time

# isort: split
import numpy as np
from scipy.fft import dct

from sparsedp.arrays import Floats
from sparsedp.bases.haar import haar_analyze, haar_synthesize
from sparsedp.sensing.hadamard import walsh_hadamard

Transform = Callable[[Floats, Floats], object]

EXPONENTS = range(16, 25, 2)
ROUNDS = 12
TARGET_OF_DCT = 0.25
TARGET_FLATNESS = 2.0
TRANSFORMS: dict[str, tuple[Transform, Callable[[int], float]]] = {
    "Hadamard": (lambda cells, _: walsh_hadamard(cells), lambda n: n * log2(n)),
    "Haar analysis": (haar_analyze, lambda n: n),
    "Haar synthesis": (haar_synthesize, lambda n: n),
    "(plain copy)": (lambda cells, out: np.copyto(out, cells), lambda n: n),
}


def against_dct() -> bool:
    cells, out = np.zeros(2**20), np.zeros(2**20)
    cells[:] = out[:] = 0.0
    reference = least_time(lambda: dct(cells, workers=1), 15)
    print(f"n = 2^20: scipy.fft.dct {reference * 1e3:.2f} ms")
    met = True
    for name, (transform, _) in TRANSFORMS.items():
        taken = least_time(partial(transform, cells, out), 15)
        if name.startswith("("):
            continue
        share = taken / reference
        met &= share <= TARGET_OF_DCT
        print(f"  {name:15s} {taken * 1e3:6.2f} ms  {share:5.3f} of it (target {TARGET_OF_DCT})")
    return met


def in_turn(transform: Transform, cells: Floats, out: Floats, n: int) -> None:
    for start in range(0, len(cells), n):
        transform(cells[start : start + n], out[start : start + n])


def scaling(title: str, memory: tuple[Floats, Floats], *, same_memory: bool, gate: bool) -> bool:
    print(f"\n{title}")
    print(" " * 17 + "".join(f"{f'2^{exponent}':>9s}" for exponent in EXPONENTS) + "   largest/smallest")
    met = True
    for name, (transform, unit) in TRANSFORMS.items():
        best = dict.fromkeys(EXPONENTS, float("inf"))
        # Lengths take turns in each round, so that a busy moment of the machine does not fall on one of them alone.
        for _ in range(ROUNDS):
            for exponent in EXPONENTS:
                n = 2**exponent
                total = 2**24 if same_memory else n
                cells, out = (part[:total] for part in memory)
                # One vector is repeated at once, so that it is in cache if it fits; all 2²⁴ cells never are.
                repeats = 1 if same_memory else 3
                taken = least_time(partial(in_turn, transform, cells, out, n), repeats)
                best[exponent] = min(best[exponent], taken / (total // n) / unit(n))
        spread = max(best.values()) / min(best.values())
        judged = gate and not name.startswith("(")
        met &= not judged or spread <= TARGET_FLATNESS
        note = f"(target {TARGET_FLATNESS:g})" if judged else "(not judged)"
        print(f"  {name:15s}" + "".join(f"{cost * 1e12:9.0f}" for cost in best.values()) + f"   {spread:.2f} {note}")
    return met


def main() -> int:
    met = against_dct()
    # Zeros that have been written to, so that no page is still to be mapped; the same memory for every measurement.
    memory = (np.empty(2**24), np.empty(2**24))
    for part in memory:
        part.fill(0.0)
    unit = "ps per n·log2(n) or per n"
    met &= scaling(f"JUDGED: {unit}, the same 2^24 cells in vectors of n", memory, same_memory=True, gate=True)
    scaling(f"NOT JUDGED: {unit}, one vector of n again and again", memory, same_memory=False, gate=False)
    print("  This reading spreads more because short vectors stay in cache and long ones cannot: see the plain copy.")
    print("\nall targets met" if met else "\nA TARGET WAS MISSED")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
