"""Sparse decoders: from random projections with noise to the coefficients of a sparse representation.

Nothing here ever sees the counts.
"""
