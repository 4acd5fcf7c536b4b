"""What the jobs of an experiment found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sparsedp.errors import BadFile

Settings = dict[str, Any]
"""All that a job's result depends on, as JSON has it: names, numbers, lists of them."""

Found = dict[str, Any]
"""What a job measured, as JSON has it."""


@dataclass(frozen=True)
class Outcome:
    """One finished job: what it was asked, what it found, and how many seconds it took."""

    settings: Settings
    found: Found
    seconds: float


class Outcomes:
    """The finished jobs of one experiment, in the order in which it listed them."""

    def __init__(self, finished: Iterable[Outcome]) -> None:
        self._finished = tuple(finished)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._finished)

    def __len__(self) -> int:
        return len(self._finished)

    def where(self, **settings: Any) -> Outcomes:
        """Those whose settings have all of these values."""
        return Outcomes(
            outcome
            for outcome in self
            if all(name in outcome.settings and outcome.settings[name] == value for name, value in settings.items())
        )

    def values(self, setting: str) -> list[Any]:
        """Every value that a setting takes, once each, in order of appearance."""
        return list(dict.fromkeys(outcome.settings[setting] for outcome in self if setting in outcome.settings))

    def only(self, **settings: Any) -> Outcome:
        """The one outcome with these settings."""
        found = list(self.where(**settings))
        if len(found) != 1:
            raise BadFile(f"These results hold {len(found)} outcomes for {settings}; there should be one.")
        return found[0]

    def found(self, key: str, **settings: Any) -> Any:
        """One entry of what the one outcome with these settings found."""
        return self.only(**settings).found[key]
