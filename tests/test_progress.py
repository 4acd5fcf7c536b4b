"""The status line: shown to a person who waits, never to a script."""

import io
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import sparsedp as sdp
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


def lines_of(screen: io.StringIO) -> list[str]:
    return [line for line in screen.getvalue().split("\r\x1b[2K") if line]


def test_a_bar_says_how_much_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_REFRESH", 0.02)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.stage("recovering"):
        time.sleep(0.1)
        progress.advance(0.5)
        time.sleep(0.15)
    first, *_, last = lines_of(screen)
    assert first.startswith("sparsedp: recovering … ")
    assert last.startswith("sparsedp: ██████████░░░░░░░░░░ 50% recovering … ")


def test_a_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    screen = Terminal()
    run_stages(screen, monkeypatch)
    assert {len(line) <= 29 for line in lines_of(screen)} == {True}
    assert any("recovering" in line for line in lines_of(screen))


def test_parts_of_a_stage_take_it_from_where_it_is() -> None:
    done = []

    def note() -> None:
        done.append(progress.STATUS._done)

    with progress.stage("estimating"):
        note()
        with progress.part(0.4):
            progress.advance(0.5)
            note()
            with progress.part(0.75):
                progress.advance(0.5)
                note()
            note()
            with progress.stage("recovering"):
                progress.advance(1.0)
                note()
        note()
        progress.advance(0.1)
        note()
    assert done == pytest.approx([0.0, 0.2, 0.25, 0.3, 0.3, 0.4, 0.4])
    with progress.stage("estimating"):
        assert progress.STATUS._done == 0.0
    progress.advance(0.5)
    with progress.part(0.5):
        pass


@pytest.mark.parametrize("shape", [(4096,), (64, 64)], ids=str)
def test_a_recovery_and_its_errors_say_how_far_they_are(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, float]] = []
    note = progress.StatusLine.advance

    def advance(line: progress.StatusLine, share: float) -> None:
        note(line, share)
        seen.append((" · ".join(line._stages), line._done))

    monkeypatch.setattr(progress.StatusLine, "advance", advance)
    counts = np.random.default_rng(1).integers(0, 1000, shape)
    release = sdp.release(counts, epsilon=1, mechanism="adaptive:cells")
    assert release.stderr is not None
    for what in ("recovering 4,096 cells", "estimating the errors of 4,096 cells"):
        shares = [share for stages, share in seen if stages == what]
        assert shares == sorted(shares)
        assert len(set(shares)) > 5
        assert shares[-1] >= 0.9


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
