"""Command lines and project files.

The grammar is that of the program itself: its commands and options are asked from it, so that new ones are tried too.
Each option has values that would do, by its name; beside them, those that nobody should type.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sparsedp as sdp
from fuzz import hostile
from fuzz.sandbox import Doors
from fuzz.specimens import BY, Specimens, put
from fuzz.verdicts import SECRET_NUMBER, SECRET_TEXT

NOT_RUN = {("datasets", "fetch"), ("datasets", "export"), ("audit",)}
"""One goes to the network, one writes a third of a million public records, one computes for minutes by design."""

PROJECT = """\
[data]
source = "visits.parquet"
dataset = "visits"
unit = "patient_id"
max_contributions = 3
by = ["day:2024-01-01..2024-01-14/1d", "sex:F,M"]

[privacy]
ledger = "budget.db"
epsilon = 1e-6

[output]
release = "project.release.parquet"
"""


def furnish(specimens: Specimens, draw: random.Random) -> None:
    """A folder with everything that commands work on, and places that cannot be written to."""
    put(specimens.ledger)
    Path("visits.csv").write_bytes(specimens.csv)
    Path("visits.parquet").write_bytes(specimens.parquet)
    Path("visits.release.parquet").write_bytes(draw.choice(list(specimens.releases.values())))
    Path("other.release.parquet").write_bytes(specimens.releases["laplace"])
    Path("visits.synopsis").write_bytes(draw.choice(list(specimens.synopses.values())))
    Path("visits.stream").write_bytes(draw.choice(list(specimens.streams.values())))
    Path("public.csv").write_text("sex,people\nF,100\nM,90\n")
    Path("folder").mkdir()
    os.symlink("nowhere", "dangling")
    os.symlink("loop", "loop")
    os.mkfifo("pipe")
    if draw.random() < 0.3:
        Path("sparsedp.toml").write_text(PROJECT)


FILES = (
    *("visits.csv", "visits.parquet", "visits.release.parquet", "visits.synopsis", "visits.stream", "budget.db"),
    *("sparsedp.toml", "folder", "dangling", "loop", "nowhere.parquet", "visits.csv/below", "/dev/null", "/dev/full"),
    *("/proc/nowhere/x.parquet", "folder/../visits.csv", "*.csv", "x" * 300, "-", "", ".", "public.csv"),
)
OUTPUTS = (
    *("out.release.parquet", "out.csv", "out.html", "out.png", "out.stream", "out.db", "-", "visits.csv", "budget.db"),
    *(
        "folder",
        "folder/out.parquet",
        "dangling",
        "nowhere/out.parquet",
        "/dev/full",
        "/dev/null",
        "/proc/nowhere/x.parquet",
    ),
    *("visits.release.parquet", "x" * 300, "", "out", "visits.csv/below.parquet", "loop", "ünï çödé.parquet"),
)
NUMBERS = (
    *hostile.FRACTIONS,
    "0.5",
    "1",
    "0",
    "-1",
    "nan",
    "inf",
    "1e300000000",
    "1e-9",
    "0.999",
    "1/3",
    "10",
    "100000",
)
AXES = (
    *BY,
    *("sex:F,M,other", "age:0..100/5", "age:[0,18,65,120]", "age:0..99", "hour:0..23", "month:2024-01..2024-12/1mo"),
    *(
        "at:2024-01-01..2024-01-02/1h@Europe/Berlin",
        "at:2024-01-01..2024-01-02/1h@Mars",
        "day:2024-01-14..2024-01-01/1d",
    ),
    *(
        "age:0..1e300000000",
        "age:0..100/0",
        "age:0..100/1e-300000000",
        "age:[5,4]",
        "age:[]",
        "sex:",
        ":",
        "age",
        "a:b:c",
    ),
    *(
        "sex:F,F",
        "day:0001-01-01..9999-12-31/1s",
        "day:2024-01-01..2024-01-14/0d",
        "age:0..100/-5",
        "age:nan..inf",
        "count:0..3",
    ),
    *(
        "day:2024-01-01..2024-01-14/1e9d",
        "age:0..99999999999999999999",
        'sex:"F',
        "x:" + ",".join(map(str, range(3000))),
    ),
)
BY_NAME: dict[str, tuple[str, ...]] = {
    "source": FILES,
    "file": FILES,
    "other": FILES,
    "truth": FILES,
    "ledger": ("budget.db", "budget.db", "budget.db", *FILES),
    "project": ("sparsedp.toml", *FILES),
    "output": OUTPUTS,
    "report": ("out.html", *OUTPUTS),
    "by": AXES,
    "unit": ("patient_id", "patient_id", "sex", "age", "event", "person", "nobody", ""),
    "epsilon": NUMBERS,
    "rho": NUMBERS,
    "delta": ("1e-6", *NUMBERS),
    "level": ("0.95", *NUMBERS),
    "quantile": ("0.5", *NUMBERS),
    "totals": ("0.5", *NUMBERS),
    "resolution": ("0.01", *NUMBERS),
    "counts_share": ("0.25", *NUMBERS),
    "total": ("50000", "10000..50000", "..", "1..", "-5", "1e5", "9" * 30, "9" * 5000),
    "clamp": ("0..500", "500..0", "0..", "..", "0..1e300000000", "nan..1", "0.001..1", "-5..5", "x"),
    "dataset": ("visits", "visits", "census", "trials", "no such", ""),
    "mechanism": (
        *sdp.MECHANISMS,
        "adaptive:cells",
        "adaptive:",
        "no:such",
    ),
    "workload": ("any", "cells", "ranges", "none"),
    "value": ("amount", "age", "sex", "nobody"),
    "outside": ("sex=other", "age=clamp", "sex=", "=", "nobody=drop", "day=clamp"),
    "column": ("day=day", "sex=sex", "sex=nobody", "=", "age=amount"),
    "format": ("parquet", "csv", "json", ""),
    "max_contributions": ("3", "1", "0", "-1", "1e3", "9" * 12, "9" * 30, "9" * 5000, "3.5"),
    "contribution": ("3", "0", "-1", "9" * 30),
    "horizon": ("64", "1", "0", "-5", "268435456", "9" * 30),
    "sparsity": ("2", "0", "-1", "9" * 20),
    "top": ("3", "0", "-1", "9" * 20),
    "spend": ("1", "2", "3", "4", "0", "-1", "9" * 30),
    "fill": ("0", "5", "-1", "9" * 30),
    "kind": ("adaptive", "difference", "compressive", "no such"),
    "neighbours": ("add_remove", "replace_one", "none"),
    "composition": ("basic", "zcdp", "none"),
    "recovery": ("direct", "layers", "no such", ""),
    "start": ("2026-01-01", "2026-13-01", "0001-01-01", "9999-12-31T23:59", "now", ""),
    "every": ("1h", "1d", "1mo", "0h", "-1d", "1e9d", "9999999d", "x", ""),
    "box": (
        "day=2024-01-03..2024-01-05",
        "sex=F",
        "sex=F,M",
        "age=18..65",
        "age=",
        "=",
        "nobody=1",
        "cell=0..3",
        "day=2024-99",
        "cell=0..99999999999999999999",
        'sex="F',
        "tick=0..3",
        "time=2026-01-01..2026-01-01T03:00",
        "age=nan..inf",
        "age=5..1",
    ),
    "axis": ("day", "sex", "age", "month", "nobody"),
    "marginal": ("sex", "day", "day,sex", "sex,sex", "nobody", ","),
    "with_tables": (
        "people=public.csv",
        "people=visits.parquet",
        "release=public.csv",
        "people=nowhere.csv",
        "=",
        "x=folder",
    ),
    "shape": ("flat", "smooth", "steps", "spiky", "unknown", "none"),
    "delimiter": (",", ";", "\t", "", ",,", "é", '"', "\n"),
    "decimal": (".", ",", "", "x", "12"),
    "date_format": ("%Y-%m-%d", "%d.%m.%Y", "%", "%q", "", "%s"),
    "encoding": ("utf-8", "latin-1", "utf-16", "cp1252", "no such", "rot13", "hex"),
    "title": ("Visits", "<script>alert(1)</script>", "\x1b[2K", ""),
    "name": ("flights", "nettrace", "no such"),
    "sql": (
        *(
            "select sum(count) from release",
            "select * from release",
            "select * from read_csv('visits.csv')",
            "-",
            "select",
        ),
        *(
            "copy release to 'x.csv'",
            "attach 'budget.db'",
            "select 1; select 2",
            "select * from people",
            "drop table release",
        ),
        *("select cast('\x1b[2K' as varchar)", "install httpfs", "set memory_limit = '1TB'", "select 1/0, 'x'::int"),
    ),
}
GIVEN = (
    *(
        b"",
        b"1\n2\n3\n",
        b"%d\n" % SECRET_NUMBER,
        b"time,count\n2026-01-01T08:00,%d\n" % SECRET_NUMBER,
        b"x\n",
        b"\xff\n",
    ),
    *(
        b'{"time": "2026-01-01T08:00", "count": %d}\n' % SECRET_NUMBER,
        b'{"count": %d' % SECRET_NUMBER,
        b"[1]\n",
        b"{}\n",
    ),
    *(
        b"{" * 3000,
        b'{"a":' * 3000,
        b"select * from release",
        b"9" * 400,
        b"-5\n",
        b"\x00",
        b"1\n\n2\n",
        b"8,%d\n" % SECRET_NUMBER,
    ),
    *(
        b'{"count": "%s"}\n' % SECRET_TEXT.encode(),
        b"2026-01-01,%s\n" % SECRET_TEXT.encode(),
        b"9" * 5000 + b"\n",
        b"1e5\n",
    ),
)


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that the program has, with the words that lead to it."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))
    if not hasattr(command, "commands") and path not in NOT_RUN:
        yield path, command


def hostile_word(draw: random.Random) -> str:
    """What no shell could pass is left out: a null byte."""
    word = draw.choice((draw.choice(hostile.TEXTS), hostile.text_of(draw), str(draw.choice(hostile.NUMBERS[:-20]))))
    return word.replace("\0", "")


def _word(draw: random.Random, path: tuple[str, ...], name: str, odd: float) -> str:
    typed, known = TYPED.get((path[0], name)) or TYPED.get((" ".join(path), name)), BY_NAME.get(name)
    if known is None or draw.random() < odd:
        return hostile_word(draw)
    # What a person would type: most of them, so that commands come far enough to fail late.
    return (typed or known[0]) if draw.random() < 0.7 else draw.choice(known)


TYPED: dict[tuple[str, str], str] = {
    **{(command, "file"): "visits.release.parquet" for command in ("query", "report", "plot", "compare", "inspect")},
    ("compare", "other"): "other.release.parquet",
    ("ledger show", "file"): "budget.db",
    ("ledger recover", "file"): "budget.db",
    ("ledger init", "file"): "out.db",
    **{(f"stream {command}", "file"): "visits.stream" for command in ("observe", "publish", "status")},
    ("stream init", "file"): "out.stream",
    ("stream init", "unit"): "event",
    ("init", "file"): "out.toml",
    ("report", "output"): "out.html",
    ("plot", "output"): "out.png",
    ("preview", "output"): "out.png",
}
"""What is usual for a command, where it is not for others."""


def command_line(draw: random.Random, path: tuple[str, ...], command: Any) -> list[str]:
    """Words for one command: its arguments, those options that it needs, and some of the others."""
    words = [*path]
    odd = draw.choice((0.0, 0.05, 0.3))
    share = draw.choice((0.0, 0.15, 0.4))
    wanted = set(USUAL.get(path, ()))
    aside: set[str] = set()
    if path == ("query",) and draw.random() < 0.9:
        asked = draw.choice(QUESTIONS)
        wanted, aside = {asked}, set(QUESTIONS) - {asked}
    for one in command.params:
        if one.name in aside:
            continue
        if one.param_type_name == "argument":
            if one.required or one.name in wanted or draw.random() < 0.8:
                words.append(_word(draw, path, one.name, odd))
            continue
        if not (one.required or one.name in wanted) and draw.random() > share:
            continue
        option = draw.choice(one.opts)
        for _ in range(draw.choice((1, 1, 2)) if one.multiple else 1):
            words += [option] if one.is_flag else [option, _word(draw, path, _alias(path, one.name), odd)]
    if draw.random() < 0.1:
        words.insert(
            draw.randint(0, len(words)), draw.choice(("--json", "--no-such", hostile_word(draw), "--help", "--version"))
        )
    if draw.random() < 0.05:
        draw.shuffle(words)
    return words


USUAL: dict[tuple[str, ...], tuple[str, ...]] = {
    ("release",): ("by", "unit", "epsilon", "ledger", "dataset", "output"),
    ("preview",): ("by", "epsilon"),
    ("ledger", "init"): ("epsilon",),
    ("stream", "init"): ("ledger", "dataset", "start", "every"),
}
"""Options that a command is hardly ever typed without."""


QUESTIONS = ("sql", "sql", "total", "box", "mean", "quantile", "median", "cdf", "top", "marginal")
"""Of which a query has one."""


def _alias(path: tuple[str, ...], name: str) -> str:
    """Names that the program uses inside, as they are typed."""
    return {"form": "format", "contribution": "max_contributions" if path == ("preview",) else "contribution"}.get(
        name, name
    )


class CommandLines:
    """`sparsedp` with any words, in a folder with files of every kind."""

    name = "command"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """One command line, and what it is given on standard input."""
        import typer

        from sparsedp.cli._app import app

        furnish(specimens, draw)
        path, command = draw.choice(list(commands(typer.main.get_command(app))))
        words = command_line(draw, path, command)
        given = draw.choice(GIVEN) if draw.random() < 0.7 else specimens.csv
        Path("../command.txt").write_text(f"{words!r}\n{given[:2000]!r}\n")
        # The file of a stream says that it is in use while it is.
        return lambda doors: (doors.command(*words, given=given, may_change=("visits.stream",)), None)[1]


class ProjectFiles:
    """`sparsedp release`, `inspect` and `ledger show` with a project file that somebody else has written."""

    name = "project"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """A changed project file."""
        furnish(specimens, draw)
        Path("sparsedp.toml").write_bytes(mutated_project(draw))
        words = draw.choice(
            (
                ("release",),
                ("release",),
                ("release", "--dry-run"),
                ("release", "--dry-run", "--json"),
                ("ledger", "show"),
                ("inspect", "sparsedp.toml"),
                ("inspect", "sparsedp.toml", "--json"),
                ("release", "--project", "sparsedp.toml"),
            )
        )
        return lambda doors: (doors.command(*words, may_change=("visits.stream",)), None)[1]


def mutated_project(draw: random.Random) -> bytes:
    """A project file with other values, names, types and nesting, or damaged text."""
    import tomllib

    from sparsedp.cli._project import SECTIONS

    document: dict[str, Any] = tomllib.loads(PROJECT)
    for section, settings in SECTIONS.items():
        for name, wanted in settings.items():
            if draw.random() < 0.05:
                document.setdefault(section, {})[name] = _of_type(draw, wanted, BY_NAME.get(name, hostile.TEXTS))
    if draw.random() < 0.4:
        document = hostile.mutated_tree(draw, document, {name: list(known) for name, known in BY_NAME.items()})
    text = _toml(document) if isinstance(document, dict) else repr(document)
    content = text.encode(errors="surrogatepass") if draw.random() < 0.9 else text.encode("utf-16", errors="replace")
    return hostile.damaged(draw, content) if draw.random() < 0.25 else content


def _of_type(draw: random.Random, wanted: str, known: Sequence[str]) -> Any:
    """Something hostile of the type that the setting has: it comes further than one of another type."""
    word = draw.choice((*known, draw.choice(hostile.TEXTS)))
    if "true" in wanted:
        return True
    if "whole" in wanted:
        return draw.choice([number for number in hostile.NUMBERS if isinstance(number, int)])
    if "two numbers" in wanted:
        return [draw.choice((0, -5, "nan", word)), draw.choice((500, "1e300000000", -7))]
    if "list" in wanted:
        return [word, *draw.sample(known, min(len(known), draw.choice((0, 1))))]
    if "table" in wanted and draw.random() < 0.8:
        return {draw.choice(("sex", "day", draw.choice(hostile.TEXTS))): word}
    return word


def _toml(document: dict[str, Any]) -> str:
    lines = [f"{_quoted(name)} = {_entry(entry)}" for name, entry in document.items() if not isinstance(entry, dict)]
    for name, entry in document.items():
        if isinstance(entry, dict):
            lines.append(f"[{_quoted(name)}]")
            lines += [f"{_quoted(inner)} = {_entry(value)}" for inner, value in entry.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = "".join(
        sign if 31 < ord(sign) != 127 and sign not in '"\\' else f"\\u{ord(sign):04x}" for sign in str(text)
    )
    return f'"{escaped}"'


def _entry(entry: Any) -> str:
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if isinstance(entry, int | float):
        return str(entry)
    if isinstance(entry, dict):
        return "{" + ", ".join(f"{_quoted(name)} = {_entry(value)}" for name, value in entry.items()) + "}"
    if isinstance(entry, list | tuple):
        return "[" + ", ".join(map(_entry, entry)) + "]"
    return '""' if entry is None else _quoted(str(entry))
