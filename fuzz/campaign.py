"""Many inputs on all cores: a warmed-up server a core, which forks a child for every hundred inputs."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from fuzz.kinds import KINDS
from fuzz.sandbox import Limits, Outcome, run_batch, single_threaded
from fuzz.specimens import Specimens
from fuzz.verdicts import Finding

Job = tuple[str, int]
"""A kind and a number."""

BATCH = 100
"""Inputs of one kind that a child takes, if none of them ends it or makes it grow."""

KEPT = 3
"""Inputs that are kept for each finding."""


@dataclass
class Tally:
    """What came of the inputs of one kind."""

    inputs: int = 0
    opened: int = 0
    refused: int = 0
    findings: int = 0
    seconds: float = 0.0


@dataclass
class Campaign:
    """What is run, and what was found: by signature, the inputs that showed it."""

    seed: int
    limits: Limits
    folder: Path
    tallies: dict[str, Tally] = field(default_factory=dict)
    found: dict[str, list[tuple[Job, Finding]]] = field(default_factory=dict)
    heard: set[Job] = field(default_factory=set)

    def take(self, outcome: Outcome) -> list[Finding]:
        """Enter an outcome; those of its findings that are new."""
        tally = self.tallies.setdefault(outcome.kind, Tally())
        tally.inputs += 1
        self.heard.add((outcome.kind, outcome.number))
        tally.opened += outcome.opened
        tally.refused += outcome.refused
        tally.findings += bool(outcome.findings)
        tally.seconds += outcome.seconds
        new = []
        for finding in outcome.findings:
            shown = self.found.setdefault(finding.signature, [])
            if not shown:
                new.append(finding)
            shown.append(((outcome.kind, outcome.number), finding))
        return new


def run(
    campaign: Campaign,
    batches: Sequence[Sequence[Job]],
    specimens: Specimens,
    processes: int,
    told: Callable[[Outcome, list[Finding]], None],
) -> None:
    """Run all batches; `told` hears of every outcome, and of the findings in it that are new."""
    campaign.folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="sparsedp-fuzz-", dir=_in_memory()))
    sys.stdout.flush()
    sys.stderr.flush()
    gc.collect()
    gc.freeze()  # what is loaded now is left alone, and so stays shared with the children
    pipes: dict[int, bytes] = {}
    servers: list[int] = []
    for place in range(processes):
        reader, writer = os.pipe()
        server = os.fork()
        if server == 0:
            for one in (reader, *pipes):  # whatever an input does with open files, it reads no outcomes of others
                os.close(one)
            _serve(campaign, batches[place::processes], specimens, scratch / f"server-{place}", writer)
        os.close(writer)
        servers.append(server)
        pipes[reader] = b""
    try:
        for outcome in _heard(pipes):
            told(outcome, campaign.take(outcome))
    except KeyboardInterrupt:
        for server in servers:
            os.killpg(server, signal.SIGKILL)
            os.waitpid(server, 0)
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    for place, server in enumerate(servers):
        _, status = os.waitpid(server, 0)
        if status:
            raise SystemExit(f"fuzz: server {place} ended with status {status}; its last input is in {scratch}.")
    shutil.rmtree(scratch, ignore_errors=True)
    jobs = [job for batch in batches for job in batch]
    missing = sorted(set(jobs) - campaign.heard)
    if missing or sum(tally.inputs for tally in campaign.tallies.values()) != len(jobs):
        named = ", ".join(f"{kind} {number}" for kind, number in missing[:100])
        raise SystemExit(f"fuzz: {len(missing)} of {len(jobs)} inputs did not come back once each: {named}.")


def _in_memory() -> str | None:
    """A folder in memory, if there is one with room: the databases of inputs need not outlive a loss of power."""
    memory = "/dev/shm"  # noqa: S108
    return memory if os.path.isdir(memory) and shutil.disk_usage(memory).free > 1 << 30 else None


def _heard(pipes: dict[int, bytes]) -> Iterator[Outcome]:
    """Outcomes as they come, one a line."""
    with DefaultSelector() as selector:
        for reader in pipes:
            selector.register(reader, EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                content = os.read(key.fd, 1 << 16)
                if not content:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    continue
                *lines, pipes[key.fd] = (pipes[key.fd] + content).split(b"\n")
                for line in lines:
                    entry: dict[str, Any] = json.loads(line)
                    yield Outcome(**{**entry, "findings": [Finding(**one) for one in entry["findings"]]})


def _serve(
    campaign: Campaign, batches: Sequence[Sequence[Job]], specimens: Specimens, folder: Path, writer: int
) -> None:
    """A server's whole life: no thread but this one, and a child for every few inputs."""
    code = 1
    os.setpgid(0, 0)  # Ctrl-C is for the command, which ends its servers and their children
    try:
        if not single_threaded():
            raise RuntimeError("a fork keeps one thread; this process has several")
        seen: dict[str, int] = {}
        for jobs in batches:
            batch = [(KINDS[kind], number) for kind, number in jobs]
            for outcome, left in run_batch(batch, campaign.seed, specimens, campaign.limits, folder):
                for finding in outcome.findings:
                    seen[finding.signature] = seen.get(finding.signature, 0) + 1
                if any(seen[finding.signature] <= KEPT for finding in outcome.findings):
                    _keep(campaign, outcome, left)
                line = json.dumps(asdict(outcome)).encode() + b"\n"
                while line:
                    line = line[os.write(writer, line) :]
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _keep(campaign: Campaign, outcome: Outcome, folder: Path) -> None:
    """The input with what it showed; what it was before it was run is made again by the same seed and number."""
    kept = campaign.folder / f"{outcome.kind}-{outcome.number}"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(
        folder, kept, symlinks=True, ignore_dangling_symlinks=True, ignore=lambda _, names: {"pipe"} & set(names)
    )
    words = [f"{finding.signature}\n{finding.details}\n" for finding in outcome.findings]
    (kept / "findings.txt").write_text(
        f"{replay(campaign, (outcome.kind, outcome.number))}\n\n" + "\n".join(words), errors="replace"
    )


def replay(campaign: Campaign, job: Job) -> str:
    """How to see it again."""
    return f"python -m fuzz --seed {campaign.seed} --kind {job[0]} --only {job[1]}"


def shares(inputs: int, kinds: Sequence[str], first: int = 0) -> list[list[Job]]:
    """The jobs in batches: so many inputs in all, each kind as often as the others, in turn."""
    each = [inputs // len(kinds) + (place < inputs % len(kinds)) for place in range(len(kinds))]
    rounds = range(0, max(each, default=0), BATCH)
    return [
        [(kind, first + number) for number in range(start, min(start + BATCH, many))]
        for start in rounds
        for kind, many in zip(kinds, each, strict=True)
        if start < many
    ]


def rate(begun: float, done: int) -> float:
    """Inputs a second since then."""
    return done / max(time.monotonic() - begun, 1e-9)
