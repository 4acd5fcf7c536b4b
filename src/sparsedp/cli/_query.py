"""`sparsedp query`: SQL over a release, or one of its questions with an interval."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli._files import STANDARD, to_read
from sparsedp.cli._options import AsJson, Level
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.cli._answers import Answer
    from sparsedp.releases.release import Release


QUERY_EXAMPLES = """
sparsedp query flights.release.parquet --total
sparsedp query flights.release.parquet \\
  --box day=2013-07-01..2013-07-31 --box origin=JFK
sparsedp query flights.release.parquet --median --axis day
sparsedp query flights.release.parquet --marginal origin
sparsedp query flights.release.parquet --marginal day.weekday,origin
sparsedp query flights.release.parquet \\
  --box day.weekday=Sat,Sun --box origin=JFK
sparsedp query flights.release.parquet --marginal origin --kind guaranteed
sparsedp query flights.release.parquet --top 5
sparsedp query flights.release.parquet --top 3 --marginal day.week
sparsedp query flights.release.parquet \\
  "select origin, round(sum(count)) as flights from release group by origin"
echo "select count(*) as cells from release" \\
  | sparsedp query flights.release.parquet - --json
printf 'origin,runways\\nEWR,3\\nJFK,4\\nLGA,2\\n' | tee airports.csv
sparsedp query flights.release.parquet --with airports=airports.csv \\
  "select origin, round(sum(count) / any_value(runways)) as each \\
   from release join airports using (origin) group by origin"
"""
_SQL_MEMORY = "1GB"
_ANSWERS = "Questions, one at a time"


def query_release(
    file: Annotated[str, typer.Argument(help="A release; - for standard input.")],
    sql: Annotated[
        str | None, typer.Argument(help="One SELECT from the table `release`; - to read it from standard input.")
    ] = None,
    total: Annotated[bool, typer.Option("--total", help="The sum of all cells.", rich_help_panel=_ANSWERS)] = False,
    box: Annotated[
        list[str] | None,
        typer.Option(
            "--box",
            metavar="AXIS=CELLS",
            help="The sum of a box, once for each axis: day=2024-03-01..2024-03-31 (both included), sex=F, age=18..65; "
            "also by groups of its cells: day.weekday=Sat,Sun.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    mean: Annotated[
        bool,
        typer.Option(
            "--mean",
            help="The mean of a summed value, by groups with --by, if it was published --with-counts; or along --axis.",
            rich_help_panel=_ANSWERS,
        ),
    ] = False,
    quantile: Annotated[
        str | None,
        typer.Option("--quantile", metavar="SHARE", help="A quantile along --axis.", rich_help_panel=_ANSWERS),
    ] = None,
    median: Annotated[
        bool, typer.Option("--median", help="The same as --quantile 0.5.", rich_help_panel=_ANSWERS)
    ] = False,
    cdf: Annotated[
        bool, typer.Option("--cdf", help="The share up to each value of --axis.", rich_help_panel=_ANSWERS)
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="COUNT",
            help="The largest cells; beside --marginal, the largest sums of that table.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    marginal: Annotated[
        list[str] | None,
        typer.Option(
            "--marginal",
            metavar="AXIS",
            help="The table of these axes (month,sex, or once for each), summed over the others; also of groups of "
            "their cells: day.weekday, county.state. `sparsedp inspect` names those there are.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    axis: Annotated[
        str | None, typer.Option("--axis", metavar="AXIS", help="Along which axis, if there are several.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="AXIS", help="With --mean: in which groups: ward, day.month; ward,sex for both."),
    ] = None,
    level: Level = "0.95",
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Which ranges, with --total, --box, --top and --marginal: guaranteed ones hold whatever the data are, "
            "by the noise alone; expected ones are what the model says; likely ones are its word as long as the noise "
            "does not speak against it.",
        ),
    ] = "likely",
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous", help="With --top, --marginal and --cdf: wider ranges, which hold for all cells at once."
        ),
    ] = False,
    with_tables: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME=FILE",
            help="With SQL: a public table of your own to join with, .csv or .parquet; once for each.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="How much memory the file may take, and SQL use: 8GB. Left out, SQL may use 1GB, and the file takes "
            "2GB or 64 times its size at most.",
        ),
    ] = None,
    seconds: Annotated[str, typer.Option("--seconds", metavar="NUMBER", help="With SQL: how long it may take.")] = "60",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask a release anything, any number of times: nothing is spent.

    SQL sees the table `release`, those that are named by --with, and nothing else.
    """
    asked: dict[str, Any] = {
        "sql": sql,
        "total": total,
        "box": box,
        "mean": mean,
        "quantile": quantile,
        "median": median,
        "cdf": cdf,
        "top": top,
        "marginal": marginal,
    }
    wanted = [name for name, value in asked.items() if value is not None and value is not False and value != []]
    if wanted == ["top", "marginal"]:
        wanted = ["top"]
    if len(wanted) != 1:
        given = "missing" if not wanted else f"given {len(wanted)} times"
        raise InvalidInput("question", given, 'ask one: SQL such as "select * from release", --total, --box, …')
    if as_csv and as_json:
        raise InvalidInput("--csv", "given beside --json", "leave one of the two out")
    _check_beside(wanted[0], axis=axis, by=by, kind=kind, simultaneous=simultaneous, with_tables=with_tables)
    if file == STANDARD and sql == STANDARD:
        raise InvalidInput("-", "given for the release and for the SQL", "standard input can be only one of the two")
    if sql == STANDARD:
        asked["sql"] = sys.stdin.read()

    from sparsedp.cli._answers import within_memory
    from sparsedp.releases.release_file import open_release
    from sparsedp.releases.uncertainty import checked_kind

    with to_read(file) as path:
        release = open_release(path, memory=memory)
    asked |= {
        "with": with_tables,
        "simultaneous": simultaneous,
        "kind": checked_kind(kind),
        "memory": memory or _SQL_MEMORY,
        "seconds": seconds,
    }
    with within_memory(release, memory or _SQL_MEMORY) if wanted[0] == "sql" else nullcontext():
        found = _answer(release, wanted[0], asked, axis=axis, by=by, level=level)
        found.show(as_json=as_json, as_csv=as_csv)


