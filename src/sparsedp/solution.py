"""What every recovery returns: the value, how it ended, and what it took. Never a bare array."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt


class Status(Enum):
    """How a recovery ended; the text says what to do about it."""

    DIRECT = "computed directly"
    CONVERGED = "the solver converged, which says nothing of how much the noise hides"
    STAGNATED = "stopped when it no longer improved: the answer is the best seen; expect it to be limited by the noise"
    ITERATION_LIMIT = "stopped at the iteration limit: the answer is usable but more iterations may improve it"
    UNEXPLAINED = (
        "more is left of the observations than the noise explains: the counts are less sparse than planned for, or the "
        "rows too few; the answer is the best seen, but expect errors beyond the noise's, and ask for more rows"
    )
    FELL_BACK = "the chosen decoder did not explain the observations and a simpler one did: see stats['fallback']"


@dataclass(frozen=True)
class Solution:
    """The recovered cells or coefficients, how the recovery ended, and figures about the run.

    `uncertainty`: what the recovery knows of its error, for the release (`releases/uncertainty.py`); None if nothing.
    """

    value: npt.NDArray[np.float64]
    status: Status
    stats: dict[str, Any] = field(default_factory=dict)
    uncertainty: Any = None
