"""A small sample of `make torture` finds nothing; and it does find what is planted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FAULTS = 16


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


PLANTED = {
    "debits after the draw": "noise was drawn without a debit",
    "acknowledges before the commit": "were acknowledged, and",
    "counts a tick again": "counted twice",
    "pays with the first tick": "a stream that its ledger has not paid for",
    "knows no order again": "paid twice, although the measurement was stored",
    "leaves ids behind": "a raw id is left in tmp",
    "writes files in place": "what was left could not be used",
}


def test_a_sample_of_faults_violates_nothing_and_what_is_planted_is_found() -> None:
    """One test, for it is run once: of several, each process that has some of them would run its own."""
    told = outcome()
    assert told["violations"] == []
    assert told["faults"] == FAULTS
    for mistake, says in PLANTED.items():
        assert any(says in violation for violation in told["mistakes"][mistake]), (mistake, told["mistakes"][mistake])
