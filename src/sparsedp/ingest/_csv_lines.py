"""Which bytes of CSV are records: each line by itself, so that no line decides how another one is read.

A line ends at a line feed or a carriage return, wherever that is, and is one record. A line is dropped, alone and in
silence, that leaves a quote open, has another number of fields than the header, is not UTF-8, or is longer than
LONGEST bytes. Empty lines are no records. What is left goes to Arrow's reader, which then has nothing to decide: every
line is a whole record with the right number of fields.

Quotes are followed exactly as Arrow does, for counting them is not enough: in `a"b,"c` they are two, and the second
opens a field that would take the next line with it. A quote opens a field only as its first character; inside, two of
them are one; after the one that closes it, quotes are plain characters.

Why that bounds what one person changes: whether a line is kept is a function of its own bytes and of what was declared,
and so is what Arrow makes of it. So the table that is counted is a list with one entry at most for each line.

Fields of several lines have to be declared (`csv={"multiline": True}`). A line end between quotes is then part of the
field, and a quote that is never closed takes what follows with it, up to the first line end after LONGEST bytes: other
people's records among it. That is what the declaration costs, and the guarantee of what is published says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.jit import kernel

Bytes = npt.NDArray[np.uint8]

_LONGEST = 16 << 20
"""Bytes of a record: a longer one is dropped."""

_KEPT, _BEGINNING = 3, 100
"""Of broken lines: so many, and of each so many bytes, for the owner to see."""

_END = 0x0A
_IS_PLAIN, _IS_END, _IS_QUOTE, _IS_DELIMITER, _IS_HIGH = 0, 1, 2, 3, 4
"""Kinds of bytes; beyond ASCII they are high."""

_START, _PLAIN, _QUOTED, _CLOSED = 0, 1, 2, 3
"""Where in a field: before it, in one without quotes or after them, between quotes, and just after a quote in there."""


@dataclass
class Lines:
    """How to tell records of so many fields; `dropped` lines were none, the `first` of them among these."""

    delimiter: str
    quote: str
    fields: int
    multiline: bool
    dropped: int = 0
    first: list[str] = field(default_factory=list)

    def records(self, blocks: Iterable[bytes]) -> Iterator[tuple[Bytes, int]]:
        """From the bytes after the header: records as lines, many at a time, and how long the longest of them is.

        The first byte is always a line end: Arrow takes a mark of Unicode for none of the text where it comes first.
        """
        kinds = np.where(np.arange(256) < 0x80, _IS_PLAIN, _IS_HIGH).astype(np.uint8)
        kinds[[*b"\r\n"]], kinds[ord(self.quote)], kinds[ord(self.delimiter)] = _IS_END, _IS_QUOTE, _IS_DELIMITER
        rest, skipping = b"", False
        for block in chain(blocks, [b"\n"]):  # the last line may have no end
            if skipping:
                end = re.search(rb"[\r\n]", block)
                if end is None:
                    continue
                block, skipping = block[end.end() :], False
            data = np.frombuffer(rest + block, dtype=np.uint8)
            kept = np.empty(len(data) + 1, dtype=np.uint8)
            lost = np.zeros((_KEPT, 2), dtype=np.int64)
            size, done, longest, dropped = _sifted(data, kept, lost, kinds, self.fields, _LONGEST, self.multiline)
            self.dropped += dropped
            self._keep(data[start:end].tobytes() for start, end in lost[:dropped])
            if size > 1:
                yield kept[:size], longest
            rest = data[done:].tobytes()
            if len(rest) > _LONGEST:
                self.dropped += 1
                self._keep([rest])
                rest, skipping = b"", True

    def _keep(self, lines: Iterable[bytes]) -> None:
        self.first += [line[:_BEGINNING].decode(errors="replace") for line in islice(lines, _KEPT - len(self.first))]


@kernel
def _sifted(
    data: Bytes, kept: Bytes, lost: Ints, kinds: Bytes, fields: int, most: int, multiline: bool
) -> tuple[int, int, int, int]:
    """Copy the records to `kept`; bytes copied, bytes of `data` that are done with, the longest record, lines dropped.

    `lost` says where the first of the dropped lines begin and end. The tail that no line end closes is left for the
    next call.
    """
    kept[0] = _END
    written = 1
    place = start = since = longest = dropped = 0  # all from `since` on are records, and not yet copied
    state, found, valid = _START, 1, True
    while place < len(data):
        kind = kinds[data[place]]
        if kind == _IS_END and (not multiline or state != _QUOTED or place - start > most):
            length = place - start
            if length > 0 and not (valid and state != _QUOTED and found == fields and length <= most):
                kept[written : written + start - since] = data[since:start]
                written += start - since
                since = place + 1
                if dropped < len(lost):
                    lost[dropped] = start, place
                dropped += 1
            else:
                longest = max(longest, length)
            start = place + 1
            state, found, valid = _START, 1, True
        elif kind == _IS_QUOTE and state != _PLAIN:
            state = _CLOSED if state == _QUOTED else _QUOTED
        elif state == _QUOTED:
            pass
        elif kind == _IS_DELIMITER:
            state = _START
            found += 1
        else:
            state = _PLAIN
        if kind == _IS_HIGH:
            size = _character(data, place)
            valid &= size > 0
            place += max(size, 1)
        else:
            place += 1
            while kind == _IS_PLAIN and place < len(data) and kinds[data[place]] == _IS_PLAIN:
                place += 1
    kept[written : written + start - since] = data[since:start]
    return written + start - since, start, longest, dropped


@kernel
def _character(data: Bytes, place: int) -> int:
    """How many bytes the character beyond ASCII has that begins here; 0 if it is none, as Unicode says (table 3-7):
    none in more bytes than it needs, no surrogates, nothing beyond the last one.
    """
    first = data[place]
    if not 0xC2 <= first <= 0xF4:
        return 0
    size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    low = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
    high = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
    for after in range(place + 1, place + size):
        if after >= len(data) or not low <= data[after] <= high:
            return 0
        low, high = 0x80, 0xBF
    return size
