"""Empirical-Bayes shrinkage of directly measured cells in a translation-invariant Haar frame (`shrinkage.md`)."""
