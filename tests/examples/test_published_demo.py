"""`make demo`: from real records to a published file, three answers and a page, all in one folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import sparsedp as sdp

DEMO = Path(__file__).parent.parent.parent / "examples" / "demo.py"


def run_demo(folder: Path) -> str:
    """What it prints, run as `make demo` runs it; warnings are errors."""
    environment = {**os.environ, "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", str(DEMO)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_demo_publishes_asks_and_reports(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("flights.release.parquet", "flights.html", "flights.ledger.db"):
        (out / name).write_text("left by an earlier run")
    printed = run_demo(tmp_path)
    for said in (
        "left from 17 h on",
        "More in the evening",  # 5,728 and 1,872, and standard errors of some 400: ten of them apart
        "flights, likely",
        "minutes, likely",
        "A second time? The budget would be",
        "each run has a new ledger",
    ):
        assert said in printed
    for name in ("flights.release.parquet", "flights.html", "flights-2.ledger.db"):
        assert str(out / name) in printed
    assert not (out / "again.parquet").exists()
    assert (out / "flights.ledger.db").read_text() == "left by an earlier run"  # a ledger is never deleted
    the_file_protects_an_aircraft(out / "flights.release.parquet")
    the_ledger_has_one_spend(out / "flights-2.ledger.db")
    the_page_stands_alone((out / "flights.html").read_text())


def the_file_protects_an_aircraft(path: Path) -> None:
    release = sdp.open_release(path)
    assert release.private
    assert release.shape == (19, 8)
    assert release.spent == sdp.Budget(epsilon=1)
    assert "one person (all records with the same tailnum)" in str(release.guarantee)
    assert release.guarantee.neighbours.contribution == 50
    # In the domain 145,665 flights are left when of each aircraft 50 are kept at most; the noise is some hundreds.
    assert abs(release.total().estimate - 145_665) < 8_000


def the_ledger_has_one_spend(path: Path) -> None:
    ledger = sdp.open_ledger(path, "flights")
    assert ledger.remaining is None
    assert [spend.state for spend in ledger.entries] == ["delivered"]


def the_page_stands_alone(page: str) -> None:
    assert "Flights out of New York, 2013" in page
    for address in ('src="http', 'href="http', "@import", "fetch("):
        assert address not in page
