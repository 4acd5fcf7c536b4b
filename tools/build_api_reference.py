"""The reference of every public name, as Markdown made from signatures and docstrings: pages of the site (`make docs`).

By itself, `python tools/build_api_reference.py --out folder` writes the pages. Built, not committed.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import sparsedp

TOPICS: Mapping[str, tuple[str, ...]] = {
    "Publishing": ("publish", "release", "check", "Check", "count", "Counts", "preview", "Preview"),
    "Cells": ("Domain", "Calendar", "Bins", "Integers", "Categories", "Constraints"),
    "Releases": ("Release", "Interval", "Cut", "open_release", "compare", "Synopsis", "open_synopsis", "new_key"),
    "Budgets": ("Budget", "Ledger", "LedgerFile", "open_ledger"),
    "Mechanisms": (
        "Adaptive",
        "Laplace",
        "Hierarchical",
        "Privelet",
        "Compressive",
        "SelectionConstants",
        "MECHANISMS",
    ),
    "Streams": (
        "open_stream",
        "ContinualAdaptive",
        "ContinualDifference",
        "ContinualCompressive",
        "ContinualCounter",
        "Stream",
    ),
    "Audits": ("audit", "Audit"),
    "Errors": ("SparsedpError", "InvalidInput", "UnknownName", "BadFile", "NotSigned", "BudgetExceeded", "PrivateSide"),
}
"""A page for each, and what is on it."""

NOT_CALLED = {
    "Counts",
    "Preview",
    "Release",
    "Interval",
    "Synopsis",
    "LedgerFile",
    "Stream",
    "Audit",
    *TOPICS["Errors"],
}
"""Classes whose objects come from other calls: how they are made is nobody's business."""

ARGUMENT = re.compile(r"^`[^`\n]+`(?:,\s`[^`\n]+`)*: ", re.MULTILINE)
"""Where a docstring begins to explain an argument: a line such as "`epsilon`: the privacy budget"."""

EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
PROOF = re.compile(r"`((?:\w+/)+\w+)\.md`")
WIDEST = 100


def main() -> None:
    """Write the pages where the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/api"), help="the folder, %(default)s if not given")
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text)
    print(f"The API reference is in {folder}.")


def pages() -> dict[str, str]:
    """Every page by its file's name; links to proofs are `src/sparsedp/….md`, from the top of the repository."""
    return {f"{topic.lower()}.md": page_of(topic) for topic in TOPICS}


def page_of(topic: str) -> str:
    """The names of one topic, and what they inherit."""
    named = [(name, getattr(sparsedp, name)) for name in TOPICS[topic]]
    classes = [each for _, each in named if isinstance(each, type)]
    bases = dict.fromkeys(base for cls in classes for base in bases_of(cls) if base not in classes)
    parts = [part for name, each in named for part in parts_of(name, each)]
    parts += [part for base in bases for part in parts_of(base.__name__, base, called=False)]
    return "\n\n".join([f"# {topic}", "`import sparsedp as sdp`", *parts]) + "\n"


def parts_of(name: str, each: Any, *, called: bool = True) -> Iterator[str]:
    """The chapter of one name."""
    public = name in sparsedp.__all__
    yield f"## {name}"
    if isinstance(each, type):
        if called and name not in NOT_CALLED:
            yield code(f"sdp.{name}", inspect.signature(each), inspect.getmodule(each))
        inherited = [f"[{base.__name__}](#{base.__name__.lower()})" for base in bases_of(each)]
        yield from [f"Inherits from {', '.join(inherited)}."] if inherited else []
        yield markdown(own_docstring(each))
        for member, value in members_of(each):
            yield from member_parts(name, member, value, inspect.getmodule(each))
    elif callable(each):
        yield code(f"sdp.{name}" if public else name, inspect.signature(each), inspect.getmodule(each))
        yield markdown(inspect.getdoc(each) or "")
    else:
        yield f"A {type(each).__name__}: {', '.join(f'`{key}`' for key in each)}."


def bases_of(cls: type) -> list[type]:
    """The classes of ours that it inherits from, nearest first."""
    return [base for base in cls.__mro__[1:] if base.__module__.startswith("sparsedp")]


