"""`sparsedp stream`: counts that arrive over time, published while they arrive, under one budget."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp import validate
from sparsedp.cli._files import STANDARD, Format, Output, check_output, write_release
from sparsedp.cli._options import (
    BUDGET,
    PEOPLE,
    AsJson,
    DataSetName,
    LedgerPath,
    NeighboursName,
    NoLedger,
    Overwrite,
    PassphraseFd,
    Sign,
    ledger_named,
    the_ledger,
)
from sparsedp.cli._running import Interrupted
from sparsedp.cli._speaking import note, show, show_json, warnings_as_notes
from sparsedp.errors import BadFile, InvalidInput, UnknownName

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.releases.release import Release
    from sparsedp.streams import Stream


# `sparsedp stream init`: a new stream, its budget debited before there is one.

STREAM_INIT_EXAMPLES = """
sparsedp ledger init visits.db --dataset visits --epsilon 2
sparsedp stream init visits.stream --epsilon 0.5 \\
  --start 2026-01-01 --every 1h --ledger visits.db
sparsedp ledger init budget.db --dataset clinic --epsilon 2
sparsedp stream init clinic.stream --epsilon 0.5 \\
  --start 2026-01-01 --every 1d --unit person --contribution 30 \\
  --ledger budget.db --dataset clinic
"""


def begin_stream(
    file: Annotated[str, typer.Argument(help="The stream's file, which must not exist yet.")],
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="ε", help="The budget of the whole stream.", rich_help_panel=BUDGET)
    ],
    start: Annotated[
        str | None, typer.Option("--start", metavar="TIME", help="When the first tick is: 2026-01-01.")
    ] = None,
    every: Annotated[
        str | None, typer.Option("--every", metavar="STEP", help="How often a tick comes: 15min, 1h, 1d.")
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="NAME", help="adaptive, difference or compressive.")
    ] = "adaptive",
    horizon: Annotated[
        int | None, typer.Option("--horizon", metavar="TICKS", help="How many ticks there will be, where it is needed.")
    ] = None,
    totals: Annotated[
        str | None,
        typer.Option("--totals", metavar="SHARE", help="The share of ε for running totals (adaptive, with --horizon)."),
    ] = None,
    sparsity: Annotated[
        int | None, typer.Option("--sparsity", metavar="COUNT", help="How many coefficients matter (compressive).")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="NAME", help="event (the default) or person.", rich_help_panel=PEOPLE),
    ] = None,
    contribution: Annotated[
        int | None,
        typer.Option(
            "--contribution",
            metavar="COUNT",
            help="The most that one of them adds to all ticks together: your promise; 1 if left out, for events.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    neighbours: NeighboursName = None,
    negative: Annotated[bool, typer.Option("--negative", help="Allow counts below zero.")] = False,
    ledger: LedgerPath = None,
    dataset: DataSetName = None,
    no_ledger: NoLedger = False,
    as_json: AsJson = False,
) -> None:
    """Begin a stream: one file, one budget for as long as it runs, all of it debited now."""
    check_output(file, instead="a stream is never begun anew: go on with it, or give another name")
    if unit == "person" and contribution is None:
        remedy = "promise the most that one person adds to all ticks together, such as --contribution 30"
        raise InvalidInput("contribution", "missing, and the unit is a person", remedy)
    pays = ledger_named(ledger, no_ledger=no_ledger)
    settings = {
        "epsilon": epsilon,
        "start": start,
        "every": every,
        "horizon": horizon,
        "totals": totals,
        "sparsity": sparsity,
        "unit": unit,
        "contribution": contribution,
        "neighbours": neighbours,
        "negative": negative or None,
    }
    _new_stream(kind, settings)  # what is wrong with the settings is said first
    books = None
    if pays is not None:
        books = the_ledger(pays, dataset, file)
    stream = _new_stream(kind, {**settings, "ledger": books})
    _begin(validate.file_path("FILE", file), stream, books)
    if books is None:
        note(f"{stream.spent.amount} is entered in no ledger: keep count of it yourself.")
    if as_json:
        show_json({"file": file, **stream.describe(), "guarantee": str(stream.guarantee)})
    else:
        show(f"Began {file}. {stream.guarantee}")


# The streams that a file can hold, by the names that the command line has for them.

_KINDS = ("adaptive", "difference", "compressive")


def _new_stream(kind: str, settings: dict[str, Any]) -> Stream:
    """A stream of that kind, not yet begun; settings that were left out (None) are the stream's own."""
    from sparsedp.streams import ContinualAdaptive, ContinualCompressive, ContinualDifference

    given = {name: value for name, value in settings.items() if value is not None}
    if kind == "counter":
        remedy = "use difference: it publishes the same running totals and keeps them"
        raise InvalidInput("kind", "counter, which keeps no log, so no file can hold it", remedy)
    made: dict[str, Any] = dict(
        zip(_KINDS, (ContinualAdaptive, ContinualDifference, ContinualCompressive), strict=True)
    )
    if kind not in made:
        raise UnknownName("kind", kind, _KINDS)
    if kind != "adaptive" and "horizon" not in given:
        raise InvalidInput("horizon", "missing", f"a stream of kind {kind} needs it: the number of ticks it will have")
    if kind == "difference" and "sparsity" in given:
        raise InvalidInput("sparsity", "given", "it is for streams of kind compressive")
    if kind != "adaptive" and "totals" in given:
        raise InvalidInput("totals", "given", "it is for streams of kind adaptive")
    if kind == "adaptive" and "sparsity" in given:
        raise InvalidInput("sparsity", "given", "it is for streams of kind compressive")
    stream: Stream = made[kind](**given)
    return stream


