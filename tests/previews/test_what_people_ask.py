"""The questions of a preview: which they are, and errors as large as those of real releases."""

from __future__ import annotations

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.axes import Axis
from sparsedp.noise.source import SeededSource
from sparsedp.previews import _simulation
from sparsedp.previews._questions import (
    GOOD_UP_TO,
    MOST_PAIRS,
    NOISE_FROM,
    Answers,
    Question,
    questions_of,
    verdict_on,
)
from sparsedp.previews._simulation import Guess
from sparsedp.releases.sums import Sums

COUNTY = sdp.Categories("county", {"north": ["a", "b", "c"], "south": ["d", "e"]}, levels=["state"])
DAY = sdp.Calendar("day", "2026-03-02", every="1d", length=35)
SEX = sdp.Categories("sex", ["F", "M"])
HOUR = sdp.Integers("hour", 0, 23)


def asked(*axes: Axis) -> list[str]:
    return [question.text for question in questions_of(sdp.Domain(axes)).questions]


def test_every_axis_group_and_pair_is_asked_for_once() -> None:
    assert asked(DAY, SEX, COUNTY) == [
        "the total",
        "day",
        "sex",
        "county",
        "day.weekday",
        "day.month_of_year",
        "day.week",
        "county.state",
        "day × sex",
        "day × county",
        "sex × county",
        "a cell",
    ]


def test_what_are_the_cells_is_not_asked_twice() -> None:
    one = sdp.Integers("one", 1, 1)
    assert asked(HOUR) == ["the total", "a cell"]
    assert asked(HOUR, one) == ["the total", "a cell"]
    assert asked(HOUR, SEX) == ["the total", "hour", "sex", "a cell"]
    assert asked(one) == ["the total", "a cell"]


def test_an_hour_of_the_week_is_asked_for_by_day_and_by_hour() -> None:
    week = sdp.Calendar("hour", "2026-03-02", every="1h", length=168)
    assert asked(week) == ["the total", "hour.weekday", "hour.hour_of_day", "a cell"]


def test_of_many_pairs_some_are_left_out_and_that_is_said() -> None:
    axes = [sdp.Integers(f"axis{place}", 0, place + 1) for place in range(8)]
    found = questions_of(sdp.Domain(axes))
    pairs = [question for question in found.questions if len(question.names) == 2]
    assert len(pairs) == MOST_PAIRS
    assert {6, 72} <= {pair.entries for pair in pairs}  # from the fewest entries to the most
    assert found.left_out[0].startswith("13 of the 28 pairs of axes are left out")
    text = str(sdp.preview(sdp.Domain(axes[:7]), epsilon=9, total=10**6, mechanism="laplace", runs=1))
    assert "6 of the 21 pairs of axes are left out" in text


@pytest.mark.parametrize(
    ("relative", "verdict"),
    [(0.0, "good"), (GOOD_UP_TO, "good"), (0.11, "rough"), (0.49, "rough"), (NOISE_FROM, "noise"), (9.0, "noise")],
)
def test_three_verdicts(relative: float, verdict: str) -> None:
    assert verdict_on(relative) == verdict


def test_errors_of_sums_are_those_written_out() -> None:
    domain = sdp.Domain([SEX, COUNTY])
    off = np.arange(10.0).reshape(2, 5)
    names = [("sex",), ("county.state",), ("sex", "county.state"), ("nothing",)]
    found = Answers(domain, [Question(each, 1) for each in names]).squared_errors(off)
    by_state = np.array([[3.0, 7.0], [18.0, 17.0]])
    assert found[:3] == pytest.approx([(10**2 + 35**2) / 2, np.mean(by_state.sum(axis=0) ** 2), np.mean(by_state**2)])
    assert np.isnan(found[3])


def test_plain_noise_is_off_by_the_root_of_the_cells_of_an_entry() -> None:
    domain = sdp.Domain([DAY, SEX, COUNTY])
    preview = sdp.preview(domain, epsilon="0.5", total=70_000, smoothness="linked", mechanism="laplace", runs=40)
    laplace = 2 * 2**0.5
    for row in preview.questions:
        cells = domain.size / row["entries"]
        assert row["entry"] == pytest.approx(70_000 / row["entries"])
        assert row["error"] == pytest.approx(laplace * cells**0.5, rel=0.3)
        assert row["relative"] == pytest.approx(row["error"] / row["entry"])
        assert row["least"] == row["most"] == pytest.approx(row["error"])
        assert row["verdict"] == verdict_on(row["relative"])


