"""How far off a release would be, simulated on made-up counts before anything is spent; it never sees data."""

from sparsedp.previews._shown import Shown, parts_of
from sparsedp.previews.preview import Preview, preview

__all__ = ["Preview", "Shown", "parts_of", "preview"]
