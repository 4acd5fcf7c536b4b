"""`make demo`: from real records to a published file, three questions asked of it, and a page to show.

The flights that left New York in 2013 stand in for something private: an aircraft is the person, and each of its
flights a record.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from rich.console import Console

import sparsedp as sdp
from sparsedp.datasets.records import export

OUT = Path("out")
RECORDS = OUT / "flights.parquet"
LEDGER = OUT / "flights.ledger.db"
RELEASE = OUT / "flights.release.parquet"
PAGE = OUT / "flights.html"


def main() -> None:
    console = Console(width=100 if not sys.stdout.isatty() else None, highlight=False)
    begin_anew()
    console.print(f"[bold]1. Records[/bold]: {export('flights', RECORDS, overwrite=True)}, one row a flight.")
    release = publish(console)
    console.print("[bold]3. Three questions[/bold], asked of the published file; nothing more is spent.")
    busy_july(console, release)
    thanksgiving(console, release)
    half_of_the_year(console, release)
    page = release.report(PAGE, title="Flights out of New York, 2013")
    console.print("[bold]4. Where it is[/bold]")
    console.print(f"   to publish: {RELEASE.absolute()}", soft_wrap=True)
    console.print(f"   to show:    {page.absolute()}", soft_wrap=True)
    console.print(f"   to keep:    {LEDGER.absolute()}  (what was spent)", soft_wrap=True)


def begin_anew() -> None:
    """A demonstration may forget what it spent; a real ledger is never deleted."""
    OUT.mkdir(exist_ok=True)
    for path in (RELEASE, PAGE, *OUT.glob(f"{LEDGER.name}*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def publish(console: Console) -> sdp.Release:
    """Publish within the budget, then try once more; what the file holds is all that the rest of the demo sees."""
    ledger = sdp.open_ledger(LEDGER).declare("flights", epsilon=1)
    publish_to(RELEASE, ledger)
    console.print(f"[bold]2. Published[/bold]: {RELEASE}, flights by day and airport.")
    release = sdp.open_release(RELEASE)
    console.print(f"   {release.guarantee}")
    try:
        publish_to(RELEASE.with_name("again.parquet"), ledger)
    except sdp.BudgetExceeded as refusal:
        console.print(f"   A second time? {refusal}")
    return release


def publish_to(path: Path, ledger: sdp.Ledger) -> None:
    """Count, debit, add noise, estimate, write: one call."""
    sdp.publish(
        RECORDS,
        to=path,
        domain=sdp.Domain.parse(["day:2013-01-01..2013-12-31/1d", "origin:EWR,JFK,LGA"]),
        privacy_unit="tailnum",
        max_contributions=100,  # most aircraft left New York less often; of the others 100 flights are counted
        epsilon=1,
        ledger=ledger,
    )


def busy_july(console: Console, release: sdp.Release) -> None:
    question = "select origin, sum(count) from release where month(day) = 7 group by origin order by origin"
    console.print(f'   a. release.sql("{question}")', soft_wrap=True)
    for origin, flights in release.sql(question):
        likely = release.interval({"origin": origin, "day": ("2013-07-01", "2013-08-01")})
        console.print(f"      {origin} {flights:,.0f}, likely {likely.low:,.0f} to {likely.high:,.0f}")


def thanksgiving(console: Console, release: sdp.Release) -> None:
    week = release.interval({"day": ("2013-11-25", "2013-12-02")})
    console.print('   b. release.interval({"day": ("2013-11-25", "2013-12-02")}), the week of Thanksgiving')
    console.print(f"      {week.estimate:,.0f} flights, likely {week.low:,.0f} to {week.high:,.0f}")


def half_of_the_year(console: Console, release: sdp.Release) -> None:
    half = release.quantile("0.5", "day")
    console.print('   c. release.quantile("0.5", "day"), by when half of them had left')
    console.print(f"      {half.estimate:%d %B}, likely between {half.low:%d %B} and {half.high:%d %B}")


if __name__ == "__main__":
    main()
