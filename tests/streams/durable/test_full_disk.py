"""A full disk: one sentence, what was acknowledged stays, and once there is room the stream goes on."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from durable_streams import KINDS
from quick_folder import quick_folder


@pytest.fixture(scope="module")
def happened() -> Iterator[list[dict[str, Any]]]:
    here = Path(__file__).parent
    with quick_folder() as folder:
        command = [sys.executable, str(here / "full_disk.py"), str(folder)]
        path = os.pathsep.join(filter(None, (str(here), os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        yield [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_acknowledged_is_lost(kind: str, happened: list[dict[str, Any]]) -> None:
    runs = [each for each in happened if each["kind"] == kind and "heard" in each]
    assert len([each for each in runs if each["refusals"]]) > 8
    unheard = [each["ticks"] - len(each["heard"]) for each in runs]
    assert max(unheard) == 0, "a tick is acknowledged, or it did not happen"
    for each in runs:
        assert each["again"] == each["heard"]
        assert each["ticks"] >= len(each["heard"])
        assert each["spends"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_refusals_are_one_sentence(kind: str, happened: list[dict[str, Any]]) -> None:
    said = {refusal for each in happened if each["kind"] == kind for refusal in each.get("refusals", ())}
    assert said
    for refusal in said:
        assert refusal.endswith(".")
        assert "\n" not in refusal
        assert "Traceback" not in refusal


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_begun_whole_or_not_at_all(kind: str, happened: list[dict[str, Any]]) -> None:
    beginnings = [each for each in happened if each["kind"] == kind and "left" in each]
    assert {bool(each["refusal"]) for each in beginnings} == {True, False}
    for each in beginnings:
        assert each["left"] in ([], ["cases.stream"])
        assert each["refusal"].startswith("Could not create") or not each["refusal"]
        assert each["refusal"] == "" or each["left"] == []
