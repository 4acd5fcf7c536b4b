"""The project file, sparsedp.toml: domain, unit, bound and budget, written down and reviewed once.

One that lies in the current folder applies without being named, so it is trusted with little: it must be the user's
own, what is taken from it is said, and it cannot lead out of its folder. What is typed may be anything.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from sparsedp.errors import BadFile, InvalidInput, SparsedpError, UnknownName

NAME = "sparsedp.toml"

TEXT, WHOLE, NUMBER, YES_OR_NO = "text", "a whole number", "a number", "true or false"
TEXTS, TABLE, BOUNDS = "a list of texts", "a table of texts", "two numbers, [low, high]"
TEXT_OR_TABLE, TEXT_OR_TEXTS = "a text or a table of texts", "a text or a list of texts"

SECTIONS: dict[str, dict[str, str]] = {
    "data": {
        "source": TEXT,
        "delimiter": TEXT,
        "decimal": TEXT,
        "date_format": TEXT,
        "encoding": TEXT,
        "multiline": YES_OR_NO,
        "dataset": TEXT,
        "unit": TEXT_OR_TEXTS,
        "each_row_is_a_person": YES_OR_NO,
        "max_contributions": WHOLE,
        "by": TEXTS,
        "columns": TABLE,
        "outside": TEXT_OR_TABLE,
        "value": TEXT,
        "clamp": BOUNDS,
        "resolution": NUMBER,
    },
    "privacy": {
        "ledger": TEXT,
        "epsilon": NUMBER,
        "delta": NUMBER,
        "rho": NUMBER,
        "neighbours": TEXT,
        "mechanism": TEXT,
        "workload": TEXT,
    },
    "output": {"release": TEXT, "report": TEXT, "title": TEXT, "integers": YES_OR_NO, "sign": TEXT},
}
PATHS = {"source": "SOURCE", "ledger": "--ledger", "release": "--output", "report": "--report", "sign": "--sign"}
"""Taken from the project file's folder, wherever the command is run, and never outside it; how each is typed."""

ROOT = 0
"""Whoever administers the machine can do anything anyway."""

LONGEST_SHOWN = 300
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
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def refuse_outside(path: Path, settings: Settings, taken: Collection[str]) -> None:
    """Refuse a path that the project file decides and that leads out of its folder, by links or otherwise."""
    folder = path.absolute().parent.resolve()
    for name in PATHS:
        if name in taken and settings[name] != "-":
            for place in _places(name, settings[name]):
                if not _resolved(place).is_relative_to(folder):
                    given = f"{settings[name]!r}, which is outside the folder of that file"
                    remedy = f"name one inside it, or type it on the command line ({PATHS[name]})"
                    raise InvalidInput(f"{name} in {path}", given, remedy)


def _places(name: str, value: str) -> Iterator[str]:
    """Where a path leads; of records, every file that it means."""
    from sparsedp.ingest.files import files_of

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
    if not CHECKS[wanted](value):
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


CHECKS: dict[str, Callable[[Any], bool]] = {
    TEXT: _is_text,
    WHOLE: _is_whole,
    NUMBER: _is_number,
    YES_OR_NO: lambda value: isinstance(value, bool),
    TEXTS: _is_texts,
    TABLE: _is_table,
    BOUNDS: lambda value: isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)),
    TEXT_OR_TABLE: lambda value: _is_text(value) or _is_table(value),
    TEXT_OR_TEXTS: lambda value: _is_text(value) or _is_texts(value),
}


def _from_folder(path: Path, name: str, value: Any) -> Any:
    if name not in PATHS or value == "-" or path.parent == Path():
        return value
    return str(path.parent / value)
