"""A small release to ask, made without a ledger and without records."""

import numpy as np

import sparsedp as sdp

DOMAIN = sdp.Domain(
    [
        sdp.Calendar.between("day", "2024-01-01", "2024-12-31"),
        sdp.Categories("sex", ["F", "M"]),
    ]
)


def daily_visits(path: str = "visits.release.parquet", *, epsilon: str = "1000") -> str:
    """Visits per day and sex, 100 a cell but for 500 on 1 July, F; so much budget that the noise is nearly nothing."""
    counts = np.full(DOMAIN.shape, 100)
    counts[DOMAIN.axis("day").cells_of("2024-07-01"), 0] = 500
    sdp.release(counts, epsilon=epsilon, domain=DOMAIN, mechanism="laplace").save(path)
    return path
