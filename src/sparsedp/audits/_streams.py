"""A stream under audit: what an intruder may see of it, and the least that noise must move to explain a neighbour.

Everything there is to see, y, is linear: y = A·D + B·N for the counts D and the noises N, all of them whole numbers. A
and B are found by running the stream on one count at a time, and with one noise at a time; that they explain it is
checked on random counts and noises, exactly. Now let a neighbour have δ more. If B·x = A·δ, then D with noises N and
D + δ with noises N − x look the same. So nothing that is seen is likelier by more than Σ|xᵢ|/sᵢ, the sᵢ being the
scales of the noises. The least such sum is a linear programme: at most ε, or the stream loses more than it promises. If
there is no x at all, what is seen tells the two apart for certain (`audit.md`).

What is seen: every publication, and the whole of the stream's memory, once or after every tick, as its guarantee says.
Its memory is whatever whole numbers can be reached from the object, so that a noise which ought to be forgotten, and is
not, is seen wherever it is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.audits._evidence import LEAST_P_VALUE, bound_epsilon, lower_bound, p_value, uniforms_of
from sparsedp.audits._findings import Finding
from sparsedp.audits._mechanisms import CERTAIN, CONFIDENT, ENOUGH_NOISE
from sparsedp.audits._transcripts import LAPLACE, AuditSource, Draw, Recorder
from sparsedp.noise.coins import Chances
from sparsedp.noise.samplers import NoiseSampler
from sparsedp.noise.source import RandomSource
from sparsedp.streams import Stream

Maker = Callable[..., Stream]
"""Makes the stream anew; takes `sampler` and `source`."""

ROUNDING = 1e-7
"""Of the linear programme, in parts of ε."""


@dataclass
class _Impulses:
    """A sampler that adds noises of the auditor's choice: all that were asked for are numbered in order."""

    noises: Mapping[int, int] | Ints
    name: str = "audit"
    scales: list[Fraction] = field(default_factory=list)

    def check(self, source: RandomSource) -> None:
        """Nothing is drawn."""

    def effective_scale(self, scale: Fraction) -> Fraction:
        """As asked for."""
        return scale

    def effective_variance(self, variance: Fraction) -> Fraction:
        """As asked for."""
        return variance

    def add_noise(self, values: Ints, scale: Fraction, source: RandomSource) -> None:
        """The next ones, in place."""
        first = len(self.scales)
        self.scales += [scale] * values.size
        if isinstance(self.noises, Mapping):
            chosen = [self.noises.get(number, 0) for number in range(first, len(self.scales))]
        else:
            chosen = self.noises[first : len(self.scales)].tolist()
        values += np.array(chosen, np.int64).reshape(values.shape)

    def add_gaussian(self, values: Ints, variance: Fraction, source: RandomSource) -> None:
        """No stream asks for it."""
        raise NotImplementedByAudit("Gaussian noise")

    def coins(self, chances: Chances, source: RandomSource) -> Any:
        """No stream asks for them."""
        raise NotImplementedByAudit("coins")

    def choose(self, exponents: Sequence[Fraction], source: RandomSource) -> int:
        """No stream asks for it."""
        raise NotImplementedByAudit("a choice")


class NotImplementedByAudit(Exception):
    """A stream draws something whose loss this audit cannot compute: it has to be taught first."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What there was to see of one run: publications, and the memory after each tick. By names that do not change."""

    published: dict[str, int]
    memory: tuple[dict[str, int], ...]


@dataclass(frozen=True)
class StreamCase:
    """A stream of so many ticks, in how many places a person can be."""

    what: str
    make: Maker
    ticks: int
    width: int = 1
    contribution: int = 1
    runs: int = 20_000

    def stream(self, sampler: object = "sparsedp", source: RandomSource | None = None) -> Stream:
        """A new one."""
        return self.make(sampler=cast(str, sampler), source=source)


def audit_stream(case: StreamCase) -> list[Finding]:
    """Every tick in which a person may be, every moment at which an intruder may come; its noise; and an attack."""
    views = _Views(case)
    return [*views.findings(), *_noise(case), *_measured(case, views)]


