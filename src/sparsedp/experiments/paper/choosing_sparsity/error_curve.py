"""The error of the compressive mechanism at every sparsity of a grid: the U, and the paper's bound beside it."""

from __future__ import annotations

from sparsedp.arrays import Integers
from sparsedp.experiments.metrics import cell_error
from sparsedp.experiments.paper.choosing_sparsity.scores import Shares, paper_scores
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import noise_of, seed_of
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.selection.candidates import SMALLEST_RATIO, rows_for
from sparsedp.mechanisms.selection.sparsity_choice import constants_for

DETAILED = (8, 128)
"""Between these the private choice falls in practice, and the grid may be finer."""


def grid(cells: int, *, steps: int, finer: int = 1, least: int = 1) -> list[int]:
    """Sparsities from `least` to n/16, `steps` of them a doubling, and in the middle `finer` times as many.

    The last is n/16 itself, where the candidates of the private choice end.
    """
    most = cells // SMALLEST_RATIO
    fine = steps * finer
    points = [(place, round(2 ** (place / fine))) for place in range(fine * most.bit_length())]
    kept = {point for place, point in points if place % finer == 0 or DETAILED[0] <= point <= DETAILED[1]}
    return sorted({point for point in kept if least <= point <= most} | {most})


def error_curve(settings: Settings, counts: Integers, shares: Shares) -> Found:
    """‖D − D*‖₂ of every run at every sparsity, measured with what the private choice leaves of the budget.

    `rows` is k(S), and `bounds` the paper's u(D, S) with the constants that this decoder's choice goes by.
    """
    decoder, basis = settings["decoder"], settings["basis"]
    constants = constants_for(decoder, basis)
    sparsities = grid(counts.size, steps=settings["steps"], finer=settings["finer"], least=settings["least"])
    bounds = paper_scores(counts, basis, constants, shares.measuring).bounds

    def error(sparsity: int, run: int) -> float:
        seed = seed_of(settings, "matrix", sparsity, run)
        mechanism = Compressive(basis=basis, sparsity=sparsity, recovery=decoder, seed=seed)
        source = noise_of(settings, sparsity, run)
        return cell_error(counts, mechanism.release(counts, epsilon=shares.measuring, source=source).values)

    return {
        "sparsities": sparsities,
        "rows": [rows_for(counts.size, sparsity, constants.rows_constant) for sparsity in sparsities],
        "errors": [[error(sparsity, run) for run in range(settings["runs"])] for sparsity in sparsities],
        "bounds": [float(bounds[sparsity - 1]) for sparsity in sparsities],
    }
