"""The project file, sparsedp.toml: domain, unit, bound and budget, written down and reviewed once.

One that lies in the current folder applies without being named, so it is trusted with little: it must be the user's
own, what is taken from it is said, and it cannot lead out of its folder. What is typed may be anything.
`sparsedp init` writes one to fill in.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sparsedp.cli._files import STANDARD, check_output, to_write
from sparsedp.cli._label_files import label_file, moved_into
from sparsedp.cli._options import Overwrite
from sparsedp.cli._speaking import show, show_lines
from sparsedp.errors import BadFile, InvalidInput, SparsedpError, UnknownName, shortened

NAME = "sparsedp.toml"

_TEXT, _NUMBER, _YES_OR_NO = "text", "a number", "true or false"
_TEXTS, _TABLE = "a list of texts", "a table of texts"
_WHOLE_OR_AUTO = 'a whole number or "auto"'
_BOUNDS_OR_AUTO = 'two numbers, [low, high], or "auto"'
_TEXT_OR_TABLE, _TEXT_OR_TEXTS = "a text or a table of texts", "a text or a list of texts"

SECTIONS: dict[str, dict[str, str]] = {
    "data": {
        "source": _TEXT,
        "delimiter": _TEXT,
        "decimal": _TEXT,
        "date_format": _TEXT,
        "encoding": _TEXT,
        "multiline": _YES_OR_NO,
        "dataset": _TEXT,
        "unit": _TEXT_OR_TEXTS,
        "each_row_is_a_person": _YES_OR_NO,
        "max_contributions": _WHOLE_OR_AUTO,
        "by": _TEXTS,
        "columns": _TABLE,
        "outside": _TEXT_OR_TABLE,
        "value": _TEXT,
        "clamp": _BOUNDS_OR_AUTO,
        "resolution": _NUMBER,
        "with_counts": _YES_OR_NO,
        "allow_empty": _YES_OR_NO,
    },
    "privacy": {
        "ledger": _TEXT,
        "cut_share": _NUMBER,
        "clamp_share": _NUMBER,
        "epsilon": _NUMBER,
        "delta": _NUMBER,
        "rho": _NUMBER,
        "counts_share": _NUMBER,
        "neighbours": _TEXT,
        "mechanism": _TEXT,
        "workload": _TEXT,
    },
    "output": {"release": _TEXT, "report": _TEXT, "title": _TEXT, "integers": _YES_OR_NO, "sign": _TEXT},
}
_PATHS = {"source": "SOURCE", "ledger": "--ledger", "release": "--output", "report": "--report", "sign": "--sign"}
"""Taken from the project file's folder, wherever the command is run, and never outside it; how each is typed."""

ROOT = 0
"""Whoever administers the machine can do anything anyway."""

_LONGEST_SHOWN = 300
"""Characters of one setting, where it is said what was taken."""

Settings = dict[str, Any]
"""By name, whatever the section: no name is in two of them."""


def project_settings(given: str | None) -> tuple[Path | None, Settings]:
    """The project file and what it says; none where none was named and none lies in the current folder."""
    path = Path(given) if given is not None else Path(NAME)
    if given is not None and path.is_dir():
        path /= NAME
    if not path.is_file():
        if given is not None:
            raise BadFile(f"There is no project file {path}; `sparsedp init` writes one to fill in.")
        return None, {}
    if given is None:
        _refuse_a_strangers(path)
    return path, read_project(path)


def taken_from(project: Settings, settings: Settings, typed: Settings) -> tuple[str, ...]:
    """The names of the settings that the project file decides: in force, and not typed."""
    return tuple(name for name in project if name in settings and typed.get(name) in (None, []))


def taken_in_words(path: Path, settings: Settings, taken: Collection[str]) -> str:
    """What was not typed was decided elsewhere: what, and where."""
    return f"from {path}: {', '.join(f'{name} = {_shown(settings[name])}' for name in taken)}."


def _shown(value: object) -> str:
    """A setting on one line, without control characters."""
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return shortened(text, _LONGEST_SHOWN)


