"""From noisy sums to an estimate of every cell and its error. Nothing here ever sees the counts (estimator.md)."""
