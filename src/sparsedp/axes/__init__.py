"""The axes of a domain, one kind a file. Public facts: declared by the publisher, never read off the data."""

from sparsedp.axes.base import Axis
from sparsedp.axes.bins import Bins
from sparsedp.axes.calendar import Calendar
from sparsedp.axes.categories import Categories
from sparsedp.axes.integers import Integers
from sparsedp.axes.spec import AXES, axis_from, parse_axis

__all__ = ["AXES", "Axis", "Bins", "Calendar", "Categories", "Integers", "axis_from", "parse_axis"]
