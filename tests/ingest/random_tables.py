"""Random small tables with their domains: axes of every kind, and people told apart in every way."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
from hypothesis import strategies as st

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.axes.domain import Domain

Record = dict[str, Any]
START = datetime(2024, 3, 30)
PEOPLE: dict[str, tuple[Any, list[Any]]] = {
    "number": (pa.int64(), [0, 1, 2, -1, 2**63 - 1, -(2**63)]),
    "unsigned": (pa.uint64(), [0, 1, 2**63, 2**64 - 1]),
    "text": (pa.string(), ["a", "b", "ab", "A", "1", "01"]),
    "moment": (pa.timestamp("ns"), [0, 1, 999, 1000]),
}


@dataclass(frozen=True)
class Column:
    """An axis, and the values that its column may have."""

    axis: Axis
    kind: Any
    values: list[Any]
    outside: list[Any]


@st.composite
def columns(draw: st.DrawFn, name: str) -> Column:
    """An axis of one of the four kinds; values on it, around it and far from it."""
    ends = ["drop", "clamp"]
    match draw(st.sampled_from(["integers", "bins", "categories", "calendar"])):
        case "integers":
            first, length = draw(st.integers(-5, 5)), draw(st.integers(1, 4))
            near = list(range(first - 2, first + length + 2))
            return Column(Integers(name, first, first + length - 1), pa.int64(), [None, *near, 2**63 - 1], ends)
        case "bins":
            edges = sorted(draw(st.sets(st.sampled_from([-1e9, -1, 0, 0.1, 0.5, 2, 7]), min_size=2, max_size=5)))
            around = [None, float("nan"), float("inf"), *edges, edges[0] - 1, edges[-1] + 1, 0.25, 1.0]
            return Column(Bins(name, edges), pa.float64(), around, ends)
        case "categories":
            labels = draw(st.lists(st.sampled_from(["x", "y", "z", "é"]), min_size=1, max_size=3, unique=True))
            return Column(Categories(name, labels), pa.string(), [None, "x", "y", "z", "é", "X", ""], ["drop", *labels])
        case _:
            zone = draw(st.sampled_from([None, "Europe/Berlin", "America/New_York"]))
            every, length = draw(st.sampled_from(["1h", "1d", "1w", "1mo"])), draw(st.integers(1, 5))
            axis = Calendar(name, date(2024, 3, 1 if every == "1mo" else 30), every, length, zone=zone)
            moments = [START + timedelta(hours=hours) for hours in (-30, -1, 0, 1, 26, 27, 28, 60, 900)]
            kinds = ["naive", "text", *(["instants"] if zone else [])]
            match draw(st.sampled_from(kinds)):
                case "naive":
                    return Column(axis, pa.timestamp("us"), [None, *moments], ends)
                case "instants":
                    aware = [moment.replace(tzinfo=UTC) for moment in moments]
                    return Column(axis, pa.timestamp("us", "UTC"), [None, *aware], ends)
                case _:
                    texts = [f"{moment.isoformat()}{end}" for moment in moments for end in ("", "Z", "-05:00")]
                    return Column(axis, pa.string(), [None, "soon", *texts], ends)


@dataclass(frozen=True)
class Drawn:
    """Records, and how they are to be counted."""

    records: list[Record]
    schema: Any
    options: dict[str, Any]
    unit: tuple[str, ...]
    as_csv: bool

    def source(self, left_out: tuple[Any, ...] | None = None) -> Any:
        """All records but those of a person."""
        kept = [record for record in self.records if self.person(record) != left_out]
        table = pa.Table.from_pylist(kept, schema=self.schema)
        if not self.as_csv:
            return table
        content = io.BytesIO()
        pa_csv.write_csv(table, content)
        return io.BytesIO(content.getvalue())

    def person(self, record: Record) -> tuple[Any, ...]:
        return tuple(record[name] for name in self.unit)


@st.composite
def tables(draw: st.DrawFn) -> Drawn:
    """Of up to 25 records."""
    axes = [draw(columns(f"axis {place}")) for place in range(draw(st.integers(1, 3)))]
    who = draw(st.lists(st.sampled_from(sorted(PEOPLE)), min_size=1, max_size=2, unique=True))
    sums = draw(st.booleans())
    fields = {one.axis.name: (one.kind, one.values) for one in axes}
    fields |= {name: (PEOPLE[name][0], [None, *PEOPLE[name][1]]) for name in who}
    fields["amount"] = (pa.float64(), [None, -1e9, -2.0, 0.0, 0.25, 1.0, 3.0, 1e300, float("nan")])
    record = st.fixed_dictionaries({name: st.sampled_from(values) for name, (_, values) in fields.items()})
    most = draw(st.integers(1, 4))
    low, high = sorted(draw(st.lists(st.integers(-3, 3), min_size=2, max_size=2, unique=True)))
    options = {
        "domain": Domain([one.axis for one in axes]),
        "privacy_unit": who,
        "max_contributions": most,
        "outside": {one.axis.name: draw(st.sampled_from(one.outside)) for one in axes},
        "key": draw(st.binary(min_size=16, max_size=16)),
        **({"value": "amount", "clamp": (low, high), "resolution": "0.5"} if sums else {}),
    }
    schema = pa.schema([(name, kind) for name, (kind, _) in fields.items()])
    return Drawn(draw(st.lists(record, max_size=25)), schema, options, tuple(who), draw(st.booleans()))
