"""Inputs that change the process they run in, one after the other: `python inputs_that_leave_something.py FOLDER`."""

import fuzz.__main__  # noqa: F401, I001  # first: it says how many threads libraries may have
import json
import os
import random
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.sandbox import Doors, Limits, run_batch

LEFT: list[Any] = []
"""What inputs leave to the next ones in the same child."""


def fails() -> None:
    """In any process."""
    raise KeyError("always")


def fails_behind_others() -> None:
    """Only where another input has been."""
    if LEFT:
        raise LookupError("left behind")


def dies() -> None:
    """At once."""
    os.kill(os.getpid(), signal.SIGSEGV)


@dataclass
class One:
    """An input that does one thing."""

    does: Callable[[], object]
    name: str = "toy"

    def made(self, draw: random.Random, specimens: Any) -> Callable[[Doors], None]:
        """Nothing is written."""
        return lambda doors: (doors.call("door", self.does), None)[1]


INPUTS: list[Callable[[], object]] = [
    *(lambda: LEFT.append(1), fails_behind_others, fails, dies),  # then another child
    *(fails_behind_others, lambda: LEFT.append(bytearray(40 << 20))),  # it has grown: then another child
    *(fails_behind_others, lambda: LEFT.append([os.dup(1) for _ in range(40)])),  # as above
    fails_behind_others,
]


def main(folder: str) -> None:
    """What each of them shows."""
    jobs = [(One(does), number) for number, does in enumerate(INPUTS)]
    specimens: Any = None
    for outcome, _ in run_batch(jobs, 1, specimens, Limits(megabytes=256), Path(folder)):
        print(json.dumps([[finding.signature, finding.details] for finding in outcome.findings]))


if __name__ == "__main__":
    main(sys.argv[1])
