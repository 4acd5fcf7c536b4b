"""What stands out in a heat map could not be noise, and the switch shows the plain values."""

import numpy as np
import pytest
from report_releases import by_day_and_sex, by_delays
from watched_page import Opener, WatchedPage

import sparsedp as sdp
from sparsedp.reports._views import Banded, Bands, clearness, main_view

pytest_plugins = ["report_browser"]

SHAPE = (20, 30)


@pytest.fixture(scope="module")
def flat_but_for_one() -> sdp.Release:
    """Five records in every cell, and sixty in the first."""
    counts = np.full(SHAPE, 5)
    counts[0, 0] = 60
    domain = sdp.Domain([sdp.Integers("row", 0, 19), sdp.Integers("column", 0, 29)])
    return sdp.release(counts, epsilon="0.5", mechanism="laplace", domain=domain)


def darkness(page: WatchedPage) -> np.ndarray:
    fills = page.page.locator("rect.square").evaluate_all("all => all.map(each => each.getAttribute('fill'))")
    return np.array([-sum(int(part) for part in fill[4:-1].split(",")) for fill in fills])


def could_be_noise(release: sdp.Release) -> np.ndarray:
    low, high = Bands(release).cell_ends
    values = release.values
    expected = np.outer(values.sum(axis=1), values.sum(axis=0)) / values.sum()
    return np.asarray((low <= expected) & (expected <= high)).ravel()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_noise_is_even_and_what_is_none_stands_out(opened: Opener, flat_but_for_one: sdp.Release, scheme: str) -> None:
    page = opened(flat_but_for_one, scheme=scheme)
    assert page.page.locator("#colour").input_value() == "clear"
    assert page.text("g.legend .fades") == "faint or even: could be noise"
    page.page.uncheck("#stretch")
    faded = darkness(page)
    page.page.select_option("#colour", "value")
    assert page.count("g.legend .fades") == 0
    plain = darkness(page)
    assert faded[1:].std() < 0.6 * plain[1:].std()
    gap = abs(faded[0] - np.median(faded[1:]))
    assert gap > 1.3 * np.abs(faded[1:] - np.median(faded[1:])).max()


def test_a_square_says_whether_it_could_be_noise(opened: Opener, flat_but_for_one: sdp.Release) -> None:
    page = opened(flat_but_for_one)
    words = "; its difference from its row and column could be noise"
    assert not page.press("Home").endswith(words)
    for column, noise in enumerate(could_be_noise(flat_but_for_one)[1:12], start=1):
        assert page.press("ArrowRight").endswith(words) == noise, column


def test_clear_values_keep_their_colours(opened: Opener) -> None:
    release = by_delays()
    page = opened(release)
    faded = darkness(page)
    page.page.select_option("#colour", "value")
    plain = darkness(page)
    largest = np.argsort(-release.values.ravel())[:20]
    assert np.abs(faded[largest] - plain[largest]).max() < 40  # of 765


def test_paper_has_the_faded_colours_and_says_so(opened: Opener, flat_but_for_one: sdp.Release) -> None:
    page = opened(flat_but_for_one)
    page.page.emulate_media(media="print")
    assert page.page.is_visible("g.legend .fades")


def test_without_ranges_nothing_is_faded(opened: Opener) -> None:
    axes = [sdp.Integers("row", 0, 5), sdp.Integers("column", 0, 5)]
    release = sdp.Compressive(sparsity=4).release(np.full((6, 6), 50), epsilon=1, domain=sdp.Domain(axes))
    page = opened(release)
    assert page.page.is_hidden("#colour-field")
    assert page.count("g.legend .fades") == 0


def test_a_heat_map_opens_as_fine_as_it_is_clear() -> None:
    axes = [sdp.Calendar("day", "2013-01-01", every="1d", length=364), sdp.Integers("hour", 0, 9)]
    domain = sdp.Domain(axes)
    many, few = (
        main_view(sdp.release(np.full((364, 10), each), epsilon=1, mechanism="laplace", domain=domain))
        for each in (200, 3)
    )
    assert [picture.groupings[1].name for picture in many.pictures] == ["month", "week", "day"]
    assert many.pictures[many.opens].groupings[1].name == "day"
    assert few.pictures[few.opens].groupings[1].name in ("month", "week")


def test_how_clear_a_table_is() -> None:
    values = np.array([[100.0, -100.0], [0.0, 0.0]])
    assert clearness(Banded(values, values - 30, values + 30)) == 1
    assert clearness(Banded(values, values - 100, values + 100)) == 0
    assert clearness(Banded(values, values - 60, values + 60)) == pytest.approx(0.6)
    assert clearness(Banded(values)) == 0


def test_labels_stay_as_fine_as_they_are() -> None:
    assert len(main_view(by_day_and_sex()).pictures[-1].groupings[0]) == 2
