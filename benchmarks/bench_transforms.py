"""How fast the transforms are: against scipy's DCT in the same run, and how their cost grows with the length.

One thread. Exit status 1 if a target is missed:

- the Walsh–Hadamard and the Haar transform of 2²⁰ floats take at most 0.25 of one `scipy.fft.dct`;
- from 2¹⁶ to 2²⁴ the cost per n·log₂n (Hadamard) and per n (Haar) stays within a factor 2. The same 2²⁴ cells are cut
  into vectors of each length, so every length moves the same memory and what differs is the transform alone.

The second table, for information, repeats one vector: short ones then live in the cache, which a plain copy shows too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import log2

import numpy as np
import numpy.typing as npt
from scipy.fft import dct

from sparsedp.bases.haar_transform import haar_analyze, haar_synthesize
from sparsedp.sensing.walsh_hadamard import walsh_hadamard

Floats = npt.NDArray[np.float64]
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


def best_time(run: Callable[[], object], repeats: int) -> float:
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def against_dct() -> bool:
    cells, out = np.zeros(2**20), np.zeros(2**20)
    cells[:] = out[:] = 0.0
    reference = best_time(lambda: dct(cells, workers=1), 15)
    print(f"n = 2^20: scipy.fft.dct {reference * 1e3:.2f} ms")
    met = True
    for name, (transform, _) in TRANSFORMS.items():
        taken = best_time(lambda transform=transform: transform(cells, out), 15)  # type: ignore[misc]
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
                start = time.perf_counter()
                in_turn(transform, cells, out, n)
                best[exponent] = min(best[exponent], (time.perf_counter() - start) / (total // n) / unit(n))
                if not same_memory:
                    again = best_time(lambda c=cells, o=out, t=transform: t(c, o), 2)  # type: ignore[misc]
                    best[exponent] = min(best[exponent], again / unit(n))
        spread = max(best.values()) / min(best.values())
        judged = gate and not name.startswith("(")
        met &= not judged or spread <= TARGET_FLATNESS
        note = f"(target {TARGET_FLATNESS:g})" if judged else ""
        print(f"  {name:15s}" + "".join(f"{cost * 1e12:9.0f}" for cost in best.values()) + f"   {spread:.2f} {note}")
    return met


def main() -> int:
    met = against_dct()
    # Zeros that have been written to, so that no page is still to be mapped; the same memory for every measurement.
    memory = (np.empty(2**24), np.empty(2**24))
    for part in memory:
        part.fill(0.0)
    unit = "ps per n·log2(n) or per n"
    met &= scaling(f"{unit}, the same 2^24 cells in vectors of n", memory, same_memory=True, gate=True)
    scaling(f"{unit}, one vector of n again and again", memory, same_memory=False, gate=False)
    print("\nall targets met" if met else "\nA TARGET WAS MISSED")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
