"""`python -m torture`: harm ledgers, releases and streams in every way, and count what must not happen.

It prints a table by scenario and fault, and exits with 1 if anything was violated. `--seed` fixes which faults come in
which order and when; what exactly they meet depends on the speed of the machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # a fork keeps one thread
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # others have threads of their own


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 if nothing was violated."""
    from torture.campaign import Campaign, parts, spoken
    from torture.process import KINDS

    options = argparse.ArgumentParser(prog="python -m torture", description=__doc__, allow_abbrev=False)
    options.add_argument("--faults", type=int, default=1000, help="how many (1000)")
    options.add_argument("--seed", type=int, default=1, help="which, in which order (1)")
    options.add_argument("--only", action="append", default=[], choices=list(parts()), help="this scenario alone")
    options.add_argument("--kind", action="append", default=[], choices=KINDS, help="this kind of fault alone")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes at once")
    options.add_argument(
        "--no-disks", action="store_true", help="mount no small disk to fill; let files not grow instead"
    )
    given = options.parse_args(arguments)
    begun = time.monotonic()
    campaign = Campaign(
        given.faults, given.seed, given.only, given.kind or KINDS, disks=not given.no_disks, tell=spoken(begun)
    ).run_by(given.jobs)
    print(campaign.table())
    minutes = (time.monotonic() - begun) / 60
    print(f"\n{campaign.injected} faults in {minutes:.1f} minutes, seed {given.seed}; {campaign.missed} came too late.")
    print(f"{len(campaign.violations)} violations.")
    return 1 if campaign.violations else 0


if __name__ == "__main__":
    sys.exit(main())
