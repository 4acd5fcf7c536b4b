"""Numbers on the page, as a browser writes them: as many digits as are known, and millions by their name."""

import pytest
from watched_page import Opener

import sparsedp as sdp
from sparsedp.reports.words import with_error

pytest_plugins = ["report_browser"]


@pytest.mark.parametrize(("size", "contribution"), [(1_520_000_000, 10_000_000), (336_776, 400), (1_234_567, 5)])
def test_bars_say_what_the_library_says(opened: Opener, size: int, contribution: int) -> None:
    domain = sdp.Domain(sdp.Categories("kind", ["a", "b", "c"]))
    release = sdp.release(
        [size, size // 2, size // 3], epsilon=1, mechanism="laplace", contribution=contribution, domain=domain
    )
    page = opened(release)
    shown = page.page.locator("text.value").all_text_contents()
    assert shown == [with_error(release.interval(cell)) for cell in range(3)]
    text = page.press("Home")
    assert text.endswith(" billion") == (size > 1e9)
    page.page.click("#show-table")
    first = page.page.locator("#table tbody td").first.inner_text()
    assert float(first.replace(",", "")) == pytest.approx(release.values[0], abs=release.interval(0).high / 10)


@pytest.mark.parametrize("width", [360, 1100])
def test_examples_wrap_and_never_scroll_sideways(opened: Opener, width: int) -> None:
    labels = ["a label that is rather long, as labels of diagnoses are", "b"]
    axes = [sdp.Categories("the diagnosis that was made at discharge", labels), sdp.Integers("hour", 0, 23)]
    page = opened(sdp.release([[90] * 24] * 2, epsilon=1, domain=sdp.Domain(axes)), width=width)
    wide = page.page.locator("pre").evaluate_all("all => all.map(each => each.scrollWidth - each.clientWidth)")
    assert wide == [0, 0, 0]
