"""A continual counter written straight from its definition: it keeps every noise for ever, so it is the oracle only."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Ints


class PlainCounter:
    """k sums, published after every `every` ticks, with the noises drawn in the order the real one draws them."""

    def __init__(self, counters: int, levels: int, every: int, noises: Ints) -> None:
        self.levels, self.every = levels, every
        self.noises = list(noises)
        self.start = self._next()
        self.sum = np.zeros(counters, np.int64)
        self.ticks = 0
        self.of_segment: dict[tuple[int, int], Ints] = {}

    def observe(self, values: Ints) -> Ints | None:
        self.sum = self.sum + values
        self.ticks += 1
        if self.ticks % self.every:
            return None
        number = self.ticks // self.every - 1
        for level in range(self.levels):
            if number % 2**level == 0:
                self.of_segment[level, number // 2**level] = self._next()
        return self.start + self.sum + sum(self.of_segment[level, number // 2**level] for level in range(self.levels))

    @property
    def published(self) -> int:
        return self.ticks // self.every

    def is_open(self, level: int, index: int) -> bool:
        """Begun, and not yet ended."""
        return index << level < self.published < (index + 1) << level

    def open_noises(self) -> dict[int, Ints]:
        """By level."""
        return {level: noise for (level, index), noise in self.of_segment.items() if self.is_open(level, index)}

    def _next(self) -> Ints:
        return np.asarray(self.noises.pop(0), np.int64)
