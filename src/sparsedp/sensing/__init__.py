"""Sensing Φ: which exact integer sums are measured. Every sensing by name, and back from its description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.sensing.base import Direct, Sensing
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.hadamard import Hadamard
from sparsedp.sensing.integer_haar import IntegerHaar, IntegerHaarTable
from sparsedp.sensing.marginals import Marginals
from sparsedp.sensing.running_totals import RunningTotals, TicksAndTotals
from sparsedp.sensing.tree import Tree
from sparsedp.validate import one_of

__all__ = ["SENSINGS", "Sensing", "sensing_from"]

SENSINGS: dict[str, type[Sensing]] = {
    sensing.name: sensing
    for sensing in (
        Direct,
        Bernoulli,
        GroupSums,
        Hadamard,
        Tree,
        IntegerHaar,
        IntegerHaarTable,
        Marginals,
        RunningTotals,
        TicksAndTotals,
    )
}


def sensing_from(description: Mapping[str, Any]) -> Sensing:
    """The Φ that `describe` described. What cannot be one is refused in a sentence: it may come from a file."""
    if not isinstance(description, Mapping) or "name" not in description:
        raise BadFile("The description of the sensing has no name; the file is damaged or not a synopsis.")
    settings = {key: value for key, value in description.items() if key != "name"}
    sensing = one_of("sensing", description["name"], SENSINGS)
    try:
        rebuilt = sensing(**settings)
    except TypeError:
        fields = ", ".join(sorted(map(str, settings))) or "nothing else"
        raise BadFile(
            f"A {sensing.name!r} sensing cannot be made of {fields}; the file is damaged or of a later version."
        ) from None
    if rebuilt.describe() != dict(description):
        raise InvalidInput("sensing", "described in more than one way", "give what `describe()` returned")
    return rebuilt
