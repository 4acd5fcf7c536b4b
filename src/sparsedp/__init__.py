"""Publish a sensitive histogram once under differential privacy; ask the published copy anything.

>>> import sparsedp as sdp
>>> release = sdp.release([12, 0, 7, 3], epsilon="0.5")
>>> release.values.shape, str(release.spent)
((4,), 'ε = 0.5')
"""

from sparsedp.axes import Bins, Calendar, Categories, Integers
from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.domain import Domain
from sparsedp.errors import BadFile, BudgetExceeded, InvalidInput, PrivateSide, SparsedpError, UnknownName
from sparsedp.ingest import count
from sparsedp.mechanisms import MECHANISMS, Adaptive, Compressive, Hierarchical, Laplace, Privelet
from sparsedp.mechanisms.selection.sparsity_choice import SelectionConstants
from sparsedp.previews import Preview, preview
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.privacy.ledger_file import LedgerFile, open_ledger
from sparsedp.publishing import publish, release
from sparsedp.release_file import open_release
from sparsedp.releases.release import Release
from sparsedp.releases.uncertainty import Interval
from sparsedp.streams import ContinualAdaptive, ContinualCompressive, ContinualCounter, ContinualDifference, Stream
from sparsedp.streams.durable import open_stream
from sparsedp.synopsis import Synopsis, open_synopsis
from sparsedp.time_axis import TimeAxis
from sparsedp.version import __version__

__all__ = [
    "MECHANISMS",
    "Adaptive",
    "BadFile",
    "Bins",
    "Budget",
    "BudgetExceeded",
    "Calendar",
    "Categories",
    "Compressive",
    "Constraints",
    "ContinualAdaptive",
    "ContinualCompressive",
    "ContinualCounter",
    "ContinualDifference",
    "Counts",
    "Domain",
    "Hierarchical",
    "Integers",
    "Interval",
    "InvalidInput",
    "Laplace",
    "Ledger",
    "LedgerFile",
    "Preview",
    "PrivateSide",
    "Privelet",
    "Release",
    "SelectionConstants",
    "SparsedpError",
    "Stream",
    "Synopsis",
    "TimeAxis",
    "UnknownName",
    "__version__",
    "count",
    "open_ledger",
    "open_release",
    "open_stream",
    "open_synopsis",
    "preview",
    "publish",
    "release",
]
