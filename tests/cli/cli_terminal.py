"""Run commands in this process as a shell would: arguments, standard input, exit code, both outputs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sparsedp.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        return self.output.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.output)


class _Stream(io.TextIOWrapper):
    """A text stream over bytes that is a terminal if a test says so."""

    terminal = False

    def isatty(self) -> bool:
        return self.terminal


def run(*arguments: object, given: str | bytes = b"", terminal: bool = False) -> Ended:
    """Run `sparsedp` with these arguments and this standard input."""
    content = given.encode() if isinstance(given, str) else given
    out, err = io.BytesIO(), io.BytesIO()
    with _streams(io.BytesIO(content), out, err, terminal=terminal):
        code = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
        return Ended(int(code), out.getvalue(), err.getvalue().decode())


def ok(*arguments: object, given: str | bytes = b"") -> Ended:
    """The same, where nothing may go wrong."""
    ended = run(*arguments, given=given)
    assert ended.code == 0, ended.errors
    return ended


def refused(*arguments: object, given: str | bytes = b"", code: int = 1) -> str:
    """The one sentence of a command that must be refused, with nothing on standard output."""
    ended = run(*arguments, given=given)
    assert ended.code == code, ended
    assert ended.output == b""
    assert ended.errors.startswith("sparsedp: ")
    assert ended.errors.count("\n") == 1
    assert "Traceback" not in ended.errors
    return ended.errors


@contextmanager
def _streams(given: io.BytesIO, out: io.BytesIO, err: io.BytesIO, *, terminal: bool) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    streams = [_Stream(buffer, encoding="utf-8", write_through=True) for buffer in (given, out, err)]
    for stream in streams[1:]:
        stream.terminal = terminal
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for stream in streams:
            stream.detach()


def in_own_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, on a screen of the usual width, whatever colours this machine likes."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
