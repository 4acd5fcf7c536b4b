"""Signatures: what one vouches for cannot be changed, and whose key it is nobody is told wrongly."""

import base64
import dataclasses
import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.files.columns_file import Contents, open_contents
from sparsedp.files.signatures import SigningKey, fingerprint, public_bytes, signing_key
from sparsedp.releases import saved_form

KEY = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
CHANGED = "does not match its signature"
REWRITTEN = "holds more than what was signed"


def adaptive() -> sdp.Release:
    """With a synopsis in its file, text, times in UTC, and a ledger's line."""
    domain = ["at:2024-01-01T00:00..2024-01-01T06:00/1h@UTC", "sex:F,M"]
    counts = np.arange(12).reshape(6, 2) * 10
    return sdp.release(counts, epsilon="0.5", domain=domain, ledger=sdp.Ledger(epsilon=1))


def sums() -> sdp.Release:
    """Without a synopsis in its file."""
    return sdp.release(np.arange(8) * 100, epsilon="0.5", mechanism="laplace", domain=["age:0..80/10"])


def plain() -> sdp.Release:
    return sdp.release(np.arange(8) * 100, epsilon="0.5", mechanism="hierarchical")


RELEASES: dict[str, Callable[[], sdp.Release]] = {"adaptive": adaptive, "laplace": sums, "no errors": plain}


@pytest.fixture(params=RELEASES)
def signed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return RELEASES[request.param]().sign(KEY).save(tmp_path / "x.parquet")


def exposed(release: sdp.Release) -> list[Any]:
    """Everything that an opened release says."""
    synopsis = release.synopsis
    table = release.to_arrow()
    return [
        json.dumps(saved_form.description(release), sort_keys=True),
        str(release.guarantee),
        release.digest,
        str(table.schema),
        [column.to_pylist() for column in table.columns],
        release.values.tobytes(),
        None if release.stderr is None else release.stderr.tobytes(),
        None if synopsis is None else (synopsis.digest, synopsis.packed().content),
        release.signature,
    ]


# ---- round trips


def test_a_signed_file_opens_for_whoever_names_the_key(signed: Path) -> None:
    release = sdp.open_release(signed, signer=KEY)
    assert release.signature is not None
    assert release.signature.fingerprint == KEY.fingerprint
    assert release.signature.named
    assert "the key that you named" in str(release.signature)


def test_without_a_named_key_it_says_who_signed_and_that_nobody_was_asked(signed: Path) -> None:
    signature = sdp.open_release(signed).signature
    assert signature is not None
    assert not signature.named
    assert "checked against no key that you named" in str(signature)
    assert KEY.fingerprint in str(signature)


def test_signing_changes_neither_the_digest_nor_what_is_read(tmp_path: Path) -> None:
    release = adaptive()
    before = sdp.open_release(release.save(tmp_path / "before.parquet"))
    after = sdp.open_release(release.sign(KEY).save(tmp_path / "after.parquet"))
    assert exposed(before)[:-1] == exposed(after)[:-1]
    assert before.signature is None
    assert before.digest == after.digest == release.digest
    assert (
        pq.read_table(tmp_path / "after.parquet").to_pydict() == pq.read_table(tmp_path / "before.parquet").to_pydict()
    )


def test_a_signature_travels_when_an_opened_release_is_saved_again(signed: Path, tmp_path: Path) -> None:
    copy = sdp.open_release(signed).save(tmp_path / "copy.parquet")
    assert sdp.open_release(copy, signer=KEY).signature is not None


def test_what_is_made_of_a_signed_release_is_not_signed(tmp_path: Path) -> None:
    release = adaptive().sign(KEY)
    assert release.marginal("sex").signature is None
    assert dataclasses.replace(release, written_by="somebody").signature is None


def test_a_synopsis(tmp_path: Path) -> None:
    synopsis = sdp.Laplace().measure([1, 2, 3], epsilon=1).sign(KEY)
    path = synopsis.save(tmp_path / "x.synopsis")
    assert sdp.open_synopsis(path, signer=KEY).signature == synopsis.signature
    with pytest.raises(sdp.NotSigned, match="another key"):
        sdp.open_synopsis(path, signer=OTHER)
    assert sdp.open_synopsis(path).recover().signature is None


