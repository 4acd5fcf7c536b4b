"""`make demo`: from real records to a published file, three answers and a page, all in one folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sparsedp as sdp

DEMO = Path(__file__).parent.parent.parent / "examples" / "demo.py"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo")
    printed = ""
    for _ in range(2):  # a second time it begins anew
        run = subprocess.run(
            [sys.executable, "-W", "error", DEMO],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
        assert run.returncode == 0, run.stderr
        printed = run.stdout
    return folder / "out", printed


def test_the_demo_says_what_it_did_and_where_it_is(demo: tuple[Path, str]) -> None:
    out, printed = demo
    for said in ("left from 17 h on", "flights, likely", "minutes, likely", "A second time? The budget would be"):
        assert said in printed
    for name in ("flights.release.parquet", "flights.html", "flights.ledger.db"):
        assert str(out / name) in printed
        assert (out / name).stat().st_size
    assert not (out / "again.parquet").exists()


def test_the_published_file_protects_an_aircraft(demo: tuple[Path, str]) -> None:
    release = sdp.open_release(demo[0] / "flights.release.parquet")
    assert release.private
    assert release.shape == (19, 8)
    assert release.spent == sdp.Budget(epsilon=1)
    assert "one person (all records with the same tailnum)" in str(release.guarantee)
    assert release.guarantee.neighbours.contribution == 50
    # In the domain 145,665 flights are left when of each aircraft 50 are kept at most; the noise is some hundreds.
    assert abs(release.total().estimate - 145_665) < 8_000


def test_the_ledger_has_one_spend(demo: tuple[Path, str]) -> None:
    ledger = sdp.open_ledger(demo[0] / "flights.ledger.db", "flights")
    assert ledger.remaining is None
    assert [spend.state for spend in ledger.entries] == ["delivered"]


def test_the_page_is_complete(demo: tuple[Path, str]) -> None:
    page = (demo[0] / "flights.html").read_text()
    assert "Flights out of New York, 2013" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
