"""What would be better: fewer cells, another workload, more budget; each as good as it says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.previews._suggestions import _rounded_up

DAYS = sdp.Calendar("day", "2026-01-01", every="1d", length=84)
WARD = sdp.Categories("ward", list("abcdefgh"))
SEX = sdp.Categories("sex", ["F", "M"])
TABLE = sdp.Domain([DAYS, WARD, SEX])
FEW: dict[str, Any] = {"epsilon": "0.3", "total": 4_000, "smoothness": "linked"}


def starting(preview: sdp.Preview, words: str) -> str:
    (sentence,) = (each for each in preview.suggestions if each.startswith(words))
    return sentence


def relative(preview: sdp.Preview, question: str) -> float:
    (found,) = (row["relative"] for row in preview.questions if row["question"] == question)
    return float(found)


@pytest.fixture(scope="module")
def noisy() -> sdp.Preview:
    return sdp.preview(TABLE, mechanism="laplace", **FEW)


def test_at_most_three_sentences_and_none_where_nothing_is_noise(noisy: sdp.Preview) -> None:
    assert 1 <= len(noisy.suggestions) <= 3
    for sentence in noisy.suggestions:
        assert sentence.endswith(".")
        assert "\n" not in sentence
        assert f"- {sentence}" in str(noisy)
    clear = sdp.preview(TABLE, epsilon=20, total=10**7, smoothness="flat", mechanism="laplace", runs=1)
    assert clear.suggestions == []
    assert "- " not in str(clear)


def test_more_budget_is_as_much_as_it_takes(noisy: sdp.Preview) -> None:
    found = re.search(r"from ε = ([\d.]+) (.+?) is noise no longer", starting(noisy, "More budget"))
    assert found is not None
    assert relative(noisy, found[2]) >= 0.5
    richer = sdp.preview(TABLE, mechanism="laplace", **{**FEW, "epsilon": found[1]})
    assert relative(richer, found[2]) == pytest.approx(0.5, rel=0.15)


def test_fewer_cells_give_what_they_promise(noisy: sdp.Preview) -> None:
    sentence = starting(noisy, "Fewer cells: with day.week in place of day")
    found = re.search(r"(?:, |; )([^,;]+) would be off by ([\d.]+) %", sentence)
    assert found is not None
    week = DAYS.coarsenings["week"].axis
    coarser = sdp.preview(sdp.Domain([week, WARD, SEX]), mechanism="laplace", **FEW)
    assert 100 * relative(coarser, found[1]) == pytest.approx(float(found[2]), rel=0.3)


def test_another_workload_gives_what_it_promises() -> None:
    cells = sdp.preview(TABLE, mechanism="adaptive:cells", **FEW)
    sentence = starting(cells, "Another workload")
    found = re.search(r'Adaptive\("(.+?)"\).*?(?:; |, )([^,;]+) would be off by ([\d.]+) %', sentence)
    assert found is not None, sentence
    other = sdp.preview(TABLE, mechanism=sdp.Adaptive(found[1]), **FEW)
    assert relative(other, found[2]) < 0.95 * relative(cells, found[2])
    assert 100 * relative(other, found[2]) == pytest.approx(float(found[3]), rel=0.35)


def test_labels_without_groups_go_together() -> None:
    preview = sdp.preview(
        sdp.Domain(sdp.Categories("kind", list("abcdefghij"))), epsilon="0.01", total=1500, mechanism="laplace"
    )
    assert starting(preview, "Fewer cells: with kind in ")


def test_a_guessed_table_is_added_up() -> None:
    last_year = np.ones(64)
    preview = sdp.preview(64, epsilon="0.1", total=640, smoothness=last_year, mechanism="laplace", runs=4)
    sentence = starting(preview, "Fewer cells: with axis0 in 16 groups of 4 neighbours")
    found = re.search(r"a cell would be off by ([\d.]+) %", sentence)
    assert found is not None
    assert float(found[1]) == pytest.approx(100 * 14.1 / 40, rel=0.3)


def test_what_cannot_be_helped_is_said() -> None:
    faint = sdp.preview(100, epsilon="0.001", total=100, smoothness="flat", mechanism="laplace", runs=2)
    assert "would take more than 8 times ε" in starting(faint, "More budget")
    assert "would take more than 64 times ρ" in starting(
        sdp.preview(100, rho="0.0000001", total=100, smoothness="flat", mechanism="laplace", runs=2), "More budget"
    )


def test_a_workload_that_names_the_fine_axis_is_no_obstacle() -> None:
    named = sdp.Adaptive([("day.weekday", "ward"), ("day", "ward")])
    preview = sdp.preview(TABLE, mechanism=named, **{**FEW, "epsilon": "0.05"})
    assert not any(sentence.startswith("Fewer cells") for sentence in preview.suggestions)
    assert starting(preview, "More budget")


@pytest.mark.parametrize(
    ("budget", "shown"),
    [(1.2999, "1.3"), (1.301, "1.4"), (0.05, "0.050"), (0.0512, "0.052"), (139.2, "140"), (12.0, "12")],
)
def test_budgets_are_rounded_up(budget: float, shown: str) -> None:
    assert _rounded_up(budget) == shown
