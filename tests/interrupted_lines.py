"""Ctrl-C at a chosen line of a package."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def interrupted_at(line: int, package: str) -> Iterator[None]:
    """The so-many-th line that runs in the package's folder raises KeyboardInterrupt."""
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(package):
            return None
        left -= event == "line"
        if left == 0 and event == "line":
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
