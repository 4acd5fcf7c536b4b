"""Values beyond what any count has, as a file may hold them: means then weigh cells by what no float can square."""

from fractions import Fraction

import numpy as np

from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.releases.error_models import IndependentCells


def test_errors_beyond_all_numbers_leave_everything_open() -> None:
    cells = IndependentCells.of_law(DiscreteLaplaceLaw(Fraction(10)), (1000,))
    with np.errstate(over="ignore"):
        assert cells.interval(np.full(1000, 1e200), 5.0, 0.95) == (-np.inf, np.inf)
