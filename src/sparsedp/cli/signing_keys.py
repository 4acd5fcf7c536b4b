"""The private key that a command signs with: read, and unlocked, before anything is spent."""

from __future__ import annotations

import getpass
import os
import sys
from typing import TYPE_CHECKING

from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.signatures import SigningKey

VARIABLE = "SPARSEDP_PASSPHRASE"
"""The environment may hold the passphrase of a key, for machines that sign."""
LONGEST = 2**12


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
    from sparsedp.signatures import needs_passphrase, signing_key

    locked = needs_passphrase(path, argument=option)
    return signing_key(path, passphrase(path, descriptor) if locked else None, argument=option)


def passphrase(path: str, descriptor: int | None, *, new: bool = False) -> str:
    """From the file descriptor, the environment, or the terminal, in this order; a new one is asked for twice."""
    if descriptor is not None:
        return _read_from(descriptor)
    if VARIABLE in os.environ:
        return os.environ[VARIABLE]
    if not sys.stdin.isatty():
        remedy = f"set {VARIABLE}, or give --passphrase-fd"
        raise InvalidInput("passphrase", f"needed for {path}, and there is no terminal to ask at", remedy)
    word = getpass.getpass(f"Passphrase of {path}: ")
    if new and getpass.getpass("The same again: ") != word:
        raise InvalidInput("passphrase", "not the same twice", "type it again; no key was made")
    return word


def _read_from(descriptor: int) -> str:
    """The first line."""
    try:
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            line = file.read(LONGEST).partition(b"\n")[0]
        return line.removesuffix(b"\r").decode()
    except (OSError, TypeError, ValueError, OverflowError):  # numbers too large for a descriptor, too
        remedy = "open it for this command, as in `--passphrase-fd 3 3<secret.txt`"
        raise InvalidInput("--passphrase-fd", f"{descriptor}, from which no text can be read", remedy) from None
