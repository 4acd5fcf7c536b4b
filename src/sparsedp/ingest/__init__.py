"""Records to counts: readers, cells and the bound on what one person adds."""

from sparsedp.ingest.losses import NOT_PRIVATE_losses
from sparsedp.ingest.records_to_counts import count

__all__ = ["NOT_PRIVATE_losses", "count"]
