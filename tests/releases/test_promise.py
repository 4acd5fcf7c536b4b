"""What a file promises follows from its noise: every honest file opens, and none that contradicts itself."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.errors import BadFile
from sparsedp.files.columns_file import Contents, Packed, contents_of
from sparsedp.mechanisms import MECHANISMS
from sparsedp.noise.source import SeededSource
from sparsedp.releases.claims import least_cost
from sparsedp.synopsis import synopsis_of

BUDGETS: list[dict[str, Any]] = [{"epsilon": "1/3"}, {"rho": "0.02"}, {"epsilon": 1, "delta": "1e-9"}]
SHAPES = [(1,), (7,), (300,), (5, 9), (40, 40), (3, 4, 5)]


def reopened(synopsis: sdp.Synopsis) -> sdp.Synopsis:
    packed = synopsis.packed()
    return synopsis_of(contents_of(packed, "synopsis"), "it")


def counted(seed: int, shape: tuple[int, ...]) -> Any:
    """Flat, busy, or with a pile: Adaptive does something else with each."""
    random = np.random.default_rng(seed)
    lively = random.poisson(random.choice([0.1, 5, 500]), shape)
    return lively + 5000 * (random.random(shape) < random.choice([0, 0.01, 0.5]))


@pytest.mark.parametrize("name", MECHANISMS)
@given(
    seed=st.integers(0, 2**32),
    shape=st.sampled_from(SHAPES),
    budget=st.sampled_from(BUDGETS),
    contribution=st.integers(1, 50),
    neighbours=st.sampled_from(["add_remove", "replace_one"]),
    workload=st.sampled_from(["cells", "ranges", "any"]),
    negative=st.booleans(),
)
def test_what_mechanisms_promise_follows_from_their_noise(
    name: str,
    seed: int,
    shape: tuple[int, ...],
    budget: dict[str, Any],
    contribution: int,
    neighbours: str,
    workload: str,
    negative: bool,
) -> None:
    settings: dict[str, Any] = {"adaptive": {"workload": workload}}
    mechanism = MECHANISMS[name](**settings.get(name, {}))
    synopsis = mechanism.measure(
        counted(seed, shape),
        **budget,
        contribution=contribution,
        neighbours=neighbours,
        negative=negative,
        source=SeededSource(seed),
    )
    assert reopened(synopsis).guarantee == synopsis.guarantee
    needed = least_cost(synopsis.law, synopsis.sensing, synopsis.guarantee.neighbours.distance)
    assert synopsis.guarantee.total.covers(needed)
    measured = [expense.budget for expense in synopsis.guarantee.expenses if expense.purpose == "measure"]
    # No more noise than is paid for, either: the check would notice one part in a billion.
    paid = sum((part.epsilon or part.rho or Fraction(0) for part in measured), Fraction(0))
    assert paid == (needed.epsilon if needed.rho is None else needed.rho)


STREAMS: dict[str, Callable[..., Any]] = {
    "difference": lambda **terms: sdp.ContinualDifference(horizon=40, **terms),
    "counter": lambda **terms: sdp.ContinualCounter(horizon=40, **terms),
    "compressive": lambda **terms: sdp.ContinualCompressive(horizon=40, rows=6, sparsity=2, **terms),
    "compressive, paper": lambda **terms: sdp.ContinualCompressive(
        horizon=40, rows=6, sparsity=2, calibration="paper", **terms
    ),
    "adaptive": lambda **terms: sdp.ContinualAdaptive(**terms),
    "adaptive, totals": lambda **terms: sdp.ContinualAdaptive(totals="0.3", horizon=40, **terms),
    "adaptive, rare totals": lambda **terms: sdp.ContinualAdaptive(totals="0.3", horizon=40, totals_every=8, **terms),
}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("ticks", [1, 7, 8, 40])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_what_streams_promise_follows_from_their_noise(kind: str, ticks: int, neighbours: str) -> None:
    stream = STREAMS[kind](epsilon="1/3", contribution=3, neighbours=neighbours, unit="person")
    stream.observe_many(np.arange(ticks))
    synopsis = stream.synopsis()
    assert reopened(synopsis).guarantee == synopsis.guarantee
    needed = least_cost(synopsis.law, synopsis.sensing, 3 if neighbours == "add_remove" else 6)
    assert needed == synopsis.guarantee.total


def test_the_noise_of_another_sampler_is_a_little_more() -> None:
    for budget in BUDGETS:
        reopened(sdp.Privelet().measure(np.arange(20), **budget, sampler="opendp"))


# ---- forgeries, each with the digest that it should have

COUNTS = np.random.default_rng(3).poisson(40, 600)
FLAT = np.repeat([3, 900, 4, 200], 150)


def forged_synopsis(synopsis: sdp.Synopsis, change: Callable[[dict[str, Any]], None]) -> Packed:
    description = copy.deepcopy(dict(synopsis._contents.description))
    change(description)
    return Contents("synopsis", {"value": synopsis.values}, description).packed()


def forged_release(
    release: sdp.Release, path: Path, change: Callable[[dict[str, Any]], None], within: Packed | None = None
) -> Path:
    """The file of a release that says something else; `within`: another synopsis in it."""
    found = pq.read_metadata(release.save(path)).metadata
    document = json.loads(found[b"sparsedp"])
    held = release.synopsis.packed() if b"sparsedp.synopsis" in found and release.synopsis is not None else None
    for name in ("digest", "embedded", "kind", "format"):
        document.pop(name, None)
    change(document)
    inside = held if within is None else within
    embedded = {} if inside is None else {"synopsis": inside}
    path.write_bytes(Contents("release", release._columns, document, embedded=embedded).packed().content)
    return path


def same(description: dict[str, Any]) -> None:
    """Nothing is changed: the forger's tools work."""


