"""The user's own copies of the paper's files: found by the environment, and not taken for others."""

from pathlib import Path

import pytest

from local_mirror import FILES, small_files
from sparsedp.datasets import paper_files
from sparsedp.errors import BadFile, UnknownName


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nettrace.txt").write_text("1\n2\n")
    monkeypatch.setenv("SPARSEDP_DATA", str(tmp_path))
    assert paper_files.available() == ["nettrace"]
    with pytest.raises(BadFile, match=r"search_logs\.txt; set SPARSEDP_DATA"):
        paper_files.paper_file("search_logs")


def test_another_file_of_that_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nettrace.txt").write_text("1\n2\n")
    with pytest.raises(BadFile, match="SHA-256 differs"):
        paper_files.paper_file("nettrace", tmp_path)


def test_the_right_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nettrace.txt").write_bytes(b"1\n2\n30\n")
    digest = "3cca336f5640a46f808b6d60d202714f99cf959f13b5a86c8583ede58f7a8e37"
    monkeypatch.setitem(paper_files.DIGESTS, "nettrace", digest)
    assert paper_files.paper_file("nettrace", tmp_path).tolist() == [1, 2, 30]


def test_a_copy_is_right_only_if_it_is_all_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = "3cca336f5640a46f808b6d60d202714f99cf959f13b5a86c8583ede58f7a8e37"
    monkeypatch.setitem(paper_files.DIGESTS, "nettrace", digest)
    for content, right in ((b"1\n2\n30\n", True), (b"1\n2\n3", False), (b"1\n2\n30\n" + bytes(2 << 20), False)):
        (tmp_path / "nettrace.txt").write_bytes(content)
        assert paper_files.is_there("nettrace", tmp_path) is right
    assert not paper_files.is_there("search_logs", tmp_path)


def test_all_that_is_there_is_checked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_files(monkeypatch)
    assert paper_files.check_all(tmp_path) == []
    for name in ("search_logs", "nettrace"):
        (tmp_path / f"{name}.txt").write_bytes(FILES[name])
    assert paper_files.check_all(tmp_path) == ["search_logs", "nettrace"]
    monkeypatch.setenv("SPARSEDP_DATA", str(tmp_path))
    (tmp_path / "nettrace.txt").write_bytes(FILES["search_logs"])
    with pytest.raises(BadFile, match=r"nettrace\.txt is not the file of Hay et al\."):
        paper_files.check_all()


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    for use in (paper_files.paper_file, paper_files.path_of, paper_files.fetch):
        with pytest.raises(UnknownName, match="did you mean 'nettrace'"):
            use("net_trace", tmp_path)


def test_every_file_has_a_digest_and_the_papers_number_of_cells() -> None:
    cells = {name: file.cells for name, file in paper_files.PAPER_FILES.items()}
    assert cells == {"social_network": 11_342, "search_logs": 32_768, "nettrace": 65_536}
    assert list(cells) == list(paper_files.DIGESTS)
