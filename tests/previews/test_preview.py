"""A preview: its errors are those of a direct simulation, they fall with the budget, and nothing is spent or seen."""

import inspect
from functools import partial

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.axes import Axis
from sparsedp.noise.source import SeededSource
from sparsedp.previews import _simulation
from sparsedp.previews._simulation import Guess
from sparsedp.publishing import DEFAULT

WIDTH = 500


def errors_of(preview: sdp.Preview, asked: str = "cell") -> list[float]:
    return [row["error"] for row in preview.table if row["asked"] == asked]


def test_errors_are_those_of_a_direct_simulation() -> None:
    """The same guess, counted and published by hand with other noise."""
    preview = sdp.preview(WIDTH, epsilon="0.2", total=20_000, smoothness="steps", runs=12)
    guess, domain = Guess("steps", 20_000), sdp.Domain.of_shape((WIDTH,))
    off, source = [], SeededSource(99)
    for draw in range(12):
        counts = guess.counts(domain, WIDTH, draw)
        off.append(DEFAULT.release(counts, epsilon="0.2", source=source).values - counts)
    (cell,) = errors_of(preview)
    (box,) = errors_of(preview, "box")
    assert cell == pytest.approx(np.sqrt(np.mean(np.square(off))), rel=0.25)
    sums = [np.convolve(each, np.ones(50), mode="valid") for each in off]
    assert 0.4 < box / np.sqrt(np.mean(np.square(sums))) < 2.5


def test_the_errors_of_laplace_are_its_noise() -> None:
    preview = sdp.preview(WIDTH, epsilon="0.1", total=50_000, smoothness="rough", mechanism="laplace", runs=100)
    for row in preview.table:
        assert row["laplace"] == pytest.approx(10 * (2 * row["cells"]) ** 0.5, rel=0.01)
        assert row["error"] == pytest.approx(row["laplace"], rel=0.25)
        assert row["half_at"] == pytest.approx(0.2, rel=0.2)
        assert row["answer"] == pytest.approx(50_000 * row["cells"] / WIDTH)
        assert row["relative"] == pytest.approx(row["error"] / row["answer"])
    assert preview.table[0]["stands_out"] == pytest.approx(3 * 10 * 2**0.5, rel=0.6)


def test_more_budget_gives_less_error() -> None:
    cells, boxes = zip(
        *(
            (errors_of(preview)[0], errors_of(preview, "box")[0])
            for preview in (
                sdp.preview(WIDTH, epsilon=epsilon, total=50_000, smoothness="spiky", runs=4)
                for epsilon in ("0.05", "0.2", "0.8")
            )
        ),
        strict=True,
    )
    assert list(cells) == sorted(cells, reverse=True)
    assert list(boxes) == sorted(boxes, reverse=True)


def test_the_same_call_gives_the_same_numbers() -> None:
    first, second = (sdp.preview(64, epsilon=1, total=1000, mechanism="privelet").table for _ in range(2))
    assert first == second


def test_axes_and_texts_will_do_for_a_domain() -> None:
    domain = sdp.Domain([sdp.Integers("hour", 0, 11), sdp.Categories("sex", ["F", "M"])])
    mixed: list[Axis | str] = ["hour:0..11", domain.axes[1]]
    given = (domain, domain.axes, list(domain.specs), mixed)
    found = [sdp.preview(each, epsilon=1, total=1000, mechanism="laplace", runs=1) for each in given]
    assert all(each.domain == domain for each in found)
    one = sdp.preview("hour:0..11", epsilon=1, total=1000, mechanism="laplace", runs=1)
    assert one.domain == sdp.Domain(domain.axes[0])


