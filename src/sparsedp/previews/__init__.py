"""How far off a release would be, simulated on made-up counts before anything is spent; it never sees data."""

from sparsedp.previews.preview import preview
from sparsedp.previews.report import Preview

__all__ = ["Preview", "preview"]
