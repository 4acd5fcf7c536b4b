"""Daily case counts, published while they arrive: the script of docs/tutorials/daily-cases.md.

The data are made up (`synthetic_cases.py`). Run it anywhere; it writes to out/tutorials.
"""

from __future__ import annotations

import argparse
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd

import sparsedp as sdp
from synthetic_cases import notifications

OUT = Path(f"out/tutorials/cases-{datetime.now():%Y%m%d-%H%M%S}")  # a new one each time: no ledger is deleted
OUT.mkdir(parents=True)

# ---- who is one person, and what do they add?

register = notifications()  # one row a notification: patient_id, reported
new_cases = register.drop_duplicates("patient_id")  # reported again: not a new case
days = pd.date_range("2025-09-01", "2026-08-30")  # the calendar's days, not the data's
per_day = new_cases["reported"].value_counts().reindex(days, fill_value=0)

# ---- the budget and the stream

books = sdp.open_ledger(OUT / "ledger.db")
books.declare("influenza notifications", epsilon=1)


def todays_stream() -> sdp.Stream:
    """The stream, begun or gone on with: the same line every day, whatever happened yesterday."""
    terms = sdp.ContinualAdaptive(
        epsilon="0.1",  # for everything that is ever published of one patient
        contribution=1,
        unit="person",
        start="2025-09-01",
        every="1d",
        ledger=books["influenza notifications"],
    )
    return sdp.open_stream(OUT / "cases.stream", terms)


# ---- the nightly job, and a night on which it ran twice

for day in days[:10]:
    with todays_stream() as stream:
        stream.observe(per_day[day], at=day)

with todays_stream() as stream:
    stream.observe(per_day[days[9]], at=days[9])  # returns what was published the first time
    print(f"Delivered twice, counted once: {stream.ticks} days; {stream.spent.amount} is spent, once for ever.")

# ---- the year goes on; what is published on the way

for moment in ("2025-12-01", "2026-01-19", "2026-08-31"):
    with todays_stream() as stream:
        for day in days[stream.ticks : (pd.Timestamp(moment) - days[0]).days]:
            stream.observe(per_day[day], at=day)
        curve, plain = stream.release(), stream.release("direct")
    newest = np.datetime64(moment)
    week = plain.interval((newest - 7, newest))
    print(
        f"{moment}: {len(curve)} days; in the last seven of them about {week.estimate:.0f} cases "
        f"({max(week.low, 0):.0f} to {week.high:.0f}; the curve says {curve.range_sum(newest - 7, newest):.0f})"
    )

curve.save(OUT / "curve.parquet")
plain.save(OUT / "daily.parquet")

# ---- what an intruder sees

with closing(sqlite3.connect(OUT / "cases.stream")) as file:
    kept = [count for (count,) in file.execute("select count from counts order by tick")]
print(f"In the file: {kept[:7]} …")
print(f"Published:   {[int(count) for count in plain[:7]]} …")
print(f"The same numbers, day for day: {kept == plain.values.tolist()}")

# ---- the weekly cycle

names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
published = sdp.open_release(OUT / "daily.parquet")
weeks = len(published) // 7
for number, name in enumerate(names):
    of_the_day = (np.arange(len(published)) % 7 == number) / weeks  # one weight for each day
    mean = published.interval(of_the_day)
    print(
        f"{name:<10} {mean.estimate:5.1f} a day ({mean.low:.1f} to {mean.high:.1f}); "
        f"by the curve {curve.query(of_the_day):5.1f}"
    )

# ---- the ledger, and the picture

print(books["influenza notifications"])

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--picture", type=Path, help="draw it into this file")
picture = parser.parse_args().picture
if picture is not None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 2.8), layout="constrained")
    axis.plot(days, plain.values, ".", color="0.6", markersize=3, label="noisy days, as published each night")
    axis.plot(days, curve.values, color="tab:blue", linewidth=1.4, label="the curve recovered from them")
    axis.set_ylabel("new cases a day")
    axis.set_title("A made-up year, ε = 0.1 for one patient", loc="left", fontsize=10)
    axis.legend(fontsize=8)
    figure.savefig(picture, dpi=100)
    print(f"The picture is {picture}.")
