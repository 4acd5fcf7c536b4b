"""A made-up experiment, cheap enough to be run, stopped and run again."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from studies.paper.experiment import (
    Claim,
    Effort,
    Expectation,
    Experiment,
    Found,
    Judgement,
    Numbers,
    Origins,
    Outcomes,
    Picture,
    Settings,
    Verdict,
)

SLOW = 0.05


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    return [{"number": number, "data": "nettrace", "origin": "stand-in"} for number in range(6)]


def measure(settings: Settings) -> Found:
    """Its square; a job that is `slow` takes its time, and tells that it has begun."""
    if settings.get("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    if "begun" in settings:
        with open(settings["begun"], "a") as file:
            file.write(f"{settings['number']}\n")
        time.sleep(SLOW)
    return {"square": settings["number"] ** 2}


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    path = folder / "made-up.png"
    path.write_bytes(b"\x89PNG not really")
    return [Picture(path, "Squares of *numbers* <and> `code`")]


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    rows = tuple((str(one.settings["number"]), str(one.found["square"])) for one in outcomes)
    return [Numbers("Numbers | and squares.", ("number", "square|d"), rows)]


def judge(outcomes: Outcomes) -> Judgement:
    largest = max(one.found["square"] for one in outcomes)
    return Judgement(Verdict.HOLDS_ONLY, f"The largest is {largest} | <b>.", "up to five")


def expect(outcomes: Outcomes) -> list[Expectation]:
    return [Expectation("small squares", f"{len(outcomes)} of them", len(outcomes) < 7)]


EXPERIMENT = Experiment(
    name="made-up",
    title="Squares, made up",
    about="Squares **of** numbers.",
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=(
        Claim("Section 7.1.10", "Tenth.", judge),
        Claim("Section 7.1.2", "Second.", judge),
        Claim("Abstract", "First.", judge),
        Claim("Appendix B", "Last.", judge),
    ),
    expect=expect,
)
