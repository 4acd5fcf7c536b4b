"""The comparison with other libraries, small: it runs, says who is missing, and compares like with like."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from sparsedp.arrays import Ints
from studies.metrics import cell_error

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
HIGH = np.full(4096, 50, np.int64)
"""So high that at ε = 1 no noisy count is below 0: what is clipped has the same error as what is not."""


@pytest.fixture
def roster(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("peers.roster")


@pytest.mark.slow
def test_the_command_compares_who_is_here_and_names_who_is_not() -> None:
    command = [sys.executable, str(BENCHMARKS / "bench_peers.py"), "--quick"]
    run = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert not run.stderr
    here = "diffprivlib: tools.histogram" in run.stdout
    assert run.returncode == (0 if here else 1)
    assert ("diffprivlib was not run: " in run.stdout) is not here
    assert "TensorFlow Privacy was not run" in run.stdout
    for row in ("sparsedp: Laplace()", "OpenDP: make_laplace", "OpenDP: make_b_ary_tree, b = 2", "ContinualDifference"):
        # On the flights, time by size, error by size, guarantees.
        assert run.stdout.count(row) >= 4, row


def test_the_same_release_has_the_same_error(roster: ModuleType) -> None:
    assembled = roster.assembled()
    plain = [one for kind in roster.KINDS[:3] for one in assembled.groups[kind] if "Adaptive" not in one.call]
    trees = [assembled.groups[kind] for kind in roster.KINDS[3:5]]
    assert [len({one.library for one in tree}) for tree in trees] == [2, 2]
    for same in (plain, *trees):
        first, *others = (root_mean_square(contender.prepare(HIGH, "1"), HIGH) for contender in same)
        # Wider than chance (2 % for a ratio) and than rounding a Laplace variable (6 %), narrower than any other ε.
        assert others == pytest.approx([first] * len(others), rel=0.15)


def test_a_peer_that_fails_is_absent_with_its_reason(roster: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roster, "CONTENDERS", ())
    monkeypatch.setattr(roster, "PEERS", {"OpenDP": "peers.with_opendp", "diffprivlib": "peers.no_such_file"})
    assembled = roster.assembled()
    assert assembled.absent["diffprivlib"] == "ModuleNotFoundError: No module named 'peers.no_such_file'"
    assert "OpenDP" not in assembled.absent
    assert not assembled.complete

    monkeypatch.setattr(roster, "PEERS", {"OpenDP": "peers.with_opendp", "JAX Privacy": "peers.no_such_file"})
    assembled = roster.assembled()
    assert "JAX Privacy" in assembled.absent
    assert assembled.complete

    broken = importlib.import_module("peers.with_opendp")
    monkeypatch.setattr(broken, "checked", lambda measurement, epsilon: 1 / 0)
    assert roster.assembled().absent["OpenDP"] == "ZeroDivisionError: division by zero"


def root_mean_square(run: object, truth: Ints) -> float:
    assert callable(run)
    return float(np.sqrt(np.mean([cell_error(truth, run()) ** 2 for _ in range(3)])))
