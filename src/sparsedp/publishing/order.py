"""What is to be published, checked before any record is read or anything is spent."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.ingest import count
from sparsedp.ingest.request import Request, request_of
from sparsedp.mechanisms import Mechanism
from sparsedp.privacy.budget import Asked, Budget
from sparsedp.privacy.neighbours import RELATIONS, Counted, Neighbours
from sparsedp.validate import one_of


@dataclass(frozen=True)
class Order:
    """Which records, counted how (the arguments of `sparsedp.count`), published by what, for how much."""

    source: Any
    counting: Mapping[str, Any]
    mechanism: Mechanism
    asked: Asked
    neighbours: str = "add_remove"
    constraints: Constraints | None = None

    def __post_init__(self) -> None:
        one_of("neighbours", self.neighbours, RELATIONS)
        if self.constraints is not None and not isinstance(self.constraints, Constraints):
            given = f"of type {type(self.constraints).__name__}"
            raise InvalidInput("constraints", given, "give a sparsedp.Constraints")
        self._declared()

    @property
    def relation(self) -> str:
        """Between which neighbours it will be promised: beside public totals people can only be replaced."""
        return "replace_one" if self._invariant else self.neighbours

    @property
    def budget(self) -> Budget:
        """What will be debited, and whom it is counted for."""
        counted = Counted(self._counting().privacy_unit, 1)
        return self.asked.budget.counted_for(
            Neighbours(1, self.relation, invariant=self._invariant, counted=counted).whom
        )

    @property
    def _invariant(self) -> bool:
        return self.constraints is not None and self.constraints.is_invariant

    def counts(self) -> Counts:
        """The records counted. PRIVATE."""
        return count(self.source, **self.counting)

    def request(self, to: str) -> str:
        """What identifies an order that goes to the place `to`, so that an interrupted one is known again.

        A hash of public facts: what was declared, and the name of the source; never of content, nor of what is drawn
        anew in every run: a seed that was left out, which a stored measurement has with it. Records in a file are
        known by its name, wherever their release goes. Of data in memory, or that are piped in, only the type is known
        by name; which they are is told by the place they go to.
        """
        facts = {"source": self._source_name or type(self.source).__name__, **self._declared()}
        if self._source_name is None:
            facts["to"] = to
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @property
    def is_of_a_file(self) -> bool:
        """Whether the source has a name by which an interrupted order is known, wherever its release goes."""
        return self._source_name is not None

    @property
    def _source_name(self) -> str | None:
        if not isinstance(self.source, str | os.PathLike):
            return None
        return os.path.abspath(os.fsdecode(self.source))

    def _counting(self) -> Request:
        given = self.counting
        return request_of(
            given.get("domain"),
            given.get("privacy_unit"),
            given.get("max_contributions", 1),
            given.get("columns"),
            given.get("outside", "drop"),
            given.get("value"),
            given.get("clamp"),
            given.get("resolution"),
            given.get("csv"),
            None,
        )

    def _declared(self) -> dict[str, Any]:
        counted = self._counting()
        return {
            "domain": counted.domain.describe(),
            "unit": counted.privacy_unit,
            "max_contributions": counted.max_contributions,
            "columns": counted.axis_columns,
            "outside": repr(counted.outside),
            "amounts": repr(counted.amounts),
            "dialect": repr(counted.dialect),
            "budget": self.asked.budget.describe(),
            "mechanism": self.mechanism.chosen,
            "neighbours": self.relation,
            "constraints": None if self.constraints is None else self.constraints.describe(),
        }
