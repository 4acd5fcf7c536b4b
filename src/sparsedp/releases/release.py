"""A release: the published estimate of every cell, with the promise that came with it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.axes import Calendar
from sparsedp.axes.base import Cells
from sparsedp.axes.domain import RECORDS, Domain, Quantity
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput
from sparsedp.files import columns_file
from sparsedp.files.signatures import Signature, signing_key
from sparsedp.files.untrusted import printable
from sparsedp.moments import Moments
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Guarantee
from sparsedp.releases import distribution, means, queries, saved_form, sql
from sparsedp.releases.cut import Cut
from sparsedp.releases.distribution import Share, TimeInterval
from sparsedp.releases.error_models import marginal_errors
from sparsedp.releases.queries import CellAnswer, given_weights, place_of, range_bounds, sums_of, weights_of
from sparsedp.releases.saved_form import Recoverable
from sparsedp.releases.uncertainty import (
    LIKELY,
    Interval,
    Uncertainty,
    UnknownTogether,
    checked_kind,
    checked_level,
    interval_of,
)
from sparsedp.validate import Number
from sparsedp.version import __version__

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa

    from sparsedp.files.signatures import Private

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Release:
    """D*, an estimate of all n cells. Public: any number of any queries costs nothing more.

    `values` of Adaptive are never negative (unless signed sums were published), in a way that keeps sums; those of the
    other mechanisms are not clipped, as that would make every long sum too large. None are rounded, unless constraints
    ask for whole numbers. `recovery` says how the estimate was made and how the recovery ended.

    `values` have the shape of the `domain`, which says what the cells are; a plain vector has none, and a plain table
    has the axes axis0, axis1, …. The cells of a stream's release are its ticks, and `time` says when they were.
    `uncertainty` is what is known of the error; `nonnegative` says that the true counts are known to be. `quantity`
    says what is counted: records, or the sum of a value, in its own unit.

    `record` is what a ledger says in public of the spend. `synopsis` is what the release was recovered from, and `plan`
    how that was made; `summed_to` names the axes that are left of it in a marginal. `cut` says how many of the records
    the bound on each person left out, where `publish` measured that.
    """

    values: Floats
    guarantee: Guarantee
    mechanism: str
    noise: dict[str, Any]
    recovery: dict[str, Any]
    time: Schedule | None = None
    domain: Domain | None = None
    uncertainty: Uncertainty | None = None
    nonnegative: bool = False
    quantity: Quantity = RECORDS
    record: Mapping[str, Any] | None = None
    synopsis: Recoverable | None = None
    plan: Mapping[str, Any] | None = None
    summed_to: tuple[str, ...] | None = None
    cut: Cut | None = None
    written_by: str = f"sparsedp {__version__}"
    counts: Release | None = None
    """Of sums published with counts: how many records they are sums of, cell by cell, a release of its own."""
    signature: ClassVar[Signature | None] = None
    """Which key signed it, in the file it was opened from or by `sign`; None if nobody did. Copies have none."""

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        if self.domain is None and values.ndim > 1:
            object.__setattr__(self, "domain", Domain.of_shape(values.shape))
        if self.domain is not None:
            values = _shaped(values, self.domain)
            self.quantity.check_columns(self.domain)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        if self.record is not None:
            object.__setattr__(self, "record", _plain(self.record))
        if self.time is not None:
            if self.domain is not None:
                raise InvalidInput("time", "given beside a domain", "give a domain with a Calendar, or the time alone")
            if not isinstance(self.time, Schedule):
                raise InvalidInput("time", f"of type {type(self.time).__name__}", "give the schedule of a stream")
            self.time.times(len(self))  # refuses a calendar that ends before the release does

    @property
    def times(self) -> npt.NDArray[Any]:
        """When each tick was: datetime64[us], in UTC if the schedule is; the ticks' numbers if it has no calendar."""
        if self.ticks is None:
            remedy = "its cells are numbered from 0; declare them with a Calendar when they are counted"
            raise InvalidInput("release", "without times", remedy)
        return self.ticks.times(len(self))

    @property
    def ticks(self) -> Schedule | None:
        """The times of the cells in a row: a stream's, or those of a domain that is one calendar."""
        if self.domain is not None and len(self.domain.axes) == 1:
            axis = self.domain.axes[0]
            return axis.time if isinstance(axis, Calendar) else None
        return self.time

    @property
    def shape(self) -> tuple[int, ...]:
        """The domain's shape; (n,) for a vector."""
        return self.values.shape

    @cached_property
    def stderr(self) -> Floats | None:
        """The standard error of every cell, of the values' shape; None where nothing is known of the error."""
        if self.uncertainty is None:
            return None
        try:
            errors = np.array(self.uncertainty.stderr(), dtype=np.float64)
        except UnknownTogether:  # of sums, and only the errors of what they add up are known
            return None
        if errors.size != self.values.size:
            raise InvalidInput("uncertainty", f"of {errors.size} cells", f"the release has {len(self)}")
        errors = errors.reshape(self.shape)
        errors.flags.writeable = False
        return errors

    @property
    def spent(self) -> Budget:
        """What the release was charged at, exactly."""
        return self.guarantee.spent

    @property
    def private(self) -> bool:
        """False when the noise was seeded for a test: such a release protects nobody."""
        return self.guarantee.private

    def __len__(self) -> int:
        return int(self.values.size)

    def __getitem__(self, cells: Any) -> Any:
        """Cells as in a numpy array: `release[3]`, `release[3:9]`, `release[2, :]`.

        An axis of categories also takes a label, `release["north", 3]`, and a calendar a time, `release["2026-01-01"]`,
        or a slice between two, `release["2026-01-01":"2026-02-01"]`, without its end.
        """
        try:
            return self.values[place_of(self, cells)]
        except (IndexError, TypeError):
            wanted = f"cell numbers within the shape {self.shape}; sums over times or labels: `box_sum`"
            raise InvalidInput("cells", "no place in this release", f"give {wanted}") from None

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.ravel().tolist())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """So that numpy functions take a release as it is: `np.quantile(release, 0.9)`."""
        return np.array(self.values, dtype=dtype, copy=copy)

    # ---- questions

    def query(self, question: Callable[[Floats], Answer] | npt.ArrayLike) -> Answer | float:
        """Ask anything: a function of all cells, or weights for a weighted sum of them.

        `release.query(np.argmax)`, `release.query(np.arange(24) < 6)`.
        """
        if callable(question):
            return question(self.values)
        return float(self.values.ravel() @ given_weights("question", question, self.shape).ravel())

    def range_sum(self, start: Moments, stop: Moments) -> Any:
        """The sum of cells start, …, stop − 1, as in a Python slice; arrays of bounds give an array of sums.

        Where cells have times a bound may be one: `release.range_sum("2026-01-01", "2026-02-01")` is all of January.
        """
        starts, stops = range_bounds(self, start, stop)
        sums = self._prefix_sums[stops] - self._prefix_sums[starts]
        return float(sums) if np.ndim(sums) == 0 else sums

    @cached_property
    def _prefix_sums(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self.values)))

    def box_sum(self, box: Mapping[str, object] | None = None, /, **axes: object) -> float:
        """The sum of a box of cells, in the axes' own words: `release.box_sum(region="north", age=(18, 65))`.

        A range is (start, stop) without its stop: of edges, whole numbers or times. A list is several labels, numbers
        or times, and a slice counts cells. An axis that is not named is summed over whole. Names that Python does not
        take as arguments, as those of coarsenings, go into a mapping: `release.box_sum({"day.weekday": "Sat"})`.
        """
        cells = self.box({**(box or {}), **axes})
        part = self.values
        for axis, wanted in enumerate(cells):
            part = part[(slice(None),) * axis + (wanted,)]
        return float(part.sum())

    def box(self, wanted: Mapping[str, object]) -> tuple[Cells, ...]:
        """The cells of a box on each axis."""
        if self.domain is None:
            raise InvalidInput("box", "asked of a release without a domain", "ask for a range of cell numbers")
        return self.domain.box(wanted)

    def interval(self, query: Any, level: Number = 0.95, kind: str = LIKELY) -> Interval:
        """Where the true answer of a linear query lies, in `level` of all releases like this one.

        `query`: a cell as in `release[…]`, a slice, a range (start, stop) as in `range_sum`, a box by name
        ({"region": "north"}) as in `box_sum`, or one weight for each cell.

        `kind`: "guaranteed" is by the law of the noise alone, around an estimate without bias, whatever the counts are
        (`estimation/guaranteed.md` says what is proven of it). "expected" is what the model says that made the
        estimate: narrower, and wrong where the counts are not as it takes them to be. "likely", the default, is the
        model's word as long as the noise does not make it implausible, and never wider than what is guaranteed. All are
        of what was counted.
        """
        share, kind = checked_level(level), checked_kind(kind)
        errors = self.known_errors
        weights = weights_of(self, query)
        estimate = float(self.values.ravel() @ weights.ravel())
        at_least_zero = self.nonnegative and not (weights < 0).any()
        return interval_of(errors, weights, estimate, share, at_least_zero=at_least_zero, kind=kind)

    @property
    def known_errors(self) -> Uncertainty:
        """The uncertainty, or the sentence that there is none."""
        if self.uncertainty is None:
            name = self.recovery.get("name", "")
            remedy = f"the recovery {name!r} says nothing of its error; those of all mechanisms but Compressive do"
            raise InvalidInput("release", "without an estimate of its error", remedy)
        return self.uncertainty

    def total(self, level: Number = 0.95, kind: str = LIKELY) -> Interval:
        """The sum of all cells, and where the true one lies; `kind` as for `interval`."""
        return self.interval(np.ones(self.shape), level, kind)

    def marginal(self, *axes: str) -> Release:
        """The sums over all other axes: a release of its own, under the same guarantee, with intervals as good.

        An axis may be named by one of its coarsenings (`axis.coarsenings`): `release.marginal("day.weekday", "ward")`
        has seven weekdays for days; and so may several of one axis: `release.marginal("t.weekday", "t.hour_of_day")`.
        """
        sums, domain = sums_of(self, axes)
        return replace(
            self,
            values=sums.of(self.values),
            domain=domain,
            uncertainty=None if self.uncertainty is None else marginal_errors(self.uncertainty, sums),
            summed_to=axes,
            counts=None if self.counts is None else self.counts.marginal(*axes),
        )

    @overload
    def mean(self, axis: str | None = None, level: Number = 0.95, kind: str = LIKELY) -> Interval | TimeInterval: ...

    @overload
    def mean(
        self, axis: str | None = None, level: Number = 0.95, kind: str = LIKELY, *, by: str | Sequence[str]
    ) -> list[CellAnswer]: ...

    def mean(
        self,
        axis: str | None = None,
        level: Number = 0.95,
        kind: str = LIKELY,
        *,
        by: str | Sequence[str] | None = None,
    ) -> Interval | TimeInterval | list[CellAnswer]:
        """The mean of a summed value by groups, `release.mean(by="ward")`; or of an axis, `release.mean("age")`.

        *Of a value*, where counts were published beside its sums: the total over the count, for every group that `by`
        names (axes, coarsenings, several in a list: ["ward", "day.month"]); without `by`, over all. It is the mean of
        the records that were counted, each clamped as declared: what clamping changed, the interval does not say
        (`sparsedp.releases.means.caveat`). It holds all means that the errors of both leave plausible, as Fieller's
        does, and never leaves the clamp. `kind` as for `interval`: "guaranteed" is by the exact law of the noise of
        both alone. Each interval holds by itself.

        *Of an axis* over all that was counted; of a calendar, a time.
        A coarsening of numbers or times may be named as well, here and in `quantile` and `cdf`: "t.hour_of_day".
        What fell into a bin or a stretch of time is taken to lie in its middle, and the interval says nothing of what
        that does: up to half a bin's width, which `sparsedp.releases.distribution.mean_caveat` says in a sentence.
        Fieller's interval, for a ratio of two sums.
        """
        if by is not None and axis is not None:
            given = f"given beside the axis {axis!r}"
            raise InvalidInput("by", given, "leave one out: by groups there are means of a summed value")
        if by is not None:
            return means.mean_by(self, by, level, kind)
        if axis is None and self.counts is not None:
            return means.mean(self, level, kind)
        if checked_kind(kind) != LIKELY:
            raise InvalidInput("kind", f"{kind!r} for the mean of an axis", "leave it out; it goes with summed values")
        return distribution.mean(self, axis, level)

    def variance(self, axis: str | None = None, level: Number = 0.95) -> Interval:
        """The variance of an axis' values over all that was counted: `release.variance("age")`.

        As in a mean, what fell into a bin is taken to lie in its middle: how it is spread within, neither the estimate
        nor the interval says. To have it of a value, declare bins of it as an axis. The interval is Fieller's of a
        ratio of two sums, wider by how far the mean may be off: it holds at least as often as it says, if these do.
        """
        return distribution.variance(self, axis, level)

    def quantile(self, q: Number, axis: str | None = None, level: Number = 0.95) -> Interval | TimeInterval:
        """The value of an axis that the share `q` of all that was counted does not exceed: `release.quantile(0.5)`.

        Within a bin or a stretch of time the estimate is interpolated; the interval ends at edges, so that it holds
        whatever the values within are (Woodruff's: all places whose share cannot be told from `q`).
        """
        return distribution.quantile(self, q, axis, level)

    def intervals(self, level: Number = 0.95, kind: str = LIKELY, *, simultaneous: bool = False) -> queries.Intervals:
        """The intervals of all cells, as arrays of the release's shape: `release.marginal("ward").intervals()`.

        `kind` as for `interval`. Each holds by itself; with `simultaneous=True` all of them do at once, and are wider
        (Bonferroni's).
        """
        return queries.intervals(self, level, kind, simultaneous=simultaneous)

    def cdf(
        self,
        axis: str | None = None,
        level: Number = 0.95,
        *,
        points: int | None = None,
        simultaneous: bool = False,
    ) -> list[Share]:
        """The share of all that was counted up to each value of an axis, with an interval each.

        At most `points` of them along a long axis, evenly spaced (at most 512, fewer for large releases). Each
        interval holds by itself; with `simultaneous=True` those of all points do at once.
        """
        return distribution.cdf(self, axis, level, points, simultaneous=simultaneous)

    def top(
        self, k: int = 10, level: Number = 0.95, *, simultaneous: bool = False, kind: str = LIKELY
    ) -> list[CellAnswer]:
        """The `k` largest cells, largest first, in the axes' own words, with their intervals.

        Each interval holds for a cell that was chosen beforehand; the largest of many are chosen for their noise, too.
        `simultaneous=True` gives wider ones, which hold for all cells of the release at once (Bonferroni's).
        """
        return queries.top(self, k, level, simultaneous=simultaneous, kind=kind)

    def sql(
        self,
        query: str,
        tables: Mapping[str, Any] | None = None,
        *,
        memory: str | int = sql.MEMORY,
        seconds: Number = sql.SECONDS,
    ) -> sql.Result:
        """Ask in SQL, of the table `release`: `release.sql("select sum(count) from release where hour < 6")`.

        Its columns are those of the saved file. `tables` are your own public ones to join with it, by name: pandas and
        polars frames, Arrow tables, other releases. `release.sql("select region, count / people as rate from release
        join population using (region)", tables={"population": frame})`. Nothing else can be read or changed. What
        comes back prints as a table and has `fetchall()`, `to_pandas()`, `to_polars()` and `to_arrow()`.

        The table `grouped` is `release` with one more column for each coarsening of its axes, an underscore for the
        dot: `release.sql("select day_weekday, sum(count) from grouped group by 1 order by 1")`.

        Sums of a value are the column `total`, which may also be called by the value's own name. Where counts stand
        beside them, `means('ward')` is the table of `release.mean(by="ward")`, with the columns mean, low and high;
        `means('ward, day.month')` that by both: `release.sql("select ward, mean, low, high from means('ward')")`.

        `memory` ("2GB") and `seconds` are what a query may use: beyond, it ends in a sentence.
        """
        table, value = self.to_arrow(), self.quantity.value
        taken = [name.casefold() for name in table.column_names]
        if value is not None and isinstance(query, str) and value.casefold() in query.casefold():
            table = table if value.casefold() in taken else table.append_column(value, table[self.quantity.column])

        def by_groups(groups: list[str]) -> pa.Table:
            return means.table_of(self, groups)

        return sql.ask(table, query, tables, domain=self.domain, means=by_groups, memory=memory, seconds=seconds)

    # ---- elsewhere

    def to_arrow(self) -> pa.Table:
        """One row a cell: where it is, its estimate and its standard error, as the saved file has them."""
        return self._table

    def to_pandas(self) -> pandas.DataFrame:
        """The same rows as a pandas frame."""
        return sql.to_pandas(self._table)

    def to_polars(self) -> polars.DataFrame:
        """The same rows as a polars frame."""
        return sql.to_polars(self._table)

    @cached_property
    def _columns(self) -> dict[str, columns_file.Column]:
        return saved_form.columns(self)

    @cached_property
    def _table(self) -> pa.Table:
        return columns_file.Contents("release", self._columns, {}, saved_form.columns_in_utc(self)).table()

    @cached_property
    def digest(self) -> str:
        """What the saved file's digest is: two releases with the same one say the same."""
        return saved_form.contents(self, self._columns).digest

    def sign(self, key: Private, passphrase: str | bytes | None = None) -> Release:
        """The same release, signed with a private key: its file (`sparsedp.new_key` makes it), text or object."""
        return saved_form.signed(self, signing_key(key, passphrase))

    def verified_synopsis(self) -> Recoverable | None:
        """What it was recovered from, if recovering that again gives this very release; None if not, or not known."""
        return saved_form.verified_synopsis(self)

    def save(self, path: str | os.PathLike[str], *, replacing: bool = True) -> Path:
        """Write a Parquet file: where each cell is, `count`, and `stderr` where it is known; the promise is metadata.

        Where a cell is: `cell`, its number; of a stream `tick`, and `time` (a timestamp) where there is a calendar;
        in a domain a column under each axis' own name, or two, such as age_left and age_right, for bins. Sums of a
        value are in `total`. A synopsis of up to 16 MB travels along, so that the opened release answers all questions
        with the same intervals. A file of that name is replaced, unless `replacing` is False.
        """
        return columns_file.save(path, saved_form.to_save(self, self._columns), self._table, replacing=replacing)

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> Path:
        """Write one page for a browser, which opens offline: the promise in plain words, a chart, how to ask more."""
        # By name: pages are made of releases, and not the other way round.
        page: Path = import_module("sparsedp.reports").write_report(self, path, title=title)
        return page

    def registry(self) -> str:
        """A deployment record (YAML) as public registries ask for it; what only people know is marked to fill in."""
        return str(import_module("sparsedp.reports.registry").registry_record(self))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the release with its errors, into a file (png, svg, pdf) if a path is given; needs matplotlib."""
        return import_module("sparsedp.reports").plot(self, path)

    @property
    def span(self) -> str:
        """What the cells are, in words."""
        if self.domain is not None:
            return str(self.domain)
        return "its cells" if self.time is None else self.time.span(len(self))

    def __repr__(self) -> str:
        span = "" if self.time is None and self.domain is None else f", {self.span}"
        what = "" if self.quantity == RECORDS else f", {self.quantity}"
        status = self.recovery.get("status")
        text = f"Release({len(self)} cells by {self.mechanism}{span}{what}. {self.guarantee} Recovery: {status}.)"
        return printable(text)


def _shaped(values: Floats, domain: Domain) -> Floats:
    """The values of all cells in the domain's shape; a vector of them is row by row."""
    if not isinstance(domain, Domain):
        raise InvalidInput("domain", f"of type {type(domain).__name__}", "give a sparsedp.Domain")
    if values.shape not in (domain.shape, (domain.size,)):
        raise InvalidInput("values", f"of shape {values.shape}", f"the domain has the shape {domain.shape}")
    return values.reshape(domain.shape)


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a file can hold it."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(record)))
    except (TypeError, ValueError):
        raise InvalidInput("record", "not of texts and numbers", "give what `ledger.record(…)` returned") from None
    return plain