def test_a_release_of_a_signed_synopsis_can_be_saved_and_opened(tmp_path: Path) -> None:
    measured = sdp.Adaptive().measure([100] * 64, epsilon=1).sign(KEY)
    again = sdp.open_release(measured.recover().save(tmp_path / "x.parquet"))
    assert again.signature is None
    assert again.synopsis is not None


# ---- refusals, each with its own sentence


def test_not_signed_signed_by_another_and_damaged_are_told_apart(tmp_path: Path) -> None:
    release = adaptive()
    path = release.save(tmp_path / "x.parquet")
    with pytest.raises(sdp.NotSigned, match=r"is not signed, and SHA256:.* was to have signed it"):
        sdp.open_release(path, signer=KEY)
    release.sign(OTHER).save(path)
    with pytest.raises(sdp.NotSigned, match=f"signed by another key, {OTHER.fingerprint[:12]}"):
        sdp.open_release(path, signer=KEY)
    content = path.read_bytes()
    path.write_bytes(content[:-300] + bytes(10) + content[-290:])
    with pytest.raises(sdp.BadFile) as damaged:
        sdp.open_release(path, signer=OTHER)
    assert not isinstance(damaged.value, sdp.NotSigned)


def test_a_signature_of_another_file_is_refused(tmp_path: Path) -> None:
    one, two = adaptive().sign(KEY), adaptive()
    contents = saved_form.contents(two, saved_form.columns(two))
    written(dataclasses.replace(contents, signature=one.signature), tmp_path / "x.parquet")
    with pytest.raises(sdp.BadFile, match=CHANGED):
        sdp.open_release(tmp_path / "x.parquet")


def test_a_signature_says_of_which_kind_of_file_it_is() -> None:
    contents = Contents("release", {"value": np.arange(3)}, {})
    other = dataclasses.replace(contents, kind="synopsis")
    assert contents.statement.startswith(b"sparsedp release signature v1\n")
    assert other.statement.startswith(b"sparsedp synopsis signature v1\n")


# ---- forgeries: with the digest made right again, by somebody who has this library but not the key


def written(contents: Contents, path: Path) -> Path:
    with open(path, "wb") as file:
        contents.write(file)
    return path


def refused(contents: Contents, path: Path) -> None:
    """For its signature; by `open_release` perhaps for something else even before."""
    written(contents, path)
    with pytest.raises(sdp.BadFile, match=CHANGED):
        open_contents(path, "release")
    for signer in (None, KEY):
        with pytest.raises(sdp.BadFile):
            sdp.open_release(path, signer=signer)


def leaves(value: Any) -> Iterator[Any]:
    """The same, changed in one place, for every place."""
    if isinstance(value, dict):
        yield {**value, "more": 1}
        for name, entry in value.items():
            yield {other: kept for other, kept in value.items() if other != name}
            yield from ({**value, name: changed} for changed in leaves(entry))
    elif isinstance(value, list):
        yield [*value, 1]
        for place, entry in enumerate(value):
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in leaves(entry))
    elif isinstance(value, bool) or value is None:
        yield not value
    else:
        yield value + ("0" if isinstance(value, str) else 1)


def test_every_field_of_the_description_is_signed(signed: Path, tmp_path: Path) -> None:
    contents = open_contents(signed, "release")
    description = json.loads(json.dumps(contents.description))
    forged = list(leaves(description))
    assert len(forged) > 30
    for changed in forged:
        refused(dataclasses.replace(contents, description=changed), tmp_path / "forged.parquet")


def test_every_value_of_every_column_is_signed(signed: Path, tmp_path: Path) -> None:
    contents = open_contents(signed, "release")
    for name, column in contents.columns.items():
        for place in range(column.size):
            changed = column.copy()
            changed[place] += {"O": "x", "M": np.timedelta64(1, "us")}.get(column.dtype.kind, 1)
            refused(dataclasses.replace(contents, columns={**contents.columns, name: changed}), tmp_path / "forged")


