"""Records to counts: readers, cells and the bound on what one person adds."""

from sparsedp.ingest._check import NOT_PRIVATE, Check, check, checked, refuse_empty
from sparsedp.ingest._count import count, counted

__all__ = ["NOT_PRIVATE", "Check", "check", "checked", "count", "counted", "refuse_empty"]
