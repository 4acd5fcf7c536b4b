"""What every recovery returns: the value, how it ended, and what it took. Never a bare array."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt


class Status(Enum):
    """How a recovery ended; the text says what to do about it."""

    CONVERGED = "converged"
    STAGNATED = "stopped when it no longer improved: the answer is the best seen; expect it to be limited by the noise"
    ITERATION_LIMIT = "stopped at the iteration limit: the answer is usable but more iterations may improve it"
    FELL_BACK = "the chosen decoder diverged and a simpler one was used instead: see stats['fallback']"


@dataclass(frozen=True)
class Solution:
    """The recovered cells or coefficients, how the recovery ended, and figures about the run."""

    value: npt.NDArray[np.float64]
    status: Status
    stats: dict[str, Any] = field(default_factory=dict)
