"""Files that a command reads and writes; `-` is standard input or output.

Records, published files, the private key to sign with, and where a release goes.
"""

from __future__ import annotations

import getpass
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli._options import FILES
from sparsedp.errors import BadFile, InvalidInput, UnknownName
from sparsedp.files.untrusted import printable
from sparsedp.files.whole_file import written_whole

if TYPE_CHECKING:
    from sparsedp.files.signatures import SigningKey
    from sparsedp.releases.release import Release


STANDARD = "-"


@contextmanager
def to_read(path: str, ending: str = ".parquet") -> Iterator[Path]:
    """A published file to read, by its path; what comes from standard input is kept in a file meanwhile."""
    if path != STANDARD:
        yield Path(path)
        return
    if sys.stdin.isatty():
        raise InvalidInput("standard input", "a terminal", "pipe a file into it, as in `… < visits.release.parquet`")
    with tempfile.TemporaryDirectory(prefix="sparsedp-") as folder:
        spool = Path(folder) / f"standard-input{ending}"
        with open(spool, "xb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield spool


@contextmanager
def to_write(path: str, ending: str, *, overwrite: bool = False, binary: bool = True) -> Iterator[Path]:
    """Where to write a file; `-` sends it to standard output once it is complete."""
    check_output(path, overwrite=overwrite, binary=binary)
    if path != STANDARD:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="sparsedp-") as folder:
        spool = Path(folder) / f"standard-output{ending}"
        yield spool
        send(spool)


def send(path: Path) -> None:
    """Copy a complete file to standard output."""
    sys.stdout.flush()
    with open(path, "rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def check_output(
    path: str,
    *,
    overwrite: bool = False,
    binary: bool = True,
    instead: str = "give another name, or say --overwrite",
) -> None:
    """Refuse an output that could not be written, before anything is read or spent for it.

    `instead`: what to do where there is a file already.
    """
    if path == STANDARD:
        if binary and sys.stdout.isatty():
            raise InvalidInput(
                "output", "a terminal, and this is not text", "name a file with -o, or pipe the output somewhere"
            )
        return
    target = Path(path)
    if target.is_dir():
        raise BadFile(f"{target} is a folder; give the name of a file in it.")
    if target.exists() and not target.is_file():
        raise BadFile(f"{target} is a device or a pipe; name a file, or - for standard output.")
    if target.exists() and not overwrite:
        raise BadFile(f"{target} exists already; {instead}.")
    folder = target.parent
    if not folder.is_dir():
        raise BadFile(f"There is no folder {folder} to write {target.name} in; make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadFile(f"The folder {folder} is not yours to write in; give another place for {target.name}.")


def check_endings(path: str, endings: tuple[str, ...], option: str = "output") -> None:
    """Refuse a name, given with `option`, whose ending promises another kind of file."""
    if path != STANDARD and Path(path).suffix.lower() not in endings:
        ending = Path(path).suffix
        given = f"a name ending in {ending}" if ending else "a name without an ending"
        raise InvalidInput(option, given, f"end it in {' or '.join(endings)}")


# Records to count: a path as it is given, or CSV on standard input, read as it comes.


def records_from(source: str) -> Any:
    """What `sparsedp.count` reads. Standard input is read as a CSV file is, and nothing of it is kept on disk."""
    if source != STANDARD:
        return source
    if sys.stdin.isatty():
        raise InvalidInput("standard input", "a terminal", "pipe CSV into it, or name a file")
    return sys.stdin.buffer


def unread(source: str) -> Any:
    """The same, to be named and not read: a dry run may well have a terminal as its standard input."""
    return sys.stdin.buffer if source == STANDARD else source


# Where a release goes: a Parquet file, or Parquet or CSV on standard output.

_FORMATS = ("parquet", "csv")

Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The file to write; - for standard output.",
        rich_help_panel=FILES,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="parquet, or csv: the table alone, without its promise.",
        rich_help_panel=FILES,
    ),
]


def form_of(output: str, form: str | None) -> str:
    """What is written: what was asked for, else what the name says, else Parquet."""
    if form is not None and form not in _FORMATS:
        raise UnknownName("format", form, _FORMATS)
    return form or ("csv" if Path(output).suffix.lower() == ".csv" else "parquet")


