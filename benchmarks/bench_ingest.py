"""Counting twenty million rows of Parquet: ours against the queries that an analyst writes, and the memory it takes.

The plain queries bound contributions with a window, once over the columns as they are and once over ready-made cell
numbers; ours is compared with the faster one, side by side, with the machine's threads on both sides. Theirs may use as
much memory as DuckDB likes; ours has its default setting, the same for time and for memory. The peak memory is that of
a process that counts and does nothing else, for next to no rows, for all rows and for twice as many.

Exits with 1 when ours takes more than 1.5 times as long as the faster plain query, when twice the rows take more than
1.15 times the memory, or when all of it is more than the setting and 150 MB beyond what next to no rows take.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import least_times

# isort: split
import duckdb
from rich.console import Console
from rich.table import Table

from sparsedp.axes import Calendar, Categories
from sparsedp.axes.domain import Domain
from sparsedp.ingest import count
from sparsedp.ingest.session import memory_limit, threads

TARGET, MOST_GROWTH, SLACK = 1.5, 1.15, 150
MOST = 3
NEXT_TO_NONE = 10_000
FULL = 10_000_000
"""Rows that fill the memory which is set; fewer take less, and their growth says nothing."""

DOMAIN = Domain([Calendar("visited", "2024-01-01", "1d", 366), Categories("sex", ["F", "M"])])

GENERATE = """
COPY (SELECT {unit} AS patient,
             TIMESTAMP '2023-12-25' + to_seconds(CAST(hash(i) % (380 * 86400) AS BIGINT)) AS visited,
             CASE hash(i * 3) % 3 WHEN 0 THEN 'F' WHEN 1 THEN 'M' ELSE 'X' END AS sex
      FROM range({rows}) r(i)) TO '{path}' (FORMAT parquet)
"""
UNITS = {
    "whole numbers": "CAST(hash(i * 7 + 1) % {people} AS BIGINT)",
    "text": "'patient-' || lpad(CAST(hash(i * 7 + 1) % {people} AS VARCHAR), 12, '0')",
}
BY_COLUMNS = """
SELECT day, sex, count(*) FROM (
    SELECT CAST(visited AS DATE) AS day, sex,
           row_number() OVER (PARTITION BY patient ORDER BY hash(patient, visited, sex, 42)) AS n
    FROM '{path}'
    WHERE patient IS NOT NULL AND visited >= '2024-01-01' AND visited < '2025-01-01' AND sex IN ('F', 'M'))
WHERE n <= {most} GROUP BY ALL
"""
BY_CELLS = """
SELECT cell, count(*) FROM (
    SELECT cell, row_number() OVER (PARTITION BY patient ORDER BY hash(patient, cell, 42)) AS n FROM (
        SELECT patient, datediff('day', TIMESTAMP '2024-01-01', visited) * 2 + (sex = 'M')::INTEGER AS cell
        FROM '{path}'
        WHERE patient IS NOT NULL AND visited >= '2024-01-01' AND visited < '2025-01-01' AND sex IN ('F', 'M')))