def stated(number: str, *, places: slice = slice(None)) -> Callable[[dict[str, Any]], None]:
    """Expenses of another amount, and words to match."""

    def change(description: dict[str, Any]) -> None:
        for expense in description["guarantee"]["expenses"][places]:
            kind = "epsilon" if "epsilon" in expense else "rho"
            expense[kind] = str(Fraction(expense[kind]) * Fraction(number))
        _reworded(description)

    return change


def _reworded(description: dict[str, Any]) -> None:
    from sparsedp.privacy.guarantee import Guarantee

    guarantee = Guarantee.from_description(description["guarantee"])
    description["guarantee"]["statement"] = str(guarantee)
    if "spent" in description:
        description["spent"] = guarantee.spent.describe()


def neighbours(**facts: Any) -> Callable[[dict[str, Any]], None]:
    def change(description: dict[str, Any]) -> None:
        description["guarantee"]["neighbours"].update(facts)
        _reworded(description)

    return change


def without(purpose: str) -> Callable[[dict[str, Any]], None]:
    def change(description: dict[str, Any]) -> None:
        expenses = description["guarantee"]["expenses"]
        description["guarantee"]["expenses"] = [each for each in expenses if not each["purpose"].startswith(purpose)]
        _reworded(description)

    return change


def _any_intrusions(description: dict[str, Any]) -> None:
    description["guarantee"]["intrusions"] = "any"
    _reworded(description)


def noise(**law: Any) -> Callable[[dict[str, Any]], None]:
    def change(description: dict[str, Any]) -> None:
        description["noise"].update(law)

    return change


with noise_from(__name__):
    LAPLACE = sdp.Laplace().measure(COUNTS, epsilon="0.1")
    GAUSSIAN = sdp.Privelet().measure(COUNTS, rho="0.1")
LAYERS = sdp.Adaptive("ranges").measure(FLAT, epsilon="0.1", source=SeededSource(1))
TREE = sdp.Adaptive("any").measure(np.repeat([30, 90], 300), epsilon="0.2", source=SeededSource(1))
BUSY = sdp.Adaptive("any").measure(COUNTS * (np.arange(600) % 100 < 50) * 100, epsilon=10, source=SeededSource(1))
with noise_from(__name__):
    DIFFERENCE = STREAMS["difference"](epsilon=1)
    DIFFERENCE.observe_many(np.arange(20))
    TOTALS = STREAMS["adaptive, totals"](epsilon=1)
    TOTALS.observe_many(np.arange(20))
    PAPER = STREAMS["compressive, paper"](epsilon=1)
    PAPER.observe_many(np.arange(20))

