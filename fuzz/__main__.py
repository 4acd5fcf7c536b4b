"""`python -m fuzz`: run many hostile inputs through the doors of the library, and count what must not happen.

It exits with 1 if there is any finding. Each says how to replay it, and what it left is kept in the folder.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

for _name, _value in {
    # One thread everywhere: a fork keeps one, and every core has a server.
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "SPARSEDP_THREADS": "1",
    # Other pools reserve gigabytes of addresses that nobody uses, which a limit of memory would count.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "COLUMNS": "80",
    "NO_COLOR": "1",
}.items():
    os.environ[_name] = _value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 if nothing was found."""
    from fuzz.campaign import Campaign, rate, replay, run, shares
    from fuzz.kinds import KINDS
    from fuzz.sandbox import Limits, Outcome
    from fuzz.specimens import made_specimens
    from fuzz.verdicts import Finding
    from fuzz.warming import warm_up

    given = _options(list(KINDS)).parse_args(arguments)
    kinds = given.kind or list(KINDS)
    one = None if given.only is None else [[(kind, given.only)] for kind in kinds]
    jobs = shares(given.inputs, kinds, given.first) if one is None else one
    campaign = Campaign(given.seed, Limits(given.megabytes, given.seconds), given.folder.absolute())
    specimens = made_specimens()
    warm_up(specimens)
    begun = time.monotonic()
    done = 0

    def told(outcome: Outcome, new: list[Finding]) -> None:
        nonlocal done
        done += 1
        for finding in new:
            where = replay(campaign, (outcome.kind, outcome.number))
            print(f"finding: {finding.signature}\n  {where}", flush=True)
            if given.only is not None:
                print(finding.details)
        if done % 1000 == 0:
            print(
                f"{done:,} of {sum(map(len, jobs)):,} inputs, {rate(begun, done):.1f} a second",
                file=sys.stderr,
                flush=True,
            )

    interrupted = False
    try:
        run(campaign, jobs, specimens, given.processes, told)
    except KeyboardInterrupt:
        interrupted = True
        print(f"\nInterrupted: the table is of what was done, {done:,} of {sum(map(len, jobs)):,} inputs.")
    gc.unfreeze()  # or libraries complain of what is left when Python ends
    _show(campaign, time.monotonic() - begun)
    return 1 if campaign.found else 130 if interrupted else 0


def _options(kinds: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="how many, over all kinds (100,000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed, the same inputs (1)")
    parser.add_argument("--kind", action="append", choices=kinds, help="only this kind; once for each")
    parser.add_argument("--only", type=int, metavar="N", help="replay input N of the kind")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with input N of each kind (0)")
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--processes", type=int, default=cores, help=f"servers, each on a core ({cores})")
    parser.add_argument("--megabytes", type=int, default=1024, help="memory of one input (1024)")
    parser.add_argument("--seconds", type=int, default=20, help="processor time of one input (20)")
    parser.add_argument("--folder", type=Path, default=Path("out/fuzz"), help="where findings are kept (out/fuzz)")
    return parser


def _show(campaign: object, seconds: float) -> None:
    from fuzz.campaign import Campaign, Tally

    assert isinstance(campaign, Campaign)
    whole = Tally()
    print(f"\n{'kind':<10} {'inputs':>8} {'opened':>8} {'refused':>8} {'findings':>8} {'inputs/s':>8}")
    for name, tally in campaign.tallies.items():
        print(_row(name, tally, tally.seconds))
        for field in ("inputs", "opened", "refused", "findings"):
            setattr(whole, field, getattr(whole, field) + getattr(tally, field))
    print(_row("all", whole, seconds))
    print(f"seed {campaign.seed}; inputs/s of a kind are of one process, those of all of them together.")
    for signature, shown in sorted(campaign.found.items(), key=lambda entry: -len(entry[1])):
        kind, number = shown[0][0]
        print(f"{len(shown):>6} × {signature} ({kind} {number})")


def _row(name: str, tally: object, seconds: float) -> str:
    from fuzz.campaign import Tally

    assert isinstance(tally, Tally)
    rate = tally.inputs / max(seconds, 1e-9)
    return f"{name:<10} {tally.inputs:>8,} {tally.opened:>8,} {tally.refused:>8,} {tally.findings:>8,} {rate:>8.1f}"


if __name__ == "__main__":
    sys.exit(main())
