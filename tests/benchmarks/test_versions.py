"""The comparison of two checkouts: ratios of what each mode is judged by, and refusals."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture
def bench_versions(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parent.parent.parent / "benchmarks")
    return importlib.import_module("bench_versions")


def test_ratios_are_those_of_what_a_mode_is_judged_by(bench_versions: ModuleType) -> None:
    before = {f"{mode}|steps|1000|1|0": (2.0, 10.0) for mode in bench_versions.MODES}
    after = dict.fromkeys(before, (4.0, 5.0))
    found = {mode: np.exp(ratio) for (_, mode), ratio in bench_versions.ratios(before, after).items()}
    assert found == pytest.approx({"any": 1.0, "cells": 2.0, "ranges": 0.5})


def test_a_folder_without_the_package_is_refused(
    bench_versions: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        bench_versions.main([str(tmp_path)])
    assert "src/sparsedp" in capsys.readouterr().err
