"""What a Parquet file says of itself, read before a single value is: a small file can ask for gigabytes.

Its footer says how many rows and columns there are, and each page how large it is unpacked. Both are claims of whoever
wrote it. Here they are read without constructing anything, and compared with what a file of ours can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsedp.errors import BadFile
from sparsedp.files.untrusted import document
from sparsedp.validate import MAX_CELLS, bytes_of, shown_bytes

_USUAL_MEMORY = 2**31
_TIMES_ITS_SIZE = 64
"""What a file may take once it is open, unless the caller says otherwise: 2 GB, or so many times its own size."""

MOST_FOOTER = 2**26
"""Bytes of metadata: a synopsis of 16 MB written as text, the labels of all axes, and as much again."""

_MOST_COLUMNS = 100
"""Two for each of 32 axes, and what was published."""

_MOST_PARTS = 2**14
"""Of any list in the footer: rows are written in groups of a million."""

_MOST_PAGE = 2**28
"""Bytes that a page may have unpacked: one of ours has a megabyte, or one long label."""

_CELL_BYTES = 24
"""What a value takes while it is read and compared: in Arrow, as an array, and as it should be."""

KEY = b"sparsedp"


@dataclass(frozen=True)
class Claim:
    """How large a file says it is, and its description."""

    file: Any
    """The Parquet file, opened, with nothing of it read but its footer."""
    rows: int
    columns: tuple[str, ...]
    unpacked: int
    """Bytes of all pages once they are decompressed."""
    metadata: dict[bytes, bytes]
    document: dict[str, Any]


def claim_of(source: Any, size: int, shown: str) -> Claim:
    """What the file at a path, or in a buffer, of `size` bytes claims; refused if no file of ours could."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    unreadable = BadFile(f"{shown} is not a readable Parquet file; it may be damaged or of another kind.")
    try:
        _check_footer(source, size, shown)
        file = pq.ParquetFile(source, thrift_string_size_limit=MOST_FOOTER, thrift_container_size_limit=_MOST_PARTS)
        footer = file.metadata
        if footer.num_columns > _MOST_COLUMNS or not 0 <= footer.num_rows <= MAX_CELLS:
            raise BadFile(f"{shown} has more columns or rows than any release; it was not written by this library.")
        metadata = dict(footer.metadata or {})
        texts = [entry.name for entry in file.schema_arrow if pa.types.is_string(entry.type)]
        if not all(map(_is_ours, file.schema_arrow.types)) or len(set(file.schema_arrow.names)) < footer.num_columns:
            raise BadFile(f"{shown} has columns of other kinds than a file of sparsedp.")
        unpacked = _unpacked(source, size, footer)
        if texts:  # each label once, however many rows have it
            file = pq.ParquetFile(source, metadata=footer, read_dictionary=texts)
    except (pa.ArrowException, OSError, ValueError, OverflowError, IndexError):
        raise unreadable from None
    try:
        described = document(metadata[KEY])
        if not isinstance(described, dict):
            raise ValueError
    except (KeyError, ValueError):
        raise BadFile(f"{shown} is Parquet, but was not written by sparsedp.") from None
    return Claim(file, footer.num_rows, tuple(file.schema_arrow.names), unpacked, metadata, described)


def check_memory(claim: Claim, beyond: int, size: int, memory: object, shown: str) -> None:
    """Refuse what would take more memory than it may: its columns, and what else it describes, in bytes.

    `memory`: what the caller allows; None for the usual.
    """
    needed = max(claim.rows * len(claim.columns) * _CELL_BYTES, claim.unpacked) + beyond
    if needed > allowed(memory, size):
        wanted = shown_bytes(needed).replace(" ", "")
        raise BadFile(
            f"{shown} would take about {wanted} of memory, which is much for a file of {shown_bytes(size)}; if you "
            f'trust who wrote it, say memory="{wanted}" or more.'
        )


def allowed(memory: object, size: int) -> int:
    """Bytes that a file of `size` may take once it is open."""
    return max(_USUAL_MEMORY, _TIMES_ITS_SIZE * size) if memory is None else bytes_of("memory", memory)


def _check_footer(source: Any, size: int, shown: str) -> None:
    """The last eight bytes say how much metadata there is before them."""
    if size < 12:
        raise ValueError("too short")
    source.seek(size - 8)
    length, letters = int.from_bytes(source.read(4), "little"), source.read(4)
    if letters != b"PAR1" or length > size - 12:
        raise ValueError("no footer")
    if length > MOST_FOOTER:
        raise BadFile(f"{shown} has far more metadata than a release; it was not written by this library.")
    source.seek(0)


