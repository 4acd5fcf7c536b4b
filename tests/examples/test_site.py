"""The site has every page in its navigation, fetches nothing from elsewhere, and has the links of the repository."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
CONFIG = (ROOT / "mkdocs.yml").read_text()


@pytest.fixture(scope="module")
def site() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "tools"))
    import site_pages

    yield site_pages
    sys.path.remove(str(ROOT / "tools"))


def pages_of(nav: Any) -> Iterator[str]:
    """All that a navigation leads to."""
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_of(each)


def test_every_page_is_in_the_navigation_once(site: ModuleType) -> None:
    plain = yaml.safe_load(re.sub(r"!!python\S+", "", CONFIG))
    named = list(pages_of(plain["nav"]))
    documents = [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.md"),
        *(ROOT / name for name in site.AT_THE_TOP),
    ]
    there = {site.page_of(path.relative_to(ROOT).as_posix()) for path in documents}
    assert sorted(named) == sorted(there | {f"reference/{name}" for name in site.pages()})


def test_nothing_comes_from_another_host() -> None:
    plain = yaml.safe_load(re.sub(r"!!python\S+", "", CONFIG))
    assert plain["theme"]["font"] is False
    assert plain["plugins"] == ["search"]  # `offline` would load a script from another host
    for setting in ("repo_url", "extra_javascript"):  # the first asks a code host for its stars
        assert setting not in plain
    assert "http" not in (ROOT / "docs" / "site.css").read_text()


@pytest.mark.parametrize(
    ("page", "written", "shown"),
    [
        ("guarantees.md", "[a](../src/sparsedp/mechanisms/laplace.md)", "[a](proofs/mechanisms/laplace.md)"),
        ("guarantees.md", "[a](streams.md#b)", "[a](streams.md#b)"),
        ("tutorials/one.md", "![a](../report.png)", "![a](../report.png)"),
        ("index.md", "[a](docs/streams.md)", "[a](streams.md)"),
        ("index.md", "[a](SECURITY.md#b)", "[a](security.md#b)"),
        ("proofs/mechanisms/laplace.md", "[a](../../../docs/symbols.md)", "[a](../../symbols.md)"),
        ("reference/cells.md", "[a](src/sparsedp/mechanisms/laplace.md)", "[a](../proofs/mechanisms/laplace.md)"),
        ("tutorials/one.md", "[a script](../../examples/one.py)", "a script (`examples/one.py`)"),
        ("tutorials/one.md", "[examples/one.py](../../examples/one.py)", "`examples/one.py`"),
        ("index.md", "[a](https://example.org/b.md)", "[a](https://example.org/b.md)"),
        ("index.md", "[a](#b)", "[a](#b)"),
        ("index.md", "```sh\n[a](docs/streams.md)\n```", "```sh\n[a](docs/streams.md)\n```"),
    ],
)
def test_links_of_the_repository_become_links_between_pages(
    site: ModuleType, page: str, written: str, shown: str
) -> None:
    known = {"guarantees.md", "streams.md", "symbols.md", "security.md", "report.png", "proofs/mechanisms/laplace.md"}
    assert site.with_page_links(written, page, known) == shown
