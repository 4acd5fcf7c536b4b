"""Noise that is the same in every run, for what a test module makes when it is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

import numpy as np
import pytest

from sparsedp.noise.source import KEY_BYTES, SystemSource


@contextmanager
def noise_from(name: str) -> Iterator[None]:
    """The system's source gives keys that follow from the name; other processes have the true ones."""
    keys = np.random.default_rng(list(sha256(name.encode()).digest()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SystemSource, "key", lambda _: keys.bytes(KEY_BYTES))
        yield