def _check_beside(
    question: str,
    *,
    axis: str | None,
    by: list[str] | None,
    kind: str,
    simultaneous: bool,
    with_tables: list[str] | None,
) -> None:
    """Refuse what does not go with the question."""
    if by and (question != "mean" or axis is not None):
        given = f"given for {question}" if axis is None else "given beside --axis"
        raise InvalidInput("--by", given, "it goes with --mean alone: the mean of a summed value in each group")
    if axis is not None and question == "top":
        remedy = f"for the largest along {axis}, say --top COUNT --marginal {axis}"
        raise InvalidInput("--axis", "given for top, whose sums are those of a table", remedy)
    if axis is not None and question not in ("mean", "median", "quantile", "cdf"):
        raise InvalidInput("--axis", f"given for {question}", "it goes with --mean, --median, --quantile or --cdf")
    if kind != "likely" and (axis is not None or question not in ("total", "box", "top", "marginal", "mean")):
        remedy = "it goes with --total, --box, --top, --marginal, and --mean of a summed value"
        raise InvalidInput("--kind", f"given for {question}", remedy)
    if simultaneous and question not in ("top", "marginal", "cdf"):
        raise InvalidInput("--simultaneous", f"given for {question}", "it goes with --top, --marginal or --cdf")
    if with_tables and question != "sql":
        raise InvalidInput("--with", f"given for {question}", "it goes with SQL")


def _answer(
    release: Release, question: str, asked: dict[str, Any], *, axis: str | None, by: list[str] | None, level: str
) -> Answer:
    from sparsedp.cli._answers import Questions, axes_named, marginal_answer, means_answer, sql_answer, tables_of

    if by:
        return means_answer(release, axes_named(by, release.domain, "--by"), level, asked["kind"])
    if question == "sql":
        return sql_answer(
            release, asked["sql"], tables_of(asked["with"]), memory=asked["memory"], seconds=asked["seconds"]
        )
    if question == "marginal":
        names = axes_named(asked["marginal"], release.domain)
        return marginal_answer(release, names, level, kind=asked["kind"], simultaneous=asked["simultaneous"])
    if asked["marginal"]:  # beside --top: the cells of that table
        release = release.marginal(*axes_named(asked["marginal"], release.domain))
    questions = Questions(release, axis, level, asked["kind"])
    return questions.answer(question, asked[question], simultaneous=asked["simultaneous"])
