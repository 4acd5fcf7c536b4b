"""Scores and candidates for the private choice of the sparsity."""
