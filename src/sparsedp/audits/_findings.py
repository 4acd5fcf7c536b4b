"""What an audit found: a finding a check, and one table of them with a row for each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparsedp.version import __version__

HEADINGS = ("what", "budget", "replayed", "loss", "draws", "an attack", "")

COLUMNS = {"replay": 2, "loss": 3, "view": 3, "bound": 3, "noise": 4, "sampling": 4, "measured": 5}
"""Where in the table each check is."""

EXPLAINED = """
- **replayed**: how often the same noisy answers were given to a neighbour's data, which must lead to the same draws
  and the same publication. Of streams, how many numbers that an intruder sees were explained as sums of counts and
  noises.
- **loss**: how much likelier those answers are for one neighbour than for the other, at most, *of* what is allowed;
  exact. Of streams, the least that noise must move for a neighbour to look the same to an intruder, publications and
  memory. Of records, by how much one person changes the counts.
- **draws**: the p-value of what was drawn under the law that was asked for, and of how many draws; below 10⁻⁶ is a
  fault. Of records, of which ones were kept.
- **an attack**: what real runs prove of the loss, by an event that half of them chose (99.998 % sure), *of* what is
  allowed, and how many runs.
"""


@dataclass(frozen=True)
class Finding:
    """One check. `fault` is a sentence if it failed.

    `worst`: the most that was found (for p-values the least), `allowed` what it is held against.
    """

    what: str
    budget: str
    check: str
    looked_at: int
    of: str
    worst: float | None
    allowed: float | None
    sure: str
    fault: str | None = None

    @property
    def entry(self) -> str:
        """For the table."""
        worst, allowed = ("?" if each is None else f"{each:.4g}" for each in (self.worst, self.allowed))
        texts = {
            2: f"{self.looked_at:,} {self.of}",
            3: f"{worst} of {allowed}",
            4: f"p = {worst}, {self.looked_at:,} {self.of}",
            5: f"{worst} of {allowed}, {self.looked_at:,} {self.of}",
        }
        return texts[COLUMNS[self.check]]

    def describe(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "held": self.fault is None}


@dataclass(frozen=True)
class Audit:
    """Everything that was checked; `passed` if nothing exceeds what is promised.

    An audit can show a fault and cannot show that there is none: that is what the proofs are for.
    """

    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether every check held."""
        return bool(self.findings) and not self.faults

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.fault is not None)

    @property
    def verdict(self) -> str:
        """In a sentence."""
        many = len(self.findings)
        if self.faults:
            return f"{len(self.faults)} of {many} checks failed: do not publish with this."
        return f"All {many} checks held." if many else "Nothing was checked."

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """One for each case, as `HEADINGS` has it."""
        cases: dict[tuple[str, str], list[str]] = {}
        for finding in self.findings:
            row = cases.setdefault((finding.what, finding.budget), [finding.what, finding.budget, *[""] * 4, "held"])
            row[COLUMNS[finding.check]] = finding.entry
            if finding.fault is not None:
                row[-1] = "FAULT"
        return [tuple(row) for row in cases.values()]

    @property
    def sentences(self) -> list[str]:
        """What is wrong, and the verdict."""
        faults = [f"{', '.join(filter(None, (one.what, one.budget)))}: {one.fault}" for one in self.faults]
        return [*faults, self.verdict]

    def describe(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "passed": self.passed,
            "verdict": self.verdict,
            "version": __version__,
            "findings": [finding.describe() for finding in self.findings],
        }

    def markdown(self, command: str) -> str:
        """A page of its own."""
        rows = [HEADINGS, ("---",) * len(HEADINGS), *self.rows]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        verdict = "\n\n".join(self.sentences)
        made = f"Made by `{command}`, sparsedp {__version__}. No data of anybody were read."
        return f"# What the audit found\n\n{verdict}\n\n{made}\n\n{table}\n\n{EXPLAINED.strip()}\n"

    def __str__(self) -> str:
        return "\n".join([*aligned([HEADINGS, *self.rows]), "", *self.sentences])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns under one another."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
