"""Pictures drawn with matplotlib, which the `plot` extra brings, and the files that they are written to."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

from sparsedp.errors import InvalidInput
from sparsedp.reports.files import checked_target, write_whole

ENDINGS = (".png", ".svg", ".pdf")


def empty_figure(width: float, height: float) -> Any:
    """A figure of its own, without pyplot: drawing neither opens windows nor changes the notebook's settings."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput(
            "plot", "a picture, and matplotlib is not installed", 'install it with `pip install "sparsedp[plot]"`'
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def checked_picture(path: str | os.PathLike[str] | None) -> Path | None:
    """Where a picture goes, if anywhere; a place that none can be written to is refused before it is drawn."""
    return None if path is None else checked_target(path, ENDINGS, "these are the pictures that are drawn")


def drawn_to(target: Path | None, figure: Any) -> Any:
    """The path that the picture was written to, whole; without one, the figure itself."""
    if target is None:
        return figure
    content = io.BytesIO()
    with warnings.catch_warnings():
        # A label in letters that no installed font has is drawn as boxes: no reason to fail.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(content, format=target.suffix[1:].lower(), dpi=150)
    return write_whole(target, content.getvalue())
