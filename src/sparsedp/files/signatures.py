"""Signatures: a key vouches for a file. Ed25519, by the `cryptography` package.

A signature proves that whoever holds the private key signed these very contents, and nothing else: neither whose key it
is (a reader must have the public key from a place that they trust), nor that the contents are right.

What is signed is a statement about a file: what kind it is, the digest of all that it says, and its columns
(`columns_file.Contents.statement`). It begins with words that no other use of a key has, so a signature made here is
worth nothing elsewhere, and one made elsewhere nothing here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from sparsedp.errors import BadFile, InvalidInput, NotSigned
from sparsedp.files.whole_file import written_whole

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


_ALGORITHM = "Ed25519"
_LONGEST_KEY = 2**14
"""Bytes of a key's file: far more than any has."""
_MAKE_ONE = "`sparsedp key new NAME` makes one"


@dataclass(frozen=True)
class Signature:
    """Which key signed a file, and its signature.

    `named`: it was checked against a key that the reader named, or was made just now. Otherwise the key is known from
    the file alone, and anybody can make a key.
    """

    public_key: bytes
    value: bytes
    named: bool = False

    @property
    def fingerprint(self) -> str:
        """By which people compare public keys, as OpenSSH writes it."""
        return fingerprint(self.public_key)

    def fits(self, statement: bytes) -> bool:
        """Whether the key has signed this statement."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(self.value, statement)
        except (InvalidSignature, ValueError):
            return False
        return True

    def checked(self, signer: Public | None, shown: str) -> Signature:
        """The signature, if `signer` is the key that made it or no key is named; `shown` is the file."""
        if signer is None:
            return self
        wanted = public_bytes(signer)
        if wanted != self.public_key:
            remedy = "ask its publisher for their public key, or do not rely on it"
            other = f"{shown} is signed by another key, {self.fingerprint}, not by {fingerprint(wanted)}"
            raise NotSigned(f"{other}; {remedy}.")
        return replace(self, named=True)

    def text(self) -> bytes:
        """As it stands in a file."""
        parts = {"algorithm": _ALGORITHM, "public_key": _base64(self.public_key), "signature": _base64(self.value)}
        return json.dumps(parts, sort_keys=True).encode()

    @classmethod
    def from_text(cls, text: bytes) -> Signature:
        """The signature that `text` wrote; a ValueError of any other text."""
        try:
            parts = json.loads(text)
            key, value = (base64.b64decode(parts[name], validate=True) for name in ("public_key", "signature"))
        except (TypeError, KeyError, RecursionError) as error:
            raise ValueError from error
        found = cls(key, value)
        if found.text() != text or (len(key), len(value)) != (32, 64):
            raise ValueError
        return found

    def __str__(self) -> str:
        known = "the key that you named" if self.named else "checked against no key that you named: it may be anybody's"
        return f"signed with {self.fingerprint} ({known})"


def who_signed(signature: Signature | None) -> str:
    """In words, also where nobody did."""
    return "nobody signed it" if signature is None else str(signature)


def check_signer(signature: Signature | None, signer: Public | None, shown: str) -> Signature | None:
    """The signature of a file, checked against the key that a reader names, if they name one."""
    if signature is not None:
        return signature.checked(signer, shown)
    if signer is not None:
        wanted = fingerprint(public_bytes(signer))
        remedy = "ask its publisher for a signed one, or open it without `signer`"
        raise NotSigned(f"{shown} is not signed, and {wanted} was to have signed it; {remedy}.")
    return None


class SigningKey:
    """A private key, ready to sign. It never shows more of itself than its fingerprint."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @property
    def public_key(self) -> bytes:
        """The other half, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    @property
    def fingerprint(self) -> str:
        """Of the public half."""
        return fingerprint(self.public_key)

    def sign(self, statement: bytes) -> Signature:
        """The same for the same statement, always."""
        return Signature(self.public_key, self._key.sign(statement), named=True)

    def __repr__(self) -> str:
        return f"SigningKey({self.fingerprint})"


def signing_key(key: Private, passphrase: str | bytes | None = None, *, argument: str = "key") -> SigningKey:
    """A private key, from its file, its text (PKCS#8 PEM) or an object; `passphrase` unlocks one that is locked.

    A file that others than its owner may read is refused, unless it is locked.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if isinstance(key, SigningKey):
        return key
    if isinstance(key, Ed25519PrivateKey):
        return SigningKey(key)
    text, shown, private_file = _text_of(key, argument)
    if _is_public(text):
        raise InvalidInput(argument, f"{shown}, which is a public key", "give the private one: NAME.key")
    locked = _is_locked(text)
    if locked and passphrase is None:
        raise InvalidInput("passphrase", f"missing, and {shown} is locked with one", "give the one it was made with")
    word = passphrase.encode() if isinstance(passphrase, str) else passphrase
    try:
        found = load_pem_private_key(text, word if locked else None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        if locked:
            raise InvalidInput("passphrase", f"not that of {shown}", "give the one it was made with") from None
        raise InvalidInput(argument, f"{shown}, which is no private key in PKCS#8 PEM", _MAKE_ONE) from None
    if not isinstance(found, Ed25519PrivateKey):
        raise InvalidInput(argument, f"{shown}, a key of another kind", f"give an Ed25519 key; {_MAKE_ONE}")
    if not locked and not private_file:
        raise InvalidInput(argument, f"{shown}, which others may read", f"keep it to yourself: `chmod 600 {shown}`")
    return SigningKey(found)


def needs_passphrase(key: Private, *, argument: str = "key") -> bool:
    """Whether a private key is locked."""
    if not isinstance(key, str | bytes | os.PathLike):
        return False
    return _is_locked(_text_of(key, argument)[0])


def _is_locked(text: bytes) -> bool:
    """Whether the text of a private key can be read with a passphrase only."""
    return b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in text


def public_bytes(key: Public, *, argument: str = "signer") -> bytes:
    """The 32 bytes of a public key, from its file, its text (PEM, or OpenSSH's line) or an object."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    if isinstance(key, SigningKey):
        return key.public_key
    if isinstance(key, Ed25519PublicKey):
        return key.public_bytes_raw()
    text, shown, _ = _text_of(key, argument)
    if b"PRIVATE KEY-----" in text:
        raise InvalidInput(argument, f"{shown}, which is a private key", "give the public one: NAME.pub")
    try:
        found = load_ssh_public_key(text.strip()) if text.startswith(b"ssh-") else load_pem_public_key(text)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InvalidInput(argument, f"{shown}, which is no public key", f"give NAME.pub; {_MAKE_ONE}") from None
    if not isinstance(found, Ed25519PublicKey):
        raise InvalidInput(argument, f"{shown}, a key of another kind", f"give an Ed25519 key; {_MAKE_ONE}")
    return found.public_bytes_raw()


def new_key(name: str | os.PathLike[str], passphrase: str | bytes | None = None) -> tuple[Path, Path]:
    """Make a key: NAME.key, private and readable by its owner alone, and NAME.pub, to be given to everybody.

    The private half is PKCS#8 PEM, locked if there is a `passphrase`, the public half SubjectPublicKeyInfo PEM: what
    OpenSSL and most libraries open. Files that exist are left as they are, and refused.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not isinstance(name, str | os.PathLike) or not Path(name).name:
        raise InvalidInput("name", "no name of a file", "give one without an ending, such as ministry")
    if passphrase is not None and not passphrase:
        raise InvalidInput("passphrase", "empty", "give some words, or none at all for a key without one")
    private, public = (Path(f"{os.fspath(name)}{ending}") for ending in (".key", ".pub"))
    for path in (private, public):
        if path.exists() or path.is_symlink():
            raise BadFile(f"{path} exists already; give another name: a key is never replaced.")
    key = Ed25519PrivateKey.generate()
    word = passphrase.encode() if isinstance(passphrase, str) else passphrase
    lock = serialization.NoEncryption() if word is None else serialization.BestAvailableEncryption(word)
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, lock)
    shown = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)

    def write_private(file: BinaryIO) -> None:
        os.chmod(file.fileno() if os.chmod in os.supports_fd else file.name, 0o600)  # before there is anything in it
        file.write(secret)

    written_whole(private, write_private, replacing=False)
    try:
        written_whole(public, lambda file: file.write(shown), replacing=False)
    except BaseException:
        private.unlink(missing_ok=True)
        raise
    return private, public


