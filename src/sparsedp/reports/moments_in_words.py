"""Times as people write them: "Mar 2024", "1 Mar 2024", "1 Mar 2024 06:00"."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def in_words(moment: np.datetime64, unit: str) -> str:
    """A moment as fine as its `unit` is: year, month, week, day, time (to the minute) or second."""
    # By letters, for years of any length.
    date, clock = str(moment.astype("datetime64[s]")).split("T")
    year, month, day = date.rsplit("-", 2)
    if unit == "year":
        return year
    if unit == "month":
        return f"{MONTHS[int(month) - 1]} {year}"
    words = f"{int(day)} {MONTHS[int(month) - 1]} {year}"
    if unit in ("week", "day"):
        return words
    return f"{words} {clock if unit == 'second' else clock[:5]}"


def instant_in_words(text: str) -> str:
    """The time of a ledger's entry, in UTC; as it is if it is written otherwise."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is None:
        return text
    there = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{in_words(np.datetime64(there), 'time')} UTC"
