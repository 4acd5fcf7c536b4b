"""Choosing S: the error against the sparsity, and how often the private choice picks each."""
