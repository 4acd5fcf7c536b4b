"""One axis of every kind, for the laws that all of them obey."""

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers

EVERY_AXIS: dict[str, Axis] = {
    "labels": Categories("region", ["north", "south", "Østfold"]),
    "odd labels": Categories('a "name": odd', ["1", "a,b", 'say "no"', "", " ", "auto", "0..3", "[0", "\n"]),
    "codes": Categories("code", [7, -1, 2**62]),
    "bins": Bins("age", [0, 18, 65, 120]),
    "open bins": Bins("income", [float("-inf"), 0, 0.1, float("inf")]),
    "regular bins": Bins.regular("share", -1, 1, 20),
    "thirds": Bins.regular("share", 0, 1, 6),
    "integers": Integers("hour", -3, 20),
    "days": Calendar("day", "2026-01-01", every="1d", length=31),
    "hours in UTC": Calendar("hour", "2026-01-01T00:00Z", every="6h", length=9),
    "hours in Berlin": Calendar("hour", "2026-03-29", every="1h", length=24, zone="Europe/Berlin"),
    "days in UTC": Calendar("day", "2026-01-01", every="1d", length=31, zone="UTC"),
    "months": Calendar("month", "2026-01-15T06:00", every="1mo", length=14),
    "quarters in UTC": Calendar("quarter", "2026-01-01T00:00Z", every="3mo", length=5),
    "years in Berlin": Calendar("year", "1899-12-01", every="1y", length=5, zone="Europe/Berlin"),
}
