"""A small sample of `make torture` finds nothing; and it does find what is planted."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
FAULTS = 16


@cache
def outcome() -> dict[str, Any]:
    """In a process of its own, which forks: in this one libraries have started threads."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        environment[name] = "1"
    if os.access("/dev/shm", os.W_OK):  # noqa: S108
        environment["TMPDIR"] = "/dev/shm"  # noqa: S108  # where no time goes by in waiting for a disk
    program = [sys.executable, str(Path(__file__).with_name("planted_mistakes.py"))]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_sample_of_faults_violates_nothing() -> None:
    told = outcome()
    assert told["violations"] == []
    assert told["faults"] == FAULTS


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        ("debits after the draw", "noise was drawn without a debit"),
        ("acknowledges before the commit", "were acknowledged, and"),
        ("counts a tick again", "counted twice"),
        ("pays with the first tick", "a stream that its ledger has not paid for"),
        ("knows no order again", "paid twice, although the measurement was stored"),
        ("leaves ids behind", "a raw id is left in tmp"),
        ("writes files in place", "what was left could not be used"),
    ],
)
def test_it_finds_what_is_planted(mistake: str, says: str) -> None:
    assert any(says in violation for violation in outcome()["mistakes"][mistake]), outcome()["mistakes"][mistake]
