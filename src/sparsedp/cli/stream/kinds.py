"""The streams that a file can hold, by the names that the command line has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsedp.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from sparsedp.streams.base import Stream

KINDS = ("adaptive", "difference", "compressive")


def new_stream(kind: str, settings: dict[str, Any]) -> Stream:
    """A stream of that kind, not yet begun; settings that were left out (None) are the stream's own."""
    from sparsedp.streams import ContinualAdaptive, ContinualCompressive, ContinualDifference

    given = {name: value for name, value in settings.items() if value is not None}
    if kind == "counter":
        remedy = "use difference: it publishes the same running totals and keeps them"
        raise InvalidInput("kind", "counter, which keeps no log, so no file can hold it", remedy)
    made: dict[str, Any] = dict(zip(KINDS, (ContinualAdaptive, ContinualDifference, ContinualCompressive), strict=True))
    if kind not in made:
        raise UnknownName("kind", kind, KINDS)
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
