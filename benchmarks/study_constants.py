"""The study behind the default constants of the sparsity's choice: which C, C₄ and form pick a nearly best S.

Synthetic signals only. For each decoder and each C (rows k = C·S·log₂(n/S)) the true error ‖D − D*‖₂ is measured over a
grid of S; then S is picked privately with several C₄, and the error at the picked S is set against the best.

    python benchmarks/study_constants.py [--decoders cosamp vamp_tree] [--cells 4096] [--repeats 12]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sparsedp.bases import basis_from
from sparsedp.mechanisms.selection.candidates import rows_for, sparsity_candidates
from sparsedp.mechanisms.sparsity_choice import FORMS, SelectionConstants, choose_sparsity
from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.law import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource
from sparsedp.recovery.plan import RecoveryPlan
from sparsedp.sensing.hadamard import Hadamard

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

EPSILON_SELECT, EPSILON_MEASURE = Fraction(1, 10), Fraction(9, 10)
TOTAL = 10**5
ROWS_CONSTANTS = [Fraction(text) for text in ("0.5", "0.75", "1", "1.5", "2", "3")]
NOISE_WEIGHTS = [Fraction(text) for text in ("0.125", "0.25", "0.5", "1", "1.4142", "2.8284", "5.6569")]


def steps(cells: int, pieces: int, rng: np.random.Generator) -> Floats:
    edges = np.sort(rng.choice(np.arange(1, cells), pieces - 1, replace=False))
    lengths = np.diff(np.concatenate([[0], edges, [cells]]))
    return np.repeat(rng.exponential(1.0, pieces), lengths)


def signals(cells: int, seed: int = 7) -> dict[str, Integers]:
    """Counts of TOTAL persons or so: few and many steps, spikes, a sorted power law, smooth waves."""
    rng = np.random.default_rng(seed)
    place = np.arange(cells)
    spikes = np.zeros(cells)
    spikes[rng.choice(cells, 24, replace=False)] = rng.pareto(1.5, 24) + 1
    bumps = sum(
        rng.random() * np.exp(-(((place - c) / w) ** 2) / 2)
        for c, w in zip(rng.integers(0, cells, 6), rng.integers(cells // 100, cells // 10, 6), strict=True)
    )
    shapes = {
        "steps 6": steps(cells, 6, rng),
        "steps 24": steps(cells, 24, rng),
        "steps 96": steps(cells, 96, rng),
        "spikes 24": spikes,
        "power law": 1.0 / (place + 1.0) ** 0.9,
        "bumps": np.asarray(bumps),
    }
    return {name: np.rint(shape * (TOTAL / shape.sum())).astype(np.int64) for name, shape in shapes.items()}


@dataclass(frozen=True)
class Curve:
    """The mean error at each S of a grid; between them it is interpolated in log S."""

    sparsities: Integers
    errors: Floats

    def at(self, sparsity: int) -> float:
        """The error at any S."""
        return float(np.exp(np.interp(np.log(sparsity), np.log(self.sparsities), np.log(self.errors))))

    @property
    def best(self) -> tuple[int, float]:
        """The S of the grid with the least error, and that error."""
        place = int(np.argmin(self.errors))
        return int(self.sparsities[place]), float(self.errors[place])


def release_error(counts: Integers, basis: str, decoder: str, sparsity: int, rows: int, seed: int) -> float:
    sensing = Hadamard(counts.size, rows=rows, seed=seed)
    scale = rows / EPSILON_MEASURE
    noisy = sensing.apply(counts)
    add_discrete_laplace(noisy, scale, SeededSource(seed))
    estimate = RecoveryPlan(decoder, basis, sparsity).run(sensing, noisy, DiscreteLaplaceLaw(scale)).value
    return float(np.linalg.norm(estimate - counts))


def error_curve(counts: Integers, basis: str, decoder: str, constant: Fraction, repeats: int) -> Curve:
    candidates = np.array(sparsity_candidates(counts.size, constant))
    wanted = np.unique(np.rint(np.geomspace(1, candidates[-1], 18)))
    grid = np.unique(candidates[np.abs(candidates[:, None] - wanted[None, :]).argmin(axis=0)])
    errors = [
        np.mean(
            [
                release_error(counts, basis, decoder, int(s), rows_for(counts.size, int(s), constant), seed)
                for seed in range(repeats)
            ]
        )
        for s in grid
    ]
    return Curve(grid, np.array(errors))


def picks(counts: Integers, basis: str, form: str, constants: SelectionConstants, runs: int) -> list[int]:
    return [
        choose_sparsity(
            counts,
            basis_from(basis, counts.size),
            epsilon_select=EPSILON_SELECT,
            epsilon_measure=EPSILON_MEASURE,
            distance=1,
            form=form,
            constants=constants,
            source=SeededSource(seed),
        ).sparsity
        for seed in range(runs)
    ]


def study(decoder: str, basis: str, cells: int, repeats: int, runs: int) -> None:
    data = signals(cells)
    print(f"\n{decoder} in {basis}, n = {cells}, total {TOTAL}, ε = 1 split 0.1/0.9: best S and its error, by C")
    print(f"{'signal':<12}" + "".join(f"{f'C={float(c):g}':>16}" for c in ROWS_CONSTANTS) + f"{'zeros':>9}")
    curves: dict[tuple[str, Fraction], Curve] = {}
    for name, counts in data.items():
        for constant in ROWS_CONSTANTS:
            curves[name, constant] = error_curve(counts, basis, decoder, constant, repeats)
        shown = "".join("{:>8}{:>8.0f}".format(*curves[name, c].best) for c in ROWS_CONSTANTS)
        print(f"{name:<12}{shown}{np.linalg.norm(counts):>9.0f}", flush=True)
    print("error at the picked S over the least of the same C: mean over signals; the worst signal's share within 1.25")
    print(f"{'form':<8}{'C':>6}" + "".join(f"{f'C4={float(w):g}':>14}" for w in NOISE_WEIGHTS))
    for form in FORMS:
        for constant in ROWS_CONSTANTS:
            line = f"{form:<8}{float(constant):>6g}"
            for weight in NOISE_WEIGHTS:
                constants = SelectionConstants(noise_weight=weight, rows_constant=constant)
                ratios = {}
                for name, counts in data.items():
                    curve = curves[name, constant]
                    chosen = picks(counts, basis, form, constants, runs)
                    ratios[name] = np.array([curve.at(s) for s in chosen]) / curve.best[1]
                mean = np.mean([r.mean() for r in ratios.values()])
                within = min((r <= 1.25).mean() for r in ratios.values())
                line += f"{mean:>8.2f}{100 * within:>5.0f}%"
            print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decoders", nargs="+", default=["cosamp", "vamp", "vamp_tree"])
    parser.add_argument("--basis", default="haar")
    parser.add_argument("--cells", type=int, default=4096)
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--runs", type=int, default=30)
    chosen = parser.parse_args()
    for decoder in chosen.decoders:
        study(decoder, chosen.basis, chosen.cells, chosen.repeats, chosen.runs)


if __name__ == "__main__":
    main()
