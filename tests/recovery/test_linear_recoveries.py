import numpy as np
import pytest

from sparsedp.errors import InvalidInput
from sparsedp.recovery import LINEAR_RECOVERIES, Status
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.direct import Direct
from sparsedp.sensing.integer_haar import IntegerHaar
from sparsedp.sensing.tree import Tree

LENGTHS = [1, 2, 3, 5, 8, 17, 33, 100, 257]


@pytest.mark.parametrize("branching", [2, 3, 5, 16])
@pytest.mark.parametrize("n", LENGTHS)
def test_tree_equals_least_squares_on_the_materialised_tree(n: int, branching: int) -> None:
    tree = Tree(n, branching)
    values = np.random.default_rng(n).integers(-1000, 1000, tree.rows)
    expected = np.linalg.lstsq(tree.materialize().astype(float), values.astype(float), rcond=None)[0]
    solution = LINEAR_RECOVERIES["tree_consistency"](tree, values)
    assert solution.status is Status.DIRECT
    np.testing.assert_allclose(solution.value, expected, atol=1e-9)


@pytest.mark.parametrize("n", LENGTHS)
def test_exact_measurements_are_inverted_exactly(n: int) -> None:
    counts = np.random.default_rng(n).integers(0, 1000, n)
    cases: dict[str, Sensing] = {"direct": Direct(n), "inverse_haar": IntegerHaar(n), "tree_consistency": Tree(n)}
    assert set(cases) == set(LINEAR_RECOVERIES)
    for name, sensing in cases.items():
        np.testing.assert_allclose(LINEAR_RECOVERIES[name](sensing, sensing.apply(counts)).value, counts, atol=1e-9)


@pytest.mark.parametrize("n", [4, 8, 64])
def test_integer_haar_inverse_is_the_matrix_inverse(n: int) -> None:
    sensing = IntegerHaar(n)
    values = np.random.default_rng(n).integers(-50, 50, n)
    expected = np.linalg.solve(sensing.materialize().astype(float), values.astype(float))
    np.testing.assert_allclose(LINEAR_RECOVERIES["inverse_haar"](sensing, values).value, expected, atol=1e-9)


@pytest.mark.parametrize("name", LINEAR_RECOVERIES)
def test_the_wrong_sensing_is_refused(name: str) -> None:
    for sensing in (Direct(4), Tree(4), IntegerHaar(4)):
        expected = {"direct": Direct, "tree_consistency": Tree, "inverse_haar": IntegerHaar}[name]
        if not isinstance(sensing, expected):
            with pytest.raises(InvalidInput):
                LINEAR_RECOVERIES[name](sensing, np.zeros(sensing.rows, np.int64))