class _Views:
    """A, B and the scales of one stream."""

    def __init__(self, case: StreamCase) -> None:
        self._case = case
        self.allowed = Fraction(case.stream().spent.epsilon or 0)
        self.intrusions = case.stream().intrusions
        nothing = np.zeros((case.ticks, case.width), np.int64)
        still = _Impulses({})
        self._base = _sight(case, nothing, still)
        self.scales = still.scales
        self._by_count = [
            _sight(case, _one(nothing, tick, place), _Impulses({}))
            for tick in range(case.ticks)
            for place in range(case.width)
        ]
        self._by_noise = [_sight(case, nothing, _Impulses({number: 1})) for number in range(len(self.scales))]
        self.worst: tuple[float, int, int | None] = (0.0, 0, None)

    def moments(self) -> list[int | None]:
        """After which ticks an intruder may come: once, or always; or not at all."""
        return [None] if self.intrusions == "any" else [None, *range(self._case.ticks)]

    def matrices(self, moment: int | None) -> tuple[list[str], Floats, Floats]:
        """The names of what is seen, A and B. Where any number of intrusions is allowed, all memories are seen."""

        def seen(sight: Sight) -> dict[str, int]:
            looks = range(self._case.ticks) if self.intrusions == "any" else [] if moment is None else [moment]
            memory = {f"{look}: {name}": value for look in looks for name, value in sight.memory[look].items()}
            return {**sight.published, **memory}

        base = seen(self._base)
        names = list(base)

        def column(sight: Sight) -> list[int]:
            found = seen(sight)
            if found.keys() != base.keys():
                raise _NotLinear("what there is to see depends on the counts, not only on the ticks")
            return [_wrapped(found[name] - base[name]) for name in names]

        counts = np.array([column(sight) for sight in self._by_count], np.float64).T
        noises = np.array([column(sight) for sight in self._by_noise], np.float64).T
        return names, counts, noises.reshape(len(names), len(self.scales))

    def check_linear(self) -> int:
        """Random counts and noises, explained by A and B exactly; how many numbers were."""
        chance, checked = np.random.default_rng(7), 0
        for _ in range(5):
            counts = chance.integers(0, 9, (self._case.ticks, self._case.width))
            noises = chance.integers(-9, 10, len(self.scales))
            sight = _sight(self._case, counts, _Impulses(noises))
            for moment in (*self.moments(), self._case.ticks - 1):
                names, by_count, by_noise = self.matrices(moment)
                told = by_count @ counts.reshape(-1) + by_noise @ noises
                looks = range(self._case.ticks) if self.intrusions == "any" else [] if moment is None else [moment]
                found = {**sight.published}
                base = {**self._base.published}
                for look in looks:
                    found |= {f"{look}: {name}": value for name, value in sight.memory[look].items()}
                    base |= {f"{look}: {name}": value for name, value in self._base.memory[look].items()}
                for name, expected in zip(names, told, strict=True):
                    if name not in found or _wrapped(found[name] - base[name]) != round(float(expected)):
                        raise _NotLinear(f"{name.partition(': ')[2] or name} is no sum of counts and noises")
                    checked += 1
        return checked

    def findings(self) -> Iterator[Finding]:
        """The linear programmes."""
        case, allowed = self._case, float(self.allowed)
        what = case.what, f"ε = {allowed:g}"
        try:
            checked = self.check_linear()
        except _NotLinear as error:
            yield Finding(*what, "replay", 0, "numbers", None, None, CERTAIN, f"{error}.")
            return
        yield Finding(*what, "replay", checked, "numbers", 0, 0, CERTAIN)
        done, fault = 0, None
        for moment in self.moments():
            _, by_count, by_noise = self.matrices(moment)
            for tick, change in enumerate(self._changes()):
                cost = least_shift(by_noise, by_count @ change, self.scales)
                done += 1
                if cost > self.worst[0]:
                    self.worst = cost, tick, moment
        if self.worst[0] > allowed * (1 + ROUNDING):
            loss = "everything" if self.worst[0] == np.inf else f"ε = {self.worst[0]:.4g}"
            when = "ever" if self.worst[2] is None else f"after tick {self.worst[2]}"
            fault = f"An intruder who comes {when} can learn {loss}."
        yield Finding(*what, "view", done, "views", self.worst[0], allowed, CERTAIN, fault)

    def _changes(self) -> Iterator[Floats]:
        """What a person adds: all of it in one tick and place; or, if that is more than one, some here, some there."""
        size, c = self._case.ticks * self._case.width, self._case.contribution
        for place in range(size):
            yield c * np.eye(size)[place]
        for place in range(size - 1):
            if c > 1:
                yield np.eye(size)[place] + (c - 1) * np.eye(size)[-1]

    def change(self, number: int) -> Floats:
        """The one of that number."""
        return list(self._changes())[number]


