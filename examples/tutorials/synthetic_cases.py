"""Made-up notifications of a disease, for the tutorial on daily counts: a seeded generator, no real person in it."""

from __future__ import annotations

import numpy as np
import pandas as pd

FIRST_DAY = np.datetime64("2025-09-01")  # a Monday
DAYS = 364
WEEK = (1.25, 1.15, 1.10, 1.05, 1.00, 0.75, 0.70)
"""How many are reported from Monday to Sunday, beside an average day."""


def notifications() -> pd.DataFrame:
    """One row a notification, in the order of arrival: `patient_id`, `reported`.

    Two waves over a year, fewer reports at weekends; one patient in eight is reported again by a second laboratory
    within ten days.
    """
    rng = np.random.default_rng(2011)
    day = np.arange(DAYS)
    wave = 12 + 110 * np.exp(-(((day - 150) / 38) ** 2)) + 45 * np.exp(-(((day - 285) / 22) ** 2))
    first = np.repeat(day, rng.poisson(wave * np.asarray(WEEK)[day % 7]))
    patient = rng.permutation(1_000_000)[: first.size]
    again = rng.random(first.size) < 1 / 8
    days = np.concatenate([first, first[again] + rng.integers(1, 11, again.sum())])
    rows = pd.DataFrame({"patient_id": np.concatenate([patient, patient[again]]), "reported": FIRST_DAY + days})
    return rows[days < DAYS].sort_values("reported", kind="stable", ignore_index=True)
