"""One process that works and one thing that happens to it.

A worker is forked from a warm process: that costs milliseconds, where starting Python and loading the library costs
seconds. It has a folder of its own, with a place for temporary files, and its output goes to files. What it tells by
`tell` outlives it, however it ends. The process that forks never counts records or reads releases itself: threads of
other libraries do not survive a fork, so whatever needs them is done in a fork as well (`apart`).
"""

from __future__ import annotations

import json
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

import sparsedp

T = TypeVar("T")

SIGNALS = {name: getattr(signal, f"SIG{name}") for name in ("KILL", "TERM", "HUP", "INT")}
FULL, READ_ONLY, RACE = "full disk", "read-only", "race of 8"
KINDS = (*SIGNALS, FULL, READ_ONLY, RACE)
"""All that can happen."""

RACERS = 8
PATIENCE = 120.0
"""Seconds after which a worker that has not ended hangs."""

NOBODY = 65534
"""The user that workers become where root would find no place read-only."""

INTERRUPTED, EXCEPTION = 130, 97
"""How a worker ends that is interrupted, and one that meets an error which nobody explains."""


@dataclass(frozen=True)
class Fault:
    """What happens, and when or where."""

    kind: str
    share: float = 0.0
    """Of a signal: after which part of the time that an unharmed run takes."""
    point: str | None = None
    """Of a signal: at which named point instead."""
    room: int = 0
    """Of a full disk: how many bytes there are left."""
    place: str = ""
    """Of a read-only place: which."""


@dataclass(frozen=True)
class Ended:
    """How a worker ended."""

    code: int
    """Its exit code; of one that a signal ended, the signal's number below zero."""
    hit: bool
    """Whether the fault met it: a signal may come when all is over."""
    seconds: float
    output: str = ""
    errors: str = ""
    hung: bool = False

    @property
    def is_killed(self) -> bool:
        """Ended by the signal itself, so that nothing could be said or tidied."""
        return self.code < 0

    def complaints(self) -> list[str]:
        """What is wrong with the way it ended, whatever it was doing."""
        found = []
        if self.hung:
            found.append(f"it did not end within {PATIENCE:.0f} s")
        if "Traceback" in self.errors or self.code in (70, EXCEPTION):
            found.append(f"it met an error that is not explained: {self.errors[-600:]}")
        return found


@dataclass
class Place:
    """The folder of one episode: books, records, output and temporary files, each in a folder of its own."""

    folder: Path
    told: Path
    """Where workers tell what they did: on no disk that is ever full."""
    mounted: bool = False

    def __post_init__(self) -> None:
        for name in ("books", "in", "out", "tmp"):
            (self.folder / name).mkdir(parents=True)
        self.told.touch()

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def tellings(self) -> list[dict[str, Any]]:
        """What workers told so far; a line that was cut short by a kill was not told."""
        found = []
        for line in self.told.read_text().splitlines():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return found

    def files_with(self, needles: list[bytes], *, but: str = "in") -> list[str]:
        """The files, hidden or not, that hold any of these bytes. Those left in `tmp` are removed, and found once."""
        found = []
        for path in sorted(self.folder.rglob("*")):
            within = path.relative_to(self.folder)
            if within.parts[0] == but or not path.is_file():
                continue
            content = path.read_bytes()
            if any(needle in content for needle in needles):
                found.append(str(within))
                if within.parts[0] == "tmp":
                    path.unlink()
        return found


Tell = Callable[[dict[str, Any]], None]
Work = Callable[[Place, Tell], int]
Prepare = Callable[[], None]
"""What is done in a worker before it begins: a planted fault, a named point."""


def run(
    place: Place, work: Work, fault: Fault | None = None, *, usual: float = 1.0, prepare: Prepare | None = None
) -> Ended:
    """Let a worker run, harmed by the fault; `usual`: the seconds of an unharmed run."""
    fault = fault or Fault("")
    with _harm(place, fault) as limit:
        worker = _Worker(place, work, fault, limit, prepare)
        if fault.kind not in SIGNALS or fault.point is not None:
            return worker.ended(hit=fault.kind != "")
        hit = worker.code_by(worker.begun + fault.share * usual) is None
        if hit:
            os.kill(worker.child, SIGNALS[fault.kind])
        return worker.ended(hit=hit)


