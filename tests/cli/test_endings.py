"""However a command ends: one sentence, the right exit code, and no value of anybody's on the screen."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_terminal import in_own_folder, refused, run

from sparsedp.cli import _inspect, _running
from sparsedp.errors import BudgetExceeded
from sparsedp.privacy.budget import Budget


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


A_PATIENT = "patient 4711"


def failing(error: BaseException) -> object:
    def fails(*_: object, **__: object) -> None:
        name = A_PATIENT
        raise error from ValueError(name)

    return fails


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (RuntimeError(A_PATIENT), 70, "Something went wrong inside sparsedp (RuntimeError)"),
        (MemoryError(A_PATIENT), 1, "not enough memory"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device; make room"),
        (PermissionError(errno.EACCES, "Permission denied", "x.parquet"), 1, "x.parquet: Permission denied"),
        (BudgetExceeded(Budget(epsilon=2), Budget(epsilon=1)), 3, "ε = 1 is left"),
        (KeyboardInterrupt(), 130, "Interrupted. Nothing was spent and nothing was written."),
    ],
)
def test_every_error_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, says: str
) -> None:
    monkeypatch.setattr(_inspect, "facts_of", failing(error))
    sentence = refused("inspect", "x", code=code)
    assert says in sentence
    assert A_PATIENT not in sentence


def test_a_debit_before_the_error_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    note = "ε = 0.5 was debited from the ledger before this happened and stays spent."
    for error in (OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), RuntimeError(A_PATIENT)):
        error.add_note(note)
        error.add_note(A_PATIENT)
        monkeypatch.setattr(_inspect, "facts_of", failing(error))
        ended = run("inspect", "x")
        assert note in ended.errors
        assert "Nothing was spent" not in ended.errors
        assert A_PATIENT not in ended.errors


def test_debug_shows_where_and_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inspect, "facts_of", failing(RuntimeError(A_PATIENT)))
    for arguments in (("--debug", "inspect", "x"), ("inspect", "x", "--debug")):
        ended = run(*arguments)
        assert ended.code == 70
        assert "RuntimeError, raised here:" in ended.errors
        assert "ValueError" in ended.errors
        assert "test_endings.py" in ended.errors
        assert A_PATIENT not in ended.errors


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("relase",), "Did you mean 'release'?"),
        (("release", "--epsilom", "1"), "--epsilom"),
        (("stream", "init"), "Missing"),
        (("query", "x", "--top", "many"), "--top"),
        (("ledger", "shw"), "Did you mean 'show'?"),
    ],
)
def test_usage_errors_are_one_sentence(arguments: tuple[str, ...], says: str) -> None:
    sentence = refused(*arguments, code=2)
    assert says in sentence
    assert "--help` shows how it is used." in sentence


def test_errors_are_coloured_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[1;31msparsedp:" in run("inspect", "missing", terminal=True).errors
    assert "\x1b" not in run("inspect", "missing").errors
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("inspect", "missing", terminal=True).errors


def test_a_reader_that_goes_away_is_no_error_and_a_full_disk_is() -> None:
    command = [sys.executable, "-m", "sparsedp", "datasets", "export", "--name", "flights", "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "sparsedp", "init", "-"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 1
    assert (
        ended.stderr
        == "sparsedp: Could not read or write the output: No space left on device; make room and try again.\n"
    )


def test_nothing_heavy_is_loaded_for_help() -> None:
    code = (
        "import sys; from sparsedp.cli._app import app; "
        "heavy = ('duckdb', 'pyarrow', 'matplotlib', 'pandas', 'dp_accounting'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_the_framework_draws_no_stack_traces() -> None:
    from sparsedp.cli._app import app

    assert app.pretty_exceptions_enable is False
    assert app.pretty_exceptions_show_locals is False
    assert issubclass(_running.USAGE_ERROR, Exception)
    assert _running.USAGE_ERROR.__name__ == "UsageError"


def test_a_terminal_without_greek_letters() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "sparsedp", "ledger", "init", "b.db", "--dataset", "visits", "--epsilon", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert ended.stdout == "b.db has ? = 1 for visits; left: ? = 1.\n"
