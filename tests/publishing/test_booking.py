"""A booking is the real ledger under another name: the same total, the same entries, one more note."""

import pytest

import sparsedp as sdp
from sparsedp.publishing.carrying_out import Booking


def test_a_booking_shows_and_debits_the_real_books() -> None:
    ledger = sdp.Ledger(epsilon=1)
    booking = Booking(ledger, "this request")
    spend = booking.debit(sdp.Budget(epsilon="0.25"), "a table")
    assert booking.spend == spend
    assert ledger.entries == booking.entries == (spend,)
    assert spend.request == "this request"
    assert (booking.total, booking.spent, booking.remaining) == (ledger.total, ledger.spent, ledger.remaining)
    assert booking.record(spend) == ledger.record(spend)
    assert booking.unfinished("this request") == ledger.unfinished("this request")
    assert "ε = 0.75" in repr(booking)


def test_a_booking_cannot_overspend() -> None:
    ledger = sdp.Ledger(epsilon=1)
    ledger.debit(sdp.Budget(epsilon="0.75"), "earlier")
    with pytest.raises(sdp.BudgetExceeded):
        Booking(ledger, "now").debit(sdp.Budget(epsilon="0.5"), "too much")
    assert len(ledger.entries) == 1