@pytest.mark.parametrize("mechanism", ["adaptive", "adaptive:marginals", "hierarchical"])
def test_errors_are_those_of_real_releases(mechanism: str) -> None:
    """Of other tables of the same family, published with noise that nobody foresaw, within a factor of 1.6."""
    domain, total = sdp.Domain([sdp.Integers("age", 0, 11), SEX, COUNTY, HOUR]), 20_000
    preview = sdp.preview(domain, epsilon=1, total=total, smoothness="linked", mechanism=mechanism, runs=6)
    squares: dict[str, list[float]] = {}
    for draw in range(100, 106):
        counts = Guess("linked", total).counts(domain, domain.size, draw)
        release = sdp.release(counts, epsilon=1, domain=domain, mechanism=mechanism)
        for row in preview.questions[1:]:
            sums = Sums.named(domain, tuple(row["axes"]))[0]
            squares.setdefault(row["question"], []).append(float(np.mean(sums.of(release.values - counts) ** 2)))
    for row in preview.questions[1:]:
        draws = 6 * min(row["entries"], 1000)
        factor = 1.6 if draws >= 60 else 3
        assert 1 / factor < row["error"] / np.mean(squares[row["question"]]) ** 0.5 < factor, row["question"]


def test_pooled_over_shapes_between_the_best_and_the_worst() -> None:
    preview = sdp.preview((12, 4, 3), epsilon=1, total=(1000, 5000), mechanism="hierarchical", runs=1)
    assert {row["shape"] for row in preview.table} >= {"linked", "spiky"}
    assert [row["total"] for row in preview.questions] == [1000] * 8 + [5000] * 8
    for row in preview.questions:
        assert row["least"] <= row["error"] <= row["most"]


def test_cells_and_total_are_those_of_the_table() -> None:
    preview = sdp.preview((12, 4, 3), epsilon=1, total=1000, smoothness="linked", mechanism="laplace", runs=1)
    cell, _, total = (row["error"] for row in preview.table)
    assert [preview.questions[place]["error"] for place in (-1, 0)] == pytest.approx([cell, total])


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of a few thousand cells are large."""
    monkeypatch.setattr(_simulation, "AS_THEY_ARE", 2**9)
    monkeypatch.setattr(_simulation, "STAND_INS", (2**7, 2**9))


LARGE = sdp.Domain([sdp.Calendar("day", "2026-01-01", every="1d", length=364), SEX, COUNTY])


@pytest.mark.usefixtures("smaller")
def test_large_tables_are_simulated_once_themselves() -> None:
    preview = sdp.preview(LARGE, epsilon=1, total=10**5, smoothness="linked", mechanism="laplace")
    assert preview.scenarios[0].domain.size <= 2**9
    assert "simulated only once for each shape" in str(preview)
    for row in preview.questions:
        expected = (2 * LARGE.size / row["entries"]) ** 0.5
        assert row["error"] == pytest.approx(expected, rel=0.35 if row["entries"] > 20 else 1.5)


@pytest.mark.usefixtures("smaller")
def test_larger_ones_are_not_and_questions_without_an_answer_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_simulation, "AS_A_WHOLE", 2**10)
    preview = sdp.preview(LARGE, epsilon=1, total=10**5, smoothness="linked", mechanism="laplace", runs=4)
    names = [row["question"] for row in preview.questions]
    assert "county.state" in names
    assert "day.weekday" in names
    assert "day.month_of_year" not in names  # of two months nobody asks which
    assert any("day.month_of_year" in sentence for sentence in preview.left_out)
    for row in preview.questions[1:]:
        expected = (2 * LARGE.size / row["entries"]) ** 0.5
        assert 1 / 4 < row["error"] / expected < 4, row


def test_a_workload_that_names_groups_is_previewed_on_smaller_tables_too() -> None:
    county = sdp.Categories("county", {f"s{place}": [f"c{place}.{each}" for each in range(30)] for place in range(10)})
    domain = sdp.Domain([sdp.Integers("x", 0, 299), county])
    workload = sdp.Adaptive([("county.group",), ("x", "county.group")])
    preview = sdp.preview(domain, epsilon=1, total=10**6, smoothness="flat", mechanism=workload, runs=1)
    assert "county.group" in [row["question"] for row in preview.questions]


def test_nothing_but_the_guess_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table that a preview publishes is one that the guess alone makes."""
    seen = []
    publish = _simulation.Setting.publish

    def watched(self: _simulation.Setting, counts: np.ndarray, *rest: object) -> np.ndarray:
        assert isinstance(rest[1], SeededSource)
        seen.append(counts)
        return publish(self, counts, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(_simulation.Setting, "publish", watched)
    preview = sdp.preview((6, 5, 4), epsilon="0.1", total=300, smoothness="linked", mechanism="laplace", runs=1)
    assert str(preview).count("\n- ") == len(preview.suggestions) > 0
    alone = Guess("linked", 300).counts(sdp.Domain.of_shape((6, 5, 4)), 120, 0)
    assert any(np.array_equal(each, alone) for each in seen)
