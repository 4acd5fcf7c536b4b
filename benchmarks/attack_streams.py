"""What an intruder proves against the continual compressive mechanism: the paper's calibration, and the correct one.

Two streams that differ by one event, at the last tick. The intruder knows everything else, sees all that is published
and looks at the state once, after that tick. The bound is with 99.9 % confidence, on runs that the attack was not tuned
on; it cannot exceed that of an attack that is always right, however much is lost. The noise is the system's own, so
the last digits differ from run to run.

    python benchmarks/attack_streams.py [--runs 4000] [--rows 64] [--epsilon 1]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "streams"))

from measured_epsilon import most_measurable
from stream_attack import CompressiveAttack

HORIZONS = (1, 2, 4, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4000, help="runs under each stream (default 4000)")
    parser.add_argument("--rows", type=int, default=64, help="k (default 64)")
    parser.add_argument("--epsilon", default="1", help='the ε asked for (default "1")')
    options = parser.parse_args()
    table = Table(title="ε that is lost at least, measured by an intruder who sees the state once")
    table.add_column("calibration")
    for heading in ("k", "T", "ε asked for", "ε guaranteed", "ε lost at least", "measurable", "runs"):
        table.add_column(heading, justify="right")
    cases = [(calibration, horizon) for calibration in ("paper", "correct") for horizon in HORIZONS]
    for calibration, horizon in track(cases, transient=True):
        last = horizon - 1
        attack = CompressiveAttack(
            calibration,
            rows=options.rows,
            horizon=horizon,
            event=last,
            epsilon=options.epsilon,
            runs=options.runs,
        )
        table.add_row(
            calibration,
            f"{options.rows}",
            f"{horizon}",
            options.epsilon,
            f"{attack.guaranteed:g}",
            f"{max(0.0, attack.measured(moment=last)):.2f}",
            f"{most_measurable(options.runs):.2f}",
            f"2 × {options.runs:,}",
            end_section=horizon == HORIZONS[-1],
        )
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
