"""The commands of the README, as they are printed."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from real_process import ENTRY

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"```sh\n(.*?)```", README.read_text(), re.DOTALL)
COMMANDS = [block for block in BLOCKS if "sparsedp " in block]


def test_what_is_no_command_of_ours_is_make() -> None:
    assert COMMANDS
    others = [line for block in BLOCKS if block not in COMMANDS for line in block.splitlines()]
    assert [line for line in others if not line.startswith(("make ", "pip "))] == []


@pytest.mark.parametrize("block", COMMANDS)
def test_a_block_runs_in_a_shell(block: str, tmp_path: Path) -> None:
    path = f"{ENTRY.parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    named = re.findall(r"(?:-o|--report) (\S+)", block)
    assert [name for name in named if not (tmp_path / name).exists()] == []
