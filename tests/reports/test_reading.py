"""What readers are told of numbers that leave records out."""

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.counts import Counts
from sparsedp.reports.facts import key_figures
from sparsedp.reports.reading import reading

DOMAIN = sdp.Domain.parse("hour:0..23")


@pytest.mark.parametrize(("records", "said"), [(1, "at most 1 record that"), (50, "at most 50 records that")])
def test_readers_are_told_that_people_with_more_records_are_cut(records: int, said: str) -> None:
    counts = Counts(np.full(24, 900, dtype=np.int64), DOMAIN, records, ("tailnum",), records)
    release = sdp.release(counts, epsilon=1)
    assert said in " ".join(reading(release, [], []))
    assert key_figures(release)[0][0] == "Records counted"


def test_nothing_is_said_where_nothing_was_cut() -> None:
    release = sdp.release([900] * 24, epsilon=1, domain=DOMAIN)
    assert "at most" not in " ".join(reading(release, [], []))
    assert key_figures(release)[0][0] == "All records"
