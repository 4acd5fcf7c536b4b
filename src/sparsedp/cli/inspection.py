"""`sparsedp inspect`: what is in a file of ours, and whether it is whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedp.cli.files import to_read
from sparsedp.cli.options import AsJson, Memory
from sparsedp.cli.speaking import listed, show, show_json, show_lines
from sparsedp.errors import BadFile, InvalidInput

if TYPE_CHECKING:
    from sparsedp.signatures import Signature

INSPECT_EXAMPLES = """
sparsedp inspect flights.release.parquet
sparsedp inspect flights.release.parquet --registry
sparsedp inspect flights.db --json
"""


INTEGRITY = "undamaged, not authenticated: the digest is right, and anybody can compute one"


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

    from sparsedp.release_file import open_release

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
        from sparsedp.cli.project import read_project

        return {"kind": "project file", **read_project(path)}
    raise BadFile(f"{path} is no file of sparsedp: no release, synopsis, stream, ledger or project file.")


def _database(path: Path, application: int) -> dict[str, Any]:
    from sparsedp.streams.durable.connection import APPLICATION_ID

    if application == APPLICATION_ID:
        from sparsedp.cli.stream.status import status_of

        status = status_of(str(path))
        stream = status.pop("kind")
        status.pop("file")
        return {"kind": "stream", "stream": stream, **status}

    from sparsedp.cli.budgets import the_books

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
    return _synopsis(path, memory) if kind_in(path) == "synopsis" else _release(path, memory)


def kind_in(path: Path) -> object:
    """What a Parquet file of ours says it holds."""
    import pyarrow as pa

    from sparsedp.parquet_claims import claim_of

    with pa.OSFile(str(path), "rb") as source:
        return claim_of(source, source.size(), str(path)).document.get("kind")


def _release(path: Path, memory: str | None) -> dict[str, Any]:
    from sparsedp.release_file import open_release

    release = open_release(path, memory=memory)
    return {
        "kind": "release",
        "cells": release.span,
        "number_of_cells": len(release),
        "holds": str(release.quantity),
        "mechanism": release.mechanism,
        "guarantee": str(release.guarantee),
        "spent": release.spent.describe(),
        "private": release.private,
        "errors_known": release.uncertainty is not None,
        "ledger": None if release.record is None else dict(release.record),
        "written_by": release.written_by,
        "digest": release.digest,
        "integrity": INTEGRITY,
        **_signature(release.signature),
    }


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
        "digest": synopsis.digest,
        "integrity": INTEGRITY,
        **_signature(synopsis.signature),
    }


def _signature(signature: Signature | None) -> dict[str, Any]:
    from sparsedp.signatures import who_signed

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
