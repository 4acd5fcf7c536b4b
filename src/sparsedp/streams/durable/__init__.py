"""Durable streams: one SQLite file each, paid for before it exists, every tick committed before `observe` returns."""

from sparsedp.streams.durable.opening import open_stream
from sparsedp.streams.durable.payment import begin

__all__ = ["begin", "open_stream"]
