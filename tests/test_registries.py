"""What is registered is found everywhere: by name, in files, on pages, in previews, audits and on the command line."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import sparsedp as sdp
from sparsedp.axes import AXES
from sparsedp.axes.domain import Domain
from sparsedp.bases import BASES
from sparsedp.bases.base import Identity
from sparsedp.cli._options import chosen_mechanism
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.mechanisms.base import Mechanism
from sparsedp.plan import Plan
from sparsedp.sensing.tree import Tree


@dataclass(frozen=True)
class Wide(Mechanism):
    branching: int = 4
    name: ClassVar[str] = "wide"

    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        return Plan(self.name, Tree(cells, branching=self.branching), RecoveryPlan("tree_consistency"), domain=domain)


class Plain(Identity):
    name = "plain"


class Floors(sdp.Integers):
    kind: ClassVar[str] = "floors"


def test_a_mechanism(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sdp.MECHANISMS, "wide", Wide)
    release = sdp.release(np.arange(40), epsilon=1, mechanism="wide")
    assert sdp.open_release(release.save(tmp_path / "x.parquet")).mechanism == "wide"
    assert "wide" in release.report(tmp_path / "x.html").read_text()
    assert chosen_mechanism("wide") == Wide()
    assert "by wide" in str(sdp.preview(16, epsilon=1, total=1000, mechanism="wide"))
    found = sdp.audit("wide", replays=100, runs=0, jobs=1)
    assert found.passed
    assert "wide" in str(found)


def test_a_basis(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(BASES, "plain", Plain)
    synopsis = sdp.Compressive("plain", sparsity=2, seed=1).measure(np.arange(40), epsilon=1)
    again = sdp.open_synopsis(synopsis.save(tmp_path / "x.synopsis"))
    np.testing.assert_array_equal(again.recover().values, synopsis.recover().values)


def test_an_axis(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(AXES, "floors", Floors)
    domain = Domain([Floors("floor", 0, 3)])
    counts = sdp.count(pd.DataFrame({"floor": [0, 3, 3, 9]}), domain, privacy_unit=None)
    assert counts.values.tolist() == [1, 0, 0, 2]
    release = sdp.release(counts.values, epsilon=1, domain=domain)
    assert sdp.open_release(release.save(tmp_path / "x.parquet")).domain == domain
    assert "floor" in release.report(tmp_path / "x.html").read_text()
