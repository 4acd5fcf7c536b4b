"""What is in a file of ours, and who vouches for it: `sparsedp inspect`, `sign`, `verify` and `key new`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli._files import STANDARD, check_output, passphrase, the_key, to_read
from sparsedp.cli._options import AsJson, Memory, PassphraseFd, the_books
from sparsedp.cli._speaking import listed, show, show_json, show_lines
from sparsedp.errors import BadFile, InvalidInput

if TYPE_CHECKING:
    from sparsedp.files.signatures import Public, Signature
    from sparsedp.releases.release import Release
    from sparsedp.synopsis import Synopsis


# `sparsedp inspect`: what is in a file of ours, and whether it is whole.

INSPECT_EXAMPLES = """
sparsedp inspect flights.release.parquet
sparsedp inspect flights.release.parquet --registry
sparsedp inspect flights.db --json
"""


_INTEGRITY = "undamaged, not authenticated: the digest is right, and anybody can compute one"


def inspect_file(
    file: Annotated[
        str, typer.Argument(help="A release, synopsis, stream, ledger or project file; - for standard input.")
    ],
    registry: Annotated[
        bool,
        typer.Option("--registry", help="Print a deployment record of a release (YAML), for a public registry."),
    ] = False,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Say what a file is, what it promises, whether it is undamaged, and which key signed it.

    A digest does not tell who wrote a file, and anybody can make a key: `sparsedp verify` checks it against yours.
    """
    if registry:
        _show_record(file, memory, as_json=as_json)
        return
    with to_read(file) as path:
        facts = {"file": file, **facts_of(path, memory)}
    if as_json:
        show_json(facts)
        return
    show(f"{file} is a {facts['kind']}.")
    for name, value in facts.items():
        if name not in ("file", "kind", "signed_with") and value is not None:
            show(f"  {name.replace('_', ' ')}: {_words(value)}")


def _show_record(file: str, memory: str | None, *, as_json: bool) -> None:
    if as_json:
        raise InvalidInput("--registry", "given beside --json", "leave one of the two out: the record is YAML")

    from sparsedp.releases.release_file import open_release

    with to_read(file) as path:
        show_lines(open_release(path, memory=memory).registry().rstrip())


def facts_of(path: Path, memory: str | None = None) -> dict[str, Any]:
    """What is public of a file, by its kind."""
    if path.is_dir():
        raise BadFile(f"{path} is a folder; give the path of a file.")
    try:
        with open(path, "rb") as file:
            head = file.read(72)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}; check the path and who may read it.") from None
    if head.startswith(b"SQLite format 3\0"):
        return _database(path, int.from_bytes(head[68:72], "big"))
    if head.startswith(b"PAR1"):
        return _parquet(path, memory)
    if path.suffix == ".toml":
        from sparsedp.cli._project import read_project

        return {"kind": "project file", **read_project(path)}
    raise BadFile(f"{path} is no file of sparsedp: no release, synopsis, stream, ledger or project file.")


def _database(path: Path, application: int) -> dict[str, Any]:
    from sparsedp.streams.durable import APPLICATION_ID

    if application == APPLICATION_ID:
        from sparsedp.cli._stream import status_of

        status = status_of(str(path))
        stream = status.pop("kind")
        status.pop("file")
        return {"kind": "stream", "stream": stream, **status}

    books = the_books(str(path))
    sets = {name: books[name] for name in books.names}
    return {
        "kind": "ledger",
        "data_sets": {
            name: {
                "total": str(ledger.total),
                "left": str(ledger.remaining or "nothing"),
                "spends": len(ledger.entries),
            }
            for name, ledger in sets.items()
        },
    }


def _parquet(path: Path, memory: str | None) -> dict[str, Any]:
    return _synopsis(path, memory) if _kind_in(path) == "synopsis" else _release(path, memory)


def _kind_in(path: Path) -> object:
    """What a Parquet file of ours says it holds."""
    import pyarrow as pa

    from sparsedp.files.parquet_claims import claim_of

    with pa.OSFile(str(path), "rb") as source:
        return claim_of(source, source.size(), str(path)).document.get("kind")


def _release(path: Path, memory: str | None) -> dict[str, Any]:
    from sparsedp.releases.release_file import open_release

    release = open_release(path, memory=memory)
    return {
        "kind": "release",
        "cells": release.span,
        "number_of_cells": len(release),
        "groups": _groups(release),
        "holds": str(release.quantity) if release.counts is None else f"{release.quantity}, and count of its records",
        "mechanism": release.mechanism,
        "guarantee": str(release.guarantee),
        "spent": release.spent.describe(),
        "private": release.private,
        "errors_known": release.uncertainty is not None,
        **({} if release.cut is None else {"cut": str(release.cut)}),
        "ledger": None if release.record is None else dict(release.record),
        "written_by": release.written_by,
        "digest": release.digest,
        "integrity": _INTEGRITY,
        **_signature(release.signature),
    }


_LONGEST_GROUPED = 2**20
"""Cells of an axis that are looked at for groups."""


def _groups(release: Release) -> dict[str, int] | None:
    """What may be named beside the axes, such as day.weekday, and how many groups of cells each has."""
    axes = () if release.domain is None else release.domain.axes
    found = [each for axis in axes if axis.length <= _LONGEST_GROUPED for each in axis.coarsenings.values()]
    return {coarsening.axis.name: coarsening.groups for coarsening in found} or None


