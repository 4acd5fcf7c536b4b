"""Names, labels and titles are text, whatever they contain."""

import pytest
from watched_page import Opener

import sparsedp as sdp
from sparsedp.files.untrusted import printable
from sparsedp.reports._page import in_script

pytest_plugins = ["report_browser"]

NASTY = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "'; alert(4); '",
    "{{script}}",
    "&lt;b&gt; <!-- ]]> \u2028 \\u003c",
    "\u202eright to left",
    "=cmd|' /C calc'!A0",
]


@pytest.mark.parametrize("kind", ["bars", "lines", "heat"])
def test_labels_titles_and_names_do_nothing_but_stand_there(opened: Opener, kind: str) -> None:
    axes: list[sdp.Categories | sdp.Integers] = [sdp.Categories("<i>axis</i>\"'", NASTY)]
    if kind != "bars":
        axes.append(sdp.Integers("<b>hour</b>", 0, 3))
    domain = sdp.Domain(axes)
    counts = [[100, 100, 100, 100]] * len(NASTY) if kind != "bars" else [400] * len(NASTY)
    page = opened(sdp.release(counts, epsilon=1, domain=domain), title="</title><script>alert(0)</script>")
    if kind != "bars":
        page.page.select_option("#kind", kind)
    page.page.click("#show-table")
    assert page.page.title() == "</title><script>alert(0)</script>"
    assert page.text("h1") == "</title><script>alert(0)</script>"
    assert page.count("script") == 2
    assert page.count("img, iframe, object, embed, i, b, svg[onload]") == 0
    shown = page.page.locator("#table tbody th:first-child").all_text_contents()
    assert list(dict.fromkeys(shown)) == [printable(label) for label in NASTY]
    assert page.press("Home").startswith(NASTY[0])


def test_even_a_script_that_got_in_would_not_run(opened: Opener) -> None:
    """The page's own rule: only the script it came with."""
    page = opened(sdp.release([1, 2, 3], epsilon=1))
    page.page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.broken = true";
            document.body.append(script);
        }"""
    )
    assert page.page.evaluate("window.broken === undefined")
    assert any("Content Security Policy" in trouble for trouble in page.troubles)
    page.troubles.clear()


def test_json_in_a_script_element_holds_no_tag() -> None:
    text = in_script({"label": "</script><!-- \u2028 &"})
    assert not set("<>&\u2028") & set(text)
