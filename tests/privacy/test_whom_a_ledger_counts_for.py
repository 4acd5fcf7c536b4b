"""One ledger counts for the same people throughout."""

from pathlib import Path

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.counts import Counts


def counted(unit: tuple[str, ...] | None) -> Counts:
    domain = sdp.Domain.parse("hour:0..23")
    return Counts(np.zeros(24, dtype=np.int64), domain, 1, unit, 1)


class TestWhomItIsCountedFor:
    """What is ε for one record is 50ε for a person with fifty: such budgets do not add up to one total."""

    def test_units_do_not_mix(self) -> None:
        ledger = sdp.Ledger(epsilon=10)
        sdp.release(counted(("patient",)), epsilon=1, ledger=ledger)
        sdp.release(counted(("patient",)), epsilon=1, ledger=ledger)
        for other in (None, ("visit",), ("patient", "hospital")):
            with pytest.raises(sdp.InvalidInput, match="another data set"):
                sdp.release(counted(other), epsilon=1, ledger=ledger)
        assert len(ledger.entries) == 2

    def test_events_and_people_of_streams_do_not_mix(self) -> None:
        ledger = sdp.Ledger(epsilon=10)
        sdp.ContinualAdaptive(epsilon=1, unit="event", ledger=ledger).observe(3)
        with pytest.raises(sdp.InvalidInput, match="another data set"):
            sdp.ContinualAdaptive(epsilon=1, unit="person", contribution=2, ledger=ledger).observe(3)
        with pytest.raises(sdp.InvalidInput, match="another data set"):
            sdp.release(counted(("patient",)), epsilon=1, ledger=ledger)
        assert len(ledger.entries) == 1

    def test_public_totals_protect_less_and_do_not_mix(self) -> None:
        ledger = sdp.Ledger(epsilon=10)
        known = sdp.Constraints(total=24)
        sdp.release([1] * 24, epsilon=1, constraints=known, ledger=ledger)
        with pytest.raises(sdp.InvalidInput, match="another data set"):
            sdp.release(counted(("patient",)), epsilon=1, neighbours="replace_one", ledger=ledger)

    def test_the_callers_own_promise_goes_with_anybodys(self) -> None:
        ledger = sdp.Ledger(epsilon=10)
        sdp.release([1] * 24, epsilon=1, ledger=ledger)
        sdp.release(counted(("patient",)), epsilon=1, ledger=ledger)
        sdp.release([1] * 24, epsilon=1, contribution=3, ledger=ledger)
        assert str(ledger.spent) == "ε = 3"

    def test_a_file_remembers_whom(self, tmp_path: Path) -> None:
        sdp.release(counted(("patient",)), epsilon=1, ledger=sdp.open_ledger(tmp_path / "b.db").declare("v", epsilon=9))
        with pytest.raises(sdp.InvalidInput, match="another data set"):
            sdp.release(counted(None), epsilon=1, ledger=sdp.open_ledger(tmp_path / "b.db", "v"))
