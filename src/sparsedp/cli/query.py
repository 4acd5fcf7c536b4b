"""`sparsedp query`: SQL over a release, or one of its questions with an interval."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli.answers import INTERVAL, Answer, one_interval
from sparsedp.cli.boxes import box_of
from sparsedp.cli.files import STANDARD, to_read
from sparsedp.cli.options import AsJson, Level
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

QUERY_EXAMPLES = """
sparsedp query flights.release.parquet --total
sparsedp query flights.release.parquet \\
  --box day=2013-07-01..2013-07-31 --box origin=JFK
sparsedp query flights.release.parquet --quantile 0.5 --axis day
sparsedp query flights.release.parquet --top 5
sparsedp query flights.release.parquet \\
  "select origin, round(sum(count)) as flights from release group by origin"
echo "select count(*) as cells from release" \\
  | sparsedp query flights.release.parquet - --json
"""
ANSWERS = "Questions, one at a time"


def query_release(
    file: Annotated[str, typer.Argument(help="A release; - for standard input.")],
    sql: Annotated[
        str | None, typer.Argument(help="One SELECT from the table `release`; - to read it from standard input.")
    ] = None,
    total: Annotated[bool, typer.Option("--total", help="The sum of all cells.", rich_help_panel=ANSWERS)] = False,
    box: Annotated[
        list[str] | None,
        typer.Option(
            "--box",
            metavar="AXIS=CELLS",
            help="The sum of a box, once for each axis: day=2024-03-01..2024-03-31 (both included), sex=F, age=18..65.",
            rich_help_panel=ANSWERS,
        ),
    ] = None,
    mean: Annotated[bool, typer.Option("--mean", help="The mean along --axis.", rich_help_panel=ANSWERS)] = False,
    quantile: Annotated[
        str | None,
        typer.Option("--quantile", metavar="SHARE", help="A quantile along --axis.", rich_help_panel=ANSWERS),
    ] = None,
    cdf: Annotated[
        bool, typer.Option("--cdf", help="The share up to each value of --axis.", rich_help_panel=ANSWERS)
    ] = False,
    top: Annotated[
        int | None, typer.Option("--top", metavar="COUNT", help="The largest cells.", rich_help_panel=ANSWERS)
    ] = None,
    marginal: Annotated[
        list[str] | None,
        typer.Option(
            "--marginal",
            metavar="AXIS",
            help="The table of these axes, summed over the others.",
            rich_help_panel=ANSWERS,
        ),
    ] = None,
    axis: Annotated[
        str | None, typer.Option("--axis", metavar="AXIS", help="Along which axis, if there are several.")
    ] = None,
    level: Level = "0.95",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask a release anything, any number of times: nothing is spent. SQL sees the table `release` and nothing else."""
    asked = {
        "sql": sql,
        "total": total,
        "box": box,
        "mean": mean,
        "quantile": quantile,
        "cdf": cdf,
        "top": top,
        "marginal": marginal,
    }
    wanted = [name for name, value in asked.items() if value not in (None, False, [])]
    if len(wanted) != 1:
        given = "missing" if not wanted else f"given {len(wanted)} times"
        raise InvalidInput("question", given, 'ask one: SQL such as "select * from release", --total, --box, …')
    if as_csv and as_json:
        raise InvalidInput("--csv", "given beside --json", "leave one of the two out")
    if axis is not None and wanted[0] not in ("mean", "quantile", "cdf"):
        raise InvalidInput("--axis", f"given for {wanted[0]}", "it goes with --mean, --quantile or --cdf")
    if file == STANDARD and sql == STANDARD:
        raise InvalidInput("-", "given for the release and for the SQL", "standard input can be only one of the two")
    if sql == STANDARD:
        asked["sql"] = sys.stdin.read()

    from sparsedp.release_file import open_release

    with to_read(file) as path:
        release = open_release(path)
    answer(release, wanted[0], asked[wanted[0]], axis, level).show(as_json=as_json, as_csv=as_csv)


def answer(release: Release, kind: str, asked: Any, axis: str | None, level: str) -> Answer:
    """The answer of a release to one question."""
    along = "" if axis is None else f" of {axis}"
    if kind == "sql":
        found = release.sql(asked)
        return Answer(found.columns, found.fetchall())
    if kind == "total":
        return one_interval("total", release.total(level))
    if kind == "box":
        return one_interval(", ".join(asked), release.interval(box_of(release, asked), level))
    if kind == "mean":
        return one_interval(f"mean{along}", release.mean(axis, level))
    if kind == "quantile":
        return one_interval(f"quantile {asked}{along}", release.quantile(asked, axis, level))
    if kind == "cdf":
        shares = release.cdf(axis, level)
        rows = [(each.position, each.share, each.low, each.high, each.level) for each in shares]
        return Answer(("position", "share", "low", "high", "level"), rows)
    if kind == "marginal":
        table = release.marginal(*asked).to_arrow()
        return Answer(table.column_names, list(zip(*(column.to_pylist() for column in table.columns), strict=True)))
    cells = release.top(asked, level)
    names = list(cells[0].place) if cells else []
    rows = [
        (*(_place(at) for at in each.place.values()), *(getattr(each.interval, name) for name in INTERVAL))
        for each in cells
    ]
    return Answer((*names, *INTERVAL), rows)


def _place(at: Any) -> Any:
    """A bin is two edges."""
    return f"{at[0]:g} to {at[1]:g}" if isinstance(at, tuple) else at
