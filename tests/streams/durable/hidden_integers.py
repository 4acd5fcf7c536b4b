"""Find integers in page images, in every form in which a stream's file could hold them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from page_images import PageImage

Words = npt.NDArray[np.uint64]

WIDTHS = (1, 2, 3, 4, 6, 8)
"""How many bytes SQLite gives an integer: the least of these that holds it, the highest byte first."""

LEAST_TELLING = 2**24
"""A smaller number is in some bytes by chance: asking for it would say nothing."""

_TABLE_BITS = 22
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def telling(values: Iterable[int]) -> set[int]:
    """Those that can be searched for: the rest may be anywhere by chance."""
    return {int(value) for value in values if abs(int(value)) >= LEAST_TELLING}


def found_in(images: Iterable[PageImage], values: Iterable[int]) -> dict[int, set[str]]:
    """Which of the values are in the images and where: as int64 of either byte order, as SQLite stores an integer,
    as float64, or as decimal text."""
    wanted = np.array(sorted(set(values)), np.int64)
    if (np.abs(wanted) < LEAST_TELLING).any():
        raise ValueError("a number so small is found by chance")
    # Frames of a log repeat each other: the same content need not be searched twice.
    contents: dict[bytes, list[str]] = defaultdict(list)
    for image in images:
        contents[image.content].append(f"{image.file}: {image.place}, page {image.page}")
    joined = b"".join(contents)
    ends = np.cumsum([len(content) for content in contents])
    origins = list(contents.values())
    places: dict[int, set[str]] = defaultdict(set)
    if joined and len(wanted):
        for value, offset in _occurrences(joined, wanted):
            places[value].update(origins[int(np.searchsorted(ends, offset, side="right"))])
    return dict(places)


def _occurrences(content: bytes, wanted: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    in_text = [(int(digits[0]), digits.start()) for digits in re.finditer(rb"-?\d{8,20}", content)]
    yield from (each for each in in_text if each[0] in wanted)
    octets = np.frombuffer(content, np.uint8)
    for width in WIDTHS:
        # An integer of few bytes may be in a blob of int64 as well.
        values = wanted if width == 8 else wanted[widths_of(wanted) == width]
        needles = values.view(np.uint64)
        if width == 8:
            needles = np.concatenate((needles, values.astype(np.float64).view(np.uint64)))
        if len(needles):
            order = np.argsort(needles)
            for windows in (_windows(octets, width), _windows(octets, width, lowest_first=True)):
                offsets = _hits(windows, needles)
                ranks = np.searchsorted(needles, windows[offsets], sorter=order)
                hits = values[order[ranks] % len(values)]
                yield from zip(hits.tolist(), offsets.tolist(), strict=True)


def widths_of(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many bytes SQLite stores each integer in."""
    bounds = np.array([1 << (8 * width - 1) for width in WIDTHS[:-1]], np.int64)
    # −2⁷ fits in one byte as 2⁷ − 1 does: a negative number needs the bytes of its complement.
    return np.array(WIDTHS)[np.searchsorted(bounds, np.maximum(values, ~values), side="right")]


def _windows(octets: npt.NDArray[np.uint8], width: int, *, lowest_first: bool = False) -> Words:
    """The integer that starts at each byte, with its sign carried to 64 bits."""
    count = max(0, len(octets) - width + 1)
    value = np.zeros(count, np.uint64)
    for place in reversed(range(width)) if lowest_first else range(width):
        value <<= np.uint64(8)
        value |= octets[place : place + count]
    empty = 64 - 8 * width
    return ((value << np.uint64(empty)).view(np.int64) >> np.int64(empty)).view(np.uint64)


def _hits(windows: Words, needles: Words) -> npt.NDArray[np.intp]:
    """Where the windows are among the needles; a small hashed table first, since nearly none are."""
    table = np.zeros(1 << _TABLE_BITS, np.bool_)
    table[_slot(needles)] = True
    likely = np.flatnonzero(table[_slot(windows)])
    return likely[np.isin(windows[likely], needles)]


def _slot(numbers: Words) -> Words:
    return (numbers * _MULTIPLIER) >> np.uint64(64 - _TABLE_BITS)
