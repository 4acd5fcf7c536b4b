"""The privately picked S is nearly as good as the best S in hindsight: end to end, ε = 1 or ρ = 1/8 split 0.1/0.9."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.selection.sparsity_choice import constants_for, sparsity_candidates
from sparsedp.noise.source import SeededSource
from sparsedp.privacy.budget import Budget, asked_for

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CELLS, TOTAL = 2048, 10**5
FULL, QUICK = (60, 8, 13), (20, 3, 7)
"""How many choices a signal, measurements an S, and S that are compared."""


def stepped(pieces: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    edges = np.sort(rng.choice(np.arange(1, CELLS), pieces - 1, replace=False))
    lengths = np.diff(np.concatenate([[0], edges, [CELLS]]))
    return np.repeat(rng.exponential(1.0, pieces), lengths)


def signals() -> dict[str, Integers]:
    """Steps, few and many; cells sorted by a power law; one bump: each has an S that is best for it."""
    place = np.arange(CELLS)
    shapes = {
        "few steps": stepped(6, 1),
        "steps": stepped(24, 2),
        "many steps": stepped(80, 3),
        "power law": 1.0 / (place + 1.0),
        "bump": np.exp(-(((place - 700) / 90) ** 2) / 2),
    }
    return {name: np.rint(shape * (TOTAL / shape.sum())).astype(np.int64) for name, shape in shapes.items()}


def share_of(whole: Budget, share: str) -> Budget:
    return asked_for(whole).part(Fraction(share))


def true_errors(counts: Integers, decoder: str, budget: Budget, sparsities: list[int], repeats: int) -> Floats:
    """The mean ‖D − D*‖₂ when each S is given in advance and measured with the share that a choice would leave."""
    errors = [
        [
            np.linalg.norm(
                Compressive(recovery=decoder, sparsity=sparsity, seed=seed)
                .release(counts, epsilon=share_of(budget, "0.9"), source=SeededSource(seed))
                .values
                - counts
            )
            for seed in range(repeats)
        ]
        for sparsity in sparsities
    ]
    return np.asarray(np.mean(errors, axis=1))


def picked(counts: Integers, decoder: str, budget: Budget, runs: int) -> list[int]:
    """The S of as many private choices, as the whole mechanism makes them."""
    mechanism = Compressive(recovery=decoder, sparsity="auto", seed=0)
    chosen = [
        mechanism.measure(counts, epsilon=budget, source=SeededSource(run)).plan.recovery.sparsity
        for run in range(runs)
    ]
    assert all(sparsity is not None for sparsity in chosen)
    return [sparsity for sparsity in chosen if sparsity is not None]


PURE, CONCENTRATED = Budget(epsilon=1), Budget(rho="1/8")


@pytest.mark.parametrize(
    ("decoder", "budget", "effort"),
    [
        ("vamp_tree", CONCENTRATED, QUICK),
        pytest.param("cosamp", PURE, FULL, marks=pytest.mark.slow),
        pytest.param("vamp_tree", PURE, FULL, marks=pytest.mark.slow),
        pytest.param("vamp_tree", CONCENTRATED, FULL, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_picked_sparsity_is_within_a_quarter_of_the_best(
    decoder: str, budget: Budget, effort: tuple[int, int, int]
) -> None:
    runs, repeats, sparsities = effort
    constants = constants_for(decoder, gaussian=budget.rho is not None)
    candidates = np.array(sparsity_candidates(CELLS, constants.rows_constant))
    grid = np.unique(candidates[np.rint(np.geomspace(1, len(candidates), sparsities)).astype(int) - 1])
    good = total = 0
    bests = []
    for counts in signals().values():
        errors = true_errors(counts, decoder, budget, grid.tolist(), repeats)
        chosen = picked(counts, decoder, budget, runs)
        at_chosen = np.exp(np.interp(np.log(chosen), np.log(grid), np.log(errors)))
        good += int((at_chosen <= 1.25 * errors.min()).sum())
        total += runs
        bests.append(int(grid[errors.argmin()]))
        # The choice matters: a poor S on the same grid costs far more than what is allowed above.
        assert errors.max() > 1.5 * errors.min()
    assert good >= Fraction(92, 100) * total
    if budget.rho is None:  # under Gaussian noise nearly all want as many rows as there are cells
        assert max(bests) >= 4 * min(bests), "the signals should not all want the same S"
