"""A real Spark opens a release's file as it is; DuckDB and Polars open it in `test_release_file.py`, more quickly."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sparsedp as sdp

READER = Path(__file__).with_name("read_with_spark.py")


@pytest.mark.slow
def test_spark_opens_a_release(tmp_path: Path) -> None:
    domain = sdp.Domain.parse(["region:north,south", "day:2024-01-01..2024-01-31/1d", "age:0..90/30"])
    counts = [[[day + 1] * 3 for day in range(31)] for _ in range(2)]
    release = sdp.release(counts, epsilon=1, domain=domain)
    path = release.save(tmp_path / "visits.release.parquet")
    done = subprocess.run([sys.executable, READER, path], capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    assert seen["types"] == {
        "region": "string",
        "day": "timestamp_ntz",
        "age_left": "double",
        "age_right": "double",
        "count": "double",
        "stderr": "double",
    }
    assert seen["rows"] == 186
    assert seen["first_day"] == "2024-01-01 00:00:00"
    for region in ("north", "south"):
        assert seen["sums"][region] == pytest.approx(release.box_sum(region=region))
