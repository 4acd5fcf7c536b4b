"""The application: every command in its place, help that ends with examples, and errors in the words of the shell."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sparsedp.cli._audit import AUDIT_EXAMPLES, audit_promises
from sparsedp.cli._check import RECORDS_EXAMPLES, check_records
from sparsedp.cli._compare import COMPARE_EXAMPLES, compare_releases
from sparsedp.cli._datasets import (
    EXPORT_EXAMPLES,
    FETCH_EXAMPLES,
    LIST_EXAMPLES,
    PATH_EXAMPLES,
    export_records,
    fetch_files,
    list_data_sets,
    show_path,
)
from sparsedp.cli._inspect import (
    INSPECT_EXAMPLES,
    KEY_EXAMPLES,
    SIGN_EXAMPLES,
    VERIFY_EXAMPLES,
    inspect_file,
    make_key,
    sign_file,
    verify_file,
)
from sparsedp.cli._ledger import (
    CHECK_EXAMPLES,
    LEDGER_INIT_EXAMPLES,
    RECOVER_EXAMPLES,
    SHOW_EXAMPLES,
    begin_ledger,
    check_file,
    recover_release,
    show_ledger,
)
from sparsedp.cli._preview import PREVIEW_EXAMPLES, preview_release
from sparsedp.cli._project import INIT_EXAMPLES, write_template
from sparsedp.cli._query import QUERY_EXAMPLES, query_release
from sparsedp.cli._release import RELEASE_EXAMPLES, release_records
from sparsedp.cli._report import PLOT_EXAMPLES, REPORT_EXAMPLES, plot_release, write_report
from sparsedp.cli._running import MEANINGS, Interrupted, done_before
from sparsedp.cli._stream import (
    PUBLISH_EXAMPLES,
    STATUS_EXAMPLES,
    STREAM_INIT_EXAMPLES,
    begin_stream,
    publish_stream,
    show_status,
)
from sparsedp.cli._stream_observe import OBSERVE_EXAMPLES, observe_counts
from sparsedp.errors import InvalidInput, SparsedpError
from sparsedp.version import __version__

# What every command shares: help that ends with examples, and errors in the words of the shell.

EXAMPLES = "Examples:"

if TYPE_CHECKING:
    _Framework = TyperCommand
else:
    _Framework = object


class _Explained(_Framework):
    """Help whose last part is printed as it is written, because rich would wrap it; flags without a type."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help, then what is written under it."""
        text, self.epilog = self.epilog, None
        try:
            super().format_help(ctx, formatter)
        finally:
            self.epilog = text
        if text:
            typer.echo(text)

    def get_params(self, ctx: Any) -> Any:
        """The parameters; a flag takes no value, so none is shown for it."""
        found = super().get_params(ctx)
        for parameter in found:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return found


class Command(_Explained, TyperCommand):
    """A command."""

    def invoke(self, ctx: Any) -> Any:
        """Run it; what the library says of an argument is said of the option."""
        try:
            return super().invoke(ctx)
        except SparsedpError as error:
            options = {each.name: max(each.opts, key=len) for each in self.params if each.opts[0].startswith("-")}
            error.args = (in_shell_words(error, options), *error.args[1:])
            raise


class Group(_Explained, TyperGroup):
    """A group of commands; Ctrl-C in any of them is ours to explain, not the framework's."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(done_before(interrupt)) from None


def _group(text: str, *, name: str | None = None, epilog: str | None = None) -> typer.Typer:
    """A group of commands. No stack trace is ever drawn by the framework, and no variable shown: they hold data."""
    return typer.Typer(
        name=name,
        help=text,
        epilog=epilog,
        cls=Group,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        pretty_exceptions_show_locals=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        add_completion=name is None,
    )


def _add(app: typer.Typer, name: str, function: Callable[..., None], examples: str) -> None:
    """Make a function a command. Its docstring is the help; `examples` are shell lines that work in order."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    lines = "\n".join(f"  {line}".rstrip() for line in examples.strip().splitlines())
    app.command(name, cls=Command, help=text, epilog=f"{EXAMPLES}\n{lines}\n")(function)


# What the library says of its arguments, said of the options: `epsilon=0.5` is `--epsilon 0.5` in a shell.
#
# Only names that are options of the command at hand are touched, and only where they are written as Python writes
# arguments: first in a sentence about one, before an equals sign, or alone between backquotes.

