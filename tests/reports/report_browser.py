"""A real browser for the pages: one for the whole run of a process."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from watched_page import Opener, WatchedPage

import sparsedp as sdp

HOW_TO_GET_IT = (
    "The report is tested in a real browser and none was found: run `make test`, which sets one up, or "
    "`python tools/find_browser.py .venv/browser-path`, or name one with SPARSEDP_CHROMIUM=/path/to/chromium."
)


def chromium() -> str:
    noted = Path(sys.prefix) / "browser-path"
    named = [os.environ.get("SPARSEDP_CHROMIUM"), noted.read_text().strip() if noted.is_file() else None]
    usual = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    found = [path for path in (*named, *usual) if path and Path(path).is_file()]
    if not found:
        pytest.fail(HOW_TO_GET_IT, pytrace=False)
    return found[0]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # The sandbox does not work for root, which is who runs in most containers.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        yield running
        running.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[sdp.Release, str | None], Path]:
    """The report of a release, written once for all tests that look at it."""
    folder = tmp_path_factory.mktemp("reports")
    known: dict[tuple[int, str | None], tuple[sdp.Release, Path]] = {}

    def write(release: sdp.Release, title: str | None) -> Path:
        # The release is kept too, so that no other one gets its identity.
        _, path = known.setdefault((id(release), title), (release, folder / f"report{len(known)}.html"))
        return path if path.is_file() else release.report(path, title=title)

    return write


@pytest.fixture
def opened(browser: Browser, written: Callable[[sdp.Release, str | None], Path]) -> Iterator[Opener]:
    """Opens the report of a release; at the end, nothing may have gone wrong on any page."""
    watched: list[WatchedPage] = []

    def open_report(
        release: sdp.Release, *, width: int = 1100, scheme: str = "light", title: str | None = None
    ) -> WatchedPage:
        path = written(release, title)
        page: Page = browser.new_page(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            accept_downloads=True,
            has_touch=width < 500,
        )
        watched.append(WatchedPage(page, path))
        return watched[-1]

    yield open_report
    troubles = [trouble for each in watched for trouble in each.troubles]
    for each in watched:
        each.page.close()
    assert troubles == []
