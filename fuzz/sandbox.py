"""Inputs in a fork of the warmed-up server, each with limits, in a folder of its own.

What is loaded and compiled is there from the start, so an input costs milliseconds and not the second that Python
needs to begin. A fork keeps only the thread that forks: the server must have no other one, which it checks. A fork
takes many inputs; what one of them finds is found again in a fork of its own, or said not to be.
"""

from __future__ import annotations

import gc
import io
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from fuzz.specimens import Specimens
from fuzz.verdicts import (
    Finding,
    changes,
    raised,
    state_of,
    with_controls,
    with_secrets,
    written_secrets,
)
from sparsedp.errors import SparsedpError

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """Of one input: megabytes beyond what the server has, and seconds of the processor's time: a preview takes some."""

    megabytes: int = 1024
    seconds: int = 20

    @property
    def patience(self) -> float:
        """Seconds on the wall: waiting costs no processor time, and other work may slow this one."""
        return 12.0 * self.seconds


class Doors:
    """What users call. Every call is on record; what is no answer and no refusal is a finding."""

    def __init__(self, work: Path, record: Path) -> None:
        self.work = work
        self._record = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def close(self) -> None:
        """End the record."""
        os.close(self._record)

    def call(self, door: str, function: Callable[[], T], *, may_change: Sequence[str] = ()) -> T | None:
        """Call the library; None if it refuses. `may_change`: beginnings of names of files that a refusal may touch."""
        self._say("entered", door)
        before = state_of(self.work)
        try:
            answer = function()
        except SparsedpError as error:
            self._refused(door, "".join(traceback.format_exception(error)), str(error), before, may_change)
            return None
        except BaseException as error:
            self._found(raised(error))
            self._say("raised", door)
            return None
        self._say("done", door)
        return answer

    def command(self, *arguments: str, given: bytes = b"", may_change: Sequence[str] = ()) -> int | None:
        """A command line, in this process; its exit code, or None where it raised."""
        from sparsedp.cli import main

        name = f"sparsedp {' '.join(word for word in arguments[:2] if word.isalpha())}".strip()
        self._say("entered", f"{name} {list(arguments)!r}")
        before = state_of(self.work)
        output, errors = io.BytesIO(), io.BytesIO()
        streams = sys.stdin, sys.stdout, sys.stderr
        sys.stdin = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8", errors="surrogateescape")
        sys.stdout = io.TextIOWrapper(output, encoding="utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(errors, encoding="utf-8", write_through=True)
        try:
            code = int(main(["--debug", *arguments]))
        except BaseException as error:
            self._found(raised(error))
            self._say("raised", name)
            return None
        finally:
            kept, (sys.stdin, sys.stdout, sys.stderr) = (sys.stdin, sys.stdout, sys.stderr), streams
            for stream in kept:
                stream.detach()
        self._judge_output(name, code, output.getvalue(), errors.getvalue().decode(errors="replace"))
        if code == 0:
            self._say("done", name)
        else:
            words = errors.getvalue().decode(errors="replace")
            # Asked for JSON, a dry run says there why the release would be refused.
            self._refused(name, words, words or output.getvalue().decode(errors="replace"), before, may_change)
        return code

    def _judge_output(self, name: str, code: int, output: bytes, words: str) -> None:
        traces = [line for line in words.splitlines() if line.endswith("raised here:") or line.startswith("  File ")]
        last = next((line for line in reversed(traces) if "/sparsedp/" in line), "").rpartition("/sparsedp/")[2]
        if code == 70 or "Traceback (most recent" in words:
            kind = next((line.split(",")[0] for line in traces if line.endswith("raised here:")), "?")
            self._found(Finding("raw error", f"{kind} at {last}", words[-6000:]))
        if "Warning: " in words:
            self._found(Finding("raw warning", f"{name}", words[-3000:]))
        said = "\n".join(line for line in words.split("\n") if line.startswith("sparsedp:"))
        shows_values = name.split()[1:2] == ["check"]  # to their owner, and says so
        for finding in (
            *with_secrets("what is printed", name, b"" if shows_values else output),
            *with_secrets("an error", name, words.encode()),
            *with_controls(f"{name}, standard error", said),
        ):
            self._found(finding)
        if not output.startswith((b"PAR1", b"\x89PNG")):
            for finding in with_controls(f"{name}, standard output", output.decode(errors="replace")):
                self._found(finding)

    def answer(self, door: str, function: Callable[[], object], *, may_change: Sequence[str] = ()) -> None:
        """Call the library for something that people read: no secret may be in it."""
        answer = str(self.call(door, function, may_change=may_change))
        for finding in with_secrets("an answer", door, answer.encode(errors="replace")):
            self._found(finding)

    def _refused(self, door: str, words: str, sentence: str, before: Any, may_change: Sequence[str]) -> None:
        for finding in with_secrets("an error", door, words.encode(errors="replace")):
            self._found(finding)
        if not sentence.strip():
            self._found(Finding("a refusal without a sentence", door))
        touched = changes(before, state_of(self.work), may_change)
        if touched:
            self._found(
                Finding("a refusal that left traces", f"{door}: {_kinds(touched)}", f"{touched}\n{words[-3000:]}")
            )
        self._say("refused", door)

    def _found(self, finding: Finding) -> None:
        self._write({"finding": [finding.what, finding.where, finding.details]})

    def _say(self, what: str, door: str) -> None:
        self._write({what: door})

    def _write(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry).encode() + b"\n"  # it is there at once: the next moment may be the last
        while line:
            line = line[os.write(self._record, line) :]


def _kinds(touched: Sequence[str]) -> str:
    """Without what differs from run to run."""
    return ", ".join(sorted({words.rpartition(" ")[2] for words in touched}))


class Kind(Protocol):
    """A kind of input: `made` writes one into the current folder, and what it returns goes through the doors."""

    name: str

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """One input."""


@dataclass
class Outcome:
    """What came of one input."""

    kind: str
    number: int
    seconds: float = 0.0
    opened: bool = False
    refused: bool = False
    findings: list[Finding] = field(default_factory=list)


def single_threaded() -> bool:
    """Whether a fork of this process keeps all of it."""
    tasks = Path("/proc/self/task")
    return not tasks.exists() or len(list(tasks.iterdir())) == 1


def run_batch(
    jobs: Sequence[tuple[Kind, int]], seed: int, specimens: Specimens, limits: Limits, folder: Path
) -> Iterator[tuple[Outcome, Path]]:
    """Run the inputs in one child after the other: what came of each, and its folder until the next is asked for.

    The pages of a fork are copied when they are first used, which takes longer than most inputs do. So a child takes
    inputs until it has had all, dies, or has grown. Whatever shows a finding behind others is run again in a child of
    its own, and what it shows there counts; what it shows only behind others is said to be that.
    """
    waiting = list(jobs)
    while waiting:
        done = 0
        for outcome, place in _in_one_child(waiting, seed, specimens, limits, folder):
            if outcome.findings and done:
                alone, left = next(_in_one_child([waiting[done]], seed, specimens, limits, folder / "alone"))
                if alone.findings:
                    outcome, place = alone, left
                else:
                    outcome.findings = [_behind(finding, waiting[:done], seed) for finding in outcome.findings]
            done += 1
            yield outcome, place
        waiting = waiting[done:]


def _behind(finding: Finding, before: Sequence[tuple[Kind, int]], seed: int) -> Finding:
    """A finding that a fresh child does not show: those before it left something behind in the process."""
    kind, first = before[0]
    again = f"python -m fuzz --seed {seed} --kind {kind.name} --first {first} --inputs {len(before) + 1} --processes 1"
    words = f"A child of its own does not show it; one that begins with {first} does: {again}\n{finding.details}"
    return Finding(f"{finding.what} (only after other inputs)", finding.where, words)


def _in_one_child(
    jobs: Sequence[tuple[Kind, int]], seed: int, specimens: Specimens, limits: Limits, folder: Path
) -> Iterator[tuple[Outcome, Path]]:
    """Outcomes up to the first input that the child does not survive, each with the folder that it left."""
    shutil.rmtree(folder, ignore_errors=True)
    places = [folder / str(place) for place in range(len(jobs))]
    for place in places:
        for name in ("work", "tmp"):
            (place / name).mkdir(parents=True)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _inside(jobs, seed, specimens, limits, places, writer)
    os.close(writer)
    try:
        for (kind, number), place in zip(jobs, places, strict=True):
            begun = time.monotonic()
            said, status = _heard(child, reader, limits.patience)
            outcome = Outcome(kind.name, number, time.monotonic() - begun)
            _judge(outcome, place, status)
            yield outcome, place
            shutil.rmtree(place, ignore_errors=True)
            if said != _DONE:
                return
    finally:
        os.close(reader)
        with suppress(ChildProcessError, ProcessLookupError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


_DONE, _DONE_AND_GROWN = b".", b"!"
"""What a child says of an input: that it is done, and perhaps that another child is to take the next."""


def _heard(child: int, reader: int, patience: float) -> tuple[bytes, int | None]:
    """What the child says of an input, and 0; or how it ended; or None if it had to be stopped."""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    if not poll.poll(1000 * patience):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return b"", None
    if said := os.read(reader, 1):
        return said, 0
    _, status = os.waitpid(child, 0)
    return b"", status or 99 << 8  # it ended without a word


def _judge(outcome: Outcome, folder: Path, status: int | None) -> None:
    """Read the record of the child and look at what it left."""
    record = folder / "record.jsonl"
    entries = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    doors = [next(iter(entry.items())) for entry in entries]
    outcome.findings += [Finding(*found) for name, found in doors if name == "finding"]
    met = [(name, found) for name, found in doors if name in ("done", "refused", "raised")]
    outcome.opened, outcome.refused = met[:1] != [] and met[0][0] == "done", met[:1] != [] and met[0][0] == "refused"
    within = next((str(found) for name, found in reversed(doors) if name == "entered"), "making the input")
    where = within.partition(" [")[0]
    out_of_time = status is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU)
    if out_of_time:
        outcome.findings.append(Finding("hang", where, within))
    elif status is not None and os.WIFSIGNALED(status):
        outcome.findings.append(Finding("death", f"signal {os.WTERMSIG(status)} in {where}", within))
    elif status:
        words = _tail(folder / "standard-error")
        outcome.findings.append(Finding("no end", f"exit code {os.WEXITSTATUS(status or 0)} in {where}", words))
    for name in ("standard-output", "standard-error"):
        outcome.findings += with_secrets("what is printed", where, (folder / name).read_bytes())
    if printed := _tail(folder / "standard-output"):
        outcome.findings.append(Finding("the library prints", where, printed))
    if not out_of_time and (left := [path.name for path in (folder / "tmp").iterdir()]):
        outcome.findings.append(Finding("left in the temporary folder", where, str(left)))
    made = folder / "made.json"
    if made.exists():
        outcome.findings += written_secrets(folder / "work", json.loads(made.read_text()))


def _tail(path: Path) -> str:
    return path.read_bytes()[-3000:].decode(errors="backslashreplace") if path.exists() else ""


def _inside(
    jobs: Sequence[tuple[Kind, int]],
    seed: int,
    specimens: Specimens,
    limits: Limits,
    places: Sequence[Path],
    writer: int,
) -> None:
    """The child's whole life."""
    code = 99
    try:
        most = _limit_memory(limits)
        fresh = _size()
        gc.set_threshold(100_000)  # the collector runs after every input
        for (kind, number), folder in zip(jobs, places, strict=True):
            _go_quiet(folder)
            draw = random.Random(f"{seed}/{kind.name}/{number}")  # inputs, not noise
            _repeatable_noise(draw.getrandbits(64))
            os.chdir(folder / "work")
            sys.setrecursionlimit(20_000)
            sys.set_int_max_str_digits(0)
            run = kind.made(draw, specimens)
            sys.setrecursionlimit(1000)
            sys.set_int_max_str_digits(4300)
            (folder / "made.json").write_text(json.dumps(state_of(folder / "work")))
            _limit(limits, most)
            doors = Doors(folder / "work", folder / "record.jsonl")
            run(doors)
            doors.close()
            del run, doors
            gc.collect()
            gc.freeze()  # what outlives an input is not looked through after every other
            sys.stderr.flush()
            data, files = _size()
            grown = data - fresh[0] > (limits.megabytes << 20) // 8 or files - fresh[1] > _MOST_FILES
            os.write(writer, _DONE_AND_GROWN if grown else _DONE)
            if grown:
                break
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


_MOST_FILES = 16
"""Open files that inputs may leave to the next ones; of the memory that an input may have it is an eighth."""


def _size() -> tuple[int, int]:
    """Bytes of data that this process has, and its open files."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * resource.getpagesize(), len(os.listdir("/proc/self/fd"))


def _go_quiet(folder: Path) -> None:
    """Whatever any library prints goes to files; temporary files to a folder that must be empty afterwards."""
    for number, name in ((0, os.devnull), (1, "standard-output"), (2, "standard-error")):
        opened = os.open(os.devnull if number == 0 else folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    tempfile.tempdir = str(folder / "tmp")
    os.environ["TMPDIR"] = str(folder / "tmp")
    warnings.simplefilter("always")


def _limit_memory(limits: Limits) -> dict[int, int]:
    """What each limit of memory is to be: so much beyond what there is now. Making an input is not limited."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    room = limits.megabytes << 20
    wanted = ((resource.RLIMIT_DATA, "VmData", 1), (resource.RLIMIT_AS, "VmSize", 4))
    return {what: (int(status[name].split()[0]) << 10) + times * room for what, name, times in wanted}


def _limit(limits: Limits, most: dict[int, int]) -> None:
    for what, bytes_ in most.items():
        resource.setrlimit(what, (bytes_, bytes_))
    until = int(time.process_time()) + 1 + limits.seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _repeatable_noise(number: int) -> None:
    """The same input, the same noise: for replays, and here alone."""
    from sparsedp.noise.source import KEY_BYTES, SystemSource

    keys = random.Random(number)
    setattr(SystemSource, "key", lambda _: keys.randbytes(KEY_BYTES))  # noqa: B010  # in this child alone