FORGERIES: dict[str, tuple[Any, Callable[[dict[str, Any]], None]]] = {
    "a smaller ε": (LAPLACE, stated("9/10")),
    "an ε one part in a billion smaller": (LAPLACE, stated("999999999/1000000000")),
    "less noise": (LAPLACE, noise(scale="1/10")),
    "a larger contribution": (LAPLACE, neighbours(contribution=2)),
    "other neighbours": (LAPLACE, neighbours(relation="replace_one")),
    "public totals that are not there": (LAPLACE, neighbours(relation="replace_one", invariant=True)),
    "a larger contribution under ρ": (GAUSSIAN, neighbours(contribution=2)),
    "a smaller ρ": (GAUSSIAN, stated("99/100")),
    "noise of another kind": (GAUSSIAN, noise(name="discrete_laplace", scale="1000000")),
    "one layer that costs less": (LAYERS, stated("1/2", places=slice(-1, None))),
    "groups of a tree that cost nothing": (TREE, lambda facts: (without("see")(facts), without("find")(facts))[0]),
    "cells of busy blocks without a look": (BUSY, without("see whether")),
    "layers left out of the law": (LAYERS, lambda facts: facts["noise"]["layers"].pop()),
    "a counter with fewer levels": (DIFFERENCE.synopsis(), noise(levels=2)),
    "a counter of a smaller ε": (DIFFERENCE.synopsis(), stated("1/2")),
    "a counter with the noise of one tick": (DIFFERENCE.synopsis(), noise(name="discrete_laplace", scale="1")),
    "totals that were free": (TOTALS.synopsis(), without("running totals")),
    "totals that withstand any intrusion": (
        TOTALS.synopsis(),
        _any_intrusions,
    ),
    "the paper's own promise": (PAPER.synopsis(), stated("1/6")),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_synopsis_that_contradicts_itself(forgery: str, tmp_path: Path) -> None:
    synopsis, change = FORGERIES[forgery]
    path = tmp_path / "x.synopsis"
    path.write_bytes(forged_synopsis(synopsis, same).content)
    assert sdp.open_synopsis(path).guarantee == synopsis.guarantee
    path.write_bytes(forged_synopsis(synopsis, change).content)
    with pytest.raises(BadFile, match=r"x\.synopsis is a sparsedp synopsis that cannot be used: .* is .*\.$"):
        sdp.open_synopsis(path)


@pytest.mark.parametrize(
    "forgery", [name for name, (made, _) in FORGERIES.items() if made is LAPLACE and "public" not in name]
)
def test_a_release_that_contradicts_its_noise(forgery: str, tmp_path: Path) -> None:
    """Also where there is no synopsis in the file."""
    release = LAPLACE.recover()
    assert sdp.open_release(forged_release(release, tmp_path / "x.parquet", same)).spent == release.spent
    with pytest.raises(BadFile, match=r"x\.parquet contradicts itself: its promise is stated as"):
        sdp.open_release(forged_release(release, tmp_path / "x.parquet", FORGERIES[forgery][1]))


@pytest.mark.parametrize("counted", [True, "x", [1]])
def test_a_release_whose_neighbours_are_of_another_type(counted: Any, tmp_path: Path) -> None:
    """Noise that protects nobody: its promise is not told in words, so that nothing looks at the neighbours before."""
    seeded = sdp.Laplace().measure(COUNTS, epsilon="0.1", source=SeededSource(1)).recover()

    def change(facts: dict[str, Any]) -> None:
        facts["guarantee"]["neighbours"].update(counted=counted)

    with pytest.raises(BadFile, match=r"x\.parquet is a sparsedp release with fields missing"):
        sdp.open_release(forged_release(seeded, tmp_path / "x.parquet", change))


def all_of(*changes: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def change(description: dict[str, Any]) -> None:
        for each in changes:
            each(description)

    return change


def test_a_release_that_contradicts_the_synopsis_in_it(tmp_path: Path) -> None:
    """Its own promise and noise agree: it is the synopsis that was made with a hundred times the budget."""
    release, other = LAYERS.recover(), sdp.Adaptive("ranges").measure(FLAT, epsilon=10)
    path = tmp_path / "x.parquet"
    assert sdp.open_release(forged_release(release, path, same)).total().level == 0.95
    for within, complaint in ((other.packed(), "promise is another one"), (LAPLACE.packed(), "promise is another one")):
        with pytest.raises(BadFile, match=f"x.parquet contradicts itself: its {complaint}"):
            sdp.open_release(forged_release(release, path, same, within))
    changes: dict[str, Callable[[dict[str, Any]], Any]] = {
        "mechanism": lambda facts: facts.update(mechanism="laplace"),
        "noise": lambda facts: [law.update(scale="1e9") for law in facts["noise"]["layers"]],
        "plan": lambda facts: facts["plan"].update(mechanism="laplace"),
        "promise": stated("2"),
    }
    for name, change in changes.items():
        with pytest.raises(BadFile, match=f"contradicts itself: its {name} is another one than that of the synopsis"):
            sdp.open_release(forged_release(release, path, change))


def test_a_synopsis_within_that_contradicts_itself(tmp_path: Path) -> None:
    """Both say ε = 0.001, and the noise is that of ε = 0.1."""
    little = stated("1/100")
    path = forged_release(LAYERS.recover(), tmp_path / "x.parquet", little, forged_synopsis(LAYERS, little))
    with pytest.raises(BadFile, match="contradicts itself"):
        sdp.open_release(path)


def test_marginals_and_sums_of_values_open(tmp_path: Path) -> None:
    table = {"a": [1, 1, 2, 2, 2], "b": ["x", "y", "x", "x", "y"], "who": [1, 2, 3, 4, 5], "paid": [1.0, 2, 3, 4, 5]}
    import pandas as pd

    terms: dict[str, Any] = {"privacy_unit": "who", "max_contributions": 2, "domain": ["a:1..2", "b:x,y"]}
    values: list[dict[str, Any]] = [{}, {"value": "paid", "clamp": (0, 5), "resolution": "0.5"}]
    for value in values:
        counts = sdp.count(pd.DataFrame(table), **terms, **value)
        for mechanism in (sdp.Adaptive(), sdp.Laplace()):
            release = mechanism.release(counts, epsilon=1)
            for made in (release, release.marginal("a")):
                opened = sdp.open_release(made.save(tmp_path / "x.parquet"))
                assert opened.guarantee == release.guarantee
