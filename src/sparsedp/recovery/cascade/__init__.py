"""Sums of groups of counts, none negative: the posterior mean under a prior on how sums divide (`cascade.md`)."""
