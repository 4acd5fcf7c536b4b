"""Every command explains itself, and every example in its help works as printed."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from cli_shell import commands_in, execute
from cli_terminal import in_own_folder, ok, run

from local_mirror import mirrored
from sparsedp.cli import _options
from sparsedp.cli._app import EXAMPLES, app
from sparsedp.cli._running import MEANINGS, ExitCode
from sparsedp.mechanisms import MECHANISMS


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    in_own_folder(tmp_path, monkeypatch)
    (tmp_path / "data").mkdir()
    with mirrored(monkeypatch, tmp_path / "data"):
        yield


AGAIN = ("ledger recover", "ledger check")
CHAINS = [
    ["release", "query", "report", "plot", "compare", "key new", "sign", "verify", "inspect", *AGAIN],
    ["preview"],
    ["check"],
    ["audit"],
    ["init"],
    ["ledger init", "ledger show"],
    ["stream init", "stream observe", "stream publish", "stream status"],
    ["datasets list"],
    ["datasets export"],
    ["datasets fetch", "datasets path"],
]
"""Examples that build on one another, in the order in which a reader would try them."""


def names(group: Any, above: str = "") -> list[str]:
    found: list[str] = []
    for name, command in group.commands.items():
        found += names(command, f"{name} ") if hasattr(command, "commands") else [f"{above}{name}"]
    return found


COMMANDS = names(typer.main.get_command(app))


def printed_examples(command: str) -> str:
    printed = ok(*command.split(), "--help").text
    return textwrap.dedent(printed.split(f"{EXAMPLES}\n", 1)[1])


def test_every_command_is_in_a_chain() -> None:
    assert sorted(COMMANDS) == sorted(name for chain in CHAINS for name in chain)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_that_fits_a_terminal(command: str) -> None:
    printed = ok(*command.split(), "--help").text
    assert f"sparsedp {command}" in printed_examples(command)
    assert max(map(len, printed.splitlines())) <= 80
    assert "\x1b" not in printed


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_flags_are_shown_as_flags(command: str) -> None:
    printed = ok(*command.split(), "--help").text
    assert "<bool>" not in printed
    assert "--help" in printed


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain[0])
def test_the_examples_work_as_printed(chain: list[str]) -> None:
    for command in chain:
        for line in commands_in(printed_examples(command)):
            ended = execute(line)
            assert ended.code == 0, f"{line}\n{ended.errors}"
            assert ended.output


def test_the_exit_codes_are_documented() -> None:
    printed = ok("--help").text
    assert set(MEANINGS) == set(ExitCode)
    for code, meaning in MEANINGS.items():
        assert f"{code:>5}  {meaning}" in printed


def test_a_total_is_not_worded_as_a_spend() -> None:
    printed = ok("ledger", "init", "--help").text
    assert "The total, in ε" in printed
    assert "Spend this" not in printed


def test_the_help_names_every_mechanism() -> None:
    printed = ok("release", "--help").text
    for name in MECHANISMS:
        assert name in printed
    assert sorted(["adaptive", *_options._OTHER_MECHANISMS]) == sorted(MECHANISMS), "and nothing else"


def test_the_version() -> None:
    from sparsedp.version import __version__

    assert ok("--version").text == f"sparsedp {__version__}\n"


def test_without_a_command_the_help_is_shown() -> None:
    for arguments in ((), ("stream",)):
        ended = run(*arguments)
        assert ended.code == 2
        assert "Usage" in ended.text
        assert ended.errors == ""


def test_help_in_colour_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    assert b"\x1b[" in run("release", "--help", terminal=True).output
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = run("release", "--help", terminal=True).output.split(b"\x1b[")[1:]
    assert not [part for part in coloured if part[:2] in (b"31", b"32", b"33", b"34", b"35", b"36")]
