"""What an audit found: one row a check, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sparsedp.version import __version__

HEADINGS = ("what", "budget", "check", "looked at", "worst", "allowed", "how sure", "")

CHECKS = {
    "replay": "the same noisy answers lead two neighbours to the same draws and the same publication",
    "loss": "by how much those answers are likelier for one neighbour than for the other, at most",
    "noise": "the p-value of what was drawn under the law that was asked for",
    "measured": "what runs prove of the loss, by an event that half of them chose",
    "bound": "by how much one person changes the counts, in L1",
    "sampling": "the p-value of which records were kept, if each has the same chance",
    "view": "the least that noise must move for a neighbour to look the same, state and publications",
}
"""What each check looks at; `audit.md` says why that is the guarantee."""


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
    def row(self) -> tuple[str, ...]:
        """As `HEADINGS` has it."""
        worst, allowed = (("" if each is None else f"{each:.4g}") for each in (self.worst, self.allowed))
        verdict = "held" if self.fault is None else "FAULT"
        return self.what, self.budget, self.check, f"{self.looked_at:,} {self.of}", worst, allowed, self.sure, verdict

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

    def describe(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "passed": self.passed,
            "verdict": self.verdict,
            "version": __version__,
            "findings": [finding.describe() for finding in self.findings],
        }

    def markdown(self) -> str:
        """The table for a page."""
        rows = [HEADINGS, ("---",) * len(HEADINGS), *(finding.row for finding in self.findings)]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        checks = "\n".join(f"- *{check}*: {words}." for check, words in _used(self.findings))
        faults = "".join(f"- **{each.what}, {each.budget}, {each.check}**: {each.fault}\n" for each in self.faults)
        return f"{self.verdict} (sparsedp {__version__})\n\n{table}\n\n{checks}\n" + (f"\n{faults}" if faults else "")

    def __str__(self) -> str:
        lines = aligned([HEADINGS, *(finding.row for finding in self.findings)])
        faults = [f"{each.what}, {each.budget}, {each.check}: {each.fault}" for each in self.faults]
        return "\n".join([*lines, "", *faults, self.verdict])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns under one another."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _used(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    named = {finding.check for finding in findings}
    return [(check, words) for check, words in CHECKS.items() if check in named]
