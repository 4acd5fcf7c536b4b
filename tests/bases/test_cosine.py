"""The cosine basis' row-sum bound over many lengths, cell 0 and all others."""

import numpy as np
import pytest

from sparsedp.bases.cosine import Cosine


@pytest.mark.parametrize("n", [*range(1, 60), 105, 315, 945])
def test_bound_covers_every_cell(n: int) -> None:
    i, j = np.arange(1, n)[:, None], np.arange(n)[None, :]
    sums = 1 / np.sqrt(n) + np.sqrt(2 / n) * np.abs(np.cos(np.pi * i * (2 * j + 1) / (2 * n))).sum(axis=0)
    assert sums.max() * (1 - 1e-13) <= Cosine(n).row_sum_bound <= 1.001 * sums.max()


def test_bound_for_long_signals_is_nine_tenths_of_the_root() -> None:
    assert float(Cosine(2**30).row_sum_bound) == pytest.approx(np.sqrt(8) / np.pi * 2**15, rel=1e-4)