def race(place: Place, work: Work, *, prepare: Prepare | None = None, after: float | None = None) -> list[Ended]:
    """Eight workers at once; the first of them is killed `after` so many seconds, if that is said."""
    gate, start = os.pipe()

    def waiting(place: Place, tell: Tell) -> int:
        os.close(start)
        os.read(gate, 1)  # which ends when the gate is opened
        return work(place, tell)

    workers = [_Worker(place, waiting, Fault(RACE), None, prepare) for _ in range(RACERS)]
    os.close(start)
    os.close(gate)
    if after is not None:
        time.sleep(after)
        with suppress(ProcessLookupError):
            os.kill(workers[0].child, signal.SIGKILL)
    return [worker.ended(hit=True) for worker in workers]


class Apart(Generic[T]):
    """Work that is done in a fork, so that no thread of a library is started in this process."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._reading, writing = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            os.close(self._reading)
            try:
                answer = pickle.dumps((True, work()))
            except BaseException:
                answer = pickle.dumps((False, traceback.format_exc()))
            with os.fdopen(writing, "wb") as file:
                file.write(answer)
            os._exit(0)
        os.close(writing)

    def result(self) -> T:
        """What came of it."""
        with os.fdopen(self._reading, "rb") as file:
            answer = file.read()
        os.waitpid(self.child, 0)
        if not answer:
            raise RuntimeError("it ended without a word")
        done, result = pickle.loads(answer)  # noqa: S301  # from our own fork
        if not done:
            raise RuntimeError(result)
        found: T = result
        return found


def apart(work: Callable[[], T]) -> T:
    """The result of such work."""
    return Apart(work).result()


def any_fault(
    kind: str, chance: random.Random, points: tuple[str, ...], places: tuple[str, ...], named: float
) -> Fault:
    """A fault of that kind, at random: at any moment, or (`named`: how often) at one of the named points."""
    if kind in SIGNALS:
        if points and chance.random() < named:
            return Fault(kind, point=chance.choice(points))
        return Fault(kind, share=chance.uniform(0.0, 1.02))
    if kind == FULL:
        return Fault(kind, room=int(2 ** chance.uniform(0, 18)))
    return Fault(kind, place=chance.choice(places)) if kind == READ_ONLY else Fault(kind)


def at_call(owner: type, name: str, happens: Callable[[], None], *, after: bool = False, number: int = 1) -> None:
    """In this process: `happens` before, or after, the so-many-th call of a method."""
    real = getattr(owner, name)
    calls = 0

    def called(*arguments: Any, **settings: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number and not after:
            happens()
        result = real(*arguments, **settings)
        if calls == number and after:
            happens()
        return result

    setattr(owner, name, called)


def signalled_by(fault: Fault) -> Callable[[], None]:
    """The fault's signal, sent to this process by itself."""
    return lambda: os.kill(os.getpid(), SIGNALS[fault.kind])


def can_mount() -> bool:
    """Whether this process may mount a small disk of its own, to fill it up."""
    with tempfile.TemporaryDirectory() as folder:
        done = _mount(Path(folder), 65536)
        if done:
            _unmount(Path(folder))
        return done


@contextmanager
def episode(parent: Path, name: str, *, disk: bool) -> Iterator[Place]:
    """A fresh folder, on a small disk of its own if that is wanted and allowed; it is gone afterwards."""
    folder = parent / name
    folder.mkdir()
    mounted = disk and _mount(folder, DISK)
    try:
        yield Place(folder, parent / f"{name}.told", mounted)
    finally:
        if mounted:
            _unmount(folder)
        shutil.rmtree(folder, ignore_errors=True)


DISK = 48 << 20
"""Bytes of such a disk."""


def can_be_read_only() -> bool:
    """Whether a worker can be kept from writing without a mount: root cannot, so it would have to be another user."""
    if os.geteuid():
        return True

    def reads_as_nobody() -> bool:
        os.seteuid(NOBODY)
        return all(os.access(place, os.R_OK | os.X_OK, effective_ids=True) for place in _imported_from())

    return apart(reads_as_nobody)


def _imported_from() -> list[Path]:
    return [Path(os.__file__).parent, Path(sparsedp.__file__).parent, Path(np.__file__).parent]


def _mount(folder: Path, size: int) -> bool:
    return _call("mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", str(folder))


def _unmount(folder: Path) -> None:
    _call("umount", "--lazy", str(folder))


def _call(name: str, *arguments: str) -> bool:
    tool = shutil.which(name)
    return tool is not None and subprocess.run([tool, *arguments], capture_output=True, check=False).returncode == 0  # noqa: S603


