"""The three histograms of Hay et al. (2010) that the paper publishes: public, but not ours to give.

`fetch` brings them from their authors' repository. They lie in the data folder as social_network.txt, search_logs.txt
and nettrace.txt, one count a line; the environment variable SPARSEDP_DATA names another folder that holds them.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.datasets import connection_trace
from sparsedp.datasets._download import check_address, download
from sparsedp.datasets.data_folder import data_folder, folder_to_fill, folder_to_read
from sparsedp.errors import BadFile, UnknownName
from sparsedp.files.whole_file import written_whole
from sparsedp.progress import stage

_SOURCE = "https://raw.githubusercontent.com/michaelghay/vldb2010data/cbf004d73911caf0a2e2b0068c969903e395ee6b/"
"""Their authors' repository, michaelghay/vldb2010data, at one commit."""

_MIRROR = "SPARSEDP_DATA_URL"
"""The environment variable with the address of a copy of it; the checksums hold there too."""

CITATION = (
    "M. Hay, V. Rastogi, G. Miklau and D. Suciu: Boosting the Accuracy of Differentially Private Histograms Through "
    "Consistency. PVLDB 3(1), 2010"
)
TERMS = "Their authors ask that you cite this paper when you use them, and that you do not pass the files on."

_LARGEST = 1 << 20
"""Bytes that are read at most; the largest of the files has an eighth of it."""

_TIMEOUT = 20.0

DIGESTS = {
    "social_network": "540690cca78ffad4b6e1c233df93be3009b56a14252d2ae1d3fcdf0799d13e3a",
    "search_logs": "6c2ecd6d226e15a512ff671208a4e40c439565397db168d1ebeb0f16d705c94f",
    "nettrace": "27c14b31c7f675293bed37509db84d27a2dc03595b855217bf0957630b9bedb9",
}
"""The SHA-256 of each file."""


@dataclass(frozen=True)
class PaperFile:
    """One of the files: how many counts it holds, and of what."""

    name: str
    cells: int
    about: str


PAPER_FILES = {
    file.name: file
    for file in (
        PaperFile("social_network", 11_342, "friends of each person in a social network, fewest first"),
        PaperFile("search_logs", 32_768, "searches for one word, 16 times a day from 1 January 2004 on"),
        PaperFile("nettrace", 65_536, "outside hosts that each address of a network had to do with, most first"),
    )
}


def path_of(name: str, folder: Path | None = None) -> Path:
    """Where the file lies, or would lie."""
    if name not in PAPER_FILES:
        raise UnknownName("data set", name, PAPER_FILES)
    return (folder or data_folder()) / f"{name}.txt"


def available(folder: Path | None = None) -> list[str]:
    """Which of the three files the folder holds; whether they are the right ones is seen when they are read."""
    folder = folder or folder_to_read()
    return [name for name in DIGESTS if os.path.isfile(path_of(name, folder))]


def check_all(folder: Path | None = None) -> list[str]:
    """Which of the three files the folder holds, every one of them the right one: BadFile for one that is another."""
    folder = folder or folder_to_read()
    held = available(folder)
    for name in held:
        verified(name, folder)
    return held


def verified(name: str, folder: Path | None = None) -> bytes:
    """The content of one file, if it is there and is that of Hay et al."""
    path_of(name, folder)  # a name that is not known is the first thing to say
    path = path_of(name, folder or folder_to_read())
    if not os.path.isfile(path):
        raise BadFile(
            f"There is no {path}; set SPARSEDP_DATA to the folder that holds the paper's files, or get it by "
            f"`sparsedp datasets fetch {name}`."
        )
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise BadFile(f"Could not read {path}: {error.strerror}; check who may read it.") from None
    if not _is_right(name, content):
        raise BadFile(
            f"{path} is not the file of Hay et al.: its SHA-256 differs; move it away, and get the right one by "
            f"`sparsedp datasets fetch {name}`."
        )
    return content


def paper_file(name: str, folder: Path | None = None) -> Ints:
    """The counts of one file, checked against its digest."""
    return np.array(verified(name, folder).split(), dtype=np.int64)


def fetch(
    name: str,
    folder: Path | None = None,
    *,
    source: str | None = None,
    timeout: float = _TIMEOUT,
    overwrite: bool = False,
) -> Path:
    """Download one file, check its digest, and only then let it appear in the folder; a right one is left as it is.

    `source`: the address of a copy of the authors' repository; left out, SPARSEDP_DATA_URL, and without it the
    repository itself. `overwrite`: replace a file of that name that is another one.
    """
    if name == connection_trace.NAME:
        raise BadFile(f"{name} cannot be fetched, for no checksum of it is known; {connection_trace.how_to_get()}.")
    path_of(name, folder)
    folder = folder or folder_to_fill()
    path = path_of(name, folder)
    if os.path.lexists(path):
        if is_there(name, folder):
            return path
        if not overwrite:
            raise BadFile(f"{path} is there but is not the file of Hay et al.; move it away, or say `overwrite=True`.")
    mirror = os.environ.get(_MIRROR)
    address = (
        check_address(_MIRROR, mirror) if source is None and mirror else check_address("source", source or _SOURCE)
    )
    with stage(f"fetching {name}"):
        content = download(f"{address}{name}.txt", most=_LARGEST, timeout=timeout)
    if not _is_right(name, content):
        raise BadFile(
            f"What is at {address}{name}.txt is not the file of Hay et al.: its SHA-256 differs; nothing was written. "
            "Try again, or take another mirror."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(
            f"Could not make the folder {path.parent}: {error.strerror}; set SPARSEDP_DATA to one that can be written."
        ) from None
    return written_whole(path, lambda file: file.write(content))


def is_there(name: str, folder: Path | None = None) -> bool:
    """Whether the folder holds the right file."""
    try:
        verified(name, folder)
    except BadFile:
        return False
    return True


def _is_right(name: str, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == DIGESTS[name]
