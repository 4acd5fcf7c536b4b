"""The jobs: the error of every stream at moments from T/64 to T, and what the publications tell apart."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.experiments.paper.continual.losing import loss, noise
from sparsedp.experiments.paper.continual.observing import begin, begin_cmco, errors_at, recovery_of
from sparsedp.experiments.paper.data import PAPER_DATA, load
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.experiment import Origins
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import noise_of, seed_of

EPSILONS = ("0.1", "0.001", "0.00001")
FIRST = 64
"""The first moment is T/64."""

SPARSITIES = {
    "cmco": {Effort.SMOKE: [1, 2], Effort.QUICK: [1, 2, 4, 8], Effort.FULL: [1, 2, 4, 8, 16]},
    "cmco paper": {Effort.SMOKE: [1, 2], Effort.QUICK: [1, 8, 32, 64], Effort.FULL: [1, 2, 4, 8, 16, 32, 64]},
}
"""Candidates for S. With the correct calibration more coefficients only cost, from 1 on."""

DECODERS = {"cosamp": "CoSaMP", "auto": "our decoder"}


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """For every data set and ε a job for each stream; then the losses."""
    data = effort.pick(smoke=("social_network", "search_logs"), quick=PAPER_DATA, full=PAPER_DATA)
    epsilons = effort.pick(smoke=EPSILONS[::2], quick=EPSILONS, full=EPSILONS)
    moments = effort.pick(smoke=3, quick=9, full=13)
    runs = effort.pick(smoke=2, quick=2, full=5)
    every: list[Settings] = []
    for epsilon in epsilons:
        for name in data:
            panel = {"part": "error", "data": name, "origin": origins[name], "epsilon": epsilon}
            every += [
                {**panel, "mechanism": mechanism, "moments": moments, "runs": 1 if mechanism == "zeros" else runs}
                for mechanism in ("zeros", "difference", "plain", "continual adaptive")
            ]
            every += [
                {
                    **panel,
                    "mechanism": mechanism,
                    "decoder": decoder,
                    "sparsities": SPARSITIES[mechanism][effort],
                    "choosing": effort.pick(smoke=1, quick=1, full=2),
                    "moments": moments if decoder == "cosamp" else 1,
                    "runs": runs,
                }
                for mechanism in SPARSITIES
                for decoder in DECODERS
            ]
    tries = effort.pick(smoke=400, quick=4000, full=20000)
    lost = {"part": "loss", "epsilon": "1", "runs": tries}
    every += [{**lost, "mechanism": mechanism, "rows": 64} for mechanism in SPARSITIES]
    every.append({**lost, "mechanism": "difference", "rows": 1})
    horizons = effort.pick(smoke=(1024,), quick=(11342, 32768, 65536), full=(11342, 32768, 65536))
    every += [{"part": "noise", "horizon": horizon, "sparsity": 32, "epsilon": "1"} for horizon in horizons]
    return every


def measure(settings: Settings) -> Found:
    """One job of one part."""
    return {"error": _error, "loss": loss, "noise": noise}[settings["part"]](settings)


def moments_of(ticks: int, number: int) -> list[int]:
    """T/64 … T, evenly on a log scale; T alone if only one is asked for."""
    shares = FIRST ** (np.arange(1 - number, 1) / max(1, number - 1))
    return [int(moment) for moment in np.rint(ticks * shares)]


def _error(settings: Settings) -> Found:
    counts = load(settings["data"], settings["origin"]).counts
    moments = moments_of(counts.size, settings["moments"])
    mechanism, epsilon = settings["mechanism"], settings["epsilon"]
    if mechanism == "zeros":
        return _found(moments, [[float(np.linalg.norm(counts[:moment])) for moment in moments]])
    if mechanism in SPARSITIES:
        return _cmco(settings, counts, moments)
    runs = []
    for run in range(settings["runs"]):
        stream = begin(mechanism, epsilon=epsilon, horizon=counts.size, source=noise_of(settings, run))
        runs.append(errors_at(stream, counts, moments, recovery_of(mechanism)))
    return _found(moments, runs)


def _cmco(settings: Settings, counts: Integers, moments: list[int]) -> Found:
    """S is the candidate with the least error at T, found with noise of its own: in hindsight, in CMCO's favour."""
    tried = []
    for sparsity in settings["sparsities"]:
        rows, errors = _runs(settings, counts, [counts.size], sparsity, "choosing", settings["choosing"])
        tried.append({"sparsity": sparsity, "rows": rows, "errors": [run[0] for run in errors]})
    best = min(tried, key=lambda one: float(np.mean(one["errors"])))
    rows, runs = _runs(settings, counts, moments, best["sparsity"], "run", settings["runs"])
    return {**_found(moments, runs), "sparsity": best["sparsity"], "rows": rows, "tried": tried}


def _runs(
    settings: Settings, counts: Integers, moments: list[int], sparsity: int, purpose: str, runs: int
) -> tuple[int, list[list[float]]]:
    """k, and the errors of every run at every moment."""
    rows, errors = 0, []
    for run in range(runs):
        stream = begin_cmco(
            settings["mechanism"],
            epsilon=settings["epsilon"],
            horizon=counts.size,
            sparsity=sparsity,
            decoder=settings["decoder"],
            seed=seed_of(settings, "signs", purpose, sparsity, run),
            source=noise_of(settings, purpose, sparsity, run),
        )
        rows = stream.rows
        errors.append(errors_at(stream, counts, moments))
    return rows, errors


def _found(moments: list[int], runs: list[list[float]]) -> Found:
    """`errors`: for every moment, a list over runs."""
    return {"moments": moments, "errors": [list(at_once) for at_once in zip(*runs, strict=True)]}
