"""The questions that coverage is measured by are what their families say."""

import numpy as np

from sparsedp import Domain, Laplace
from sparsedp.arrays import Floats, Ints
from studies.questions import ASKED, LARGEST, NAMED, SIZES, Question, questions_of

DAYS = Domain.of(["day:2024-01-01..2024-02-29/1d", "ward:a,b,c"])


def drawn(shape: tuple[int, ...]) -> Ints:
    return np.random.default_rng(2).poisson(3.0, shape).astype(np.int64)


def asked(counts: Ints, published: Ints | Floats, domain: Domain | None = None) -> dict[str, list[Question]]:
    found: dict[str, list[Question]] = {}
    for question in questions_of(counts, published.astype(np.float64), 2.0, domain, np.random.default_rng(1)):
        found.setdefault(question.family, []).append(question)
    return found


def sums(questions: list[Question], counts: Ints) -> list[float]:
    return [float((question.weights(counts.shape) * counts).sum()) for question in questions]


def test_every_family_of_a_calendar_is_asked() -> None:
    counts = drawn(DAYS.shape)
    found = asked(counts, counts, DAYS)
    assert {family: len(each) for family, each in found.items()} == {
        "total": 1,
        **dict.fromkeys(SIZES, ASKED),
        "the ten largest cells": LARGEST,
        NAMED: LARGEST,
        "prefix sums": ASKED,
        "ranges and boxes": ASKED,
        "halves and quarters": 6,
        "1-way marginal entries": ASKED,
        "weekday": 7,
        "month": 2,
        "weekday × category": ASKED,
    }
    assert sums(found["total"], counts) == [counts.sum()]
    assert sum(sums(found["weekday"], counts)) == counts.sum()
    mondays = counts[0::7].sum()
    assert sums(found["weekday"], counts)[0] == mondays
    assert sums(found["month"], counts) == [counts[:31].sum(), counts[31:].sum()]
    parts = sums(found["halves and quarters"], counts)
    assert sum(parts[:2]) == sum(parts[2:]) == counts.sum()
    for question in found["weekday × category"]:
        assert question.weights(counts.shape).sum() in (8, 9)


def test_single_cells_are_of_their_size() -> None:
    counts = drawn((64,))
    found = asked(counts, counts)
    for family, (above, up_to) in SIZES.items():
        for question, size in zip(found.get(family, []), sums(found.get(family, []), counts), strict=True):
            assert question.weights(counts.shape).sum() == 1
            assert 2.0 * above < size <= 2.0 * up_to
    assert sorted(sums(found["the ten largest cells"], counts)) == sorted(counts)[-LARGEST:]


def test_what_a_release_names_is_what_top_names() -> None:
    counts = drawn((8, 8))
    release = Laplace().release(counts, epsilon=1)
    named = asked(counts, release.values, release.domain)[NAMED]
    told = [answer.interval.estimate for answer in release.top(LARGEST)]
    assert [float((question.weights(counts.shape) * release.values).sum()) for question in named] == told


def test_marginals_have_fewer_axes_than_the_table() -> None:
    counts = drawn((3, 4, 5))
    found = asked(counts, counts)
    assert "3-way marginal entries" not in found
    for order, cells in ((1, {20, 15, 12}), (2, {5, 4, 3})):
        several = found[f"{order}-way marginal entries"]
        assert {int(question.weights(counts.shape).sum()) for question in several} == cells
