"""The jobs: the error of every stream at moments from T/64 to T, and what the publications tell apart.

A stream of one tick is the smallest there is: it publishes once, and the likelihood of what it publishes has no
hidden noises in it. So the ratio of the likelihoods without and with a record is exact, and an attack that goes by it
is the best there can be. For longer streams see `streams/compressive.md` and `streams/counter.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy import stats

from sparsedp.arrays import Floats, Ints
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.noise.source import RandomSource
from sparsedp.streams import ContinualAdaptive, ContinualCompressive, ContinualDifference, Stream
from studies.metrics import cell_error
from studies.paper.data import PAPER_DATA, load, noise_of, seed_of
from studies.paper.experiment import Effort, Found, Origins, Settings

# ---- streams by the names that the figures have for them, and their errors at chosen moments

CALIBRATIONS = {"cmco": "correct", "cmco paper": "paper"}
"""The two that take a sparsity and a decoder."""


def begin(mechanism: str, *, epsilon: str, horizon: int, source: RandomSource) -> Stream:
    """A stream that is not CMCO: "difference", "continual adaptive" or "plain", which differ in what is released."""
    if mechanism == "difference":
        return ContinualDifference(horizon=horizon, epsilon=epsilon, source=source)
    return ContinualAdaptive(epsilon=epsilon, source=source)


def begin_cmco(
    mechanism: str, *, epsilon: str, horizon: int, sparsity: int, decoder: str, seed: int, source: RandomSource
) -> ContinualCompressive:
    """CMCO with either calibration, in the Haar basis as in the paper."""
    return ContinualCompressive(
        horizon=horizon,
        sparsity=sparsity,
        recovery=decoder,
        calibration=CALIBRATIONS[mechanism],
        seed=seed,
        epsilon=epsilon,
        source=source,
    )


def recovery_of(mechanism: str) -> str | None:
    """How a stream is released: "plain" as it was published, every other as it was planned."""
    return "direct" if mechanism == "plain" else None


def errors_at(stream: Stream, counts: Ints, moments: Sequence[int], recovery: str | None = None) -> list[float]:
    """‖D_t − D*_t‖₂ of one run of the stream, at each of these numbers of ticks, in order."""
    errors, observed = [], 0
    for moment in moments:
        stream.observe_many(counts[observed:moment])
        observed = moment
        errors.append(cell_error(counts[:moment], stream.release(recovery).values))
    return errors


# ---- what publications tell apart, and how large CMCO's noise is beside that of a single publication

CONFIDENCE = 0.999
FAR = 1000
"""Noise that is larger than any shift; it is rare, but the guarantee is for every view."""


def loss(settings: Settings) -> Found:
    """Streams of one tick, 0 or 1: the exact loss at the worst view, the loss that runs prove, and what is stated."""
    without, with_one = (_views(settings, count) for count in (0, 1))
    stream, signs = _stream(settings, noise_of(settings)), _signs(settings)
    scale = float(stream.noise_law.scale)
    stated = stream.spent.epsilon
    return {
        "worst": float(log_ratio(FAR * signs, signs, scale)),
        "stated": 0.0 if stated is None else float(stated),
        "measured": least_loss(log_ratio(without, signs, scale), log_ratio(with_one, signs, scale)),
        "measurable": least_loss(np.zeros(settings["runs"]), np.ones(settings["runs"])),
    }


def noise(settings: Settings) -> Found:
    """Standard deviations on a sample, entries ±1/√k: of CMCO at t = T, and of Algorithm 1 on the same T cells."""
    horizon, sparsity, epsilon = settings["horizon"], settings["sparsity"], settings["epsilon"]
    found: Found = {}
    for mechanism, calibration in CALIBRATIONS.items():
        stream = ContinualCompressive(
            horizon=horizon,
            sparsity=sparsity,
            recovery="cosamp",
            calibration=calibration,
            seed=0,
            epsilon=epsilon,
            source=noise_of(settings, mechanism),
        )
        found |= {"rows": stream.rows, "levels": stream.noise_law.levels}
        found[mechanism] = sqrt(stream.noise_law.variance / stream.rows)
    algorithm = Compressive(sensing="bernoulli", recovery="cosamp", sparsity=sparsity, seed=0)
    static = algorithm.measure(np.zeros(horizon, np.int64), epsilon=epsilon, source=noise_of(settings, "static"))
    return {**found, "static": sqrt(static.noise_variance / static.sensing.rows)}


def log_ratio(views: Ints, signs: Ints, scale: float) -> Floats:
    """ln P(view | 1) − ln P(view | 0) under independent discrete Laplace noise: what the counters hold is 0, or φ."""
    rest = np.abs(views) - np.abs(views - signs)
    return np.asarray(rest.sum(axis=-1) / scale)


def least_loss(scores: Floats, other: Floats) -> float:
    """Any ε that holds is at least this, with 99.9 % confidence: ln of P(score ≥ c) under `other` over that under the
    first; c is chosen on the first half of the runs, both probabilities are bounded on the second.
    """
    half = len(scores) // 2
    thresholds = np.unique(np.quantile(other[:half], np.linspace(0, 1, 200), method="lower"))
    chosen = max(thresholds, key=lambda threshold: _bound(scores[:half], other[:half], threshold))
    return _bound(scores[half:], other[half:], chosen)


def _bound(scores: Floats, other: Floats, threshold: float) -> float:
    side = (1 + CONFIDENCE) / 2
    hits, false_alarms = int((other >= threshold).sum()), int((scores >= threshold).sum())
    least = float(stats.beta.ppf(1 - side, hits, len(other) - hits + 1)) if hits else 0.0
    most = (
        1.0
        if false_alarms == len(scores)
        else float(stats.beta.ppf(side, false_alarms + 1, len(scores) - false_alarms))
    )
    return float(np.log(max(least, 1e-300) / most))


def _views(settings: Settings, count: int) -> Ints:
    source, views = noise_of(settings, count), []
    for _ in range(settings["runs"]):
        stream = _stream(settings, source)
        stream.observe(count)
        views.append(stream.synopsis().values)
    return np.array(views)


def _stream(settings: Settings, source: RandomSource) -> Stream:
    mechanism, epsilon = settings["mechanism"], settings["epsilon"]
    if mechanism == "difference":
        return ContinualDifference(horizon=1, epsilon=epsilon, source=source)
    return ContinualCompressive(
        horizon=1,
        sparsity=1,
        rows=settings["rows"],
        calibration=CALIBRATIONS[mechanism],
        seed=seed_of(settings, "signs"),
        epsilon=epsilon,
        source=source,
    )


def _signs(settings: Settings) -> Ints:
    """φ: what one record adds to every counter."""
    stream = _stream(settings, noise_of(settings, "signs"))
    stream.observe(0)
    return stream.synopsis().sensing.materialize()[:, 0]


# ---- the jobs

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


def _cmco(settings: Settings, counts: Ints, moments: list[int]) -> Found:
    """S is the candidate with the least error at T, found with noise of its own: in hindsight, in CMCO's favour."""
    tried = []
    for sparsity in settings["sparsities"]:
        rows, errors = _runs(settings, counts, [counts.size], sparsity, "choosing", settings["choosing"])
        tried.append({"sparsity": sparsity, "rows": rows, "errors": [run[0] for run in errors]})
    best = min(tried, key=lambda one: float(np.mean(one["errors"])))
    rows, runs = _runs(settings, counts, moments, best["sparsity"], "run", settings["runs"])
    return {**_found(moments, runs), "sparsity": best["sparsity"], "rows": rows, "tried": tried}


def _runs(
    settings: Settings, counts: Ints, moments: list[int], sparsity: int, purpose: str, runs: int
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
