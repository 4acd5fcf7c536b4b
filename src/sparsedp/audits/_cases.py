"""What is audited: every mechanism, every stream and the counting of records, each with settings that strain it.

A mechanism that is in `MECHANISMS` is audited with its default settings, without being named here. Here are those whose
other settings take other paths; streams, which need a horizon; and how records may be counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any, cast

from sparsedp.audits._looks import ClampedCase, LookedCase
from sparsedp.audits._mechanisms import Case, SumsCase
from sparsedp.audits._records import RecordsCase
from sparsedp.audits._streams import Maker, StreamCase
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.ingest.bounding import DOUBLES
from sparsedp.ingest.request import Request
from sparsedp.mechanisms import MECHANISMS, Adaptive, Compressive, Hierarchical, Laplace, Mechanism
from sparsedp.privacy.budget import Budget
from sparsedp.streams import ContinualAdaptive, ContinualCompressive, ContinualCounter, ContinualDifference, Stream

BUDGETS = (Budget(epsilon=1), Budget(rho="1/2"), Budget(epsilon=1, delta="1e-6"))

ROW, LOOKED_AT = 16, 256
"""Cells: few, which an attack sees best, and so many that `Adaptive` looks at them first."""

CALENDAR, DAYS = ["day:2024-01-01..2024-01-14/1d", "ward:a,b"], ["day:2024-01-01..2024-02-25/1d"]
"""Cells that may follow weeks."""

CALENDARS = ["day:2024-01-01..2024-01-14/1d", "ward:a,b", "sex:F,M"]
"""The same, with so many axes that what was looked at is published too."""

GROUPED = ["county:n(a,b,c),s(d,e,f)/state", "age:child(0..3),adult(4..9)", "k:0..7"]
"""So many cells that pairs of axes, and of their groups, have scores under any budget."""

AnyCase = Case | StreamCase | RecordsCase


def mechanism_cases(replays: int, runs: int) -> Iterator[Case]:
    """Every mechanism under every kind of budget."""
    looked_at = [Adaptive(), Adaptive("cells"), Adaptive("ranges")]
    settings: list[tuple[Mechanism, int | Domain]] = [
        *((kind(), ROW) for kind in MECHANISMS.values() if kind not in (Compressive,)),
        (Hierarchical(branching=4), ROW),
        (Compressive(sparsity=2, seed=1), ROW),
        (Compressive(sensing="bernoulli", sparsity=2, seed=1), ROW),
        (Compressive(seed=1), 64),
        *((mechanism, LOOKED_AT) for mechanism in looked_at),
        *((mechanism, Domain.of_shape((16, 16))) for mechanism in looked_at),
    ]
    fitted: list[tuple[Mechanism, int | Domain]] = [
        *((mechanism, Domain.of_shape((4, 2, 2))) for mechanism in (Adaptive(), Adaptive("marginals"))),
        (Adaptive(), Domain.parse(CALENDAR)),
    ]
    for budget in BUDGETS:
        for mechanism, cells in settings:
            # Drawing a sparsity takes exact arithmetic, and ten times as long as all the rest.
            dear = isinstance(mechanism, Compressive) and mechanism.sparsity == "auto"
            yield Case(mechanism, budget, cells, replays=replays, runs=runs // 4 if dear else runs)
        for mechanism, cells in fitted:  # the same of a model that is fitted on the way
            yield Case(mechanism, budget, cells, replays=replays, runs=runs // 4)
    few: dict[str, Any] = {"replays": replays, "runs": 0}
    yield Case(Compressive("cosine", seed=1), BUDGETS[0], 64, replays=min(replays, 200), runs=0)
    yield Case(Compressive(selection="plain", seed=1), BUDGETS[0], 64, **few)
    for budget in (*BUDGETS[:2], Budget(epsilon="0.05"), Budget(epsilon=20)):
        yield Case(Adaptive(), budget, LOOKED_AT, contribution=3, **few)
        yield Case(Adaptive(), budget, LOOKED_AT, neighbours="replace_one", **few)
        yield Case(Laplace(), budget, ROW, contribution=3, neighbours="replace_one", **few)
        yield SumsCase(Adaptive(), budget, LOOKED_AT, contribution=3, **few)
        yield SumsCase(Laplace(), budget, ROW, contribution=3, neighbours="replace_one", **few)
    less = {**few, "replays": min(replays, 300)}  # their steps follow on fits of a model
    for budget in BUDGETS:
        yield Case(Adaptive(), budget, Domain.parse(GROUPED), contribution=3, **less)
        yield Case(Adaptive("marginals"), budget, Domain.parse(GROUPED), neighbours="replace_one", **less)
        yield Case(Adaptive("marginals"), budget, Domain.parse(CALENDAR), contribution=2, **less)
        yield Case(Adaptive("day.weekday*ward,day"), budget, Domain.parse(CALENDAR), contribution=3, **less)
        yield Case(Adaptive(), budget, Domain.parse(DAYS), contribution=3, neighbours="replace_one", **less)
        yield Case(Adaptive(), budget, Domain.parse(CALENDARS), contribution=2, **less)


RECORDS_OF_A_PERSON = 40
"""In the audit of a look at these: more than its noise takes for one bin, and than the bound."""


def look_cases(replays: int) -> Iterator[Case]:
    """What a bound cuts, for a given bound and for one that is chosen, and what values are clamped to; each with the
    table that is measured for it.
    """
    few: dict[str, Any] = {"replays": min(replays, 500), "runs": 0}
    for budget in BUDGETS:
        yield LookedCase(Laplace(), budget, RECORDS_OF_A_PERSON, bound=5, **few)
        yield LookedCase(Laplace(), budget, RECORDS_OF_A_PERSON, **few)
        yield LookedCase(Adaptive(), budget, RECORDS_OF_A_PERSON, neighbours="replace_one", **few)
        yield ClampedCase(Laplace(), budget, 2 * DOUBLES, contribution=3, **few)
        yield ClampedCase(Adaptive(), budget, 2 * DOUBLES, contribution=2, neighbours="replace_one", **few)


_CMCO: dict[str, Any] = {"horizon": 8, "rows": 4, "sparsity": 1, "seed": 3}

STREAMS: list[tuple[type[Stream], str, int, dict[str, Any]]] = [
    (ContinualAdaptive, "", 6, {}),
    (ContinualAdaptive, ", totals", 8, {"totals": "0.3", "horizon": 8, "totals_every": 2}),
    (ContinualCounter, "", 2, {"horizon": 2}),
    (ContinualCounter, "", 8, {"horizon": 8}),
    (ContinualCounter, ", 3 sums", 4, {"horizon": 4, "counters": 3}),
    (ContinualDifference, "", 7, {"horizon": 7}),
    (ContinualCompressive, "", 8, _CMCO),
    (ContinualCompressive, ", paper", 8, {**_CMCO, "calibration": "paper"}),
]
"""The class, what else it is called, how many ticks are observed, and its settings."""


def stream_cases(runs: int, epsilon: Fraction = Fraction(1)) -> Iterator[StreamCase]:
    """Every stream, against every intruder that it withstands; and the same where a person counts three times."""
    for kind, more, ticks, settings in STREAMS:
        make = partial(cast(Maker, kind), epsilon=epsilon, **settings)
        name, width = f"{kind.name}{more}, {ticks} ticks", settings.get("counters", 1)
        yield StreamCase(name, make, ticks, width, runs=runs)
        yield StreamCase(f"{name}, c = 3", partial(make, contribution=3), ticks, width, 3, runs=0)


def records_cases() -> Iterator[RecordsCase]:
    """Counts and sums, from typed records and from text."""
    by_age = ["age:0..100/10", "sex:F,M"]
    spent: dict[str, Any] = {"value": "spent", "clamp": (-20, 500), "resolution": "0.01"}
    huge: dict[str, Any] = {"value": "spent", "clamp": (0, 2**40), "resolution": "0.001"}
    for form in ("frame", "csv"):
        yield RecordsCase(Request.of(None, by_age, privacy_unit="who"), form)
        yield RecordsCase(
            Request.of(None, by_age, privacy_unit="who", max_contributions=4, outside={"age": "clamp"}), form
        )
        yield RecordsCase(Request.of(None, by_age, privacy_unit="who", max_contributions=3, **spent), form)
        both: dict[str, Any] = {**spent, "with_counts": True}
        yield RecordsCase(Request.of(None, by_age, privacy_unit="who", max_contributions=3, **both), form)
        yield RecordsCase(Request.of(None, by_age, privacy_unit="who", max_contributions=40, **huge), form)
    days = ["day:2024-01-01..2024-03-31/1d@Europe/Berlin"]
    yield RecordsCase(Request.of(None, days, privacy_unit=["clinic", "patient"], max_contributions=2))


def every_case(replays: int, runs: int) -> list[AnyCase]:
    """All there is."""
    return [*mechanism_cases(replays, runs), *look_cases(replays), *stream_cases(runs), *records_cases()]


def named_cases(name: str, runs: int, epsilon: Fraction) -> list[AnyCase]:
    """The streams, or the counting of records, of that name; no mechanism."""
    if name == "records":
        return list(records_cases())
    found: list[AnyCase] = [case for case in stream_cases(runs, epsilon) if case.what.startswith(name)]
    if not found:
        known = ", ".join([*MECHANISMS, *dict.fromkeys(kind.name for kind, *_ in STREAMS), "records"])
        raise InvalidInput("mechanism", f"{name[:40]!r}", f"give one of {known}")
    return found
