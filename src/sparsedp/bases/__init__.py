"""Bases Ψ: where counts are expected to be sparse. Used after the noise only."""

from sparsedp.bases.base import Basis
from sparsedp.bases.registry import BASES, basis_from

__all__ = ["BASES", "Basis", "basis_from"]