def _is_ours(kind: Any) -> bool:
    import pyarrow as pa

    return bool(kind in (pa.int64(), pa.float64(), pa.string(), pa.timestamp("us"), pa.timestamp("us", tz="UTC")))


def _unpacked(source: Any, size: int, footer: Any) -> int:
    """The bytes of all pages, decompressed, as their own headers say: readers make room for that."""
    total, left = 0, 1000 + footer.num_columns * (1 + footer.num_row_groups + footer.num_rows // 1000)
    rows, chunks = 0, _chunks(source, size)
    for group in range(footer.num_row_groups):
        here = footer.row_group(group).num_rows
        rows += here
        for place in range(footer.num_columns if here else 0):
            at, end = chunks[group][place]
            if at < 4 or end > size - 8:
                raise ValueError("a column outside the file")
            while at < end:
                header, length = _page_header(source, at, end)
                unpacked, packed = header.get(2, -1), header.get(3, -1)
                left -= 1
                if left < 0 or packed < 0 or not 0 <= unpacked <= _MOST_PAGE:
                    raise ValueError("pages that are none")
                total, at = total + unpacked, at + length + packed
            if at != end:
                raise ValueError("a page across the end of its column")
    if rows != footer.num_rows:
        raise ValueError("other rows in the groups than in all")
    source.seek(0)
    return total


def _chunks(source: Any, size: int) -> list[list[tuple[int, int]]]:
    """Where each column of each group of rows begins and ends.

    Not as Arrow says it: asked about a footer that contradicts itself, it ends the whole process.
    """
    source.seek(size - 8)
    length = int.from_bytes(source.read(4), "little")
    source.seek(size - 8 - length)
    tree = _ThriftTree(source.read(length)).struct()
    try:
        return [[_place(chunk) for chunk in group[1]] for group in tree.get(4, [])]
    except (KeyError, TypeError, AttributeError):
        raise ValueError("columns that are none") from None


def _place(chunk: dict[int, Any]) -> tuple[int, int]:
    if chunk.get(1):
        raise ValueError("a column in another file")
    described = chunk[3]
    begin: int = min(described[9], described.get(11) or described[9])  # a dictionary comes before the values
    return begin, begin + described[7]


def _page_header(source: Any, at: int, end: int) -> tuple[dict[int, int], int]:
    """The numbers of a page's header (2: its bytes unpacked, 3: as they are), and how long the header is."""
    for window in (2**8, 2**16, 2**24):
        source.seek(at)
        content = source.read(min(window, end - at))
        reader = _Thrift(content)
        try:
            return reader.struct(), reader.place
        except IndexError:
            if len(content) < window:
                break
    raise ValueError("a page without a header")


class _Thrift:
    """Thrift's compact protocol, as far as the headers of Parquet's pages go: numbers are kept, the rest is skipped."""

    MOST_NESTED = 8

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Fields by their numbers."""
        if depth > self.MOST_NESTED:
            raise ValueError("nested too deep")
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            field = field + step if step else self._number()
            value = self._value(kind, depth)
            if value is not None:
                found[field] = value
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (4, 5, 6):
            return self._number()
        if kind == 3:
            self._skip(1)
        elif kind == 7:
            self._skip(8)
        elif kind == 8:
            self._skip(self._varint())
        elif kind in (9, 10):
            head = self._byte()
            for _ in range(self._varint() if head >> 4 == 15 else head >> 4):
                # In a list, true and false have a byte each.
                self._skip(1) if head & 15 in (1, 2) else self._value(head & 15, depth + 1)
        elif kind == 12:
            self.struct(depth + 1)
        elif kind not in (1, 2):
            raise ValueError("a field of an unknown kind")
        return None

    def _number(self) -> int:
        zigzag = self._varint()
        return zigzag >> 1 ^ -(zigzag & 1)

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number of too many bytes")

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.content):
            raise IndexError


class _ThriftTree(_Thrift):
    """The same for a footer: lists and what is within them are kept, too, and of a text its length."""

    def _value(self, kind: int, depth: int) -> Any:
        if kind == 8:
            length = self._varint()
            self._skip(length)
            return length
        if kind in (9, 10):
            head = self._byte()
            count = self._varint() if head >> 4 == 15 else head >> 4
            kind = 3 if head & 15 in (1, 2) else head & 15  # in a list, true and false have a byte each
            return [self._value(kind, depth + 1) for _ in range(count)]
        return self.struct(depth + 1) if kind == 12 else super()._value(kind, depth)
