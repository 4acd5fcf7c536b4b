"""One axis of every kind, for the laws that all of them obey."""

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers

EVERY_AXIS: dict[str, Axis] = {
    "labels": Categories("region", ["north", "south", "Østfold"]),
    "odd labels": Categories('a "name": odd', ["1", "a,b", 'say "no"', "", " ", "auto", "0..3", "[0", "\n"]),
    "codes": Categories("code", [7, -1, 2**62]),
    "ordered labels": Categories("size", ["S", "M", "L"], ordered=True),
    "counties": Categories("county", {"north": ["a", "b"], "south": ["c"]}),
    "counties of states": Categories("county", {"north": ["a", "b"], "south": ["c"]}, levels=["state"]),
    "odd groups": Categories("odd", {"1": ["0..3", "a)/b"], 'a, "b"': [" ", "auto"], "": ["<"], "x/y": ["(", "2"]}),
    "codes in groups": Categories("code", {"0..3": [0, 3], "even": [-2, 4]}, levels=["kind"]),
    "three levels": Categories(
        "place", {"old": {"north": {"n1": ["a", "b"], "n2": ["c"]}}, "new": {"south": {"s1": ["d"], "s2": ["e", "f"]}}}
    ),
    "grades": Categories(
        "grade",
        {"low": {"pass": ["D", "C"]}, "high": {"good": ["B"], "best": ["A"]}},
        levels=["half", "word"],
        ordered=True,
    ),
    "bins": Bins("age", [0, 18, 65, 120]),
    "open bins": Bins("income", [float("-inf"), 0, 0.1, float("inf")]),
    "regular bins": Bins.regular("share", -1, 1, 20),
    "thirds": Bins.regular("share", 0, 1, 6),
    "integers": Integers("hour", -3, 20),
    "bands": Integers("age", 0, 120, bands=[0, 18, 65]),
    "named bands": Integers("age", -2, 5, bands={"below": -2, "0, or so": 0, "above": 1}),
    "one band": Integers("age", 0, 9, bands=[0]),
    "bands of one": Integers("age", 0, 2, bands={"none": 0, "one": 1, "more": 2}),
    "days": Calendar("day", "2026-01-01", every="1d", length=31),
    "hours in UTC": Calendar("hour", "2026-01-01T00:00Z", every="6h", length=9),
    "hours in Berlin": Calendar("hour", "2026-03-29", every="1h", length=24, zone="Europe/Berlin"),
    "half hours": Calendar("at", "2026-03-27T22:00", every="30min", length=200, zone="Europe/Berlin"),
    "days of years": Calendar("day", "2023-12-29", every="1d", length=800),
    "days in UTC": Calendar("day", "2026-01-01", every="1d", length=31, zone="UTC"),
    "months": Calendar("month", "2026-01-15T06:00", every="1mo", length=14),
    "quarters in UTC": Calendar("quarter", "2026-01-01T00:00Z", every="3mo", length=5),
    "years in Berlin": Calendar("year", "1899-12-01", every="1y", length=5, zone="Europe/Berlin"),
}