def _synopsis(path: Path, memory: str | None) -> dict[str, Any]:
    from sparsedp.synopsis import open_synopsis

    synopsis = open_synopsis(path, memory=memory)
    return {
        "kind": "synopsis",
        "cells": str(synopsis.domain) if synopsis.domain is not None else f"{synopsis.sensing.n:,} cells",
        "number_of_values": len(synopsis.values),
        "mechanism": synopsis.mechanism,
        "guarantee": str(synopsis.guarantee),
        "spent": synopsis.spent.describe(),
        "private": synopsis.private,
        **({} if synopsis.cut is None else {"cut": str(synopsis.cut)}),
        "digest": synopsis.digest,
        "integrity": _INTEGRITY,
        **_signature(synopsis.signature),
    }


def _signature(signature: Signature | None) -> dict[str, Any]:
    from sparsedp.files.signatures import who_signed

    known = None if signature is None else signature.fingerprint
    return {"signature": who_signed(signature), "signed_with": known}


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{name} {_entry(entry)}" for name, entry in value.items()) or "none"
    if isinstance(value, list):
        return listed(str(entry) for entry in value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _entry(value: Any) -> str:
    return f"({_words(value)})" if isinstance(value, dict) else str(value)


# `sparsedp key new`, `sparsedp sign`, `sparsedp verify`: who vouches for a file.

KEY_EXAMPLES = """
sparsedp key new office
"""
SIGN_EXAMPLES = """
sparsedp sign flights.release.parquet --key office.key
"""
VERIFY_EXAMPLES = """
sparsedp verify flights.release.parquet --signer office.pub
"""


def make_key(
    name: Annotated[str, typer.Argument(help="NAME.key and NAME.pub are written; neither may exist.")],
    locked: Annotated[
        bool,
        typer.Option(
            "--passphrase",
            help="Lock the private key: asks for a passphrase, or takes SPARSEDP_PASSPHRASE from the environment.",
        ),
    ] = False,
    passphrase_fd: PassphraseFd = None,
    as_json: AsJson = False,
) -> None:
    """Make a key to sign with: NAME.key, for you alone, and NAME.pub, for everybody.

    Publish NAME.pub where people know that it is yours, such as your web page: a signature tells that the key was used,
    and only you can tell people whose key it is. Who has NAME.key can sign in your name. What it has signed stays
    valid if you lose it.
    """
    from sparsedp.files.signatures import fingerprint, new_key, public_bytes

    for ending in (".key", ".pub"):
        check_output(f"{name}{ending}", instead="give another name: a key is never replaced")
    word = passphrase(f"{name}.key", passphrase_fd, new=True) if locked or passphrase_fd is not None else None
    private, public = new_key(name, word)
    mark = fingerprint(public_bytes(public))
    if as_json:
        show_json({"private": str(private), "public": str(public), "fingerprint": mark, "locked": word is not None})
    else:
        show(f"Wrote {private}: keep it to yourself.")
        show(f"Wrote {public}: publish it. Its fingerprint is {mark}.")


def sign_file(
    file: Annotated[str, typer.Argument(help="A release or a synopsis; the signature is put into it.")],
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="The private key: NAME.key.")],
    passphrase_fd: PassphraseFd = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the signature of another key.")] = False,
    as_json: AsJson = False,
) -> None:
    """Sign a release or a synopsis: all that it says, its table and its promise included.

    The file's digest stays what it is. A signature says that you vouch for the file, so look at what you sign.
    """
    if file == STANDARD:
        raise InvalidInput("file", "-", "name a file: the signature is put into it")
    found = opened(Path(file), None)
    signer = the_key(key, passphrase_fd, option="--key")
    there = found.signature
    if there is not None and there.public_key != signer.public_key and not overwrite:
        remedy = "say --overwrite to put yours in its place"
        raise BadFile(f"{file} is signed already, with {there.fingerprint}; {remedy}.")
    found.sign(signer).save(file)
    if as_json:
        show_json({"file": file, "signed_with": signer.fingerprint, "digest": found.digest})
    else:
        show(f"Signed {file} with {signer.fingerprint}.")


def verify_file(
    file: Annotated[str, typer.Argument(help="A release or a synopsis; - for standard input.")],
    signer: Annotated[str, typer.Option("--signer", metavar="KEY", help="The public key of its publisher: NAME.pub.")],
    as_json: AsJson = False,
) -> None:
    """Say whether a file was signed with this key, and is as it was signed. Ends with 0 only if both are so.

    Take the key from a place that you trust, not from where the file came.
    """
    with to_read(file) as path:
        found = opened(path, signer)
    mark = "" if found.signature is None else found.signature.fingerprint
    if as_json:
        show_json({"file": file, "signed_with": mark, "digest": found.digest, "private": found.private})
    else:
        show(f"{file} was signed with {mark} and is as it was signed. {found.guarantee}")


def opened(path: Path, signer: Public | None) -> Release | Synopsis:
    """The release or the synopsis in a file, signed by this key if one is named."""
    from sparsedp.releases.release_file import open_release
    from sparsedp.synopsis import open_synopsis

    if not path.is_file():
        raise BadFile(f"There is no file {path}; check the path.")
    return open_synopsis(path, signer=signer) if _kind_in(path) == "synopsis" else open_release(path, signer=signer)