def refuse_outside(path: Path, settings: Settings, taken: Collection[str]) -> None:
    """Refuse a path that the project file decides and that leads out of its folder, by links or otherwise."""
    folder = path.absolute().parent.resolve()
    for name in _PATHS:
        if name in taken and settings[name] != "-":
            for place in _places(name, settings[name]):
                if not _resolved(place).is_relative_to(folder):
                    given = f"{settings[name]!r}, which is outside the folder of that file"
                    remedy = f"name one inside it, or type it on the command line ({_PATHS[name]})"
                    raise InvalidInput(f"{name} in {path}", given, remedy)
    for text in settings["by"] if "by" in taken else ():
        table = label_file(text)
        if table is not None and not _resolved(table[1]).is_relative_to(folder):
            given = f"{text!r}, whose labels are outside the folder of that file"
            raise InvalidInput(f"by in {path}", given, "name a table inside it, or type it on the command line (--by)")


def _places(name: str, value: str) -> Iterator[str]:
    """Where a path leads; of records, every file that it means."""
    from sparsedp.ingest.sources import files_of

    yield value
    if name == "source":
        try:
            yield from files_of(value)[0]
        except SparsedpError:  # there are none, which is said when they are read
            return


def _resolved(place: str) -> Path:
    """Where it is, with all links followed; of those that go round in circles, nowhere."""
    try:
        return Path(place).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # also a name that no file can have
        return Path(os.devnull)


def _refuse_a_strangers(path: Path) -> None:
    """One that somebody else may have put there applies only if it is named."""
    if not hasattr(os, "geteuid"):
        return
    found = (path.lstat(), path.stat())
    owners = {each.st_uid for each in found} - {os.geteuid(), ROOT}
    if owners or found[1].st_mode & stat.S_IWOTH:
        whose = "belongs to another user" if owners else "can be written by every user"
        remedy = f"if you trust what it says, name it: --project {path}; if not, work in another folder"
        raise BadFile(f"{path} {whose}, so it does not apply by itself; {remedy}.")


def read_project(path: Path) -> Settings:
    """What a project file says, every name and type checked."""
    try:
        # Numbers as they are written: 0.1 is one tenth.
        document = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not a text file in UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"{path} is not TOML: {error}.") from None
    except (RecursionError, ValueError):  # of Python's own, which has limits
        raise BadFile(f"{path} has a number of thousands of digits, or lists nested too deep; write it anew.") from None
    settings: Settings = {}
    for section, entries in document.items():
        if section not in SECTIONS:
            raise UnknownName(f"the section of {path}", section, SECTIONS)
        if not isinstance(entries, Mapping):
            raise InvalidInput(f"{section} in {path}", "not a section", f"write it as [{section}]")
        for name, value in entries.items():
            if name not in SECTIONS[section]:
                raise _unknown(path, section, name)
            settings[name] = _checked(f"{section}.{name} in {path}", value, SECTIONS[section][name])
    return {name: _from_folder(path, name, value) for name, value in settings.items()}


def _unknown(path: Path, section: str, name: str) -> InvalidInput:
    for other, names in SECTIONS.items():
        if name in names:
            return InvalidInput(f"{section}.{name} in {path}", "in the wrong section", f"it belongs in [{other}]")
    return UnknownName(f"{section}.{name} in {path}", name, SECTIONS[section])


def _checked(where: str, value: Any, wanted: str) -> Any:
    if not _CHECKS[wanted](value):
        raise InvalidInput(where, f"not {wanted}", f"give {wanted}")
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_whole(value) or isinstance(value, str)  # the text of a number, or "1/3"


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, str) for entry in value)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, str) for entry in value.values())


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))


