"""Published files: Parquet columns any tool opens, with a description and a digest in the metadata."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.parquet_claims import KEY, Claim, allowed, check_memory, claim_of
from sparsedp.files.signatures import Signature, SigningKey
from sparsedp.files.whole_file import written_whole
from sparsedp.validate import shown_bytes

if TYPE_CHECKING:
    import pyarrow as pa


_FORMAT = 1
OTHER_FORMATS = {".csv", ".tsv", ".txt", ".json", ".xls", ".xlsx"}
"""Endings that would promise another format than Parquet."""

_EMBEDDED = b"sparsedp."
"""What begins the metadata keys of embedded files."""
_SIGNATURE = b"sparsedp:signature"

_FRAME = 12
"""Bytes of a Parquet file beside its columns and its metadata: four letters at either end, and a length."""

_TEXTS, _TEXT_BYTES = 2**16, 2**24
"""Texts whose digest is taken at a time, and about how many characters they may have together."""

Column = npt.NDArray[Any]
"""Whole numbers, numbers, text (an array of objects), or times: datetime64[us], which others open as timestamps."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What such a file holds: columns, a description, and other such files within it, by name.

    `utc`: the columns that hold times in UTC. An embedded file is the bytes of one, and its digest is part of this
    one's. Two contents with the same digest say the same, whatever library compressed them.
    """

    kind: str
    columns: Mapping[str, Column]
    description: Mapping[str, Any]
    utc: Collection[str] = ()
    embedded: Mapping[str, Packed] = field(default_factory=dict)
    signature: Signature | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The description as it is written, but for the digest."""
        within = {"embedded": {name: file.digest for name, file in sorted(self.embedded.items())}}
        return {"format": _FORMAT, "kind": self.kind, **self.description, **(within if self.embedded else {})}

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the description and the columns' little-endian bytes. It guards against damage, not forgery."""
        digest = hashlib.sha256(json.dumps(self.document, sort_keys=True).encode())
        for name, column in self.columns.items():
            digest.update(f"|{name}|{self._type_of(name)}|{column.size}|".encode())
            if column.dtype == object:
                _add_texts(digest, column)
            else:
                plain = np.ascontiguousarray(column).astype(column.dtype.newbyteorder("<"), copy=False)
                digest.update(plain.view(np.uint8).data)
        return digest.hexdigest()

    def _type_of(self, column: str) -> str:
        return f"{self.columns[column].dtype.str}{' UTC' if column in self.utc else ''}"

    @property
    def text(self) -> bytes:
        """The description and the digest as they stand in the file."""
        return json.dumps({**self.document, "digest": self.digest}, ensure_ascii=False, sort_keys=True).encode()

    @property
    def statement(self) -> bytes:
        """What a signature of this file signs: its kind, its digest, its columns in their order, and files within."""
        columns = [[name, self._type_of(name), column.size] for name, column in self.columns.items()]
        within = {name: hashlib.sha256(file.content).hexdigest() for name, file in self.embedded.items()}
        said = json.dumps({"digest": self.digest, "columns": columns, "embedded": within}, sort_keys=True)
        return f"sparsedp {self.kind} signature v1\n{said}".encode()

    def signed(self, key: SigningKey) -> Contents:
        """The same with the signature of this key, in place of any other; the digest stays."""
        return self._with(key.sign(self.statement))

    def carrying(self, signature: Signature | None) -> Contents:
        """The same with this signature, if it is one of these contents."""
        return self if signature is None or not signature.fits(self.statement) else self._with(signature)

    def _with(self, signature: Signature) -> Contents:
        known = replace(self, signature=signature)
        known.__dict__["digest"] = self.digest
        return known

    def table(self) -> pa.Table:
        """The columns for Arrow; numbers and times are not copied."""
        import pyarrow as pa

        schema = self.schema
        return pa.table([pa.array(column, schema.field(name).type) for name, column in self.columns.items()], schema)

    @property
    def schema(self) -> pa.Schema:
        """The columns' names and types for Arrow."""
        import pyarrow as pa

        def type_of(name: str, column: Column) -> Any:
            if name in self.utc:
                return pa.timestamp("us", tz="UTC")
            return pa.string() if column.dtype == object else pa.from_numpy_dtype(column.dtype)

        return pa.schema([(name, type_of(name, column)) for name, column in self.columns.items()])

    def write(self, file: Any, table: pa.Table | None = None) -> None:
        """Write Parquet to an open file; `table` is that of the columns, where it was made already."""
        import pyarrow.parquet as pq

        metadata = {KEY: self.text}
        if self.signature is not None:
            metadata[_SIGNATURE] = self.signature.text()
        for name, packed in self.embedded.items():
            # Readers in other languages take metadata for text.
            metadata[_EMBEDDED + name.encode()] = base64.b64encode(packed.content)
        columns = self.table() if table is None else table
        # Arrow's own schema would repeat the metadata; Parquet's types say all of these columns.
        # Statistics let readers skip rows; they are no part of what is signed, so a signed file has none.
        plain = {"store_schema": False, "write_statistics": self.signature is None}
        with pq.ParquetWriter(file, columns.schema, compression="zstd", **plain) as writer:
            writer.write_table(columns)
            writer.add_key_value_metadata(metadata)

    def packed(self) -> Packed:
        """The bytes of the file, to be embedded in another."""
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        self.write(sink)
        return Packed(sink.getvalue().to_pybytes(), self.digest)


