"""Discrete Laplace noise: our sampler against OpenDP's integer Laplace, in one run and one thread.

Exits with 1 when ours is less than 40 times faster on a vector of 10⁶ at any scale.
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

from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.source import SystemSource

TARGET = 40.0
TARGET_SIZE = 10**6
SIZES = (10**4, 10**5, 10**6, 10**7)
SCALES = (Fraction(1, 3), Fraction(1), Fraction(10), Fraction(1000), Fraction(10**6), Fraction(10**9))
QUICK_SCALES = (Fraction(1), Fraction(10**9))
OURS_REPEATS, THEIRS_REPEATS = 7, 2


def our_seconds(scale: Fraction, size: int) -> float:
    values, source = np.zeros(size, dtype=np.int64), SystemSource()
    # Loads the compiled kernel and makes the scale's table, once for all later draws.
    add_discrete_laplace(values[:1], scale, source)
    return least_time(lambda: add_discrete_laplace(values, scale, source), OURS_REPEATS)


def opendp_seconds(scale: Fraction, size: int) -> float:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    laplace = dp.m.make_laplace(*space, scale=float(scale))
    values = np.zeros(size, dtype=np.int64)
    laplace(values[:1])
    return least_time(lambda: laplace(values), THEIRS_REPEATS if size < TARGET_SIZE else 1)


def shown_scale(scale: Fraction) -> str:
    return str(scale) if scale < 10**4 else f"{float(scale):.0e}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two scales only")
    parser.add_argument("--full", action="store_true", help="OpenDP at 10⁷ too (about 90 s a scale)")
    options = parser.parse_args()
    dp.enable_features("contrib")
    table = Table(title="Discrete Laplace noise added to int64 values (best of several runs)")
    for heading in ("scale", "values", "sparsedp ms", "ns a value", "OpenDP ms", "ratio"):
        table.add_column(heading, justify="right")
    missed = []
    for scale in QUICK_SCALES if options.quick else SCALES:
        for size in SIZES:
            ours = our_seconds(scale, size)
            row = [shown_scale(scale), f"{size:,}", f"{ours * 1e3:.2f}", f"{ours / size * 1e9:.1f}"]
            if size > TARGET_SIZE and not options.full:
                table.add_row(*row, "not run", "")
                continue
            theirs = opendp_seconds(scale, size)
            ratio = theirs / ours
            table.add_row(*row, f"{theirs * 1e3:.0f}", f"{ratio:.0f}")
            if size == TARGET_SIZE and ratio < TARGET:
                missed.append(f"scale {shown_scale(scale)}: {ratio:.0f} times OpenDP, target {TARGET:.0f}")
    console = Console(width=100)
    console.print(table)
    for line in missed:
        console.print(f"MISSED  {line}")
    if not missed:
        console.print(f"At least {TARGET:.0f} times OpenDP's speed on 10⁶ values at every scale.")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