def test_every_form_of_budget_and_of_neighbours() -> None:
    plain, gaussian, approximate, replaced, thrice = (
        errors_of(sdp.preview(WIDTH, total=10**5, smoothness="flat", mechanism="laplace", **given))[0]
        for given in (
            {"epsilon": "0.5"},
            {"rho": "0.125"},
            {"epsilon": "0.5", "delta": "1e-6"},
            {"epsilon": "0.5", "neighbours": "replace_one"},
            {"epsilon": "0.5", "contribution": 3},
        )
    )
    assert plain == pytest.approx(2 * 2**0.5, rel=0.1)
    assert gaussian == pytest.approx(2, rel=0.1)
    assert approximate > gaussian
    assert replaced == pytest.approx(2 * plain, rel=0.1)
    assert thrice == pytest.approx(3 * plain, rel=0.1)


def test_under_rho_halving_takes_four_times_as_much() -> None:
    preview = sdp.preview(WIDTH, rho="0.01", total=10**5, smoothness="flat", mechanism="laplace", runs=20)
    assert preview.table[0]["half_at"] == pytest.approx(0.04, rel=0.1)


def test_a_range_of_totals_and_every_shape() -> None:
    preview = sdp.preview((6, 10), epsilon=1, total=(100, 10_000), mechanism="hierarchical", runs=1)
    assert [(row["total"], row["shape"]) for row in preview.table[::3]] == [
        (total, shape) for total in (100, 10_000) for shape in ("flat", "smooth", "steps", "spiky", "rough")
    ]
    assert sdp.preview(9, epsilon=1, total=(5, 5), mechanism="laplace", runs=1).table[0]["total"] == 5


def test_without_an_ordered_axis_only_shapes_without_order_are_tried() -> None:
    domain = sdp.Domain(sdp.Categories("region", ["north", "south", "east"]))
    table = sdp.preview(domain, epsilon=1, total=100, mechanism="laplace", runs=1).table
    assert {row["shape"] for row in table} == {"spiky", "rough"}


def test_a_guessed_table_is_used_as_the_shape() -> None:
    last_year = np.array([[400.0, 0.0], [0.0, 100.0]])
    preview = sdp.preview((2, 2), epsilon=10**6, total=1000, smoothness=last_year, mechanism="laplace", runs=1)
    (scenario,) = preview.scenarios
    assert scenario.counts[0, 1] == scenario.counts[1, 0] == 0
    assert scenario.counts[0, 0] == pytest.approx(800, abs=60)
    assert errors_of(preview) == [0]
    assert preview.table[0]["half_at"] is None


def test_larger_tables_are_extended_from_smaller_ones() -> None:
    preview = sdp.preview((1024, 2048), epsilon="0.5", total=10**8, smoothness="flat", mechanism="laplace")
    assert preview.scenarios[0].domain.shape == (128, 256)
    cell, box, total = (row["error"] / row["laplace"] for row in preview.table)
    assert cell == pytest.approx(1, rel=0.05)
    assert box == pytest.approx(1, rel=0.5)
    assert 0.3 < total < 3
    assert "smaller tables" in str(preview)


def test_extended_errors_are_near_those_of_the_table_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a size where both can be done."""
    foresee = partial(sdp.preview, (64, 128), epsilon="0.3", total=10**5, smoothness="smooth", runs=10)
    itself = foresee()
    monkeypatch.setattr(_simulation, "AS_THEY_ARE", 2**12)
    monkeypatch.setattr(_simulation, "STAND_INS", (2**9, 2**11))
    extended = foresee()
    assert extended.scenarios[0].domain.size == 2**11
    for asked, within in (("cell", 1.3), ("box", 2), ("total", 4)):
        ratio = errors_of(extended, asked)[0] / errors_of(itself, asked)[0]
        assert 1 / within < ratio < within


def test_a_budget_of_which_half_is_too_little_is_previewed_all_the_same() -> None:
    preview = sdp.preview(8, epsilon=2**-55, total=100, smoothness="flat", mechanism="laplace", runs=1)
    assert len(preview.scenarios[0].errors) == 3


def test_there_is_no_argument_for_data_or_a_ledger() -> None:
    assert not {"counts", "data", "ledger", "source"} & set(inspect.signature(sdp.preview).parameters)
    parameters = inspect.signature(sdp.preview).parameters.values()
    assert [each.name for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY] == ["domain"]
