"""`python -m studies`: the experiments of the paper."""

from __future__ import annotations

from studies.paper.command import main

if __name__ == "__main__":
    raise SystemExit(main())