WHERE n <= {most} GROUP BY ALL
"""


def generated(folder: Path, rows: int, unit: str) -> Path:
    path = folder / f"{rows}-{unit.replace(' ', '-')}.parquet"
    if not path.exists():
        people = UNITS[unit].format(people=rows // 8)
        duckdb.connect().execute(GENERATE.format(unit=people, rows=rows, path=path))
    return path


def plain(query: str, path: Path) -> int:
    with duckdb.connect(config={"temp_directory": str(path.parent)}) as connection:
        rows = connection.execute(query.format(path=path, most=MOST)).fetchall()
    return int(sum(row[-1] for row in rows))


def ours(path: Path) -> int:
    return int(count(path, DOMAIN, privacy_unit="patient", max_contributions=MOST).values.sum())


def timed(path: Path, repeats: int) -> dict[str, float]:
    """Seconds of each; all of them keep the same number of records."""
    found = least_times(
        {
            "ours": (lambda: ours(path), repeats),
            "plain, by columns": (lambda: plain(BY_COLUMNS, path), repeats),
            "plain, by cells": (lambda: plain(BY_CELLS, path), repeats),
        }
    )
    kept = {value for value, _ in found.values()}
    assert len(kept) == 1, "the queries keep different numbers of records"
    return {name: seconds for name, (_, seconds) in found.items()}


def peak_megabytes(path: Path) -> float:
    """Of a process that counts and does nothing else."""
    program = [sys.executable, __file__, "--peak", str(path)]
    return float(json.loads(subprocess.run(program, capture_output=True, text=True, check=True).stdout))


def print_peak(path: Path) -> int:
    ours(path)
    status = Path("/proc/self/status")
    if status.exists():  # the other way to ask counts in the process that started this one
        peak = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    else:
        peak = str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    print(json.dumps(int(peak) / 1000))
    return 0


def times(folder: Path, rows: int, repeats: int) -> tuple[Table, list[str]]:
    table = Table(title=f"Seconds for {rows:,} rows of Parquet, at most {MOST} records a person (best run)")
    for heading in ("people are", "ours", "plain, by columns", "plain, by cells", "ratio"):
        table.add_column(heading, justify="right")
    missed = []
    for unit in UNITS:
        ours(generated(folder, NEXT_TO_NONE, unit))  # what is imported and compiled once is not counted
        seconds = timed(generated(folder, rows, unit), repeats)
        ratio = seconds["ours"] / min(seconds["plain, by columns"], seconds["plain, by cells"])
        table.add_row(unit, *(f"{one:.1f}" for one in seconds.values()), f"{ratio:.2f}")
        if ratio > TARGET:
            missed.append(f"people as {unit}: {ratio:.2f} times the plain query, target {TARGET}")
    return table, missed


def memory(folder: Path, rows: int, setting: int) -> tuple[Table, list[str]]:
    sizes = (NEXT_TO_NONE, rows, 2 * rows)
    table = Table(title="Peak memory of the whole process, in MB")
    for heading in ("people are", *(f"{size:,} rows" for size in sizes), "growth", "beyond next to none"):
        table.add_column(heading, justify="right")
    missed = []
    for unit in UNITS:
        none, once, twice = (peak_megabytes(generated(folder, size, unit)) for size in sizes)
        growth, beyond = twice / once, max(once, twice) - none
        table.add_row(unit, f"{none:.0f}", f"{once:.0f}", f"{twice:.0f}", f"{growth:.2f}", f"{beyond:.0f}")
        if growth > MOST_GROWTH and rows > FULL:
            missed.append(f"people as {unit}: {growth:.2f} times the memory for twice the rows, at most {MOST_GROWTH}")
        if beyond > setting + SLACK:
            missed.append(f"people as {unit}: {beyond:.0f} MB for the rows, at most {setting} + {SLACK}")
    return table, missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two million rows, one run each")
    parser.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        return print_peak(options.peak)
    rows = 2_000_000 if options.quick else 20_000_000
    setting = memory_limit() // 1_000_000
    console = Console(width=110)
    if options.quick:
        console.print("A quick look, which fills no memory: what counts is the run without --quick.")
    console.print(f"Ours has one setting for all that follows: {setting} MB, {threads(memory_limit())} threads.")
    with tempfile.TemporaryDirectory() as name:
        table, missed = times(Path(name), rows, 1 if options.quick else 3)
        console.print(table)
        table, more = memory(Path(name), rows, setting)
        console.print(table)
    for line in (*missed, *more):
        console.print(f"MISSED  {line}")
    if not missed and not more:
        console.print(f"At most {TARGET} times the plain query, in memory that does not grow with the rows.")
    return 1 if missed or more else 0


if __name__ == "__main__":
    raise SystemExit(main())
