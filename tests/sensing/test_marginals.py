"""Layers that are products of coarsenings: exact sums against the plain matrix, sensitivities, and what is refused."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import InvalidInput
from sparsedp.sensing.marginals import ALL, CELLS, Coarsened, Lattice, Marginals, refines


@st.composite
def coarsenings(draw: st.DrawFn, side: int) -> Coarsened:
    """Any coarsening of an axis, as a layer may give it."""
    if draw(st.booleans()):
        return draw(st.sampled_from([CELLS, ALL]))
    groups, most = [], -1
    for _ in range(side):
        groups.append(draw(st.integers(0, most + 1)))
        most = max(most, groups[-1])
    return tuple(groups)


@st.composite
def sensings(draw: st.DrawFn) -> Marginals:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    layers = draw(st.lists(st.tuples(*map(coarsenings, shape)), min_size=1, max_size=5))
    twice = draw(st.lists(st.sampled_from(layers), max_size=2))
    return Marginals(shape, layers + twice, [True] * len(shape))


@given(sensings(), st.integers(0, 2**32))
def test_sums_and_spreads_are_those_of_the_plain_matrix(sensing: Marginals, seed: int) -> None:
    matrix, chance = sensing.materialize(), np.random.default_rng(seed)
    counts = chance.integers(-(2**62), 2**62, sensing.n)
    with np.errstate(over="ignore"):
        assert (sensing.apply(counts) == matrix @ counts).all(), "modulo 2⁶⁴"
    signal, values = chance.normal(size=sensing.n), chance.normal(size=sensing.rows)
    np.testing.assert_allclose(sensing.forward(signal), matrix @ signal, atol=1e-12)
    np.testing.assert_allclose(sensing.adjoint(values), matrix.T @ values, atol=1e-12)


@given(sensings())
def test_every_cell_is_once_in_every_layer(sensing: Marginals) -> None:
    """The proof rests on it: one person moves one sum of a layer."""
    matrix = sensing.materialize()
    for rows in np.split(matrix, np.cumsum([int(np.prod(shape)) for shape in sensing.shapes])[:-1]):
        assert (rows.sum(axis=0) == 1).all()
        assert (rows.sum(axis=1) >= 1).all(), "no group is empty"
    assert sensing.max_column_l1 == sensing.max_column_l2_squared == len(sensing.layers)


@given(sensings())
def test_descriptions_go_there_and_back(sensing: Marginals) -> None:
    description = sensing.describe()
    again = Marginals(**{name: value for name, value in description.items() if name != "name"})
    assert again == sensing
    assert again.describe() == description


@given(sensings(), st.integers(0, 2**32))
def test_a_coarser_layer_follows_from_one_that_refines_it(sensing: Marginals, seed: int) -> None:
    table = np.random.default_rng(seed).integers(0, 100, sensing.shape)
    sums = sensing.lattice.sums(table)
    for finer, of_finer in zip(sensing.layers, sums, strict=True):
        for coarser, of_coarser in zip(sensing.layers, sums, strict=True):
            if all(map(refines, finer, coarser)):
                assert (sensing.lattice.between(of_finer, finer, coarser) == of_coarser).all()
        assert (sensing.lattice.to(table, finer) == of_finer).all()


def test_refinement_is_said_of_partitions() -> None:
    months, halves, thirds = (0, 0, 1, 1, 2, 2), (0, 0, 0, 0, 1, 1), (0, 0, 0, 1, 1, 1)
    assert refines(CELLS, months)
    assert refines(months, halves)
    assert refines(months, ALL)
    assert not refines(months, thirds)
    assert not refines(halves, months)
    assert not refines(ALL, CELLS)


def test_many_marginals_cost_few_passes_over_the_table() -> None:
    """Of seven axes 63 marginals: the table itself is summed once along each axis at most."""
    shape = (2, 3, 2, 3, 2, 3, 2)
    layers = [
        tuple(CELLS if axis in axes else ALL for axis in range(7))
        for k in (1, 2, 3)
        for axes in combinations(range(7), k)
    ]
    assert len(layers) == 63
    root = Lattice(shape, layers)._root
    assert len(root.ways) <= 7


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"shape": []}, "shape"),
        ({"shape": [2] * 33, "ordered": [True] * 33}, "shape"),
        ({"shape": [2**20, 2**20]}, "n"),
        ({"layers": []}, "layers"),
        ({"layers": [["cells", "some"]]}, "layers"),
        ({"layers": [["cells"]]}, "layers"),
        ({"layers": [["cells", [0, 1]]]}, "layers"),
        ({"layers": [["cells", [1, 0, 0]]]}, "layers"),
        ({"layers": [["cells", [0, 2, 1]]]}, "layers"),
        ({"layers": [["cells", [0, -1, 1]]]}, "layers"),
        ({"ordered": [True]}, "ordered"),
        ({"coarsenings": [[]]}, "coarsenings"),
        ({"coarsenings": [[[0, 0, 1, 1]] * 17, []]}, "coarsenings"),
    ],
)
def test_what_is_no_layer_is_refused(change: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Marginals(**{"shape": [4, 3], "layers": [["cells", "all"]], "ordered": [True, False], **change})
    assert refused.value.argument == named
