"""Records to counts: readers, cells and the bound on what one person adds."""

from sparsedp.ingest.records_to_counts import count

__all__ = ["count"]