def test_names_types_and_order_of_columns_are_signed(signed: Path, tmp_path: Path) -> None:
    contents = open_contents(signed, "release")
    columns = dict(contents.columns)
    first = next(iter(columns))
    last = list(columns)[-1]
    for changed in (
        dict(reversed(columns.items())),
        {**columns, "more": columns[last]},
        {name: column for name, column in columns.items() if name != first},
        {("other" if name == first else name): column for name, column in columns.items()},
        {**columns, last: columns[last].astype(np.int64)},
        {name: column[:-1] for name, column in columns.items()},
    ):
        refused(dataclasses.replace(contents, columns=changed), tmp_path / "forged")
    if contents.utc:
        refused(dataclasses.replace(contents, utc=()), tmp_path / "forged")


def test_the_synopsis_within_is_signed_to_the_last_byte(tmp_path: Path) -> None:
    path = adaptive().sign(KEY).save(tmp_path / "x.parquet")
    contents = open_contents(path, "release")
    other = adaptive().synopsis
    assert other is not None
    refused(dataclasses.replace(contents, embedded={"synopsis": other.packed()}), tmp_path / "forged")
    refused(dataclasses.replace(contents, embedded={}), tmp_path / "forged")
    within = contents.embedded["synopsis"]
    same = dataclasses.replace(within, content=rewritten(within.content))
    assert same.content != within.content
    refused(dataclasses.replace(contents, embedded={"synopsis": same}), tmp_path / "forged")


def rewritten(content: bytes) -> bytes:
    """A Parquet file that says the same in other bytes."""
    reader = pa.BufferReader(content)
    table, metadata = pq.read_table(reader), pq.read_metadata(pa.BufferReader(content)).metadata
    return parquet(table, metadata, compression="none")


def parquet(table: pa.Table, metadata: dict[bytes, bytes], **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    given: dict[str, Any] = {"store_schema": False, "write_statistics": False, "compression": "zstd", **options}
    with pq.ParquetWriter(sink, table.schema.remove_metadata(), **given) as writer:
        writer.write_table(table.replace_schema_metadata(None))
        writer.add_key_value_metadata(metadata)
    content: bytes = sink.getvalue().to_pybytes()
    return content


PANDAS = json.dumps(
    {"index_columns": ["age_left"], "columns": [], "column_indexes": [], "pandas_version": "2"}
).encode()


def test_nothing_that_other_readers_would_follow_can_be_added(tmp_path: Path) -> None:
    path = sums().sign(KEY).save(tmp_path / "x.parquet")
    table, metadata = pq.read_table(path), dict(pq.read_metadata(path).metadata)
    document = metadata[b"sparsedp"]
    holes = pa.array([None] * table.num_rows, pa.float64())
    forged = {
        "statistics, by which rows are skipped": parquet(table, metadata, write_statistics=True),
        "page index": parquet(table, metadata, write_statistics=True, write_page_index=True),
        "another library's metadata": parquet(table, {**metadata, b"pandas": PANDAS}),
        "Arrow's own schema": parquet(table, metadata, store_schema=True),
        "a name twice in the description": parquet(
            table, {**metadata, b"sparsedp": b'{"mechanism": "exact", ' + document[1:]}
        ),
        "spaces": parquet(table, {**metadata, b"sparsedp": document + b" "}),
        "the description twice": parquet(table, {b"sparsedq": document, **metadata}).replace(b"sparsedq", b"sparsedp"),
        "bytes before the metadata": with_bytes_inside(path.read_bytes()),
    }
    for what, content in forged.items():
        path.write_bytes(content)
        assert REWRITTEN in sentence_of(path), what
    # A missing number is the same to numpy as one that is not a number; not so to SQL. No file of ours has any.
    stored = sums()
    missing = dataclasses.replace(
        saved_form.contents(stored, saved_form.columns(stored)),
        columns={**saved_form.columns(stored), "stderr": np.full(8, np.nan)},
    ).signed(KEY)
    with_holes = missing.table().set_column(missing.table().column_names.index("stderr"), "stderr", holes)
    path.write_bytes(parquet(with_holes, {b"sparsedp": missing.text, b"sparsedp:signature": signature_of(missing)}))
    with pytest.raises(sdp.BadFile, match="lacks values"):
        sdp.open_release(path, signer=KEY)


def sentence_of(path: Path) -> str:
    """Why a file is refused; nothing if it is not."""
    try:
        sdp.open_release(path, signer=KEY)
    except sdp.BadFile as error:
        return str(error)
    return ""


def signature_of(contents: Contents) -> bytes:
    assert contents.signature is not None
    return contents.signature.text()


def with_bytes_inside(content: bytes) -> bytes:
    """Between the columns and the metadata there is room for indexes."""
    footer = int.from_bytes(content[-8:-4], "little") + 8
    return content[:-footer] + bytes(64) + content[-footer:]


def test_what_is_not_signed_may_differ(tmp_path: Path) -> None:
    path = sums().sign(KEY).save(tmp_path / "x.parquet")
    before = exposed(sdp.open_release(path, signer=KEY))
    table, metadata = pq.read_table(path), dict(pq.read_metadata(path).metadata)
    path.write_bytes(parquet(table, metadata, compression="none"))
    assert exposed(sdp.open_release(path, signer=KEY)) == before


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"null", b'"x"', b"\xff", b"[" * 10_000])
def test_a_signature_that_is_none(text: bytes, tmp_path: Path) -> None:
    path = sums().sign(KEY).save(tmp_path / "x.parquet")
    table, metadata = pq.read_table(path), dict(pq.read_metadata(path).metadata)
    path.write_bytes(parquet(table, {**metadata, b"sparsedp:signature": text}))
    with pytest.raises(sdp.BadFile, match="a signature that cannot be read"):
        sdp.open_release(path)