@contextmanager
def write_release(
    output: str,
    form: str | None,
    *,
    overwrite: bool,
    as_json: bool = False,
    sign: str | None = None,
    passphrase_fd: int | None = None,
) -> Iterator[Callable[[Release], None]]:
    """Check that the output can be written and the key be used, and give the function that writes it."""
    from sparsedp.files.columns_file import OTHER_FORMATS  # here, so that --help waits for none of it

    if output == STANDARD and as_json:
        raise InvalidInput("output", "- together with --json", "standard output can hold only one of the two")
    kind = form_of(output, form)
    if kind == "parquet" and Path(output).suffix.lower() in OTHER_FORMATS:
        given = f"a name ending in {Path(output).suffix}"
        raise InvalidInput("output", given, "give one ending in .parquet or .csv, whichever is to be written")
    check_output(output, overwrite=overwrite, binary=kind == "parquet")
    key = key_to_sign(sign, passphrase_fd, form=kind)

    def write(release: Release) -> None:
        release = release if key is None else release.sign(key)
        with to_write(output, ".parquet", overwrite=overwrite, binary=kind == "parquet") as path:
            if kind == "csv":
                write_csv(release, path, to_a_terminal=output == STANDARD)
            else:
                release.save(path)

    yield write


def write_csv(release: Release, path: Path, *, to_a_terminal: bool = False) -> None:
    """The columns of a release's file as CSV, all or nothing; escaped where it may be shown by a terminal."""
    import pyarrow as pa
    import pyarrow.csv

    table = release.to_arrow()
    for place, entry in enumerate(table.schema if to_a_terminal else ()):
        if pa.types.is_string(entry.type):
            words = [printable(word) for word in table.column(place).to_pylist()]
            table = table.set_column(place, entry.name, pa.array(words, pa.string()))
    written_whole(path, lambda file: pyarrow.csv.write_csv(table, file))


# The private key that a command signs with: read, and unlocked, before anything is spent.

_VARIABLE = "SPARSEDP_PASSPHRASE"
"""The environment may hold the passphrase of a key, for machines that sign."""
_LONGEST = 2**12


def key_to_sign(path: str | None, descriptor: int | None, *, form: str = "parquet") -> SigningKey | None:
    """The key of --sign; None if nothing is to be signed."""
    if path is None:
        if descriptor is not None:
            raise InvalidInput("--passphrase-fd", "given without a key", "name the key with --sign, or leave it out")
        return None
    if form != "parquet":
        raise InvalidInput("--sign", "given for CSV", "write Parquet: CSV has no place for a signature")
    return the_key(path, descriptor, option="--sign")


def the_key(path: str, descriptor: int | None, *, option: str) -> SigningKey:
    """The key in a file, with its passphrase from where there is one."""
    from sparsedp.files.signatures import needs_passphrase, signing_key

    locked = needs_passphrase(path, argument=option)
    return signing_key(path, passphrase(path, descriptor) if locked else None, argument=option)


def passphrase(path: str, descriptor: int | None, *, new: bool = False) -> str:
    """From the file descriptor, the environment, or the terminal, in this order; a new one is asked for twice."""
    if descriptor is not None:
        return _read_from(descriptor)
    if _VARIABLE in os.environ:
        return os.environ[_VARIABLE]
    if not sys.stdin.isatty():
        remedy = f"set {_VARIABLE}, or give --passphrase-fd"
        raise InvalidInput("passphrase", f"needed for {path}, and there is no terminal to ask at", remedy)
    word = getpass.getpass(f"Passphrase of {path}: ")
    if new and getpass.getpass("The same again: ") != word:
        raise InvalidInput("passphrase", "not the same twice", "type it again; no key was made")
    return word


def _read_from(descriptor: int) -> str:
    """The first line."""
    try:
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            line = file.read(_LONGEST).partition(b"\n")[0]
        return line.removesuffix(b"\r").decode()
    except (OSError, TypeError, ValueError, OverflowError):  # numbers too large for a descriptor, too
        remedy = "open it for this command, as in `--passphrase-fd 3 3<secret.txt`"
        raise InvalidInput("--passphrase-fd", f"{descriptor}, from which no text can be read", remedy) from None
