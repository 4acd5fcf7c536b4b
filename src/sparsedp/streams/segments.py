"""The dyadic segments of a horizon: how many levels it has, and how many noises its segments take.

Level l cuts the publications 0, 1, 2, … of a counter into segments of 2ˡ, l = 0 … L − 1, so each publication lies in
exactly one segment of every level. When a segment of level l begins, so do those of all levels below; when it ends,
they end with it.
"""

from __future__ import annotations


def levels_for(horizon: int, every: int = 1) -> int:
    """L = ⌈log₂ P⌉ for the P = ⌈T/e⌉ publications in a horizon of T ticks, one after every e ticks.

    At least 1 where e > 1: an intruder may see the count between two publications, so each needs a fresh noise.
    """
    publications = -(-horizon // every)
    return max((publications - 1).bit_length(), int(every > 1))


def beginning_within(first: int, stop: int, levels: int) -> int:
    """How many segments begin at publications first … stop − 1, all levels together: less than 2·(stop − first) + L."""
    return sum(-(-stop // 2**level) - -(-first // 2**level) for level in range(levels))