def test_a_signature_has_one_form(tmp_path: Path) -> None:
    path = sums().sign(KEY).save(tmp_path / "x.parquet")
    table, metadata = pq.read_table(path), dict(pq.read_metadata(path).metadata)
    parts = json.loads(metadata[b"sparsedp:signature"])
    for forged in (
        {**parts, "note": "by the Ministry"},
        {**parts, "algorithm": "none"},
        {**parts, "signature": parts["signature"][:-4]},
        {**parts, "public_key": base64.b64encode(bytes(31)).decode()},
        {**parts, "signature": [1]},
    ):
        text = json.dumps(forged, sort_keys=True).encode()
        path.write_bytes(parquet(table, {**metadata, b"sparsedp:signature": text}))
        with pytest.raises(sdp.BadFile, match="a signature that cannot be read"):
            sdp.open_release(path)
    swapped = {**parts, "public_key": base64.b64encode(OTHER.public_key).decode()}
    text = json.dumps(swapped, sort_keys=True).encode()
    path.write_bytes(parquet(table, {**metadata, b"sparsedp:signature": text}))
    with pytest.raises(sdp.BadFile, match=CHANGED):
        sdp.open_release(path, signer=OTHER)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, list[Any]]:
    path = adaptive().sign(KEY).save(tmp_path_factory.mktemp("signed") / "x.parquet")
    return path, path.read_bytes(), exposed(sdp.open_release(path, signer=KEY))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_no_byte_that_is_exposed_can_change_under_a_valid_signature(
    data: st.DataObject, whole: tuple[Path, bytes, list[Any]]
) -> None:
    path, content, before = whole
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(changed)
    try:
        after = exposed(sdp.open_release(path, signer=KEY))
    except sdp.BadFile:
        return
    assert after == before


# ---- keys


def test_a_new_key_is_for_its_owner_alone_and_others_open_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        private, public = sdp.new_key(tmp_path / "office")
    finally:
        os.umask(before)
    assert (private.name, public.name) == ("office.key", "office.pub")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    key = load_pem_private_key(private.read_bytes(), None)
    assert isinstance(key, Ed25519PrivateKey)
    assert load_pem_public_key(public.read_bytes()) == key.public_key()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["office.key", "office.pub"]
    assert "PRIVATE" not in repr(signing_key(private))


@pytest.mark.parametrize("taken", ["office.key", "office.pub"])
def test_a_key_is_never_replaced(taken: str, tmp_path: Path) -> None:
    (tmp_path / taken).write_text("mine")
    with pytest.raises(sdp.BadFile, match=f"{taken} exists already"):
        sdp.new_key(tmp_path / "office")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_a_locked_key(tmp_path: Path) -> None:
    private, public = sdp.new_key(tmp_path / "office", "ßecret words")
    assert b"ENCRYPTED" in private.read_bytes()
    assert signing_key(private, "ßecret words").public_key == public_bytes(public)
    with pytest.raises(sdp.InvalidInput, match="passphrase is missing"):
        signing_key(private)
    with pytest.raises(sdp.InvalidInput, match="passphrase is not that of"):
        signing_key(private, "other words")
    with pytest.raises(sdp.InvalidInput, match="passphrase is empty"):
        sdp.new_key(tmp_path / "none", "")


