"""Whole releases at n = 2¹⁶, 2²⁰, 2²⁴: time, peak memory a cell, and growth. Each run is a process of its own.

Exits with 1 when a release at 2²⁴ cells needs more than 120 bytes a cell beyond the idle interpreter.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

MEMORY_TARGET = 120.0
MECHANISMS = ("laplace", "compressive")


def one_run(name: str, exponent: int) -> dict[str, float]:
    """Release 2^exponent cells in this process; the second of two runs is timed, as the first loads the kernels."""
    import sparsedp as sdp

    mechanism = sdp.Laplace() if name == "laplace" else sdp.Compressive(sensing="hadamard", sparsity=64, seed=1)
    steps = np.random.default_rng(exponent).integers(0, 1000, size=64)
    mechanism.release(np.repeat(steps, 2**16 // 64), epsilon=1)
    idle = peak_bytes()
    counts = np.repeat(steps, 2**exponent // 64)
    started = time.perf_counter()
    release = mechanism.release(counts, epsilon=1)
    seconds = time.perf_counter() - started
    error = float(np.linalg.norm(release.values - counts))
    return {"seconds": seconds, "bytes_a_cell": (peak_bytes() - idle) / counts.size, "error": error}


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def in_a_process(name: str, exponent: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", name, str(exponent)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(result.stdout)
    return figures


def main() -> int:
    table = Table(title="Whole release: noise and recovery, ε = 1 (memory: peak beyond the warm interpreter)")
    for heading in ("mechanism", "cells", "seconds", "ns a cell", "bytes a cell", "‖D − D*‖₂"):
        table.add_column(heading, justify="right")
    missed = []
    for name in MECHANISMS:
        for exponent in (16, 20, 24):
            run = in_a_process(name, exponent)
            memory = run["bytes_a_cell"]
            if exponent == 24 and memory > MEMORY_TARGET:
                missed.append(f"{name}: {memory:.0f} bytes a cell at 2^24, target {MEMORY_TARGET:.0f}")
            nanoseconds = run["seconds"] / 2**exponent * 1e9
            row = f"{run['seconds']:.3f}", f"{nanoseconds:.0f}", f"{memory:.0f}", f"{run['error']:,.0f}"
            table.add_row(name, f"2^{exponent}", *row)
    Console(width=110).print(table)
    for line in missed:
        print("MISSED", line)
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("MECHANISM", "EXPONENT"), help="one run, printed as JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one_run(arguments.one[0], int(arguments.one[1]))))
    else:
        sys.exit(main())