_SYNONYMS = {
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

_OTHERS = {"column"}
"""Options of that name are something else than what the library calls so: a column may be named by any of several."""

_ENTRY = re.compile(r"(\w+)\['(.+)'\]")
_CSV = re.compile(r"""csv=\{"(\w+)": (?:"([^"]*)"|True)\}""")
_ARGUMENT = re.compile(r"""(?<![\w.-])([a-z_]+)=("[^"]*"|'[^']*'|\([^()]*\)|(?:[\w/…]|\.(?=\w))*)""")
_CODE = re.compile(r"(`[^`]*`)")
_SAID_TWICE = re.compile(r"(--[a-z-]+) \(\1\)")


def in_shell_words(error: SparsedpError, options: Mapping[str, str]) -> str:
    """The sentence of an error, for somebody who typed these options (by the names of their parameters)."""
    known = {name: option for name, option in options.items() if name not in _OTHERS}
    known = {name: options[other] for name, other in _SYNONYMS.items() if other in options} | known
    text = str(error)
    if isinstance(error, InvalidInput):
        text = _named(error.argument, known) + text.removeprefix(error.argument)
    text = _CSV.sub(lambda found: _declared(found, known), text)
    # Longer pieces of code are for another language, or a command already.
    parts = [_of_code(part, known) if part.startswith("`") else _of_text(part, known) for part in _CODE.split(text)]
    return _SAID_TWICE.sub(r"\1", "".join(parts))


def _declared(found: re.Match[str], known: Mapping[str, str]) -> str:
    """How CSV is written, by the option that says so."""
    if found[1] not in known:
        return found[0]
    return known[found[1]] if found[2] is None else f"{known[found[1]]} {found[2]!r}"


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


# The commands, in their groups.

_ledger = _group("How much may be spent on each data set, and what was.", name="ledger")
_add(_ledger, "init", begin_ledger, LEDGER_INIT_EXAMPLES)
_add(_ledger, "show", show_ledger, SHOW_EXAMPLES)
_add(_ledger, "check", check_file, CHECK_EXAMPLES)
_add(_ledger, "recover", recover_release, RECOVER_EXAMPLES)


_stream = _group(
    "Counts that arrive tick by tick, published while they arrive, under one budget for the whole stream.",
    name="stream",
)
_add(_stream, "init", begin_stream, STREAM_INIT_EXAMPLES)
_add(_stream, "observe", observe_counts, OBSERVE_EXAMPLES)
_add(_stream, "publish", publish_stream, PUBLISH_EXAMPLES)
_add(_stream, "status", show_status, STATUS_EXAMPLES)


_datasets = _group("Real, public records to try things on, and the data of the paper.", name="datasets")
_add(_datasets, "list", list_data_sets, LIST_EXAMPLES)
_add(_datasets, "export", export_records, EXPORT_EXAMPLES)
_add(_datasets, "fetch", fetch_files, FETCH_EXAMPLES)
_add(_datasets, "path", show_path, PATH_EXAMPLES)


_EPILOG = "Exit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())

app = _group(
    "Publish a sensitive table once, under differential privacy; then ask the published copy anything.",
    epilog=_EPILOG,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sparsedp {__version__}")
        raise typer.Exit


@app.callback()
def _everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="After an error, show where in the code it happened: no values, no data.")
    ] = False,
) -> None:
    """What holds for every command; `--debug` is read where errors are explained."""


_add(app, "init", write_template, INIT_EXAMPLES)
_add(app, "preview", preview_release, PREVIEW_EXAMPLES)
_add(app, "check", check_records, RECORDS_EXAMPLES)
_add(app, "release", release_records, RELEASE_EXAMPLES)
_add(app, "query", query_release, QUERY_EXAMPLES)
_add(app, "report", write_report, REPORT_EXAMPLES)
_add(app, "plot", plot_release, PLOT_EXAMPLES)
_add(app, "compare", compare_releases, COMPARE_EXAMPLES)
_add(app, "inspect", inspect_file, INSPECT_EXAMPLES)
_add(app, "audit", audit_promises, AUDIT_EXAMPLES)
_add(app, "sign", sign_file, SIGN_EXAMPLES)
_add(app, "verify", verify_file, VERIFY_EXAMPLES)
_keys = _group("Keys to sign with.", name="key")
_add(_keys, "new", make_key, KEY_EXAMPLES)
app.add_typer(_keys)
app.add_typer(_ledger)
app.add_typer(_stream)
app.add_typer(_datasets)
