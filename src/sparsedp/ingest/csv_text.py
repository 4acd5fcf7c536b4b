"""The bytes of CSV, from a file or from a stream that can be read once only, as UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import Any, BinaryIO

from sparsedp.errors import BadFile
from sparsedp.ingest.csv_dialect import Dialect

HEADER = 1 << 20
"""Bytes within which the header ends."""

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
    def start(self) -> str:
        """The first line, and a part of what comes after it."""
        decoded = self._start if self._table is None else _encoded(self._start, self._table)
        return decoded.decode("utf-8-sig", errors="replace")

    @property
    def is_one_line(self) -> bool:
        """Without an end to its only line."""
        start = self._start.removeprefix(b"\xef\xbb\xbf")
        return len(start) < HEADER and b"\n" not in start and b"\r" not in start

    def open(self) -> Any:
        """From the beginning; a stream once only."""
        if isinstance(self._source, str):
            stream = _packed(self._source)
            return stream if self._table is None else _Decoded(stream, b"", self._table)
        return _Decoded(self._source, self._start, self._table)

    def _read_start(self) -> bytes:
        import pyarrow as pa

        try:
            if isinstance(self._source, str):
                with _packed(self._source) as stream:
                    return bytes(stream.read(HEADER))
            read = bytearray()
            while len(read) < HEADER and (more := self._source.read(HEADER - len(read))):
                read += more
            return bytes(read)
        except (OSError, pa.ArrowException):
            pass
        raise BadFile(f"The file {self.name} cannot be read; check that it is complete and not compressed otherwise.")


def _packed(path: str) -> Any:
    import pyarrow as pa

    return pa.input_stream(path, compression="detect")


class _Decoded(io.RawIOBase):
    """A start that was read already and the rest of a stream, in UTF-8. Closing it leaves the stream open."""

    def __init__(self, stream: Any, start: bytes, table: str | None) -> None:
        self._stream, self._start, self._table = stream, memoryview(start), table

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # No character is longer than three bytes.
        wanted = len(buffer) if self._table is None else max(1, len(buffer) // 3)
        if self._start:
            read, self._start = bytes(self._start[:wanted]), self._start[wanted:]
        else:
            read = self._stream.read(wanted)
        if self._table is not None:
            read = _encoded(read, self._table)
        buffer[: len(read)] = read
        return len(read)


def _characters(encoding: str) -> str:
    """The character of each byte; different bytes have different ones, and none is without."""
    return "".join(
        chr(byte) if encoding == "latin-1" or byte in _CONTROLS else bytes([byte]).decode(encoding)
        for byte in range(256)
    )


def _encoded(read: bytes, table: str) -> bytes:
    return codecs.charmap_decode(read, "strict", table)[0].encode()
