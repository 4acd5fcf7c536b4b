"""Intervals hold the truth about so often, the check would notice if they did not, and figures know their error."""

from math import nan

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.noise.source import SeededSource
from sparsedp.releases.uncertainty import EXPECTED, GUARANTEED, KINDS, LIKELY
from studies.coverage import Answered, Figure, Measures, Streamed, answered, deviation_of
from studies.populations import MECHANISMS, populations
from studies.questions import NAMED

BUDGET = sdp.Budget(epsilon="0.1")


def releases(name: str, mechanism: Measures, runs: int, scale: float = 1.0) -> list[Answered]:
    population, random, source = populations()[name], np.random.default_rng(3), SeededSource(7)
    return [
        one
        for _ in range(runs)
        for one in answered(
            mechanism,
            population.draw(10**4, random),
            BUDGET,
            random,
            domain=population.domain,
            scale=scale,
            source=source,
        )
        if one.family != NAMED
    ]


def held(answers: list[Answered], kind: str) -> Figure:
    return Figure.of((each.held[kind], each.questions) for each in answers)


@pytest.mark.parametrize(
    ("name", "mechanism"),
    [
        ("chain of 3", sdp.Laplace()),
        pytest.param("row of 256", sdp.Adaptive("cells"), marks=pytest.mark.slow),
        pytest.param("four weeks", sdp.Adaptive("marginals"), marks=pytest.mark.slow),
        pytest.param("hourly_departures", sdp.Adaptive(), marks=pytest.mark.slow),
        pytest.param("blobs", sdp.Adaptive("ranges"), marks=pytest.mark.slow),
    ],
)
def test_guaranteed_intervals_hold_the_truth_and_would_not_if_they_were_narrower(
    name: str, mechanism: Measures
) -> None:
    right, narrow = releases(name, mechanism, 10), releases(name, mechanism, 10, 0.6)
    assert held(right, GUARANTEED).share > 0.92
    assert held(narrow, GUARANTEED).share < 0.9
    assert not sum(each.wider for each in right)


def test_small_tables_are_compared_with_the_oracle() -> None:
    small, large = (releases(name, sdp.Laplace(), 1) for name in ("chain of 3", "sine"))
    assert all(each.over_exact == pytest.approx(1.0, abs=0.05) for each in small)
    assert all(np.isnan(each.over_exact) for each in large)


def test_all_kinds_are_what_the_release_says() -> None:
    """Asked of errors that remember the last question, they are as if asked one by one."""
    random, counts = np.random.default_rng(1), np.random.default_rng(2).poisson(40, 84)
    (total, *_), mechanism = answered(sdp.Adaptive(), counts, BUDGET, random, source=SeededSource(5)), sdp.Adaptive()
    release = mechanism.release(counts, epsilon=BUDGET, source=SeededSource(5))
    for kind in KINDS:
        found = release.total(kind=kind)
        assert total.width[kind] == pytest.approx(found.high - max(found.low, 0.0))


def test_streams_are_asked_as_rows_are() -> None:
    counts = np.random.default_rng(2).poisson(40, 64)
    found = answered(Streamed(), counts, BUDGET, np.random.default_rng(1), kinds=(EXPECTED,), source=SeededSource(1))
    assert found[0].family == "total"
    assert set(found[0].held) == {EXPECTED}


def test_the_noise_that_cells_are_sized_by() -> None:
    assert deviation_of(BUDGET) == pytest.approx(200**0.5)
    assert deviation_of(sdp.Budget(rho="0.005")) == pytest.approx(10.0)


def test_a_share_knows_its_error_by_the_scatter_between_releases() -> None:
    alike, apart = Figure.of([(0.5, 100)] * 40), Figure.of([(0.0, 100), (1.0, 100)] * 20)
    assert (alike.share, apart.share) == (0.5, 0.5)
    assert (apart.questions, apart.releases) == (4000, 40)
    assert apart.error == pytest.approx(0.5 / 39**0.5)
    assert alike.error < 0.01


def test_a_share_misses_a_target_where_its_error_does_not_explain_it() -> None:
    few, many = (Figure.of([(0.9, 10), (0.94, 10)] * runs) for runs in (2, 200))
    assert not few.misses(0.945, 10)
    assert many.misses(0.945, 10)
    assert not many.misses(0.9, 10)
    assert not Figure.of([(0.0, 1)]).misses(0.945, 10)


def test_widths_are_told_beside_the_guaranteed_ones() -> None:
    one = Answered("total", 1, {LIKELY: 1.0, GUARANTEED: 1.0}, {LIKELY: 3.0, GUARANTEED: 4.0})
    assert one.over_guaranteed(LIKELY) == 0.75
    none = Answered("total", 1, {LIKELY: 1.0, GUARANTEED: 1.0}, {LIKELY: 3.0, GUARANTEED: np.inf}, 0, nan)
    assert np.isnan(none.over_guaranteed(LIKELY))


def test_every_mechanism_that_is_said_to_apply_is_known() -> None:
    for population in populations().values():
        assert set(population.mechanisms) <= set(MECHANISMS)
        counts = population.draw(1000, np.random.default_rng(1))
        assert counts.sum() == 1000
        assert population.domain is None or population.domain.shape == counts.shape