def fingerprint(public_key: bytes) -> str:
    """SHA256:…, as OpenSSH has it: of the key as its protocol writes it."""
    name = b"ssh-ed25519"
    wire = len(name).to_bytes(4, "big") + name + len(public_key).to_bytes(4, "big") + public_key
    return f"SHA256:{_base64(hashlib.sha256(wire).digest()).rstrip('=')}"


def _text_of(key: object, argument: str) -> tuple[bytes, str, bool]:
    """The text of a key, what to call it, and whether nobody else may read it."""
    if isinstance(key, bytes):
        return key, "what was given", True
    if not isinstance(key, str | os.PathLike):
        raise InvalidInput(argument, f"of type {type(key).__name__}", "give a key's file, its text, or a key object")
    given = os.fspath(key)
    if isinstance(given, str) and ("-----BEGIN " in given or given.startswith("ssh-ed25519 ")):
        return given.encode(), "what was given", True
    path = Path(os.fsdecode(given))
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_LONGEST_KEY)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no name of a file"
        raise BadFile(f"The key {path} cannot be read: {reason}; check the path and who may read it.") from None
    return text, str(path), os.name == "nt" or not mode & 0o077


def _is_public(text: bytes) -> bool:
    return b"-----BEGIN PUBLIC KEY-----" in text or text.startswith(b"ssh-")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


if TYPE_CHECKING:
    Private: TypeAlias = str | os.PathLike[str] | bytes | Ed25519PrivateKey | SigningKey
    """A private key: a file, the text of one, or an object."""
    Public: TypeAlias = str | os.PathLike[str] | bytes | Ed25519PublicKey | SigningKey
    """A public key: a file, the text of one (PEM, or OpenSSH's line), or an object."""
