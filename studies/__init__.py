"""Comparing releases with the truth: the paper's experiments, accuracy, coverage. Research, none of it private.

Not part of the package that users install: run from the root of the repository, where benchmarks and tests find it.
"""