def own_docstring(cls: type) -> str:
    """What the class itself says; not what a base does."""
    return inspect.cleandoc(vars(cls).get("__doc__") or "")


def members_of(cls: type) -> Iterator[tuple[str, Any]]:
    """Its public methods and properties, in the order of the source, but for what a base already explains."""
    explained = {name for base in bases_of(cls) for name in vars(base)}
    for name, value in vars(cls).items():
        function = getattr(value, "__func__", value)
        member = isinstance(value, property | cached_property) or inspect.isfunction(function)
        if member and not name.startswith("_") and name not in explained:
            yield name, value


def member_parts(cls: str, name: str, value: Any, module: Any) -> Iterator[str]:
    """The section of a method or a property."""
    yield f"### {cls}.{name}"
    if isinstance(value, property | cached_property):
        getter = value.fget if isinstance(value, property) else value.func
        gives = inspect.signature(getter).return_annotation if getter is not None else inspect.Signature.empty
        yield f"```python\n{cls.lower()}.{name}{returns(gives)}\n```"
        yield markdown(inspect.getdoc(value) or "")
        return
    function = getattr(value, "__func__", value)
    if inspect.isfunction(function):
        signature = inspect.signature(function)
        if not isinstance(value, staticmethod):
            signature = signature.replace(parameters=list(signature.parameters.values())[1:])
        owner = f"sdp.{cls}" if isinstance(value, classmethod | staticmethod) else cls.lower()
        yield code(f"{owner}.{name}", signature, module)
    yield markdown(inspect.getdoc(function) or "")


def code(name: str, signature: inspect.Signature, module: Any) -> str:
    """A call and what it takes, over several lines if it is long."""
    taken = [text for parameter in signature.parameters.values() for text in parameter_texts(parameter, module)]
    keywords = next(
        (at for at, each in enumerate(signature.parameters.values()) if each.kind is each.KEYWORD_ONLY), None
    )
    if keywords is not None:
        taken.insert(keywords, "*")
    gives = returns(signature.return_annotation)
    line = f"{name}({', '.join(taken)}){gives}"
    if len(line) > WIDEST:
        line = f"{name}(\n    " + ",\n    ".join(taken) + f",\n){gives}"
    return f"```python\n{line}\n```"


def parameter_texts(parameter: inspect.Parameter, module: Any) -> Iterator[str]:
    """A parameter as the source has it; keywords that go on to somebody else, by the names that these take."""
    annotation = parameter.annotation
    if parameter.kind is parameter.VAR_KEYWORD and str(annotation).startswith("Unpack["):
        keywords = getattr(module, str(annotation)[len("Unpack[") : -1])
        yield from (f"{name}: {short(annotation)}" for name, annotation in keywords.__annotations__.items())
        return
    several = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
    text = several.get(parameter.kind.name, "") + parameter.name
    if annotation is not parameter.empty:
        text += f": {short(annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {parameter.default!r}"
    yield text


def returns(annotation: Any) -> str:
    """What comes out."""
    return "" if annotation in (inspect.Signature.empty, "None", None) else f" -> {short(annotation)}"


def short(annotation: Any) -> str:
    """A type by its own name, without the modules around it."""
    text = getattr(annotation, "__forward_arg__", None) or annotation
    text = text if isinstance(text, str) else inspect.formatannotation(text)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", re.sub(r"^(?:Not)?Required\[(.*)\]$", r"\1", text))


def markdown(docstring: str) -> str:
    """A docstring as Markdown: arguments as a list, examples as code, proofs as links."""
    text = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", with_argument_lists(docstring))
    return PROOF.sub(r"[\1.md](src/sparsedp/\1.md)", text)


def with_argument_lists(docstring: str) -> str:
    """Lines that explain one argument each become a list instead of one paragraph."""
    first = ARGUMENT.search(docstring)
    if first is None:
        return docstring
    before, after = docstring[: first.start()], docstring[first.start() :]
    arguments, gap, rest = after.partition("\n\n")
    starts = [found.start() for found in ARGUMENT.finditer(arguments)]
    items = [arguments[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
    listed = "\n".join(f"- {' '.join(item.split())}" for item in items)
    return f"{before.rstrip()}\n\n{listed}{gap}{with_argument_lists(rest)}"


if __name__ == "__main__":
    main()
