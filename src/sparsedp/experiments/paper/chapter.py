"""An experiment as the pages show it: what was done, its figures and tables, and what became of the paper's claims."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sparsedp.experiments.paper.claim import Claim, Expectation, Judgement, Verdict
from sparsedp.experiments.paper.experiment import Experiment, Numbers, Picture
from sparsedp.experiments.paper.results import Results


@dataclass(frozen=True)
class Judged:
    """A claim and its judgement."""

    claim: Claim
    judgement: Judgement


@dataclass(frozen=True)
class Chapter:
    """One experiment, its results and all that is made of them."""

    experiment: Experiment
    results: Results
    pictures: list[Picture]
    numbers: list[Numbers]
    judged: list[Judged]
    expectations: list[Expectation]

    @property
    def made_by(self) -> str:
        """The command, the effort, the seed and the versions, in one line."""
        versions = ", ".join(f"{name} {version}" for name, version in self.results.versions.items())
        effort = self.results.effort.value
        return f"`{self.results.command}` ({effort}), seed {self.results.seed}, {versions}."

    @property
    def data(self) -> str:
        """Which data sets, and whether they are the paper's; nothing where there are none."""
        words = {"file": "the paper's own file", "stand-in": "a stand-in", "package": "real, from a package"}
        named = {name: words[origin] for name, origin in self.results.origins.items()}
        if self.results.origins.get("tcptrace") == "file":
            named["tcptrace"] = "the paper's trace, cut by 5 minutes: how the paper cut it is not known"
        return ", ".join(f"{name} ({origin})" for name, origin in named.items())


def chapter_of(experiment: Experiment, results: Results, figures: Path) -> Chapter:
    """Draw, tabulate and judge: from the results alone."""
    outcomes = results.outcomes
    judged = [Judged(claim, claim.judge(outcomes)) for claim in experiment.claims]
    pictures, numbers = experiment.draw(outcomes, figures), experiment.tabulate(outcomes)
    return Chapter(experiment, results, pictures, numbers, judged, experiment.expect(outcomes))


def in_the_papers_order(chapters: Iterable[Chapter]) -> list[tuple[Chapter, Judged]]:
    """Every judged claim with its chapter, in the order in which the paper makes them."""
    pairs = [(chapter, judged) for chapter in chapters for judged in chapter.judged]
    return sorted(pairs, key=lambda pair: _place(pair[1].claim.where))


def _place(where: str) -> tuple[int, list[int], str]:
    part = next(
        (number for number, name in enumerate(("Abstract", "Section", "Appendix")) if where.startswith(name)), 3
    )
    section = re.match(r"\w+ ([\d.]+)", where)
    return part, [int(number) for number in section[1].strip(".").split(".")] if section else [], where


def stand_ins(chapters: Iterable[Chapter]) -> list[str]:
    """The data sets that stand-ins were taken for."""
    origins = {name: origin for chapter in chapters for name, origin in chapter.results.origins.items()}
    return [name for name, origin in origins.items() if origin == "stand-in"]


def efforts(chapters: Iterable[Chapter]) -> list[str]:
    """With which effort the results were made: one, if they were made together."""
    return list(dict.fromkeys(chapter.results.effort.value for chapter in chapters))


def tally(chapters: Iterable[Chapter]) -> dict[Verdict, int]:
    """How many claims had each verdict."""
    verdicts = [judged.judgement.verdict for chapter in chapters for judged in chapter.judged]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}
