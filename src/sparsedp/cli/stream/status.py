"""`sparsedp stream status`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sparsedp.cli.options import AsJson
from sparsedp.cli.speaking import show, show_json
from sparsedp.cli.stream.file import the_stream

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
    from sparsedp.time_axis import TimeAxis

    with the_stream(file) as stream:
        described, ticks = stream.describe(), stream.ticks
        terms = described["terms"]
        time = TimeAxis(terms["start"], terms["every"])
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
