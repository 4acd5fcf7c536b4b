"""Where chance in tests comes from: names, so that it is the same in every run; outside of tests from nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from typing import TypeVar

import numpy as np
import pytest

from sparsedp.noise.source import KEY_BYTES, SystemSource

T = TypeVar("T")

fresh = False
"""Whether chance is the system's own all the same: `pytest --fresh-noise`."""

_SYSTEMS_KEY = SystemSource.key


class DrawnOutsideATest(BaseException):
    """No `Exception`: what refuses bad input, and what catches it, must not take this for its own."""

    def __init__(self, *_: object) -> None:
        super().__init__(
            "Something random was drawn while a module was imported, or between tests: the suite would not be the "
            "same in every run. Draw it in a test or in a fixture, give `Compressive` a seed, put it under "
            "`with noise_from(__name__):`, or make it in a function that is `@made_once`."
        )


@contextmanager
def noise_from(name: str) -> Iterator[None]:
    """The system's source gives keys that follow from the name; other processes have the true ones."""
    if fresh:
        with the_systems_noise():
            yield
        return
    keys = np.random.default_rng(list(sha256(name.encode()).digest()))
    with _drawn_by(lambda _: keys.bytes(KEY_BYTES)):
        yield


def made_once(make: Callable[[], T]) -> Callable[[], T]:
    """What several tests share, made when first asked for: its noise follows from its own name, not from the test's."""

    @cache
    def made() -> T:
        with noise_from(f"{make.__module__}.{make.__qualname__}"):
            return make()

    return made


@contextmanager
def the_systems_noise() -> Iterator[None]:
    """What a release draws: for tests of the source itself."""
    with _drawn_by(_SYSTEMS_KEY):
        yield


@contextmanager
def no_noise() -> Iterator[None]:
    """Whoever draws is told that it may not."""

    def refuse(_: SystemSource) -> bytes:
        raise DrawnOutsideATest

    with _drawn_by(refuse):
        yield


@contextmanager
def _drawn_by(key: Callable[[SystemSource], bytes]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SystemSource, "key", key)
        yield
