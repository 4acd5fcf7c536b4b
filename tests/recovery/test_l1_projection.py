import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparsedp.recovery.l1_projection import project_onto_l1_ball

Floats = npt.NDArray[np.float64]


def by_sorting(vector: Floats, radius: float) -> Floats:
    if np.abs(vector).sum() <= radius:
        return vector.copy()
    falling = np.sort(np.abs(vector))[::-1]
    levels = (np.cumsum(falling) - radius) / np.arange(1, len(falling) + 1)
    level = levels[np.flatnonzero(falling > levels)[-1]]
    return np.asarray(np.sign(vector) * np.maximum(np.abs(vector) - level, 0))


@given(
    vector=arrays(np.float64, st.integers(1, 60), elements=st.floats(-100, 100)),
    share=st.floats(1e-3, 1.2),
)
def test_equals_the_projection_by_sorting(vector: Floats, share: float) -> None:
    radius = share * float(np.abs(vector).sum())
    projected = project_onto_l1_ball(vector, radius)
    if radius > 0:
        np.testing.assert_allclose(projected, by_sorting(vector, radius), atol=1e-12 * max(1, np.abs(vector).max()))


@pytest.mark.parametrize("order", [1, -1, 0])
def test_long_vectors_in_any_order(order: int) -> None:
    vector = np.random.default_rng(0).standard_cauchy(20_000)
    if order:
        vector = np.sort(vector)[::order].copy()
    for radius in (1e-3, 1.0, 1e3, 1e5):
        expected = by_sorting(vector, radius)
        np.testing.assert_allclose(project_onto_l1_ball(vector, radius), expected, atol=1e-12 * np.abs(vector).max())


def test_a_ball_of_no_size_is_the_origin() -> None:
    assert not project_onto_l1_ball(np.array([3.0, -1.0]), 0.0).any()


def test_the_argument_is_left_alone() -> None:
    vector = np.array([3.0, -1.0])
    inside = project_onto_l1_ball(vector, 10.0)
    inside[0] = 0
    assert vector.tolist() == [3.0, -1.0]
