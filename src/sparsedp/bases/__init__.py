"""Bases Ψ: where counts are expected to be sparse. Used after the noise only. Every basis by name."""

from __future__ import annotations

from collections.abc import Callable

from sparsedp.bases.base import Basis, Identity
from sparsedp.bases.cosine import Cosine
from sparsedp.bases.haar import Haar
from sparsedp.bases.wavelet import Wavelet, orthogonal_wavelets
from sparsedp.errors import InvalidInput, UnknownName

__all__ = ["BASES", "Basis", "basis_from"]

BASES: dict[str, Callable[[int], Basis]] = {
    "identity": Identity,
    "haar": Haar,
    "cosine": Cosine,
}
"""The bases of our own; `basis_from` also knows every orthogonal wavelet of PyWavelets."""


def basis_from(name: str, n: int) -> Basis:
    """The basis of that name over n cells: "identity", "haar", "cosine" or an orthogonal wavelet such as "db4"."""
    if not isinstance(name, str):
        given = f"of type {type(name).__name__}"
        raise InvalidInput("basis", given, "give a name such as 'haar', 'cosine', 'identity' or 'db4'")
    if name in BASES:
        return BASES[name](n)
    if name in orthogonal_wavelets():
        return Wavelet(name, n)
    remedy = f"choose one of {', '.join(sorted(BASES))}, or an orthogonal wavelet of PyWavelets such as db4 or sym8"
    raise UnknownName("basis", name, {*BASES, *orthogonal_wavelets()}, remedy)
