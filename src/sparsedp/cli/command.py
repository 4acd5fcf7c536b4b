"""What every command shares: help that ends with examples, and errors in the words of the shell."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sparsedp.cli.interruption import Interrupted, done_before
from sparsedp.cli.shell_words import in_shell_words
from sparsedp.errors import SparsedpError

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


def group(text: str, *, name: str | None = None, epilog: str | None = None) -> typer.Typer:
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


def add(app: typer.Typer, name: str, function: Callable[..., None], examples: str) -> None:
    """Make a function a command. Its docstring is the help; `examples` are shell lines that work in order."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    lines = "\n".join(f"  {line}".rstrip() for line in examples.strip().splitlines())
    app.command(name, cls=Command, help=text, epilog=f"{EXAMPLES}\n{lines}\n")(function)
