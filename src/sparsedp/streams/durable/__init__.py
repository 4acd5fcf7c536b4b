"""Durable streams: one SQLite file each, paid for before it exists, every tick committed before `observe` returns."""

from sparsedp.streams.durable._opening import begin, open_stream, request_for
from sparsedp.streams.durable._schema import APPLICATION_ID

__all__ = ["APPLICATION_ID", "begin", "open_stream", "request_for"]
