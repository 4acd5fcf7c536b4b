"""The demo does what the README promises, on the real data."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import sparsedp as sdp
from sparsedp.datasets.flights import HOURS_OF_2013, hourly_departures

DEMO = Path(__file__).parent.parent / "examples" / "publish_flights.py"


def test_the_demo_publishes_with_every_mechanism(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, DEMO], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"}
    )
    assert run.returncode == 0, run.stderr
    for name in ("publish zeros", *sdp.MECHANISMS, "ε = 0.6", "ε = 0.4"):
        assert name in run.stdout
    release = sdp.open_release(tmp_path / "out" / "flights.release.parquet")
    assert release.private
    assert release.spent == sdp.Budget(epsilon="0.1")
    assert len(release) == HOURS_OF_2013
    assert (tmp_path / "out" / "flights.png").read_bytes().startswith(b"\x89PNG")


def test_the_flights_are_the_known_ones() -> None:
    departures = hourly_departures()
    assert departures.shape == (HOURS_OF_2013,)
    assert departures.sum() == 328_521
    assert departures.dtype == np.int64
    assert departures[:5].tolist() == [0, 0, 0, 0, 0]
    assert departures[5] == 6
