"""Commands as processes of their own: real signals, a real terminal, a real full disk."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ENTRY = Path(sys.executable).with_name("sparsedp")
"""What `pip install` puts on the path."""

PATIENCE = 120
"""Seconds after which a process that does not do what is awaited has failed."""


def started(*arguments: str, **settings: Any) -> subprocess.Popen[bytes]:
    """A command under way."""
    return subprocess.Popen(
        [ENTRY, *arguments], stdout=subprocess.PIPE, stderr=settings.pop("stderr", subprocess.PIPE), **settings
    )


def await_open(process: subprocess.Popen[bytes], name: str) -> None:
    """Wait until the process has a file of that name open; where no system tells, until it must have."""
    folder, deadline = Path(f"/proc/{process.pid}/fd"), time.monotonic() + PATIENCE
    if not folder.exists():
        time.sleep(5)
        return
    while time.monotonic() < deadline and process.poll() is None:
        for handle in folder.iterdir():
            try:
                if os.readlink(handle).endswith(name):
                    return
            except OSError:
                continue
        time.sleep(0.002)
    raise AssertionError(f"{name} was never opened: {process.communicate()}")


def await_text(handle: int, wanted: bytes) -> bytes:
    """All that can be read until the wanted text comes."""
    heard = b""
    while wanted not in heard:
        part = os.read(handle, 4096)
        if not part:
            raise AssertionError(f"{wanted!r} was never said: {heard!r}")
        heard += part
    return heard
