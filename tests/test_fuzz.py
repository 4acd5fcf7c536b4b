"""The fuzzer: a sample of it finds nothing here, and it finds every kind of fault that is planted."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = {"release", "synopsis", "ledger", "stream", "project", "csv", "parquet", "arrow", "command"}


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    words = [sys.executable, *map(str, arguments)]
    return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_a_sample_finds_nothing(tmp_path: Path) -> None:
    ended = run("-m", "fuzz", "--inputs", 90, "--seed", 7, "--folder", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    table = {line.split()[0]: line.split()[1:5] for line in ended.stdout.splitlines() if line.count(" ") > 5}
    assert table.keys() >= KINDS
    assert all(table[kind][0] == "10" and table[kind][3] == "0" for kind in KINDS)
    opened, refused = int(table["all"][1]), int(table["all"][2])
    # Inputs that are all refused at the door, or all let through, would test nothing behind it.
    assert opened > 20
    assert refused > 40
    assert not list(tmp_path.iterdir())


PLANTED = {
    "release": "raw error: KeyError",
    "synopsis": "hang: open_synopsis",
    "ledger": "death: signal 11 in open_ledger",
    "stream": "a refusal that left traces: open_stream: lost, written",
    "project": "raw error: KeyError",
    "csv": "secret in an error: count",
    "parquet": "a refusal that left traces: publish: changed",
    "arrow": "raw error: MemoryError",
    "command": "secret in what is printed",
}


def test_planted_faults_are_found(tmp_path: Path) -> None:
    ended = run(ROOT / "tests" / "planted_faults.py", tmp_path)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    kept = {path.name: (path / "findings.txt").read_text() for path in tmp_path.iterdir()}
    for kind, fault in PLANTED.items():
        shown = [text for name, text in kept.items() if name.startswith(f"{kind}-") and fault in text]
        assert shown, (kind, fault, ended.stdout)
        # Each says how to see it again, and is on the list.
        assert re.match(rf"python -m fuzz --seed 1 --kind {kind} --only \d+\n", shown[0])
        assert fault in ended.stdout


def test_what_an_input_leaves_in_the_process_neither_hides_nor_fakes_a_finding(tmp_path: Path) -> None:
    """What is only seen behind others is said to be; a child that has grown is replaced; deaths are told apart."""
    ended = run(ROOT / "tests" / "inputs_that_leave_something.py", tmp_path / "work")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    shown: list[list[list[str]]] = [json.loads(line) for line in ended.stdout.splitlines()]
    signatures = [[signature for signature, _ in each] for each in shown]
    assert signatures == [
        [],
        ["raw error (only after other inputs): LookupError at no line of ours"],
        ["raw error: KeyError at no line of ours"],
        ["death: signal 11 in door"],
        *[[]] * 5,
    ]
    assert "--kind toy --first 0 --inputs 2 --processes 1" in shown[1][0][1]
