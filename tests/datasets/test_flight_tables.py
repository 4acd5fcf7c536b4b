"""The other tables of the flights, against the records they come from."""

import numpy as np
import pyarrow.compute as pc

from sparsedp.datasets import flights


def test_five_minutes_hold_the_flights_that_left_in_the_year() -> None:
    departures = flights.five_minute_departures()
    assert departures.shape == (flights.FIVE_MINUTES_OF_2013,)
    # All but the three that were scheduled for 2013 and left in 2014.
    assert departures.sum() == flights.hourly_departures().sum() - 3
    # The first flight of the year was due at 5.15 and left at 5.17.
    assert departures[: 5 * 12 + 3].sum() == 0
    assert departures[5 * 12 + 3] == 1


def test_flights_per_aircraft_are_sorted_and_leave_out_unknown_tails() -> None:
    counts = flights.flights_per_aircraft()
    assert counts.shape == (4043,)
    assert counts[0] == 575
    assert np.all(np.diff(counts) <= 0)
    assert counts.sum() == 336_776 - 2512


def test_the_last_air_time_takes_all_longer_ones() -> None:
    whole, short = flights.air_times(), flights.air_times(100)
    assert whole.sum() == short.sum() == 327_346
    assert np.flatnonzero(whole)[[0, -1]].tolist() == [20, 695]
    assert short[99] == whole[99:].sum()
    assert short[:99].tolist() == whole[:99].tolist()


def test_delays_agree_with_a_count_of_the_records() -> None:
    table = flights.delays()
    assert table.shape == (64, 64)
    records = flights._flights("dep_delay", "arr_delay").drop_null()
    on_time = pc.and_(
        pc.and_(pc.greater_equal(records["dep_delay"], 0), pc.less(records["dep_delay"], 5)),
        pc.and_(pc.greater_equal(records["arr_delay"], -5), pc.less(records["arr_delay"], 0)),
    )
    assert table[12, 11] == pc.sum(on_time).as_py()
    assert table[-1].sum() == pc.sum(pc.greater_equal(records["dep_delay"], 255)).as_py()
    assert table.sum() == records.num_rows
