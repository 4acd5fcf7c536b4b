"""`sparsedp key new`, `sparsedp sign`, `sparsedp verify`: who vouches for a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedp.cli.files import STANDARD, check_output, to_read
from sparsedp.cli.inspection import kind_in
from sparsedp.cli.options import AsJson, PassphraseFd
from sparsedp.cli.signing_keys import passphrase, the_key
from sparsedp.cli.speaking import show, show_json
from sparsedp.errors import BadFile, InvalidInput

if TYPE_CHECKING:
    from sparsedp.releases.release import Release
    from sparsedp.signatures import Public
    from sparsedp.synopsis import Synopsis

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
    from sparsedp.signatures import fingerprint, new_key, public_bytes

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
    from sparsedp.release_file import open_release
    from sparsedp.synopsis import open_synopsis

    if not path.is_file():
        raise BadFile(f"There is no file {path}; check the path.")
    return open_synopsis(path, signer=signer) if kind_in(path) == "synopsis" else open_release(path, signer=signer)
