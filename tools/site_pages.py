"""What the site shows beside `docs/`: hooks of MkDocs (`mkdocs.yml`).

The README, the other documents at the top and the proofs beside the code are pages too, and so is the reference of all
names. Links are written for the repository, where they work as they are; here they are turned into links between pages.
A link to a file that is no page (a script, say) becomes its text and its path.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from build_api_reference import pages

ROOT = Path(__file__).parent.parent
AT_THE_TOP = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not in `docs/`."""
    from mkdocs.structure.files import File

    for path in [*(ROOT / name for name in AT_THE_TOP), *sorted((ROOT / "src").rglob("*.md"))]:
        place = page_of(path.relative_to(ROOT).as_posix())
        files.append(File.generated(config, place, abs_src_path=str(path)))
    for name, text in pages().items():
        files.append(File.generated(config, f"reference/{name}", content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Turn links into links between pages."""
    known = {file.src_uri for file in files}
    return with_page_links(markdown, page.file.src_uri, known)


def page_of(path: str) -> str:
    """Where in the site a file of the repository is; one that it has not stays where it is."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("src/sparsedp/"):
        return f"proofs/{path.removeprefix('src/sparsedp/')}"
    return AT_THE_TOP.get(path, path)


def path_of(page: str) -> str:
    """The file of the repository that a page is made of; pages of the reference have links from the top."""
    for path, place in AT_THE_TOP.items():
        if page == place:
            return path
    if page.startswith("proofs/"):
        return f"src/sparsedp/{page.removeprefix('proofs/')}"
    return "reference.md" if page.startswith("reference/") else f"docs/{page}"


def with_page_links(markdown: str, page: str, known: set[str]) -> str:
    """The text of a page with links as the site needs them; code is left alone."""
    parts = re.split(r"(^```.*?^```)", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(
        part if part.startswith("```") else LINK.sub(lambda found: link(found, page, known), part) for part in parts
    )


def link(found: re.Match[str], page: str, known: set[str]) -> str:
    """One link."""
    target, anchor = found["target"], found["anchor"] or ""
    if not target or "://" in target or target.startswith("mailto:"):
        return found[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(path_of(page)), target))
    place = page_of(path)
    if place in known:
        there = posixpath.relpath(place, posixpath.dirname(page) or ".")
        return f"{found['picture']}[{found['text']}]({there}{anchor})"
    return f"`{path}`" if found["text"].strip("`") == path else f"{found['text']} (`{path}`)"
