"""Durable streams: one SQLite file each, every tick committed before `observe` returns."""

from sparsedp.streams.durable.opening import open_stream

__all__ = ["open_stream"]
