"""Run as a program: streams on a disk that is full (files may not grow beyond a limit), then is not full any more.

What happened is printed as JSON, a line for each stream.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from durable_streams import KINDS, LOUD, kept, raw_count

import sparsedp as sdp


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Writing beyond this size fails in this process, as it does on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def run(path: Path, kind: str, size: int, begun: int) -> dict[str, object]:
    """Some ticks, a full disk, room again; all that is said and acknowledged meanwhile."""
    ledger = sdp.Ledger(epsilon=10)
    stream = sdp.open_stream(path, KINDS[kind](epsilon=LOUD, ledger=ledger))
    heard = [stream.observe(raw_count(tick), at=tick) for tick in range(begun)]
    refusals = []
    with no_file_beyond(size):
        for _ in range(12):
            before = kept(stream)
            try:
                heard.append(stream.observe(raw_count(len(heard)), at=len(heard)))
            except sdp.SparsedpError as error:
                refusals.append(str(error))
                # A tick may have been committed whose traces could not be removed; none is lost, none acknowledged.
                assert stream.ticks - before["ticks"] in (0, 1)
    stream.close()
    with sdp.open_stream(path) as stream:
        found = stream.ticks
        again = [stream.observe(0, at=tick) for tick in range(len(heard))]
        stream.observe(raw_count(found), at=found)
    spends = len(ledger.entries)
    return {"kind": kind, "heard": heard, "again": again, "ticks": found, "refusals": refusals, "spends": spends}


def begin(path: Path, kind: str, size: int) -> dict[str, object]:
    """Begin a stream on a full disk; what is said, and what is left."""
    with no_file_beyond(size):
        try:
            sdp.open_stream(path, KINDS[kind](epsilon=LOUD)).close()
            refusal = ""
        except sdp.SparsedpError as error:
            refusal = str(error)
    return {"kind": kind, "refusal": refusal, "left": os.listdir(path.parent)}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for kind in KINDS:
        for size in (0, 100, 4096, 5000, 9000, 12400, 13000, 17000, 40000):
            for begun in (0, 3):
                place = folder / f"{kind} {size} {begun}"
                place.mkdir()
                print(json.dumps(run(place / "cases.stream", kind, size, begun)))
        for size in (0, 100, 4096, 9000, 40000, 10**6):
            place = folder / f"{kind} {size} new"
            place.mkdir()
            print(json.dumps(begin(place / "cases.stream", kind, size)))
