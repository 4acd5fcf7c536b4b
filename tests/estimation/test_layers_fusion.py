"""Fusion of nested layers against dense generalised least squares, with unequal groups and noises."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from dense_layers import dense_groups, least_squares
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Ints
from sparsedp.estimation.least_squares import fuse
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw, LayersLaw
from sparsedp.sensing.group_sums import GroupSums

SENSINGS = {
    "cells": GroupSums(7, [1]),
    "cells and total": GroupSums(13, [1, 13]),
    "ladder": GroupSums(64, [1, 4, 16, 64]),
    "ragged ladder": GroupSums(45, [1, 4, 16, 45]),
    "groups": GroupSums(20, [[0, 1, 5, 6, 14], [0, 5, 14]]),
    "cells, groups, bundles": GroupSums(24, [1, [0, 3, 4, 10, 11, 20], [0, 4, 20]]),
    "parts of blocks": GroupSums(64, [[*range(16), 16, 32, 40, 48], 16, 64]),
    "a table": GroupSums(24, [1, 4, 24], [2, 3, 4], [False, True, True]),
}
EVERY_SENSING = pytest.mark.parametrize("sensing", SENSINGS.values(), ids=SENSINGS.keys())


def law_of(sensing: GroupSums, seed: int = 1) -> LayersLaw:
    """A different law for every layer, Laplace and Gaussian in turn."""
    generator = np.random.default_rng(seed)
    laws: list[IndependentLaw] = []
    for layer in range(len(sensing.starts)):
        parameter = Fraction(int(generator.integers(1, 200)), 10)
        laws.append(DiscreteGaussianLaw(parameter**2) if layer % 2 else DiscreteLaplaceLaw(parameter))
    return LayersLaw(tuple(laws))


def noisy(sensing: GroupSums, seed: int) -> Ints:
    generator = np.random.default_rng(seed)
    return sensing.apply(generator.poisson(20, sensing.n)) + generator.integers(-40, 41, sensing.rows)


@EVERY_SENSING
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sums_are_those_of_generalised_least_squares(sensing: GroupSums, seed: int) -> None:
    law, values, groups = law_of(sensing, seed), noisy(sensing, seed), dense_groups(sensing)
    estimator, _ = least_squares(groups, law, len(groups))
    cells = estimator @ values
    for layer, group in zip(fuse(sensing, values, law), groups, strict=True):
        np.testing.assert_allclose(layer.sums, group @ cells, rtol=1e-7, atol=1e-7)


@EVERY_SENSING
def test_layers_agree_with_one_another(sensing: GroupSums) -> None:
    layers = fuse(sensing, noisy(sensing, 4), law_of(sensing))
    for finer, coarser in pairwise(layers):
        first = np.searchsorted(finer.starts, coarser.starts)
        np.testing.assert_allclose(np.add.reduceat(finer.sums, first), coarser.sums)


@EVERY_SENSING
def test_variances_are_those_from_the_finer_layers_alone(sensing: GroupSums) -> None:
    law, groups = law_of(sensing), dense_groups(sensing)
    for upto, layer in enumerate(fuse(sensing, noisy(sensing, 5), law), start=1):
        _, covariance = least_squares(groups, law, upto)
        group = groups[upto - 1]
        np.testing.assert_allclose(layer.variances, np.diag(group @ covariance @ group.T), rtol=1e-7)


@given(st.integers(0, 2**32))
def test_exact_sums_stay_as_they_are(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for sensing in SENSINGS.values():
        counts = generator.integers(-50, 50, sensing.n)
        layers = fuse(sensing, sensing.apply(counts), law_of(sensing))
        row = sensing.in_a_row(counts)
        for layer in layers:
            np.testing.assert_allclose(layer.sums, np.add.reduceat(row, layer.starts), atol=1e-9)


def test_the_synopsis_is_left_alone() -> None:
    sensing = SENSINGS["ladder"]
    values = noisy(sensing, 6)
    kept = values.copy()
    values.flags.writeable = False
    fuse(sensing, values, law_of(sensing))
    np.testing.assert_array_equal(values, kept)


def test_noise_that_is_zero_in_floating_point() -> None:
    sensing = SENSINGS["ladder"]
    counts = np.arange(64)
    for tiny in (Fraction(1, 10**6), Fraction(1, 720)):
        law = LayersLaw((DiscreteLaplaceLaw(tiny),) * 4)
        np.testing.assert_allclose(fuse(sensing, sensing.apply(counts), law)[0].sums, counts)
