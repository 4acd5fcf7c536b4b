"""The bytes of CSV, from a file or from a stream that can be read once only, as UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any, BinaryIO

from sparsedp.errors import BadFile
from sparsedp.ingest.csv_dialect import Dialect

HEADER = 1 << 20
"""Bytes within which the header ends."""

A_BLOCK = 4 << 20
"""Bytes that are read together."""

_MARK = b"\xef\xbb\xbf"

_CONTROLS = {0x81, 0x8D, 0x8F, 0x90, 0x9D}
"""Bytes that cp1252 gives no character to; like browsers we take the control character of that number."""


class CsvText:
    """One file, or a stream."""

    def __init__(self, source: str | BinaryIO, dialect: Dialect) -> None:
        self.name = source if isinstance(source, str) else "the stream"
        self.delimiter = dialect.of(self.name)
        self._source = source
        self._table = None if dialect.encoding == "utf-8" else _characters(dialect.encoding)
        self._start = self._read_start()

    @property
    def start(self) -> bytes:
        """Its first lines, without a mark of Unicode."""
        return self._encoded(self._start).removeprefix(_MARK)

    @property
    def goes_on(self) -> bool:
        """Whether there may be more than the start."""
        return len(self._start) == HEADER

    def blocks(self, header: int) -> Iterator[bytes]:
        """All of it after the header, which takes so many bytes of the start. A stream can be read once only."""
        if isinstance(self._source, str):
            with _packed(self._source) as stream:
                yield self._encoded(stream.read(len(self._start))).removeprefix(_MARK)[header:]
                while block := stream.read(A_BLOCK):
                    yield self._encoded(block)
            return
        yield self.start[header:]
        while block := _filled(self._source, A_BLOCK):
            yield self._encoded(block)

    def _encoded(self, read: bytes) -> bytes:
        return read if self._table is None else codecs.charmap_decode(read, "strict", self._table)[0].encode()

    def _read_start(self) -> bytes:
        import pyarrow as pa

        try:
            if isinstance(self._source, str):
                with _packed(self._source) as stream:
                    return bytes(stream.read(HEADER))
            return _filled(self._source, HEADER)
        except (OSError, pa.ArrowException):
            pass
        raise BadFile(f"The file {self.name} cannot be read; check that it is complete and not compressed otherwise.")


def _packed(path: str) -> Any:
    import pyarrow as pa

    return pa.input_stream(path, compression="detect")


def _filled(stream: BinaryIO, size: int) -> bytes:
    """So many bytes, unless it ends before: pipes give what they have."""
    read = bytearray()
    while len(read) < size and (more := stream.read(size - len(read))):
        read += more
    return bytes(read)


def _characters(encoding: str) -> str:
    """The character of each byte; different bytes have different ones, and none is without."""
    return "".join(
        chr(byte) if encoding == "latin-1" or byte in _CONTROLS else bytes([byte]).decode(encoding)
        for byte in range(256)
    )
