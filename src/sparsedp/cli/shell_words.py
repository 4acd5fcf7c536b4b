"""What the library says of its arguments, said of the options: `epsilon=0.5` is `--epsilon 0.5` in a shell.

Only names that are options of the command at hand are touched, and only where they are written as Python writes
arguments: first in a sentence about one, before an equals sign, or alone between backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sparsedp.errors import InvalidInput, SparsedpError

SYNONYMS = {
    "columns": "column",
    "contribution": "max_contributions",
    "domain": "by",
    "k": "top",
    "privacy_unit": "unit",
    "q": "quantile",
    "smoothness": "shape",
    "tables": "with_tables",
    "to": "output",
}
"""Arguments of the library whose options have another name in the commands."""

OTHERS = {"column"}
"""Options of that name are something else than what the library calls so: a column may be named by any of several."""

_ENTRY = re.compile(r"(\w+)\['(.+)'\]")
_CSV = re.compile(r"""csv=\{"(\w+)": "([^"]*)"\}""")
_ARGUMENT = re.compile(r"""(?<![\w.-])([a-z_]+)=("[^"]*"|'[^']*'|\([^()]*\)|(?:[\w/…]|\.(?=\w))*)""")
_CODE = re.compile(r"(`[^`]*`)")
_SAID_TWICE = re.compile(r"(--[a-z-]+) \(\1\)")


def in_shell_words(error: SparsedpError, options: Mapping[str, str]) -> str:
    """The sentence of an error, for somebody who typed these options (by the names of their parameters)."""
    known = {name: option for name, option in options.items() if name not in OTHERS}
    known = {name: options[other] for name, other in SYNONYMS.items() if other in options} | known
    text = str(error)
    if isinstance(error, InvalidInput):
        text = _named(error.argument, known) + text.removeprefix(error.argument)
    text = _CSV.sub(lambda found: f"{known[found[1]]} {found[2]!r}" if found[1] in known else found[0], text)
    # Longer pieces of code are for another language, or a command already.
    parts = [_of_code(part, known) if part.startswith("`") else _of_text(part, known) for part in _CODE.split(text)]
    return _SAID_TWICE.sub(r"\1", "".join(parts))


def _named(argument: str, known: Mapping[str, str]) -> str:
    """The option that is an argument, or an entry of one: `outside['age']` is --outside age, `csv['decimal']` is
    --decimal.
    """
    entry = _ENTRY.fullmatch(argument)
    if entry is not None and entry[1] == "csv":
        return known.get(entry[2], argument)
    if entry is not None and entry[1] in known:
        return f"{known[entry[1]]} {entry[2]}"
    return known.get(argument, argument)


def _of_text(text: str, known: Mapping[str, str]) -> str:
    return _ARGUMENT.sub(lambda found: _option(found, known), text)


def _of_code(code: str, known: Mapping[str, str]) -> str:
    name = code.strip("`")
    if name in known:
        return known[name]
    alone = _ARGUMENT.fullmatch(name)
    return code if alone is None else f"`{_option(alone, known)}`"


def _option(found: re.Match[str], known: Mapping[str, str]) -> str:
    name, value = found[1], found[2]
    if name not in known:
        return found[0]
    if value == "True":
        return known[name]
    if value.startswith("("):
        value = "..".join(part.strip() for part in value[1:-1].split(","))
    return " ".join(filter(None, (known[name], value.strip("\"'"))))