def test_a_private_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    private, _ = sdp.new_key(tmp_path / "office")
    private.chmod(0o640)
    with pytest.raises(sdp.InvalidInput, match="which others may read; keep it to yourself"):
        adaptive().sign(private)


def test_keys_that_are_none(tmp_path: Path) -> None:
    private, public = sdp.new_key(tmp_path / "office")
    release = sums()
    with pytest.raises(sdp.InvalidInput, match="which is a public key; give the private one"):
        release.sign(public)
    with pytest.raises(sdp.InvalidInput, match="which is a private key; give the public one"):
        public_bytes(private)
    with pytest.raises(sdp.BadFile, match="cannot be read: No such file"):
        release.sign(tmp_path / "missing.key")
    with pytest.raises(sdp.BadFile, match="cannot be read: Is a directory"):
        release.sign(tmp_path)
    (tmp_path / "text").write_text("-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n")
    with pytest.raises(sdp.InvalidInput, match="no private key in PKCS#8 PEM"):
        release.sign(tmp_path / "text")
    (tmp_path / "text").write_text("nonsense")
    with pytest.raises(sdp.InvalidInput, match="which is no public key"):
        public_bytes(tmp_path / "text")
    rsa = generate_private_key(65537, 2048)
    with pytest.raises(sdp.InvalidInput, match="a key of another kind; give an Ed25519 key"):
        release.sign(rsa.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(sdp.InvalidInput, match="a key of another kind; give an Ed25519 key"):
        public_bytes(rsa.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(sdp.InvalidInput, match="key is of type int"):
        release.sign(3)  # type: ignore[arg-type]


def test_a_public_key_in_every_form(tmp_path: Path) -> None:
    private, public = sdp.new_key(tmp_path / "office")
    key = load_pem_public_key(public.read_bytes())
    line = key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    path = sums().sign(private).save(tmp_path / "x.parquet")
    (tmp_path / "ssh.pub").write_text(f"{line} me@here\n")
    for form in (public, str(public), public.read_text(), public.read_bytes(), key, line, tmp_path / "ssh.pub"):
        assert sdp.open_release(path, signer=deepcopy(form) if isinstance(form, str) else form).signature is not None  # type: ignore[arg-type]


def test_the_fingerprint_is_openssh_s() -> None:
    line = KEY._key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    wire = base64.b64decode(line.split()[1])
    expected = base64.b64encode(hashlib.sha256(wire).digest()).decode().rstrip("=")
    assert fingerprint(KEY.public_key) == f"SHA256:{expected}"


def test_the_signature_can_be_checked_without_this_library(tmp_path: Path) -> None:
    """By the documented statement, and any implementation of Ed25519."""
    path = sums().sign(KEY).save(tmp_path / "x.parquet")
    metadata = pq.read_metadata(path).metadata
    document, signature = json.loads(metadata[b"sparsedp"]), json.loads(metadata[b"sparsedp:signature"])
    columns = [["age_left", "<f8", 8], ["age_right", "<f8", 8], ["count", "<f8", 8], ["stderr", "<f8", 8]]
    said = {"columns": columns, "digest": document["digest"], "embedded": {}}
    statement = b"sparsedp release signature v1\n" + json.dumps(said, sort_keys=True).encode()
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32))).public_key()
    key.verify(base64.b64decode(signature["signature"]), statement)


def test_importing_does_not_load_the_library_of_keys() -> None:
    code = "import sys, sparsedp.files.signatures; print('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_no_footer_ends_the_process(tmp_path: Path) -> None:
    """Arrow ends it where it is asked for a column of which the footer contradicts itself, by a single bit."""
    path = adaptive().sign(KEY).save(tmp_path / "x.parquet")
    content = path.read_bytes()
    begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    end = content.index(b"sparsedp", begin)
    for place in range(begin, end):
        for bit in (1, 0x80):
            path.write_bytes(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :])
            try:
                sdp.open_release(path)
            except sdp.BadFile:
                continue
