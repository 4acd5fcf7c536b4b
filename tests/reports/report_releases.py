"""Small releases of every kind for the pages and pictures; their noise is real."""

import numpy as np

import sparsedp as sdp
from repeatable_noise import made_once
from sparsedp.datasets.flights import delays, hourly_departures
from sparsedp.noise.source import SeededSource


@made_once
def a_year_of_hours() -> sdp.Release:
    domain = sdp.Domain(sdp.Calendar("hour", "2013-01-01", every="1h", length=8760))
    return sdp.release(hourly_departures(), epsilon="0.5", domain=domain)


@made_once
def by_diagnosis() -> sdp.Release:
    domain = sdp.Domain(sdp.Categories("diagnosis", ["influenza", "asthma", "diabetes type 2", "measles", "plague"]))
    return sdp.release([5200, 3900, 2650, 700, 400], epsilon="0.5", mechanism="laplace", contribution=3, domain=domain)


@made_once
def by_delays() -> sdp.Release:
    axes = [sdp.Bins.regular(f"{name} delay", -60, 260, 64) for name in ("departure", "arrival")]
    return sdp.release(delays(), epsilon="0.5", domain=sdp.Domain(axes))


@made_once
def by_day_and_sex() -> sdp.Release:
    axes = [sdp.Calendar("day", "2024-01-01", every="1d", length=60), sdp.Categories("sex", ["F", "M"])]
    counts = 40 + 10 * np.indices((60, 2)).sum(axis=0) % 30
    return sdp.release(counts, epsilon="0.5", domain=sdp.Domain(axes))


@made_once
def on_four_axes() -> sdp.Release:
    axes = [
        sdp.Calendar("day", "2024-01-01", every="1d", length=14),
        sdp.Categories("sex", ["F", "M"]),
        sdp.Bins("age", [0, 18, 65, float("inf")]),
        sdp.Integers("ward", 1, 5),
    ]
    return sdp.release(np.full((14, 2, 3, 5), 20), rho="0.1", domain=sdp.Domain(axes))


@made_once
def not_private() -> sdp.Release:
    return sdp.Laplace().release([5, 6, 7], epsilon=1, source=SeededSource(1))


@made_once
def of_a_stream() -> sdp.Release:
    stream = sdp.ContinualAdaptive(epsilon="0.5", unit="event", start="2026-01-01", every="1d")
    stream.observe_many(np.arange(40))
    return stream.release()


def of_random_sums() -> sdp.Release:
    """Of which no error is known."""
    stream = sdp.ContinualCompressive(epsilon="0.5", horizon=40, sparsity=4, start="2026-01-01", every="1d")
    stream.observe_many(np.arange(40))
    return stream.release()


EVERY = {
    make.__name__: make
    for make in (
        a_year_of_hours,
        by_diagnosis,
        by_delays,
        by_day_and_sex,
        on_four_axes,
        not_private,
        of_a_stream,
        of_random_sums,
    )
}
