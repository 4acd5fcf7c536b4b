"""Scores of every candidate S in any basis: ‖x − x_S‖₁ with x = Ψᵀ D, exact or with a proven error.

Guarantee: |score(D) − score(D′)|·step ≤ sensitivity whenever ‖D − D′‖₁ ≤ distance; proof in `tail_scores.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sparsedp import validate
from sparsedp.arrays import Integers
from sparsedp.bases.base import Basis
from sparsedp.bases.cosine import Cosine
from sparsedp.bases.haar import Haar
from sparsedp.bases.identity import Identity
from sparsedp.bases.separable import Separable
from sparsedp.bases.wavelet import Wavelet
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.selection.cosine_tails import cosine_tails
from sparsedp.mechanisms.selection.exact_tails import haar_tails, identity_tails
from sparsedp.mechanisms.selection.scores import TailScores
from sparsedp.mechanisms.selection.separable_tails import has_proven_tails, separable_tails
from sparsedp.mechanisms.selection.wavelet_tails import wavelet_tails


def tail_scores(basis: Basis, counts: Integers, candidates: Sequence[int], *, distance: int) -> TailScores:
    """The tail of each candidate sparsity. Counts are private, the rest is public; nothing is refused for its value."""
    if counts.shape != (basis.n,):
        raise InvalidInput("counts", "of another length than the basis", f"give {basis.n} cells")
    distance = validate.whole("distance", distance)
    for sparsity in candidates:
        validate.whole("sparsity", sparsity, most=basis.n, why="the number of cells")
    return tails_in(basis)(counts, candidates, distance)


def tails_in(basis: Basis) -> Callable[[Integers, Sequence[int], int], TailScores]:
    """The scores of a basis; one without a proof is refused, and asking does not take the counts."""
    if isinstance(basis, Identity):
        return lambda *rest: identity_tails(basis, *rest)
    if isinstance(basis, Haar):
        return lambda *rest: haar_tails(basis, *rest)
    if isinstance(basis, Cosine):
        return lambda *rest: cosine_tails(basis, *rest)
    if isinstance(basis, Wavelet):
        return lambda *rest: wavelet_tails(basis, *rest)
    if isinstance(basis, Separable) and has_proven_tails(basis):
        return lambda *rest: separable_tails(basis, *rest)
    given = f"{basis.name!r}, in which no private choice of the sparsity is proven"
    raise InvalidInput("basis", given, 'give sparsity= as a number, such as 32, or basis="haar"')
