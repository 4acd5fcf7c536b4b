"""Publish a sensitive histogram once under differential privacy; ask the published copy anything.

>>> import sparsedp as sdp
>>> release = sdp.release([12, 0, 7, 3], epsilon="0.5")
>>> release.values.shape, str(release.spent)
((4,), 'ε = 0.5')
"""

import lazy_loader

# The names are those of `__init__.pyi`, which type checkers read too; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
