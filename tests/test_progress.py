"""The status line: shown to a person who waits, never to a script."""

import io
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sparsedp import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run_stages(screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_REFRESH", 0.02)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.stage("recovering"):
        time.sleep(0.15)
        with progress.stage("compiling"):
            time.sleep(0.15)
    return screen.getvalue()


def test_a_person_who_waits_is_told_and_the_line_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = run_stages(Terminal(), monkeypatch)
    assert "sparsedp: recovering …" in screen
    assert "sparsedp: recovering · compiling …" in screen
    assert screen.endswith("\r\x1b[2K")


def test_a_script_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_stages(io.StringIO(), monkeypatch) == ""


def test_a_quick_stage_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.stage("measuring"):
        pass
    assert screen.getvalue() == ""


def test_the_first_compilation_is_announced_and_cached(tmp_path: Path) -> None:
    """In a real terminal, with an empty cache; a second process finds the machine code and says nothing."""
    code = (
        "import sparsedp.progress as p; p.PATIENCE = 0.01\n"
        "from sparsedp.sensing.tree import Tree; import numpy as np; print(Tree(5).apply(np.arange(5))[0])"
    )
    screens = [in_a_terminal(code, tmp_path) for _ in range(2)]
    assert "compiling (first use only)" in screens[0]
    assert "compiling" not in screens[1]
    assert all("10" in screen for screen in screens)


def in_a_terminal(code: str, cache: Path) -> str:
    here, there = pty.openpty()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=there, stderr=there, env=environment)
    os.close(there)
    screen = b""
    while True:
        try:
            part = os.read(here, 4096)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not part:
            break
        screen += part
    os.close(here)
    assert process.wait() == 0, screen.decode()
    return screen.decode()
