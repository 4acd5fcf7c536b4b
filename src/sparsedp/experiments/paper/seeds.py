"""Where the experiments' randomness comes from: the settings of a job, so that it can be repeated anywhere.

Noise that can be repeated protects nobody: what is published here are errors, and the data are public.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np

from sparsedp.experiments.paper.outcomes import Settings
from sparsedp.noise.source import SeededSource

SEED = 2011
"""The one number behind all results; the year of the paper."""


def seed_of(settings: Settings, *what: str | int) -> int:
    """A seed of its own for every job and every purpose in it, such as the number of the run."""
    written = json.dumps([SEED, settings, what], sort_keys=True, ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(written.encode()).digest()[:8], "little") >> 1


def noise_of(settings: Settings, *what: str | int) -> SeededSource:
    """The noise of one run of a job."""
    return SeededSource(seed_of(settings, "noise", *what))


def chance_of(settings: Settings, *what: str | int) -> np.random.Generator:
    """Everything random that is not noise: signals, matrices, supports."""
    return np.random.default_rng(seed_of(settings, "chance", *what))
