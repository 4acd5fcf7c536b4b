"""OpenDP: integer Laplace noise on a vector, and its b-ary tree of sums with least-squares consistency."""

from __future__ import annotations

from typing import Any

import numpy as np
import opendp.prelude as dp

from peers.contender import CELLS, TREE, WIDE, WIDE_TREE, Contender, Prepare, Run
from sparsedp.arrays import Ints

EXACT = "pure ε by its own map; integers and exact discrete noise"
NOT_YET_PROVEN = f"{EXACT}; the tree without a proof in its source so far"

dp.enable_features("contrib")


def space() -> tuple[dp.Domain, dp.Metric]:
    return dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")


def checked(measurement: Any, epsilon: str) -> Any:
    """The measurement, if its own map says that one record more or less costs the ε that was asked for."""
    stated = measurement.map(1)
    if not np.isclose(stated, float(epsilon), rtol=1e-9, atol=0.0):
        raise AssertionError(f"OpenDP's map states ε = {stated}, not {epsilon}")
    return measurement


def noisy_cells(counts: Ints, epsilon: str) -> Run:
    laplace = checked(dp.m.make_laplace(*space(), scale=1 / float(epsilon)), epsilon)
    return lambda: np.array(laplace(counts), np.float64)


def noisy_tree(branching: int) -> Prepare:
    def prepare(counts: Ints, epsilon: str) -> Run:
        tree: Any = dp.t.make_b_ary_tree(*space(), leaf_count=counts.size, branching_factor=branching)
        noisy = checked(tree >> dp.m.then_laplace(scale=tree.map(1) / float(epsilon)), epsilon)
        release = noisy >> dp.t.make_consistent_b_ary_tree(branching, TIA="i64", TOA="f64")
        return lambda: np.array(release(counts))

    return prepare


CONTENDERS = (
    Contender("OpenDP", "make_laplace, vector of i64", CELLS, EXACT, noisy_cells),
    Contender("OpenDP", "make_b_ary_tree, b = 2, consistent", TREE, NOT_YET_PROVEN, noisy_tree(2)),
    Contender("OpenDP", f"make_b_ary_tree, b = {WIDE}, consistent", WIDE_TREE, NOT_YET_PROVEN, noisy_tree(WIDE)),
)
