"""The three histograms of Hay et al. (2010) that the paper publishes: public, but not ours to give.

Set the environment variable SPARSEDP_DATA to a folder with social_network.txt, search_logs.txt and nettrace.txt, one
count a line.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.errors import BadFile

DIGESTS = {
    "social_network": "540690cca78ffad4b6e1c233df93be3009b56a14252d2ae1d3fcdf0799d13e3a",
    "search_logs": "6c2ecd6d226e15a512ff671208a4e40c439565397db168d1ebeb0f16d705c94f",
    "nettrace": "27c14b31c7f675293bed37509db84d27a2dc03595b855217bf0957630b9bedb9",
}
"""The SHA-256 of each file."""


def data_folder() -> Path:
    """The folder that SPARSEDP_DATA names, or `data` here."""
    return Path(os.environ.get("SPARSEDP_DATA", "data"))


def available(folder: Path | None = None) -> list[str]:
    """Which of the three files the folder holds."""
    folder = folder or data_folder()
    return [name for name in DIGESTS if (folder / f"{name}.txt").is_file()]


def paper_file(name: str, folder: Path | None = None) -> Integers:
    """The counts of one file, checked against its digest."""
    path = (folder or data_folder()) / f"{name}.txt"
    if not path.is_file():
        raise BadFile(f"There is no {path}; set SPARSEDP_DATA to the folder that holds the paper's three files.")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != DIGESTS[name]:
        raise BadFile(f"{path} is not the file of Hay et al.: its SHA-256 differs.")
    return np.array(content.split(), dtype=np.int64)
