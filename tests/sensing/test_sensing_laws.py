"""Laws that every sensing obeys, for many lengths."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput
from sparsedp.sensing import SENSINGS, Sensing, sensing_from
from sparsedp.sensing.base import Direct
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.hadamard import Hadamard
from sparsedp.sensing.integer_haar import IntegerHaar, IntegerHaarTable
from sparsedp.sensing.marginals import ALL, CELLS, Layer, Marginals
from sparsedp.sensing.running_totals import RunningTotals, TicksAndTotals
from sparsedp.sensing.tree import Tree

LENGTHS = [1, 2, 3, 5, 7, 8, 100, 1000, 1023, 1025, 2049]
LONG = 4097


def table_of(n: int) -> IntegerHaarTable:
    """n cells as a table of its least factor and the rest, the first axis without an order if it is odd."""
    factor = next((factor for factor in range(2, n) if n % factor == 0), 1)
    return IntegerHaarTable([factor, n // factor], [factor % 2 == 0, True])


def groups_of(n: int) -> GroupSums:
    """Every third and some more cells of the same table begin a group; then a bundle of groups; no single cells."""
    starts = [start for start in range(n) if start % 3 == 0 or start % 7 == 1]
    table = table_of(n)
    return GroupSums(n, [starts, starts[::5]], table.shape, table.ordered)


def marginals_of(n: int) -> Marginals:
    """The same table by its first axis in pairs, by both axes, and as a whole."""
    table = table_of(n)
    pairs = tuple(place // 2 for place in range(table.shape[0]))
    layers: list[Layer] = [(pairs, CELLS), (CELLS, ALL), (ALL, CELLS), (ALL, ALL)]
    return Marginals(table.shape, layers, table.ordered, [[pairs], []] if max(pairs) else None)


MAKERS: dict[str, list[Callable[[int], Sensing]]] = {
    "direct": [Direct],
    "bernoulli": [lambda n: Bernoulli(n, rows=min(n, 70), seed=5), lambda n: Bernoulli(n, rows=min(n, 1025), seed=6)],
    "group_sums": [lambda n: GroupSums(n, [1, 16, n]), groups_of],
    "hadamard": [lambda n: Hadamard(n, rows=min(n, 70), seed=7), lambda n: Hadamard(n, rows=min(n, 1025), seed=8)],
    "tree": [Tree, lambda n: Tree(n, branching=3), lambda n: Tree(n, branching=16)],
    "haar": [IntegerHaar],
    "haar_table": [lambda n: IntegerHaarTable([n], [True]), lambda n: table_of(n)],
    "marginals": [marginals_of, lambda n: Marginals([n], [["cells"], ["all"]][: min(n, 2)], [True])],
    "running_totals": [RunningTotals],
    "ticks_and_totals": [TicksAndTotals],
}
# Over the registry's names: a sensing without a maker does not pass unnoticed.
VARIANTS = [(name, maker) for name in SENSINGS for maker in range(len(MAKERS[name]))]


@pytest.fixture(
    params=[
        *(f"{name} {maker} {n}" for name, maker in VARIANTS for n in LENGTHS),
        *(pytest.param(f"{name} {maker} {LONG}", marks=pytest.mark.slow) for name, maker in VARIANTS),
    ],
    scope="module",
)
def sensing(request: pytest.FixtureRequest) -> Sensing:
    name, maker, n = request.param.split()
    return MAKERS[name][int(maker)](int(n))


@pytest.fixture(scope="module")
def matrix(sensing: Sensing) -> Ints:
    return sensing.materialize()


def extreme_counts(n: int) -> Ints:
    """Counts near ±2⁶³ and near zero, so that sums wrap many times."""
    generator = np.random.default_rng(n)
    far = generator.integers(-(2**63), 2**63 - 1, size=n, dtype=np.int64, endpoint=True)
    near = generator.choice(np.array([2**63 - 1, -(2**63), 0, 1, -1], dtype=np.int64), size=n)
    return np.where(generator.random(n) < 0.5, far, near)


def test_every_sensing_is_tested_here() -> None:
    assert set(MAKERS) == set(SENSINGS)
    for name, maker in VARIANTS:
        assert type(MAKERS[name][maker](9)) is SENSINGS[name]


def test_shape(sensing: Sensing, matrix: Ints) -> None:
    assert matrix.shape == (sensing.rows, sensing.n)
    assert matrix.dtype == np.int64
    assert np.abs(matrix).max() == 1


def test_apply_equals_big_integers_modulo_two_to_the_64(sensing: Sensing, matrix: Ints) -> None:
    counts = extreme_counts(sensing.n)
    measured = sensing.apply(counts)
    assert measured.dtype == np.int64
    some = np.unique(np.linspace(0, sensing.rows - 1, 40).astype(int))
    big = [int(count) for count in counts]
    for row in some:
        entries = np.flatnonzero(matrix[row])
        exact = sum(int(matrix[row, cell]) * big[cell] for cell in entries)
        assert int(measured[row]) == (exact + 2**63) % 2**64 - 2**63
    np.testing.assert_array_equal(measured, (matrix.view(np.uint64) @ counts.view(np.uint64)).view(np.int64))


def test_forward_equals_materialize(sensing: Sensing, matrix: Ints) -> None:
    signal = np.random.default_rng(1).normal(size=sensing.n)
    np.testing.assert_allclose(sensing.forward(signal), matrix @ signal, atol=1e-9)


def test_adjoint_equals_the_transpose(sensing: Sensing, matrix: Ints) -> None:
    values = np.random.default_rng(2).normal(size=sensing.rows)
    np.testing.assert_allclose(sensing.adjoint(values), matrix.T @ values, atol=1e-9)


def test_adjoint_dot_test(sensing: Sensing) -> None:
    generator = np.random.default_rng(3)
    signal, values = generator.normal(size=sensing.n), generator.normal(size=sensing.rows)
    left = sensing.forward(signal) @ values
    np.testing.assert_allclose(left, signal @ sensing.adjoint(values), rtol=1e-9, atol=1e-9)


def test_sensitivities_are_the_largest_column_norms(sensing: Sensing, matrix: Ints) -> None:
    assert sensing.max_column_l1 == np.abs(matrix).sum(axis=0).max()
    assert sensing.max_column_l2_squared == (matrix**2).sum(axis=0).max()
    assert sensing.l1_sensitivity(3) == 3 * sensing.max_column_l1
    assert sensing.l2_sensitivity_squared(3) == 9 * sensing.max_column_l2_squared


def test_description_gives_the_same_matrix_back(sensing: Sensing, matrix: Ints) -> None:
    rebuilt = sensing_from(json.loads(json.dumps(sensing.describe())))
    assert type(rebuilt) is type(sensing)
    assert rebuilt == sensing
    assert hash(rebuilt) == hash(sensing)
    np.testing.assert_array_equal(rebuilt.materialize(), matrix)


def test_input_is_left_alone_and_any_layout_is_taken(sensing: Sensing) -> None:
    counts = extreme_counts(2 * sensing.n)[::2]
    kept = counts.copy()
    counts.flags.writeable = False
    np.testing.assert_array_equal(sensing.apply(counts), sensing.apply(kept))
    sensing.apply(kept)[:] = 0
    np.testing.assert_array_equal(counts, kept)


def test_wrong_shapes_and_types_are_refused(sensing: Sensing) -> None:
    with pytest.raises(InvalidInput, match="counts"):
        sensing.apply(np.zeros(sensing.n + 1, np.int64))
    with pytest.raises(InvalidInput, match="counts"):
        sensing.apply(np.zeros(sensing.n))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="signal"):
        sensing.forward(np.zeros(sensing.n + 1))
    with pytest.raises(InvalidInput, match="values"):
        sensing.adjoint(np.zeros(sensing.rows + 1))


@given(st.sampled_from(VARIANTS), st.integers(1, 200), st.data())
def test_parts_add_up(variant: tuple[str, int], n: int, data: st.DataObject) -> None:
    """Φ(a + b) = Φa + Φb modulo 2⁶⁴: raw measurements of parts merge by addition."""
    name, maker = variant
    sensing = MAKERS[name][maker](n)
    counts = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n)
    one, other = (np.array(data.draw(counts), dtype=np.int64) for _ in range(2))
    np.testing.assert_array_equal(sensing.apply(one + other), sensing.apply(one) + sensing.apply(other))
