"""The experiment of the sweep over ε in the Haar basis."""

from __future__ import annotations

from sparsedp.experiments.paper.epsilon_sweep.claims import CLAIMS, expect
from sparsedp.experiments.paper.epsilon_sweep.measuring import jobs, measure
from sparsedp.experiments.paper.epsilon_sweep.pictures import draw
from sparsedp.experiments.paper.epsilon_sweep.tables import tabulate
from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.mechanisms.selection.sparsity_choice import constants_for
from sparsedp.recovery.registry import decoder_for

COMMON = (
    "Compressive chooses S with 0.1 of ε and measures with the rest, as the paper does. The paper gives no constants; "
    "those in use, of k = ⌈C·S·log₂(n/S)⌉ and u(D, S) = C₂·‖x − x_S‖₁/√S + C₄·S·log₂(n/S)/ε, are {constants}. “The "
    "paper's” has i.i.d. signs "
    "and is judged with CoSaMP; basis pursuit is its other decoder. “Our decoder” is what this library prefers, with "
    "randomised Hadamard rows. All noise is exact discrete Laplace noise. What the paper leaves out are the last two: "
    "publishing zeros, and publishing the noisy total spread evenly. One is *ahead* of another where the 95 % interval "
    "of the ratio of their mean errors says so."
)


def common(basis: str) -> str:
    """What both sweeps have in common, with the constants that `Compressive` goes by in this basis."""
    decoders = {"CoSaMP": "cosamp", "basis pursuit": "basis_pursuit", "our decoder": decoder_for("auto", basis)}
    parts = []
    for shown, decoder in decoders.items():
        in_use = constants_for(decoder, basis)
        weights = (in_use.rows_constant, in_use.tail_weight, in_use.noise_weight)
        parts.append(f"{', '.join(f'{float(weight):.3g}' for weight in weights)} ({shown})")
    return COMMON.format(constants=f"C, C₂ and C₄ = {'; '.join(parts)}")


EXPERIMENT = Experiment(
    name="epsilon-sweep",
    title="Compressive against Laplace and HRMS",
    about=(
        "The paper's main figure: ε from 1 down to 10⁻⁵ in the Haar basis; beside its data, the flights. "
        f"{common('haar')}"
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
    expect=expect,
)