@dataclass(frozen=True)
class Packed:
    """A file in memory, and the digest of what it says."""

    content: bytes
    digest: str


def write(
    path: str | os.PathLike[str],
    kind: str,
    columns: Mapping[str, Column],
    description: Mapping[str, Any],
    *,
    utc: Collection[str] = (),
) -> Path:
    """Write the columns and their description to `path`, all or nothing; times in the columns `utc` are in UTC."""
    return save(path, Contents(kind, columns, description, utc))


def save(
    path: str | os.PathLike[str], contents: Contents, table: pa.Table | None = None, *, replacing: bool = True
) -> Path:
    """Write the contents to `path`, all or nothing; `table` is that of the columns, where it was made already.

    Without `replacing`, a file that is there is left as it is, and the refusal says so.
    """
    target = _checked(path)
    if target.suffix.lower() in OTHER_FORMATS:
        raise InvalidInput(
            "path", f"a name ending in {target.suffix}", "give one ending in .parquet: that is what is written"
        )

    def to(file: BinaryIO) -> None:
        contents.write(file, table)

    return written_whole(target, to, replacing=replacing)


def _checked(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput("path", f"of type {type(path).__name__}", "give the path of a file")
    return Path(path)


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Column], dict[str, Any]]:
    """The columns and the description of a file that was written here, verified against its digest."""
    contents = open_contents(path, kind)
    return dict(contents.columns), dict(contents.description)


_Needs = Callable[[Claim, str], int]
"""Checks what a file describes against how large it claims to be; the bytes that it takes beyond its columns."""


def open_contents(
    path: str | os.PathLike[str], kind: str, needs: _Needs = lambda claim, shown: 0, *, memory: object = None
) -> Contents:
    """What a file holds, undamaged by its digest.

    How large it claims to be is looked at before anything is read: `needs` says what else it takes, and `memory` how
    much it may take, in bytes or as text ("8GB"); left out, 2 GB or 64 times its own size, whichever is more.
    """
    import pyarrow as pa

    allowed(memory, 0)  # refused before anything else, if it is no size
    source = _checked(path)
    if source.is_dir():
        raise BadFile(f"{source} is a folder; give the path of a file.")
    if not source.is_file():
        raise BadFile(f"There is no file {source}; check the path.")
    try:
        open(source, "rb").close()
    except OSError as error:
        raise BadFile(f"{source} cannot be read: {error.strerror}; check who may read it.") from None
    try:
        with pa.OSFile(str(source), "rb") as file:
            return _contents(file, file.size(), str(source), kind, needs, memory)
    except (OSError, MemoryError) as error:
        why = "it would take more memory than there is" if isinstance(error, MemoryError) else "it may be damaged"
        raise BadFile(f"{source} cannot be read: {why}.") from None


def contents_of(
    packed: Packed, kind: str, needs: _Needs = lambda claim, shown: 0, *, memory: object = None
) -> Contents:
    """What an embedded file holds, undamaged by its digest and the one that it was embedded with."""
    import pyarrow as pa

    content = packed.content
    contents = _contents(pa.BufferReader(content), len(content), f"The embedded {kind}", kind, needs, memory)
    if contents.digest != packed.digest:
        raise BadFile(f"The embedded {kind} does not match its digest: it was changed or damaged.")
    return contents


