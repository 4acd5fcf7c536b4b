"""The form in which kernels take arrays: checked once, copied only where need be."""

import numpy as np
import pytest

from sparsedp.arrays import float_vector
from sparsedp.errors import InvalidInput


def test_a_vector_in_the_right_form_is_not_copied() -> None:
    values = np.arange(5.0)
    assert float_vector("signal", values, 5) is values
    assert float_vector("signal", values, 3, 5) is values


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_other_forms_are_copied_into_it(dtype: type[np.generic]) -> None:
    strided = np.arange(10).astype(dtype)[::2]
    strided.flags.writeable = False
    vector = float_vector("signal", strided, 5)
    assert vector.dtype == np.float64
    assert vector.flags.c_contiguous
    assert vector.flags.writeable
    assert vector.tolist() == [0, 2, 4, 6, 8]


def test_a_read_only_vector_is_copied_and_left_alone() -> None:
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    float_vector("signal", frozen, 4)[:] = 1
    assert not frozen.any()


@pytest.mark.parametrize("shape", [(4,), (6,), (5, 1), (1, 5), (0,)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"signal is of shape .* give a vector of 3 or 5 numbers"):
        float_vector("signal", np.zeros(shape), 3, 5, 5)
