"""Records of visits, as a clinic might keep them: one row a visit, some rows that no axis holds."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

PATIENTS = 400
ISSUE = (
    "visits.parquet",
    *("--by", "day:2024-01-01..2025-01-05/1w", "--by", "sex:F,M"),
    *("--unit", "patient_id", "--max-contributions", "3"),
)
"""What is declared of them on a command line: weeks, for a release by days takes four times as long to make."""


def visits() -> pa.Table:
    """2,000 visits of 400 patients in 2024."""
    draw = np.random.default_rng(7)
    rows = 2000
    days = np.datetime64("2024-01-01") + draw.integers(0, 366, rows)
    return pa.table(
        {
            "patient_id": [f"p{number}" for number in draw.integers(0, PATIENTS, rows)],
            "day": pa.array(days, pa.date32()),
            "sex": draw.choice(["F", "M"], rows),
            "age": draw.integers(0, 100, rows),
            "amount": draw.integers(0, 50_000, rows) / 100,
        }
    )


def write_visits(path: str = "visits.parquet") -> str:
    """Write them to a Parquet or CSV file."""
    if Path(path).suffix == ".csv":
        pyarrow.csv.write_csv(visits(), path)
    else:
        pq.write_table(visits(), path)
    return path
