"""`make demo`: from real records to a published file, three questions asked of it, and a page to show.

The flights that left New York in 2013 stand in for something private: an aircraft is the person, and each of its
flights a record.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from rich.console import Console
from rich.padding import Padding

import sparsedp as sdp
from sparsedp.datasets.flights import export

OUT = Path("out")
RECORDS = OUT / "flights.parquet"
RELEASE = OUT / "flights.release.parquet"
PAGE = OUT / "flights.html"


def main() -> None:
    console = Console(width=100 if not sys.stdout.isatty() else None, highlight=False)
    OUT.mkdir(exist_ok=True)
    console.print(f"[bold]1. Records[/bold]: {export('flights', RECORDS, overwrite=True)}, one row a flight.")
    ledger = unused_ledger()
    release = publish(console, ledger)
    console.print("[bold]3. Three questions[/bold], asked of the published file; nothing more is spent.")
    late_flights(console, release)
    mornings(console, release)
    delay_of_nine_in_ten(console, release)
    page = release.report(PAGE, title="Flights out of New York, 2013")
    console.print("[bold]4. Where it is[/bold]")
    console.print(f"   to publish: {RELEASE.absolute()}", soft_wrap=True)
    console.print(f"   to show:    {page.absolute()}", soft_wrap=True)
    console.print(f"   to keep:    {ledger.absolute()}  (what was spent)", soft_wrap=True)
    console.print("   These flights are public, so each run has a new ledger. Of private data there is one, for ever.")


def unused_ledger() -> Path:
    """The first name that is not taken: an earlier run's ledger is left as it is."""
    names = (f"flights{'' if run == 1 else f'-{run}'}.ledger.db" for run in count(1))
    return next(OUT / name for name in names if not (OUT / name).exists())


def publish(console: Console, file: Path) -> sdp.Release:
    """Publish within the budget, then try once more; what the file holds is all that the rest of the demo sees."""
    ledger = sdp.open_ledger(file).declare("flights", epsilon=1)
    publish_to(RELEASE, ledger)
    console.print(f"[bold]2. Published[/bold]: {RELEASE}, flights by hour of the day and delay.")
    release = sdp.open_release(RELEASE)
    console.print(indented(f"{release.guarantee} So the answers below count up to 50 flights of each aircraft."))
    console.print(indented(str(release.cut)))
    try:
        publish_to(RELEASE.with_name("again.parquet"), ledger)
    except sdp.BudgetExceeded as refusal:
        console.print(indented(f"A second time? {refusal}"))
    return release


def indented(text: str) -> Padding:
    return Padding(text, (0, 0, 0, 3))


def publish_to(path: Path, ledger: sdp.Ledger) -> None:
    """Count, debit, add noise, estimate, write: one call."""
    sdp.publish(
        RECORDS,
        to=path,
        domain=sdp.Domain.parse(["hour:5..23", "dep_delay:[-60,0,15,30,45,60,90,120,1440]"]),
        privacy_unit="tailnum",
        # Fixed after other choices were tried on these flights, which are public; on private records that would tell.
        max_contributions=50,
        epsilon=1,
        ledger=ledger,
        overwrite=True,  # what an earlier run published
    )


def late_flights(console: Console, release: sdp.Release) -> None:
    late = (
        "select hour >= 17 as evening, sum(count) from release "
        "where dep_delay_left >= 60 and (hour < 12 or hour >= 17) group by evening order by evening"
    )
    console.print(f'   a. release.sql("{late}")', soft_wrap=True)
    hours = {False: ("before noon", (5, 12)), True: ("from 17 h on", (17, 24))}
    likely = {}
    for evening, flights in release.sql(late):
        when, range_of_hours = hours[evening]
        likely[evening] = release.interval({"hour": range_of_hours, "dep_delay": (60, 1440)})
        console.print(f"      {flights:,.0f} left {when}, an hour late or more; likely {shown(likely[evening])}")
    apart = likely[True].low > likely[False].high
    verdict = "More in the evening: the ranges do not overlap" if apart else "The noise hides which: the ranges overlap"
    console.print(f"      {verdict}.")


def mornings(console: Console, release: sdp.Release) -> None:
    console.print('   b. release.interval({"hour": (6, 9)}), all flights that were to leave from 6 to 9 h')
    morning = release.interval({"hour": (6, 9)})
    console.print(f"      {morning.estimate:,.0f} flights, likely {shown(morning)}")


def delay_of_nine_in_ten(console: Console, release: sdp.Release) -> None:
    console.print('   c. release.quantile("0.9", "dep_delay"), the delay that nine in ten do not exceed')
    delay = release.quantile("0.9", "dep_delay")
    console.print(f"      {delay.estimate:.0f} minutes, likely {delay.low:.0f} to {delay.high:.0f}")


def shown(likely: sdp.Interval) -> str:
    return f"{likely.low:,.0f} to {likely.high:,.0f}"


if __name__ == "__main__":
    main()
