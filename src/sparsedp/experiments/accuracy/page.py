"""Writing generated parts into a page by hand: what stands between two markers is replaced, all else is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sparsedp.errors import BadFile

_PART = re.compile(r"(<!-- begin: (?P<name>[a-z-]+) -->\n).*?(<!-- end: (?P=name) -->)", re.DOTALL)


def marked(name: str, text: str = "") -> str:
    """A part of a page, between its markers."""
    return f"<!-- begin: {name} -->\n{text}\n<!-- end: {name} -->"


def write_parts(page: Path, parts: Mapping[str, str]) -> Path:
    """Put each part between its markers; a page that is not there yet is made of all of them.

    A page may leave parts out. It may not ask for one that nobody made.
    """
    if not page.exists():
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("# Accuracy\n\n" + "\n\n".join(marked(name, text) for name, text in parts.items()) + "\n")
        return page
    text = page.read_text()
    asked = [found["name"] for found in _PART.finditer(text)]
    unknown = [name for name in asked if name not in parts]
    if unknown or not asked:
        wanted = f"asks for {', '.join(unknown)}" if unknown else "has no markers"
        raise BadFile(f"{page} {wanted}; the parts are {', '.join(f'<!-- begin: {name} -->' for name in parts)}.")
    page.write_text(_PART.sub(lambda found: f"{found[1]}{parts[found['name']]}\n{found[3]}", text))
    return page