_CHECKS: dict[str, Callable[[Any], bool]] = {
    _TEXT: _is_text,
    _WHOLE_OR_AUTO: lambda value: _is_whole(value) or value == "auto",
    _NUMBER: _is_number,
    _YES_OR_NO: lambda value: isinstance(value, bool),
    _TEXTS: _is_texts,
    _TABLE: _is_table,
    _BOUNDS_OR_AUTO: lambda value: value == "auto" or _is_pair(value),
    _TEXT_OR_TABLE: lambda value: _is_text(value) or _is_table(value),
    _TEXT_OR_TEXTS: lambda value: _is_text(value) or _is_texts(value),
}


def _from_folder(path: Path, name: str, value: Any) -> Any:
    if path.parent == Path():
        return value
    if name == "by":
        return [moved_into(path.parent, text) for text in value]
    if name not in _PATHS or value == "-":
        return value
    return str(path.parent / value)


# `sparsedp init`: a project file to fill in.

INIT_EXAMPLES = """
sparsedp init
sparsedp init -
"""

TEMPLATE = """\
# What is published of these records, for whom, and at what price: reviewed once, used by `sparsedp release`.
# Options on the command line take precedence. Paths are relative to this file, and stay within its folder.

[data]
source = "visits.parquet"            # CSV or Parquet: a file, a folder, or a pattern such as "visits/*.parquet"
# delimiter = ";"                    # between the fields of a CSV file; left out, a comma
# decimal = ","                      # in its numbers; left out, a point
# date_format = "%d.%m.%Y"           # of its times; left out, as in 2024-03-05T10:00
# encoding = "latin-1"               # of its text; left out, utf-8
# multiline = true                   # its fields may have several lines: weakens the guarantee, which then says so
dataset = "visits"                   # whose budget it is, by its name in the ledger
unit = "patient_id"                  # the column that says whose a record is
# each_row_is_a_person = true        # instead of unit, if no person can have two records
max_contributions = 3                # how many records of one person are counted; others are left out; or "auto"
by = [                               # the table's axes: declared here, never read off the data
  "day:2024-01-01..2024-12-31/1d",   # days, the last one included
  "sex:F,M",
# "county:@counties.csv",            # labels from a public table, and their groups: columns county, state
]
# columns = { day = "visited_on" }   # axes whose column has another name
# outside = { sex = "other" }        # what becomes of records beyond an axis; left out, they are dropped
# value = "amount"                   # publish sums of this column instead of counts,
# clamp = [0, 500]                   # each record's value within these bounds; or "auto",
# resolution = "0.01"                # rounded to this,
# with_counts = true                 # and how many records the sums are of, so that means can be asked for
# allow_empty = true                 # publish even if not one record can be read into the table; else that is refused

[privacy]
ledger = "budget.db"                 # `sparsedp ledger init budget.db --dataset visits --epsilon 2` makes it
epsilon = 0.5                        # or rho = …, or epsilon with delta
# counts_share = 0.25                # of it, for counts beside sums
# clamp_share = 0.05                 # of it, to choose the bounds of values, with clamp = "auto"
# cut_share = 0.02                   # of it, for a look at how much max_contributions leaves out
# neighbours = "add_remove"          # or "replace_one"
# mechanism = "adaptive"             # adaptive:cells, adaptive:ranges, laplace, …

[output]
release = "visits.release.parquet"
# report = "visits.html"
# title = "Visits per day, 2024"
# integers = true                    # publish whole numbers
# sign = "clinic.key"                # sign it: `sparsedp key new clinic` makes the key, and clinic.pub for everybody
"""


def write_template(
    file: Annotated[str, typer.Argument(help="The file to write; - for standard output.")] = NAME,
    overwrite: Overwrite = False,
) -> None:
    """Write a project file with every setting explained; fill it in, and `sparsedp release` is all there is to type."""
    if file == STANDARD:
        show_lines(TEMPLATE.rstrip())
        return
    check_output(file, overwrite=overwrite, binary=False)
    with to_write(file, ".toml", overwrite=overwrite, binary=False) as path:
        path.write_text(TEMPLATE, encoding="utf-8")
    show(f"Wrote {file}; fill it in, and run `sparsedp release --dry-run`.")
