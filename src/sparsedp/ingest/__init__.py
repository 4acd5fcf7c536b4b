"""Records to counts: readers, cells and the bound on what one person adds."""

from sparsedp.ingest._count import NOT_PRIVATE_losses, count, counted

__all__ = ["NOT_PRIVATE_losses", "count", "counted"]
