"""A source whose words a test writes itself, to force what chance would never show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from sparsedp.noise.source import BitStream, RandomSource

Words = npt.NDArray[np.unsignedinteger]


class ScriptedStream(BitStream):
    """`first(words)` writes the kernel's 16-bit words; `later` and `single` are what further requests get, in turn."""

    def __init__(self, first: Callable[[Words], None], later: list[list[int]], single: list[int]) -> None:
        super().__init__(bytes(32))
        self._first = first
        self._later = later
        self._single = single
        self.filled: list[Words] = []

    def fill(self, words: Words) -> None:
        self.filled.append(words)
        if words.dtype == np.uint16:
            self._first(words)
        else:
            words[:] = np.array(self._later.pop(0), dtype=words.dtype)

    def bits(self, count: int) -> int:
        return self._single.pop(0) % (1 << count)

    @property
    def exhausted(self) -> bool:
        return not self._later and not self._single


class ScriptedSource(RandomSource):
    """Hands out one stream that a test has written."""

    def __init__(self, stream: BitStream) -> None:
        self.stream = stream

    def key(self) -> bytes:
        return bytes(32)

    @contextmanager
    def draw(self) -> Iterator[BitStream]:
        yield self.stream