class _NotLinear(Exception):
    """What is seen is not linear in counts and noises."""


def least_shift(by_noise: Floats, wanted: Floats, scales: Sequence[Fraction]) -> float:
    """min Σ|xᵢ|/sᵢ such that B·x = wanted; infinite if there is no such x."""
    from scipy.optimize import linprog

    matter = np.any(by_noise != 0, axis=1) | (wanted != 0)
    matrix, target = by_noise[matter], wanted[matter]
    if not target.any():
        return 0.0
    price = np.array([float(1 / scale) for scale in scales])
    found = linprog(
        np.concatenate([price, price]) / price.max(),
        A_eq=np.hstack([matrix, -matrix]),
        b_eq=target,
        bounds=(0, None),
        method="highs",
    )
    return float(found.fun * price.max()) if found.status == 0 else float("inf")


# ---- what there is to see


def _sight(case: StreamCase, counts: Ints, sampler: _Impulses) -> Sight:
    stream = case.stream(sampler, AuditSource())
    published: dict[str, int] = {}
    memory = []
    for tick in range(case.ticks):
        row = counts[tick]
        result = stream.observe(int(row[0]) if case.width == 1 else row)
        for place, value in enumerate([] if result is None else np.asarray(result).reshape(-1).tolist()):
            published[f"tick {tick}, result {place}"] = int(value)
        for place, value in enumerate(stream.synopsis().values.tolist()):
            published[f"tick {tick}, published {place}"] = int(value)
        memory.append(dict(whole_numbers_in(stream)))
    return Sight(published, tuple(memory))


def whole_numbers_in(thing: object) -> Iterator[tuple[str, int]]:
    """Every whole number that can be reached from an object, and its name."""
    seen: set[int] = set()

    def walk(value: object, name: str) -> Iterator[tuple[str, int]]:
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, int | np.integer):
            yield name, int(value)
        elif isinstance(value, np.ndarray):
            if value.dtype.kind in "iu":
                for place, entry in enumerate(value.reshape(-1).tolist()):
                    yield f"{name}[{place}]", entry
        elif isinstance(value, str | bytes | Fraction | type) or id(value) in seen:
            return
        else:
            seen.add(id(value))
            yield from inside(value, name)

    def inside(value: object, name: str) -> Iterator[tuple[str, int]]:
        if isinstance(value, Mapping):
            for key, entry in value.items():
                yield from walk(entry, f"{name}[{key!r}]")
        elif isinstance(value, list | tuple | set | frozenset):
            for place, entry in enumerate(value):
                yield from walk(entry, f"{name}[{place}]")
        elif _has_a_memory(value):
            for attribute in _attributes(value):
                yield from walk(getattr(value, attribute, None), f"{name}.{attribute}")

    yield from walk(thing, "")


def _has_a_memory(value: object) -> bool:
    """Not Python's own machinery, and not what draws noise here: an intruder has no part in the audit."""
    home = type(value).__module__.partition(".")[0]
    return home not in {*sys.stdlib_module_names, "numpy"} and not isinstance(value, RandomSource | NoiseSampler)


def _attributes(value: object) -> list[str]:
    slots = [slot for kind in type(value).__mro__ for slot in getattr(kind, "__slots__", ())]
    names = [*slots, *getattr(value, "__dict__", {})]
    return sorted(name for name in names if name not in ("__weakref__", "__dict__", "_process"))


