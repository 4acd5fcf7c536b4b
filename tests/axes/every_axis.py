"""One axis of every kind, for the laws that all of them obey."""

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers

EVERY_AXIS: dict[str, Axis] = {
    "labels": Categories("region", ["north", "south", "Østfold"]),
    "codes": Categories("code", [7, -1, 2**62]),
    "bins": Bins("age", [0, 18, 65, 120]),
    "open bins": Bins("income", [float("-inf"), 0, 0.1, float("inf")]),
    "integers": Integers("hour", -3, 20),
    "days": Calendar("day", "2026-01-01", every="1d", length=31),
    "hours in UTC": Calendar("hour", "2026-01-01T00:00Z", every="6h", length=9),
}
