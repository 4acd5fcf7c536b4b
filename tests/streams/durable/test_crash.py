"""Writers killed at random moments: nothing acknowledged is lost, nothing is there twice, nothing is given away."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from durable_streams import KINDS, kept, numbers_of, raw_count
from hidden_integers import found_in, telling
from page_images import page_images
from quick_folder import quick_folder
from told_history import Attempt, History, numbers_drawn, signed_64

import sparsedp as sdp
from sparsedp.streams import Stream
from sparsedp.streams.durable._sealing import LABEL

Kill = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with quick_folder() as place:
        yield place


@pytest.fixture(scope="module")
def kill(folder: Path) -> Iterator[Kill]:
    """Runs a writer for a while and kills it."""
    here = Path(__file__).parent
    path = os.pathsep.join(filter(None, (str(here), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    program = [sys.executable, str(here / "killed_writer.py"), str(folder)]
    with subprocess.Popen(program, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        orders, answers = process.stdin, process.stdout

        def order(what: dict[str, Any]) -> None:
            orders.write(json.dumps(what).encode() + b"\n")
            orders.flush()
            assert json.loads(answers.readline())["killed"], "the writer ended by itself"

        yield order
        orders.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kills", [12, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_at_any_moment(kind: str, kills: int, folder: Path, kill: Kill) -> None:
    path, history = folder / f"{kind}-{kills}.stream", History(folder / f"{kind}-{kills}.told")
    chance = np.random.default_rng(list(KINDS).index(kind))
    before: list[Attempt] = []
    for number in range(kills):
        openings = float(chance.choice((chance.uniform(0, 2), chance.uniform(2, 5))))
        kill({"kind": kind, "path": str(path), "told": str(history.file), "openings": openings, "seed": number})
        recent = before + history.read_on()
        check_before_opening(path, history, recent)
        if path.exists():
            with sdp.open_stream(path) as stream:
                check_after_opening(path, stream, history, recent)
                before = history.committed(stream.ticks)[-1:]
    with sdp.open_stream(path) as stream:
        check_at_the_end(path, stream, history, kills)


def check_before_opening(path: Path, history: History, recent: list[Attempt]) -> None:
    """Just after the kill: no exact number in any file, no state of the counters, and one key to what is sealed."""
    images = page_images(path)
    published = {number for each in history.attempts for number in each.results}
    hidden = {number for each in recent for number in (*each.exact, *each.state)}
    assert not found_in(images, telling(hidden - published))
    assert sum(image.content.count(LABEL) for image in images if not image.file.startswith(".")) <= 1


def check_after_opening(path: Path, stream: Stream, history: History, recent: list[Attempt]) -> None:
    """What was acknowledged is there, once; of the rest there is one version, and no trace of another."""
    assert stream.ticks > max(history.acknowledged, default=-1)
    committed = history.committed(stream.ticks)
    assert sum(each.stop - each.first for each in committed) == stream.ticks
    assert kept(stream)["published"] == {
        name: [number for each in committed for number in each.published[name]] for name in stream._logs
    }
    allowed = numbers_published(stream)
    images = page_images(path)
    # A writer killed before the stream was begun leaves a scratch file, hidden and empty, but not a second name.
    assert {image.file for image in images if not image.file.startswith(".")} == {path.name}, "the log is empty"
    assert path.stat().st_nlink == 1
    assert not found_in(images, numbers_drawn(recent) - allowed)


def check_at_the_end(path: Path, stream: Stream, history: History, kills: int) -> None:
    """All ticks at once: results as acknowledged, each counted once; every number ever drawn, searched for."""
    assert len(history.acknowledged) > kills
    assert history.redelivered > 0  # how often a kill comes before the answer does is up to the machine
    heard = sorted(history.acknowledged)
    for tick in heard:
        assert stream.observe(0, at=tick) == history.acknowledged[tick]
    check_counted_once(stream, history)
    images = page_images(path)
    assert not found_in(images, numbers_drawn(history.attempts) - numbers_published(stream))
    assert set(found_in(images, numbers_published(stream))) == numbers_published(stream)


def check_counted_once(stream: Stream, history: History) -> None:
    """The counters hold the exact sums and one noise each: the one that was drawn with the first tick."""
    state = stream._state
    if state is None:
        return
    raw = np.array([raw_count(tick) for tick in range(stream.ticks)])
    signs = np.ones((stream.ticks, 1), np.int64)
    if isinstance(stream, sdp.ContinualCompressive):
        signs = stream._sensing(stream.ticks).columns(0, stream.ticks)
    first = history.committed(stream.ticks)[0]
    for counter, sign in enumerate(signs.T):
        exact = sum(int(value) for value in raw * sign)
        assert signed_64(int(state.count[counter]) - exact) in first.noises


def numbers_published(stream: Stream) -> set[int]:
    """What may be on disk in the clear."""
    return telling(numbers_of(kept(stream)["published"]))
