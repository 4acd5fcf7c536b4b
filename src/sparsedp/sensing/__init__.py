"""Sensing Φ: which exact integer sums of the cells are measured."""

from sparsedp.sensing.base import Sensing
from sparsedp.sensing.registry import SENSINGS, sensing_from

__all__ = ["SENSINGS", "Sensing", "sensing_from"]
