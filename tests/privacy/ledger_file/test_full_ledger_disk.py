"""A full disk: one sentence, nothing is spent unless the sentence says so, and once there is room it goes on."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ledger_places import memory_folder


@pytest.fixture(scope="module")
def happened() -> Iterator[list[dict[str, Any]]]:
    here = Path(__file__).parent
    with memory_folder() as folder:
        command = [sys.executable, str(here / "full_ledger_disk.py"), str(folder)]
        surroundings = os.pathsep.join(filter(None, (str(here), os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": surroundings}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        yield [json.loads(line) for line in done.stdout.splitlines()]


def test_nothing_is_spent_unless_it_is_said(happened: list[dict[str, Any]]) -> None:
    runs = [each for each in happened if "spent" in each]
    assert {each["spent"] for each in runs} == {0, 1}
    for each in runs:
        assert each["again"] == each["spent"] + 1
        assert set(each["left"]) <= {"budget.db", "budget.db.synopses"}
        if each["returned"]:
            assert each["spent"] == 1
            assert not each["said"] or "Spend 1 stays spent" in each["said"]
        else:
            assert each["said"].endswith("Nothing was spent.") == (each["spent"] == 0)
            assert each["spent"] == 0 or "The debit was committed all the same" in each["said"]


def test_both_steps_were_met_by_the_full_disk(happened: list[dict[str, Any]]) -> None:
    said = [each["said"] for each in happened if "spent" in each]
    assert any("could not be written: the disk is full or fails; make room" in each for each in said)
    assert any("stays spent" in each for each in said)
    assert any(not each for each in said)
    assert all("\n" not in each for each in said)


def test_a_ledger_is_begun_whole_or_not_at_all(happened: list[dict[str, Any]]) -> None:
    beginnings = [each for each in happened if "begun" in each]
    assert {each["begun"] for each in beginnings} == {True, False}
    for each in beginnings:
        assert each["left"] == (["budget.db"] if each["begun"] else [])
        assert each["begun"] or "the disk is full or fails" in each["said"]
