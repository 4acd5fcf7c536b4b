"""A made-up week of network flows, for the tutorial on traces: a seeded generator, no real subscriber in it."""

from __future__ import annotations

import numpy as np
import pandas as pd

FIRST_HOUR = np.datetime64("2026-03-02T00:00:00")  # a Monday
HOURS = 7 * 24
PORTS = (22, 25, 53, 80, 110, 123, 143, 389, 443, 445, 465, 587, 853, 993, 1194, 3306, 3389, 5060, 5222, 5432, 8080)
"""Destination ports of public services, from the registry of port numbers."""

SUBSCRIBERS = 20_000
INFECTED = 150
WORM = (PORTS.index(445), slice(75, 80))
"""The planted event: port 445, from hour 75 (Thursday 03:00) on, for five hours."""

LONE_SCANNER = (PORTS.index(3389), slice(30, 42))
"""One subscriber tries port 3389 all over the world, 5,000 times in twelve hours."""


def flows() -> pd.DataFrame:
    """One row a flow: `subscriber`, `started`, `port`. About 635,000 of them."""
    rng = np.random.default_rng(443)
    hour = np.arange(HOURS)
    people = 1.0 + 0.8 * np.sin((hour % 24 - 9) / 24 * 2 * np.pi) + 0.2 * (hour >= 120)  # by day, more at the weekend
    offices = np.where((hour % 24 >= 8) & (hour % 24 < 18) & (hour < 120), 1.0, 0.1)
    machines = np.ones(HOURS)
    usage = rng.dirichlet(np.full(len(PORTS), 0.5), size=3) * [[5.0], [3.0], [2.0]]
    shares = (np.column_stack([people, offices, machines]) @ usage).ravel()
    cells = rng.choice(shares.size, size=600_000, p=shares / shares.sum())
    # Some subscribers have far more traffic than others.
    weight = rng.pareto(1.5, SUBSCRIBERS) + 0.2
    subscriber = rng.choice(SUBSCRIBERS, size=cells.size, p=weight / weight.sum())
    parts: list[tuple[np.ndarray, ...]] = [(subscriber, *np.divmod(cells, len(PORTS)))]
    infected = rng.choice(SUBSCRIBERS, size=INFECTED, replace=False)
    parts.append(_scan(rng, np.repeat(infected, 200), *WORM))
    parts.append(_scan(rng, np.full(5_000, int(rng.integers(SUBSCRIBERS))), *LONE_SCANNER))
    who, when, port = (np.concatenate(column) for column in zip(*parts, strict=True))
    started = FIRST_HOUR + when * 3_600 + rng.integers(0, 3_600, when.size)
    rows = pd.DataFrame({"subscriber": who, "started": started, "port": np.asarray(PORTS)[port]})
    return rows.sort_values("started", kind="stable", ignore_index=True)


def _scan(rng: np.random.Generator, who: np.ndarray, port: int, hours: slice) -> tuple[np.ndarray, ...]:
    return who, rng.integers(hours.start, hours.stop, who.size), np.full(who.size, port)
