"""From records to counts under audit: what one person changes, with all that a record may hold, and who is kept."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsedp.audits._evidence import LEAST_P_VALUE
from sparsedp.audits._findings import Finding
from sparsedp.audits._mechanisms import CERTAIN
from sparsedp.axes.domain import Domain
from sparsedp.counts import Counts
from sparsedp.errors import BadFile
from sparsedp.ingest import count, counted
from sparsedp.ingest.request import Request

PEOPLE = 24
"""Of a made-up table; the first ones have many records, and each of them is taken out in turn."""

HOSTILE_LINES = (
    b'%d,"I hate quotes',
    b'%d,a"b,c',
    b'"%d,a',
    b'%d,"a"",b"',
    b"%d,\xff\xfe,\xc3",
    b"%d,a,b,c,d,\xff,e",
    b"%d",
    b"%d,a\x00b",
    b"%d,a\rb",
    b"%d," + b"x" * 5000,
    b'%d,"a\n',
)
"""What a person's last line may look like."""


@dataclass(frozen=True)
class RecordsCase:
    """How records are counted. The records themselves are made up."""

    request: Request
    form: str = "frame"
    """"frame", or "csv" for text, with lines that are broken in many ways."""
    tables: int = 4
    what: str = field(default="records to counts")

    @property
    def named(self) -> str:
        """For the table."""
        request = self.request
        amounts = request.amounts
        sums = "" if amounts is None else f", sums of {amounts.lowest:,} to {amounts.highest:,} steps"
        sums += " and counts" if request.with_counts else ""
        return f"{self.what}, {self.form}, {request.max_contributions} a person{sums}"


def audit_records(case: RecordsCase) -> list[Finding]:
    """The bound for each of several people in made-up tables, and whether records are kept by chance alone."""
    return [_bound(case), _sampling(case)]


def _bound(case: RecordsCase) -> Finding:
    """What one person changes of the counts, and of the numbers of people by their records."""
    request = case.request
    allowed, worst, done, beside, moved = request.contribution, 0, 0, 0, 0
    what = case.named, "", "bound"
    for table in range(case.tables):
        chance = np.random.default_rng([table, request.domain.size])
        people = _population(request, chance)
        key = chance.bytes(16)
        try:
            everybody = _counted(case, people, key)
            for person in range(6):
                others = {one: records for one, records in people.items() if one != person}
                without = _counted(case, others, key)
                worst = max(worst, int(np.abs(everybody.values - without.values).sum()))
                if everybody.counts is not None and without.counts is not None:
                    beside = max(beside, int(np.abs(everybody.counts.values - without.counts.values).sum()))
                if everybody.people is not None and without.people is not None:
                    moved = max(moved, int(np.abs(everybody.people - without.people).sum()))
                done += 1
        except BadFile:
            return Finding(*what, done, "people", None, allowed, CERTAIN, "One record ended the whole count.")
    fault = None if worst <= allowed else f"One person changes the counts by {worst}, where {allowed} is promised."
    most = request.of_counts.contribution
    if beside > most:
        fault = f"One person changes the counts beside the sums by {beside}, where {most} is promised."
    if moved > 1:
        fault = f"One person changes the numbers of people by {moved}, where 1 is promised."
    return Finding(*what, done, "people", worst, allowed, CERTAIN, fault)


Record = dict[str, Any]


def _population(request: Request, chance: np.random.Generator) -> dict[int, list[Record]]:
    """People with few and with very many records, in all cells, outside of them, missing and beyond the clamp."""
    most = request.max_contributions
    values = [next(iter(axis.columns().values())) for axis in request.domain.axes]
    people = {}
    for person in range(PEOPLE):
        records = int(chance.choice([0, 1, most, most + 1, 5 * most + 7])) if person > 1 else 7 * most + 20
        people[person] = [_record(request, values, chance, spread=person % 2 == 0) for _ in range(records)]
    return people


def _record(request: Request, values: list[Any], chance: np.random.Generator, *, spread: bool) -> Record:
    """`values`: of each axis, something that falls into each cell."""
    record: Record = {}
    for column, in_cells in zip(request.axis_columns, values, strict=True):
        value = in_cells[int(chance.integers(len(in_cells))) if spread else 0]
        plain = value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value
        record[column] = None if chance.random() < 0.05 else plain
    if request.amounts is not None:
        amounts = request.amounts
        ends = float(amounts.lowest * amounts.resolution), float(amounts.highest * amounts.resolution)
        record[amounts.column] = [*ends, 3 * ends[1] + 1, 3 * ends[0] - 1, np.nan, np.inf, None][chance.integers(7)]
    return record


def _counted(case: RecordsCase, people: Mapping[int, list[Record]], key: bytes) -> Counts:
    request = case.request
    units = request.privacy_unit or ()
    rows = [
        {**dict.fromkeys(units, person), **record}
        for person, records in people.items()
        for record in (records if units else records[: request.max_contributions])
    ]
    names = [*units, *dict.fromkeys(request.axis_columns)]
    names += [] if request.amounts is None or request.amounts.column in names else [request.amounts.column]
    source: Any = _csv(names, rows, people) if case.form == "csv" else _frame(names, rows)
    return counted(request.asked_of(source), key)


def _frame(names: list[str], rows: list[Record]) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array([row[name] for row in rows]) for name in names} if rows else {})


def _csv(names: list[str], rows: list[Record], people: Mapping[int, list[Record]]) -> io.BytesIO:
    """The same as text; and behind each person's records a line that is broken."""
    lines = [",".join(names).encode()]
    lines += [",".join("" if row[name] is None else str(row[name]) for name in names).encode() for row in rows]
    broken = {person: HOSTILE_LINES[person % len(HOSTILE_LINES)] % person for person in people}
    places = np.random.default_rng(1).integers(1, len(lines) + 1, PEOPLE)
    for person in sorted(broken, key=lambda one: -int(places[one])):
        lines.insert(min(int(places[person]), len(lines)), broken[person])
    return io.BytesIO(b"\n".join(lines) + b"\n")


def _sampling(case: RecordsCase) -> Finding:
    """People with one record in each of some cells: all cells are kept equally often."""
    import pyarrow as pa
    from scipy import stats

    most = min(case.request.max_contributions, 5)
    records, people = 3 * most, 1500
    table = pa.table({"who": np.repeat(np.arange(people), records), "cell": np.tile(np.arange(records), people)})
    options = {"privacy_unit": "who", "max_contributions": most}
    kept = count(table, Domain.of([f"cell:0..{records - 1}"]), **options).values  # type: ignore[arg-type]
    share = most / records
    spread = float(((kept - people * share) ** 2).sum()) / (people * share * (1 - share)) * (records - 1) / records
    found = float(stats.chi2.sf(spread, records - 1))
    fault = None if found >= LEAST_P_VALUE else "Some of a person's records are kept more often than others."
    if kept.sum() != people * most:
        fault = f"People keep {kept.sum() / people:g} records each, where it ought to be {most}."
    sure = f"p < {LEAST_P_VALUE:g}"
    return Finding(case.named, "", "sampling", people * records, "records", found, LEAST_P_VALUE, sure, fault)