def _contents(source: Any, size: int, shown: str, kind: str, needs: _Needs, memory: object) -> Contents:
    import pyarrow as pa

    claim = claim_of(source, size, shown)
    document, metadata = claim.document, claim.metadata
    found, version = document.get("kind"), document.get("format")
    if found != kind:
        if found not in ("release", "synopsis"):
            raise BadFile(f"{shown} is Parquet, but was not written by sparsedp.")
        raise BadFile(f"{shown} holds a {found}; open it with open_{found}.")
    if version != _FORMAT:
        known = f"format {version}" if isinstance(version, int) else "a format that is no number"
        raise BadFile(f"{shown} has {known}, this version reads {_FORMAT}; update sparsedp.")
    check_memory(claim, needs(claim, shown), size, memory, shown)
    try:
        table = claim.file.read()
    except (pa.ArrowException, OSError):
        raise BadFile(f"{shown} is not a readable Parquet file; it may be damaged or of another kind.") from None
    if table.num_rows != claim.rows or any(column.null_count for column in table.columns):
        raise BadFile(f"{shown} lacks values; it was not written by this library.")
    columns, most = {}, allowed(memory, size)
    for name in table.column_names:
        try:
            columns[name], length = _column(table.column(name))
        except (ValueError, IndexError):
            raise BadFile(f"{shown} has labels that are no text; it was changed or damaged.") from None
        if length > most:
            raise BadFile(
                f"{shown} has labels of {shown_bytes(length)} in one column, which is much for a file of "
                f'{shown_bytes(size)}; if you trust who wrote it, say memory="{shown_bytes(2 * length)}".'
            )
    utc = {entry.name for entry in table.schema if getattr(entry.type, "tz", None) == "UTC"}
    digest, within = document.pop("digest", None), document.pop("embedded", {})
    description = {name: value for name, value in document.items() if name not in ("format", "kind")}
    changed = BadFile(f"{shown} does not match its digest: it was changed or damaged after it was written.")
    try:
        embedded = {
            name: Packed(base64.b64decode(metadata[_EMBEDDED + name.encode()], validate=True), known)
            for name, known in within.items()
        }
    except (AttributeError, KeyError, ValueError):
        raise changed from None
    contents = Contents(kind, columns, description, utc, embedded)
    if digest != contents.digest:
        raise changed
    if _SIGNATURE not in metadata:
        return contents
    return _with_signature(contents, claim.file.metadata, size, shown)


def _with_signature(contents: Contents, footer: Any, size: int, shown: str) -> Contents:
    """The contents of a signed file with its signature, if that fits, and if all of the file is what was signed.

    Others read the file without this library. So it may hold nothing that leads them to see something else: no other
    metadata (such as pandas' own, which renames columns), no description that parsers read differently, no other types,
    and neither statistics nor indexes, by which readers skip rows.
    """
    raw = footer.metadata or {}
    try:
        signature = Signature.from_text(raw[_SIGNATURE])
    except (KeyError, ValueError):
        raise BadFile(f"{shown} has a signature that cannot be read: it was changed or damaged.") from None
    if not signature.fits(contents.statement):
        raise BadFile(f"{shown} does not match its signature: it was changed after it was signed.")
    known = {KEY, _SIGNATURE, *(_EMBEDDED + name.encode() for name in contents.embedded)}
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(footer.num_columns)]
    bare = not any(chunk.is_stats_set or chunk.has_column_index or chunk.has_offset_index for chunk in chunks)
    beside = size - footer.serialized_size - sum(chunk.total_compressed_size for chunk in chunks)
    if not (
        raw.keys() == known
        and raw[KEY] == contents.text
        and _each_once(footer, known)
        and bare
        and beside == _FRAME
        and footer.schema.to_arrow_schema().remove_metadata() == contents.schema
    ):
        raise BadFile(f"{shown} holds more than what was signed: another program has rewritten it.")
    return contents._with(signature)


def _each_once(footer: Any, names: Collection[bytes]) -> bool:
    """Whether no name stands twice in the metadata: one reader takes the first, another the last."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    footer.write_metadata_file(sink)
    written = sink.getvalue().to_pybytes()
    # A text in Parquet's footer: 24, its length, itself. No value of ours has that byte: JSON escapes it.
    return all(written.count(bytes([24, len(name)]) + name) == 1 for name in names)


def _column(column: Any) -> tuple[Column, int]:
    """The values, and how many characters they have in all if they are texts.

    Of text, cells with the same one share it: a release repeats its labels.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy()), 0
    parts: list[Column] = [np.empty(0, dtype=object)]
    shared: dict[str, str] = {}
    length = 0
    for chunk in column.chunks:
        words = [shared.setdefault(word, word) for word in chunk.dictionary.to_pylist()]
        labels = np.array([*words, None], dtype=object)  # one more: numpy splits a text alone
        places = chunk.indices.to_numpy()
        length += int(np.bincount(places, minlength=len(words)) @ np.array([*map(len, words)], np.int64))
        parts.append(labels[places])
    return np.concatenate(parts), length


def _add_texts(digest: Any, column: Column) -> None:
    """What `json.dumps` makes of the list of texts, some of them at a time."""
    before = "["
    for start in range(0, column.size, _TEXTS):
        texts = column[start : start + _TEXTS].tolist()
        step = max(1, _TEXT_BYTES // max(1, *map(len, texts)))
        for first in range(0, len(texts), step):
            digest.update(f"{before}{json.dumps(texts[first : first + step])[1:-1]}".encode())
            before = ", "
    digest.update(b"]" if column.size else b"[]")
