"""Every kind of axis by name, and back from its description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparsedp.axes.base import Axis
from sparsedp.axes.bins import Bins
from sparsedp.axes.calendar import Calendar
from sparsedp.axes.categories import Categories
from sparsedp.axes.integers import Integers
from sparsedp.errors import InvalidInput
from sparsedp.validate import one_of

AXES: dict[str, type[Categories] | type[Bins] | type[Integers] | type[Calendar]] = {
    axis.kind: axis for axis in (Categories, Bins, Integers, Calendar)
}


def axis_from(description: Mapping[str, Any]) -> Axis:
    """The axis that `describe` described. What cannot be one is refused in a sentence: it may come from a file."""
    if not isinstance(description, Mapping) or "kind" not in description:
        raise InvalidInput("axis", "described without its kind", "give what `describe()` returned")
    kind = one_of("kind", description["kind"], AXES)
    try:
        return kind(**{key: value for key, value in description.items() if key != "kind"})
    except TypeError:
        fields = ", ".join(sorted(map(str, description)))
        raise InvalidInput("axis", f"described by {fields}", "give what `describe()` returned") from None
