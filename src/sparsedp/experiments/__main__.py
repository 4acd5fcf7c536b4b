"""`python -m sparsedp.experiments`."""

from __future__ import annotations

from sparsedp.experiments.paper.command import main

if __name__ == "__main__":
    raise SystemExit(main())
