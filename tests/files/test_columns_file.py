"""Files are written whole or not at all, and what they say has one digest."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import BadFile
from sparsedp.files import columns_file
from sparsedp.files.columns_file import Contents
from sparsedp.files.untrusted import document
from sparsedp.files.whole_file import written_whole

COLUMNS = {"cell": np.arange(3), "word": np.array(["a", "ü", "c"], dtype=object), "x": np.array([0.5, np.nan, 2.0])}


def save(path: Path) -> Path:
    return columns_file.write(path, "release", COLUMNS, {"fact": "é"})


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.parquet"
    link.symlink_to(tmp_path / "real" / "x.parquet")
    assert save(link) == link
    assert link.is_symlink()
    assert columns_file.read(tmp_path / "real" / "x.parquet", "release")[1] == {"fact": "é"}
    assert os.listdir(tmp_path / "real") == ["x.parquet"]


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(BadFile, match="Could not write"):
        save(tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_folders_that_are_missing_or_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"there is no folder .*nowhere; nothing was left half-written"):
        save(tmp_path / "nowhere" / "x.parquet")
    with pytest.raises(BadFile, match="there is a folder of that name"):
        save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    """So do devices: whoever may write to /dev would have a file named `null` there, for everybody."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadFile, match="it is a device or a pipe"):
        save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_folder_that_may_not_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refused)
    with pytest.raises(BadFile, match="Permission denied; nothing was left half-written"):
        save(tmp_path / "x.parquet")


def test_a_long_name_is_as_good_as_a_short_one(tmp_path: Path) -> None:
    assert save(tmp_path / ("x" * 240 + ".parquet")).is_file()


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("x")])
def test_the_old_file_stays_until_the_new_one_is_whole(failure: BaseException, tmp_path: Path) -> None:
    target = save(tmp_path / "x.parquet")
    before = target.read_bytes()

    def half(file: BinaryIO) -> None:
        file.write(b"half")
        assert target.read_bytes() == before
        raise failure

    with pytest.raises(BadFile if isinstance(failure, OSError) else type(failure)):
        written_whole(target, half)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_the_folder_is_brought_to_disk_after_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the new name may be lost when the power fails."""
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(descriptor: int) -> None:
        done.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    def watched_replace(source: Path, target: Path) -> None:
        done.append("renamed")
        replace(source, target)

    monkeypatch.setattr("os.fsync", watched_fsync)
    monkeypatch.setattr("os.replace", watched_replace)
    save(tmp_path / "x.parquet")
    assert done == ["file", "renamed", "folder"]


def test_a_full_disk(tmp_path: Path) -> None:
    target = save(tmp_path / "x.parquet")
    before = target.read_bytes()
    program = Path(__file__).with_name("full_disk_writer.py")
    printed = subprocess.run([sys.executable, program, target], capture_output=True, text=True, check=True)
    told = json.loads(printed.stdout)
    assert printed.stderr == ""
    assert told["left"] == ["x.parquet"]
    assert all("File too large; nothing was left half-written" in said for said in told["heard"])
    assert target.read_bytes() == before


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5),
    st.lists(st.text(max_size=3), min_size=1, max_size=5),
)
def test_what_is_written_is_read(numbers: list[int], words: list[str]) -> None:
    words = [word.encode("utf-8", "ignore").decode() for word in words]
    length = min(len(numbers), len(words))
    columns = {"n": np.array(numbers[:length], np.int64), "w": np.array(words[:length], dtype=object)}
    within = Contents("synopsis", {"n": columns["n"]}, {"deep": True}).packed()
    packed = Contents("release", columns, {"words": words}, embedded={"synopsis": within}).packed()
    found = columns_file.contents_of(packed, "release")
    assert found.description == {"words": words}
    assert found.digest == packed.digest
    assert [found.columns[name].tolist() for name in ("n", "w")] == [numbers[:length], words[:length]]
    assert columns_file.contents_of(found.embedded["synopsis"], "synopsis").columns["n"].tolist() == numbers[:length]


def test_the_digest_is_the_one_that_earlier_versions_wrote() -> None:
    """Written by an earlier version, which knew nothing of embedded files."""
    assert Contents("release", COLUMNS, {"fact": "é"}).digest == (
        "79f8d73331a3dfd0170b05dcc75f4b81e746cb4f1bf9e263e9c6e945f6ea4cba"
    )


def test_half_of_a_character_is_no_document() -> None:
    assert document(r'{"name": "\ud83d\ude00"}') == {"name": "\U0001f600"}
    with pytest.raises(ValueError, match="surrogates"):
        document(r'{"name": "\udcff"}')
