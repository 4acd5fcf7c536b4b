"""Every registered mechanism as it comes, and with settings that take other paths: for the laws that all obey."""

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.mechanisms.base import Mechanism

with noise_from(__name__):
    AS_THEY_COME: dict[str, Mechanism] = {name: mechanism() for name, mechanism in sdp.MECHANISMS.items()}

OF_ONE_NOISE: dict[str, Mechanism] = {
    **{name: mechanism for name, mechanism in AS_THEY_COME.items() if not isinstance(mechanism, sdp.Adaptive)},
    "hierarchical of three": sdp.Hierarchical(branching=3),
    "compressive of five": sdp.Compressive(sparsity=5, seed=1),
    "compressive, bernoulli": sdp.Compressive(sensing="bernoulli", sparsity=5, seed=1),
    "compressive, rows": sdp.Compressive(sparsity=5, rows=40, seed=1),
    "compressive, plain": sdp.Compressive(selection="plain", selection_share="1/3", basis="cosine", seed=1),
    "compressive, wavelet": sdp.Compressive(basis="sym4", seed=1),
}
"""Those that add one noise to Φ D, whose scale must be what Φ and the budget say; `Adaptive` measures in layers."""


def fitted(mechanism: Mechanism, cells: int) -> Mechanism:
    """The mechanism with no more rows and no larger sparsity than there are cells."""
    if not isinstance(mechanism, sdp.Compressive) or not isinstance(mechanism.sparsity, int):
        return mechanism
    rows = None if mechanism.rows is None else min(mechanism.rows, cells)
    return sdp.Compressive(
        mechanism.basis, mechanism.sensing, sparsity=min(mechanism.sparsity, cells), rows=rows, seed=mechanism.seed
    )
