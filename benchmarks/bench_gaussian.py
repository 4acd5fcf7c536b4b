"""Discrete Gaussian noise: our sampler against OpenDP's integer Gaussian, in one run and one thread.

Exits with 1 when ours is less than 20 times faster on a vector of 10⁶ at any deviation.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

from side_by_side import least_time

# isort: split
import numpy as np
import opendp.prelude as dp
from rich.console import Console
from rich.table import Table

from sparsedp.noise.discrete_gaussian import GaussianTable, add_discrete_gaussian
from sparsedp.noise.source import SystemSource

TARGET = 20.0
TARGET_SIZE = 10**6
SIZES = (10**4, 10**5, 10**6, 10**7)
DEVIATIONS = (Fraction(1, 2), Fraction(1), Fraction(10), Fraction(1000), Fraction(10**6), Fraction(10**9))
QUICK_DEVIATIONS = (Fraction(1), Fraction(10**6))
OURS_REPEATS, THEIRS_REPEATS = 7, 2


def our_seconds(deviation: Fraction, size: int) -> float:
    values, source = np.zeros(size, dtype=np.int64), SystemSource()
    # Loads the compiled kernel and makes the variance's table, once for all later draws.
    add_discrete_gaussian(values[:1], deviation**2, source)
    return least_time(lambda: add_discrete_gaussian(values, deviation**2, source), OURS_REPEATS)


def opendp_seconds(deviation: Fraction, size: int) -> float:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    gaussian = dp.m.make_gaussian(*space, scale=float(deviation))
    values = np.zeros(size, dtype=np.int64)
    gaussian(values[:1])
    return least_time(lambda: gaussian(values), THEIRS_REPEATS if size < TARGET_SIZE else 1)


def shown(deviation: Fraction) -> str:
    return str(deviation) if deviation < 10**4 else f"{float(deviation):.0e}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two deviations only")
    parser.add_argument("--full", action="store_true", help="OpenDP at 10⁷ too (about two minutes a deviation)")
    options = parser.parse_args()
    dp.enable_features("contrib")
    table = Table(title="Discrete Gaussian noise added to int64 values (best of several runs)")
    for heading in ("σ", "table ms", "values", "sparsedp ms", "ns a value", "OpenDP ms", "ratio"):
        table.add_column(heading, justify="right")
    missed = []
    for deviation in QUICK_DEVIATIONS if options.quick else DEVIATIONS:
        once = least_time(lambda variance=deviation**2: GaussianTable(variance), 5)  # type: ignore[misc]
        for size in SIZES:
            ours = our_seconds(deviation, size)
            row = [shown(deviation), f"{once * 1e3:.1f}", f"{size:,}", f"{ours * 1e3:.2f}", f"{ours / size * 1e9:.1f}"]
            if size > TARGET_SIZE and not options.full:
                table.add_row(*row, "not run", "")
                continue
            theirs = opendp_seconds(deviation, size)
            ratio = theirs / ours
            table.add_row(*row, f"{theirs * 1e3:.0f}", f"{ratio:.0f}")
            if size == TARGET_SIZE and ratio < TARGET:
                missed.append(f"σ = {shown(deviation)}: {ratio:.0f} times OpenDP, target {TARGET:.0f}")
    console = Console(width=100)
    console.print(table)
    for line in missed:
        console.print(f"MISSED  {line}")
    if not missed:
        console.print(f"At least {TARGET:.0f} times OpenDP's speed on 10⁶ values at every deviation.")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