# The file of a stream that a command goes on with, or begins.


@contextmanager
def the_stream(file: str) -> Iterator[Stream]:
    """The stream in the file, which must exist: one begun by accident would be another budget."""
    from sparsedp.streams.durable import open_stream

    if not os.path.exists(file):
        begin = f"`sparsedp stream init {shlex.quote(file)} --epsilon 0.5 --ledger budget.db`"
        raise BadFile(f"There is no stream {file}; check the path, or begin one: {begin}.")
    with open_stream(file) as stream:
        yield stream


def _begin(path: Path, stream: Stream, ledger: Ledger | None) -> None:
    """Make the stream's file, once its ledger is debited; whatever ends that, say what was spent."""
    from sparsedp.streams.durable import begin as make

    amount = stream.spent.amount
    before = _debits(path, ledger)
    try:
        with warnings_as_notes():
            begun = make(path, stream)
        if not begun:
            raise BadFile(f"{path} exists already; a stream is never begun anew: go on with it, or give another name.")
    except KeyboardInterrupt:
        # The debit may have been committed in the moment before: the ledger knows.
        raise Interrupted(_outcome(path, amount, debited=_debits(path, ledger) > before)) from None
    except BadFile as error:
        if _debits(path, ledger) == before:
            raise
        raise BadFile(f"{error} {_outcome(path, amount, debited=True)}") from None


def _debits(path: Path, ledger: Ledger | None) -> int:
    """How many debits there were for a stream at this place."""
    from sparsedp.streams.durable import request_for

    return 0 if ledger is None else sum(entry.request == request_for(path) for entry in ledger.entries)


def _outcome(path: Path, amount: str, *, debited: bool) -> str:
    if path.exists():
        return f"The stream {path} was begun{f', and {amount} is spent on it' if debited else ''}."
    if not debited:
        return "No stream was begun and nothing was spent."
    return f"{amount} was already debited and stays spent, but there is no stream; beginning it again debits it again."


# `sparsedp stream publish`: an estimate of every tick so far.

PUBLISH_EXAMPLES = """
sparsedp stream publish visits.stream -o hours.release.parquet
sparsedp stream publish visits.stream --recovery direct -o - --format csv
"""


def publish_stream(
    file: Annotated[str, typer.Argument(help="The stream's file.")],
    output: Output,
    recovery: Annotated[
        str | None, typer.Option("--recovery", metavar="NAME", help="direct: the noisy ticks as they were published.")
    ] = None,
    form: Format = None,
    sign: Sign = None,
    passphrase_fd: PassphraseFd = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Publish all ticks so far, as often as you like: the budget is for the stream's whole life, nothing is spent."""
    with write_release(
        output, form, overwrite=overwrite, as_json=as_json, sign=sign, passphrase_fd=passphrase_fd
    ) as write:
        with the_stream(file) as stream:
            release = _recovered(stream, recovery)
        write(release)
    if as_json:
        show_json({"file": output, "ticks": len(release), "guarantee": str(release.guarantee)})
    elif output != STANDARD:
        show(f"Wrote {output}: {len(release):,} ticks. {release.guarantee} Nothing more was spent.")


def _recovered(stream: Stream, recovery: str | None) -> Release:
    """Every tick; of the many recoveries that are no choice of a publisher, none is offered."""
    try:
        return stream.release(recovery)
    except UnknownName as error:
        if error.argument != "recovery" or "direct" not in error.known:
            raise
        remedy = "leave it out for the best estimate, or say direct for the noisy ticks as they were published"
        raise InvalidInput("recovery", error.given, remedy) from None


# `sparsedp stream status`.

STATUS_EXAMPLES = """
sparsedp stream status visits.stream
"""


def show_status(file: Annotated[str, typer.Argument(help="The stream's file.")], as_json: AsJson = False) -> None:
    """Say how far a stream is, which tick comes next, and what it promises."""
    facts = status_of(file)
    if as_json:
        show_json(facts)
        return
    show(f"{file}: {facts['kind']}, {facts['ticks']:,} ticks of {facts['schedule']}.")
    ended = f"It has reached its horizon, {facts['horizon']:,} ticks." if facts["next"] is None else None
    show(ended or f"The next tick is {facts['next']}.")
    show(facts["guarantee"])
    paid = facts["ledger"]
    whose = "in no ledger that this file knows of" if paid is None else f"spend {paid['spend']} of {paid['data_set']}"
    show(f"What it costs is {whose}.")


def status_of(file: str) -> dict[str, Any]:
    """What is public about a stream's file."""
    from sparsedp.axes.schedule import Schedule

    with the_stream(file) as stream:
        described, ticks = stream.describe(), stream.ticks
        terms = described["terms"]
        time = Schedule(terms["start"], terms["every"])
        ended = stream.horizon is not None and ticks >= stream.horizon
        return {
            "file": file,
            "kind": described["stream"],
            "ticks": ticks,
            "schedule": str(time),
            "next": None if ended else time.shown(ticks),
            "horizon": stream.horizon,
            "spent": stream.spent.describe(),
            "guarantee": str(stream.guarantee),
            "private": stream.private,
            "ledger": stream.record,
            "terms": terms,
            "settings": described["settings"],
        }
