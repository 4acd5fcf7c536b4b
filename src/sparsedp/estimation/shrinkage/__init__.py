"""Empirical-Bayes shrinkage of cells that were measured one by one (shrinkage.md)."""
