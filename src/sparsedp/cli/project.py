"""The project file, sparsedp.toml: domain, unit, bound and budget, written down and reviewed once."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sparsedp.errors import BadFile, InvalidInput, UnknownName

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
PATHS = ("source", "ledger", "release", "report", "sign")
"""Taken from the project file's folder, wherever the command is run."""

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
    return path, read_project(path)


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