def _one(nothing: Ints, tick: int, place: int) -> Ints:
    counts = nothing.copy()
    counts[tick, place] = 1
    return counts


def _wrapped(number: int) -> int:
    """Modulo 2⁶⁴, as sums are."""
    return (number + 2**63) % 2**64 - 2**63


# ---- its noise, and an attack


def _noise(case: StreamCase) -> Iterator[Finding]:
    if not case.runs:
        return
    chance, draws = np.random.default_rng(3), list[Draw]()
    counted = 0
    while counted < min(ENOUGH_NOISE // 4, 20 * case.runs):
        recorder = Recorder()
        stream = case.stream(recorder, AuditSource())
        many = np.zeros((case.ticks, case.width), np.int64)
        stream.observe_many(many[:, 0] if case.width == 1 else many)
        size = sum(len(draw.before) for draw in recorder.draws)
        if not size:
            break
        counted += size
        draws += recorder.draws
    by_scale: dict[Fraction | None, list[Draw]] = {}
    for draw in draws:
        by_scale.setdefault(draw.parameter, []).append(draw)
    pooled = [
        Draw(LAPLACE, scale, *(np.concatenate([getattr(d, side) for d in some]) for side in ("before", "after")))
        for scale, some in by_scale.items()
    ]
    found = p_value(uniforms_of(pooled, chance))
    fault = None if found >= LEAST_P_VALUE else "What was drawn does not have the law that was asked for."
    epsilon = f"ε = {float(case.stream().spent.epsilon or 0):g}"
    sure = f"p < {LEAST_P_VALUE:g}"
    yield Finding(case.what, epsilon, "noise", counted, "draws", found, LEAST_P_VALUE, sure, fault)


def _measured(case: StreamCase, views: _Views) -> Iterator[Finding]:
    """Real runs with and without one person, seen by the intruder who learns most.

    The score is how much less noise explains what was seen if the person is there: noises as least squares has them.
    """
    if not case.runs:
        return
    _, number, moment = views.worst
    names, by_count, by_noise = views.matrices(moment)
    change = views.change(number)
    explain = np.linalg.pinv(by_noise)
    price = np.array([float(1 / scale) for scale in views.scales])
    moved = explain @ (by_count @ change)
    scores = []
    for added in (np.zeros_like(change), change):
        counts = added.astype(np.int64).reshape(case.ticks, case.width)
        runs = np.array([_seen(case, counts, names, moment, views.intrusions) for _ in range(case.runs // 2)])
        without = explain @ runs.T.astype(np.float64)
        scores.append((price[:, None] * (np.abs(without) - np.abs(without - moved[:, None]))).sum(axis=0))
    found, allowed = lower_bound(scores[0], scores[1], bound_epsilon), float(views.allowed)
    fault = None if found <= allowed else f"Runs prove ε ≥ {found:.4g}, where {allowed:.4g} is promised."
    what = case.what, f"ε = {allowed:g}", "measured", case.runs, "runs"
    yield Finding(*what, max(found, 0.0), allowed, CONFIDENT, fault)


def _seen(case: StreamCase, counts: Ints, names: Sequence[str], moment: int | None, intrusions: str) -> list[int]:
    """Of one real run, in the order of `names`."""
    stream = case.stream()
    found: dict[str, int] = {}
    wanted = frozenset(names)
    for tick in range(case.ticks):
        result = stream.observe(int(counts[tick, 0]) if case.width == 1 else counts[tick])
        for place, value in enumerate([] if result is None else np.asarray(result).reshape(-1).tolist()):
            found[f"tick {tick}, result {place}"] = int(value)
        if f"tick {tick}, published 0" in wanted:
            for place, value in enumerate(stream.synopsis().values.tolist()):
                found[f"tick {tick}, published {place}"] = int(value)
        if intrusions == "any" or tick == moment:
            found |= {f"{tick}: {name}": value for name, value in whole_numbers_in(stream)}
    return [found[name] for name in names]
