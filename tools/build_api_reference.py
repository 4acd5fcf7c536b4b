"""Build the API reference from the docstrings: `python tools/build_api_reference.py`, then open out/api/index.html.

Every public name of `sparsedp` is on one page; what they inherit is on the pages of their bases. Built, not committed.
"""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin
from unittest.mock import patch

import numpy.typing as npt
import pdoc
import pdoc.render

import sparsedp
from sparsedp.validate import Number

OUT = Path("out/api")
ARGUMENT = re.compile(r"^(?=`[^`\n]+`(?:, `[^`\n]+`)*: )", re.MULTILINE)
"""Where a docstring begins to explain an argument: a line such as "`epsilon`: the privacy budget"."""

SHORT = {"ArrayLike": npt.ArrayLike, "Number": Number}
"""Types that are unions of many, and how a signature names them."""


def main() -> None:
    """Build it where the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help=f"the folder, {OUT} if not given")
    print(f"The API reference is {build(parser.parse_args().out)}.")


def build(folder: Path) -> Path:
    """Write the pages; their index."""
    pdoc.render.configure(docformat="markdown", show_source=False, footer_text=f"sparsedp {sparsedp.__version__}")
    pdoc.render.env.filters["to_markdown"] = with_argument_lists
    with patch("inspect.formatannotation", short_annotation), patch("pdoc.doc.formatannotation", short_annotation):
        pdoc.pdoc("sparsedp", *modules_of_bases(), output_directory=folder)
    return folder / "index.html"


def modules_of_bases() -> list[str]:
    """The modules of the classes that public ones inherit from."""
    public = (getattr(sparsedp, name) for name in sparsedp.__all__)
    bases = {base for cls in public if isinstance(cls, type) for base in cls.__mro__[1:]}
    return sorted({base.__module__ for base in bases if base.__module__.startswith("sparsedp.")})


def with_argument_lists(docstring: str) -> str:
    """The docstring in Markdown: lines that explain one argument each become a list instead of one paragraph."""
    first = ARGUMENT.search(docstring)
    if first is None:
        return docstring
    before, after = docstring[: first.start()], docstring[first.start() :]
    arguments, gap, rest = after.partition("\n\n")
    return f"{before.rstrip()}\n\n{ARGUMENT.sub('- ', arguments)}{gap}{with_argument_lists(rest)}"


def short_annotation(annotation: Any, base_module: str | None = None, **options: Any) -> str:
    """A type as a signature shows it, the long unions by their names."""
    if get_origin(annotation) not in (Union, UnionType):
        return _formatannotation(annotation, base_module, **options)
    parts, names = list(get_args(annotation)), []
    for name, union in SHORT.items():
        if set(get_args(union)) <= set(parts):
            parts = [part for part in parts if part not in get_args(union)]
            names.append(name)
    shown = [_formatannotation(part, base_module, **options) for part in parts]
    return " | ".join(names + ["None" if one == "NoneType" else one for one in shown])


_formatannotation = inspect.formatannotation

if __name__ == "__main__":
    main()
