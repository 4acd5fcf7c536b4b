"""Streams: counts that arrive over time and are published while they arrive, under one budget."""

from sparsedp.streams.adaptive import ContinualAdaptive
from sparsedp.streams.base import Stream
from sparsedp.streams.compressive import ContinualCompressive
from sparsedp.streams.counter import ContinualCounter
from sparsedp.streams.difference import ContinualDifference

__all__ = ["ContinualAdaptive", "ContinualCompressive", "ContinualCounter", "ContinualDifference", "Stream"]
