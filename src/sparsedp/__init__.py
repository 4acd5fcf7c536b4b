"""Publish a sensitive histogram once under differential privacy; ask the published copy anything.

>>> import sparsedp as sdp
>>> release = sdp.release([12, 0, 7, 3], epsilon="0.5")
>>> release.values.shape, str(release.spent)
((4,), 'ε = 0.5')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsedp.version import __version__

if TYPE_CHECKING:
    from sparsedp.audits import Audit, audit
    from sparsedp.axes import Bins, Calendar, Categories, Integers
    from sparsedp.axes.domain import Domain
    from sparsedp.axes.time_axis import TimeAxis
    from sparsedp.constraints import Constraints
    from sparsedp.counts import Counts
    from sparsedp.errors import (
        BadFile,
        BudgetExceeded,
        InvalidInput,
        NotSigned,
        PrivateSide,
        SparsedpError,
        UnknownName,
    )
    from sparsedp.files.signatures import new_key
    from sparsedp.ingest import count
    from sparsedp.mechanisms import MECHANISMS, Adaptive, Compressive, Hierarchical, Laplace, Privelet
    from sparsedp.mechanisms.selection.sparsity_choice import SelectionConstants
    from sparsedp.previews.preview import Preview, preview
    from sparsedp.privacy.budget import Budget
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.privacy.ledger_file import LedgerFile, open_ledger
    from sparsedp.publishing import publish, release
    from sparsedp.releases.comparison import compare
    from sparsedp.releases.release import Release
    from sparsedp.releases.release_file import open_release
    from sparsedp.releases.uncertainty import Interval
    from sparsedp.streams import ContinualAdaptive, ContinualCompressive, ContinualCounter, ContinualDifference, Stream
    from sparsedp.streams.durable import open_stream
    from sparsedp.synopsis import Synopsis, open_synopsis

_HOME = {
    "Adaptive": "sparsedp.mechanisms",
    "Audit": "sparsedp.audits",
    "BadFile": "sparsedp.errors",
    "Bins": "sparsedp.axes",
    "Budget": "sparsedp.privacy.budget",
    "BudgetExceeded": "sparsedp.errors",
    "Calendar": "sparsedp.axes",
    "Categories": "sparsedp.axes",
    "Compressive": "sparsedp.mechanisms",
    "Constraints": "sparsedp.constraints",
    "ContinualAdaptive": "sparsedp.streams",
    "ContinualCompressive": "sparsedp.streams",
    "ContinualCounter": "sparsedp.streams",
    "ContinualDifference": "sparsedp.streams",
    "Counts": "sparsedp.counts",
    "Domain": "sparsedp.axes.domain",
    "Hierarchical": "sparsedp.mechanisms",
    "Integers": "sparsedp.axes",
    "Interval": "sparsedp.releases.uncertainty",
    "InvalidInput": "sparsedp.errors",
    "Laplace": "sparsedp.mechanisms",
    "Ledger": "sparsedp.privacy.ledger",
    "LedgerFile": "sparsedp.privacy.ledger_file",
    "MECHANISMS": "sparsedp.mechanisms",
    "NotSigned": "sparsedp.errors",
    "Preview": "sparsedp.previews",
    "PrivateSide": "sparsedp.errors",
    "Privelet": "sparsedp.mechanisms",
    "Release": "sparsedp.releases.release",
    "SelectionConstants": "sparsedp.mechanisms.selection.sparsity_choice",
    "SparsedpError": "sparsedp.errors",
    "Stream": "sparsedp.streams",
    "Synopsis": "sparsedp.synopsis",
    "TimeAxis": "sparsedp.axes.time_axis",
    "UnknownName": "sparsedp.errors",
    "audit": "sparsedp.audits",
    "compare": "sparsedp.releases.comparison",
    "count": "sparsedp.ingest",
    "new_key": "sparsedp.files.signatures",
    "open_ledger": "sparsedp.privacy.ledger_file",
    "open_release": "sparsedp.releases.release_file",
    "open_stream": "sparsedp.streams.durable",
    "open_synopsis": "sparsedp.synopsis",
    "preview": "sparsedp.previews",
    "publish": "sparsedp.publishing",
    "release": "sparsedp.publishing",
}
"""Where each public name is defined."""

__all__ = [
    "MECHANISMS",
    "Adaptive",
    "Audit",
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
    "NotSigned",
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
    "audit",
    "compare",
    "count",
    "new_key",
    "open_ledger",
    "open_release",
    "open_stream",
    "open_synopsis",
    "preview",
    "publish",
    "release",
]

if not TYPE_CHECKING:  # a type checker would take every name for one of ours

    def __getattr__(name: str) -> Any:
        """A public name, imported when it is first used, so that `sparsedp --help` waits for none of them."""
        from importlib import import_module

        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """The public names."""
        return sorted(__all__)
