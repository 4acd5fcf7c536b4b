"""Load and compile, once, what the children will need: each of them then has it from the start."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer

import sparsedp as sdp
from fuzz.specimens import BY, Specimens, put
from sparsedp.cli import main
from sparsedp.errors import SparsedpError


def warm_up(specimens: Specimens) -> None:
    """Go through every door with whole files; what they say goes nowhere."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    # The program builds its grammar once for each command line, which takes longer than most commands do.
    setattr(typer.main, "get_command", cache(typer.main.get_command))  # noqa: B010
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="sparsedp-fuzz-") as folder, _Silence():
        os.chdir(folder)
        try:
            _visit(specimens)
        finally:
            os.chdir(here)


def _visit(specimens: Specimens) -> None:
    put(specimens.ledger)
    Path("visits.csv").write_bytes(specimens.csv)
    for place, content in enumerate(specimens.releases.values()):
        Path(f"{place}.parquet").write_bytes(content)
        release = sdp.open_release(f"{place}.parquet")
        for ask in (
            release.total,
            partial(release.top, 2),
            partial(release.sql, "select 1"),
            release.mean,
            release.cdf,
        ):
            _tried(ask)
        if place == 0:
            release.report("page.html")
    for content in specimens.synopses.values():
        Path("x.synopsis").write_bytes(content)
        sdp.open_synopsis("x.synopsis").recover()
    for name, content in specimens.streams.items():
        Path(f"{name}.stream").write_bytes(content)
        with sdp.open_stream(f"{name}.stream") as stream:
            stream.observe(1)
            stream.release()
    sdp.count("visits.csv", list(BY), privacy_unit="patient_id")
    for words in (
        ("ledger", "show", "budget.db"),
        ("inspect", "0.parquet"),
        ("query", "0.parquet", "--total"),
        PREVIEW,
        (*PREVIEW, "--by", "x:0..300", "--runs", "1"),
        ("preview", "--by", "x:0..30", "--by", "y:0..20", "--epsilon", "1", "--total", "1000", "--runs", "1"),
        ("preview", "--by", "x:0..500", "--epsilon", "1", "--total", "1000", "--runs", "1"),
        ("preview", "--by", "x:0..23", "--by", "y:0..13", "--epsilon", "1", "--total", "50000", "--runs", "1"),
    ):
        main(list(words))
    release.plot("picture.png")


PREVIEW = ("preview", "--by", BY[1], "--epsilon", "1", "--total", "1000")


def _tried(ask: Callable[[], Any]) -> None:
    with suppress(SparsedpError):
        ask()


class _Silence:
    """Nothing is printed meanwhile."""

    def __enter__(self) -> None:
        self._kept = os.dup(1), os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.close(nowhere)

    def __exit__(self, *_: object) -> None:
        import sys

        sys.stdout.flush()
        sys.stderr.flush()
        for number, kept in zip((1, 2), self._kept, strict=True):
            os.dup2(kept, number)
            os.close(kept)
