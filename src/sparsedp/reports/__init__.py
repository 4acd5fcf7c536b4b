"""Pages and pictures of a release, for people who do not program."""

from sparsedp.reports._page import write_report
from sparsedp.reports.picture import plot

__all__ = ["plot", "write_report"]