def _given_to(place: Place, user: int) -> None:
    """Where this is root, and the worker is not."""
    if os.geteuid() == 0:
        for path in (place.folder, *place.folder.rglob("*")):
            os.chown(path, user, user)


@contextmanager
def _harm(place: Place, fault: Fault) -> Iterator[int | None]:
    """Fill the disk or forbid writing for as long as the worker runs; gives the limit of a file's size, if any.

    Where no disk can be mounted, files may not grow instead.
    """
    if fault.kind == FULL and place.mounted:
        filler = place / "filler"
        free = os.statvfs(place.folder).f_bavail * os.statvfs(place.folder).f_frsize
        filler.write_bytes(bytes(max(0, free - fault.room)))
        try:
            yield None
        finally:
            filler.unlink()
    elif fault.kind == READ_ONLY and place.mounted:
        target = place / fault.place
        _call("mount", "--bind", str(target), str(target))
        _call("mount", "-o", "remount,bind,ro", str(target))
        try:
            yield None
        finally:
            _unmount(target)
    elif fault.kind == READ_ONLY:
        _given_to(place, NOBODY)
        (place / fault.place).chmod(0o555)
        try:
            yield None
        finally:
            (place / fault.place).chmod(0o755)
            _given_to(place, 0)
    else:
        yield fault.room if fault.kind == FULL else None


class _Worker:
    """A forked process at work; what it says comes through pipes, which no full disk stops."""

    def __init__(self, place: Place, work: Work, fault: Fault, limit: int | None, prepare: Prepare | None) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.begun = time.monotonic()
        out, err = os.pipe(), os.pipe()
        self._reading = (out[0], err[0])
        self._code: int | None = None
        # A signal that comes before the worker has settled in waits until it has.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        self.child = os.fork()
        if self.child == 0:
            _be_a_worker(place, work, fault, limit, prepare, (out[1], err[1]))
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(out[1])
        os.close(err[1])

    def code_by(self, deadline: float) -> int | None:
        """The exit code; None if it is still at work at that time."""
        while self._code is None:
            done, status = os.waitpid(self.child, os.WNOHANG)
            if done:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= deadline:
                return None
            else:
                time.sleep(0.0005)
        return self._code

    def ended(self, *, hit: bool) -> Ended:
        """Wait for its end; what hangs is ended."""
        code = self.code_by(time.monotonic() + PATIENCE)
        hung = code is None
        if code is None:
            os.kill(self.child, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        seconds = time.monotonic() - self.begun
        output, errors = map(_read, self._reading)
        return Ended(code, hit, seconds, output, errors, hung)


def _read(handle: int) -> str:
    with os.fdopen(handle, "rb") as file:
        return file.read().decode(errors="replace")


def _be_a_worker(
    place: Place, work: Work, fault: Fault, limit: int | None, prepare: Prepare | None, outputs: tuple[int, int]
) -> NoReturn:
    code = EXCEPTION
    try:
        _settle_in(place, fault, limit, outputs)
        if prepare is not None:
            prepare()
        code = work(place, _teller(place))
    except KeyboardInterrupt:
        # A command says itself that it was interrupted: this came a moment before it began.
        sys.stderr.write("torture: interrupted outside of the command\n")
        code = INTERRUPTED
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _settle_in(place: Place, fault: Fault, limit: int | None, outputs: tuple[int, int]) -> None:
    for name in ("TERM", "HUP"):
        signal.signal(SIGNALS[name], signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setpgrp()  # a Ctrl-C at the terminal is not meant for workers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for target, handle in zip((1, 2), outputs, strict=True):
        os.dup2(handle, target)
    sys.stdout, sys.stderr = (os.fdopen(handle, "w", encoding="utf-8", closefd=False) for handle in (1, 2))
    if fault.kind == READ_ONLY and not place.mounted and os.geteuid() == 0:
        os.chown(place.told, NOBODY, NOBODY)
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    os.chdir(place.folder)
    os.environ["TMPDIR"] = str(place / "tmp")
    tempfile.tempdir = None
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))


def _teller(place: Place) -> Tell:
    handle = os.open(place.told, os.O_WRONLY | os.O_APPEND)

    def tell(what: dict[str, Any]) -> None:
        # What is told is what the outside world has seen, so it is not what the limit is for.
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        try:
            os.write(handle, ("\n" + json.dumps(what) + "\n").encode())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return tell
