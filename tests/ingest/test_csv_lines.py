"""A line of CSV is read by itself: whatever is in it, it changes nothing but its own part of the counts."""

import csv
import gzip
import io
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedp.axes import Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.ingest import _csv, check, count

DOMAIN = Domain([Integers("age", 0, 9), Categories("sex", ["F", "M"])])
HEADER = b"who,age,sex\n"
PIECES = [b'"', b'""', b",", b"1", b"F", b"M", b" ", b"x", b"\xff", b"\xc3", b"\xa4", b"\xef\xbb\xbf", b"\x00", b"'"]
ENDS = [b"\n", b"\r", b"\r\n"]

line = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join),
    st.tuples(st.integers(0, 3), st.integers(0, 10), st.sampled_from("FM")).map(
        lambda row: b"%d,%d,%b" % (*row[:2], row[2].encode())
    ),
    st.binary(max_size=8).map(lambda raw: raw.replace(b"\r", b"").replace(b"\n", b"")),
)
lines = st.lists(line, max_size=12)


def table(rows: list[bytes], end: bytes, form: str, block: int, **options: Any) -> Any:
    """Counted from a file, a packed file or a stream, a few bytes at a time."""
    content = HEADER + end.join(rows)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv, "A_BLOCK", block)
        patch.setattr(_csv, "HEADER", 32)
        source: Any = io.BytesIO(content)
        if form != "stream":
            source = Path(folder, f"visits.{form}")
            source.write_bytes(content if form == "csv" else gzip.compress(content))
        return count(source, DOMAIN, key=bytes(16), **options).values


form, end, block = st.sampled_from(["csv", "csv.gz", "stream"]), st.sampled_from(ENDS), st.sampled_from([5, 1 << 20])


@settings(max_examples=25)
@given(lines, st.lists(st.tuples(st.integers(0, 12), line), max_size=3), end, form, block)
def test_a_line_more_is_one_record_more_at_most(
    others: list[bytes], more: list[tuple[int, bytes]], end: bytes, form: str, block: int
) -> None:
    together = list(others)
    for place, added in more:
        together.insert(place, added)
    before = table(others, end, form, block, privacy_unit=None)
    after = table(together, end, form, block, privacy_unit=None)
    assert np.abs(after - before).sum() <= len(more)
    assert (after >= before).all()


@settings(max_examples=25)
@given(lines, st.lists(st.tuples(st.integers(0, 12), line), max_size=5), st.integers(1, 3), end, form, block)
def test_a_person_changes_no_more_than_their_bound(
    others: list[bytes], theirs: list[tuple[int, bytes]], most: int, end: bytes, form: str, block: int
) -> None:
    """All lines of one person, whatever follows their name; nobody else has that name."""
    together = list(others)
    for place, added in theirs:
        together.insert(place, b"evil," + added)
    options: dict[str, Any] = {"privacy_unit": "who", "max_contributions": most}
    apart = table(together, end, form, block, **options) - table(others, end, form, block, **options)
    assert np.abs(apart).sum() <= most


@settings(max_examples=25)
@given(st.binary(max_size=60), st.binary(max_size=20), st.integers(0, 60), form, block)
def test_bytes_with_line_ends_in_them_are_as_many_records_as_lines(
    others: bytes, more: bytes, place: int, form: str, block: int
) -> None:
    """Put anywhere, also in the midst of a line: that one is then another."""
    before = table([others], b"\n", form, block, privacy_unit=None)
    after = table([others[:place] + more + others[place:]], b"\n", form, block, privacy_unit=None)
    assert np.abs(after - before).sum() <= 2 + more.count(b"\n") + more.count(b"\r")


def test_quotes_are_followed_as_the_reader_does() -> None:
    """Every line of up to six of these characters, a good one after each; compared with Python's own reader."""
    broken = ["".join(signs) for size in range(7) for signs in product('",a ', repeat=size)]
    labels = ["a", "aa", '"', 'a"', "a a", '""', ",", 'a"a']
    expected = dict.fromkeys(labels, 0)
    for text in broken:
        rows = list(csv.reader([text, "end"]))
        if len(rows) == 2 and len(rows[0]) == 2 and rows[0][1].strip() in expected:
            expected[rows[0][1].strip()] += 1
    content = "who,what\n" + "".join(f"{text}\n{place},good\n" for place, text in enumerate(broken))
    domain = Domain([Categories("what", [*labels, "good"])])
    found = count(io.BytesIO(content.encode()), domain, privacy_unit=None).values.tolist()
    assert found == [*expected.values(), len(broken)]
    assert min(expected.values()) > 0


@pytest.mark.parametrize("last", [b'"I hate quotes', b'6" pipe,"cut', b"\xff", b'F\r"', b"x" * (17 << 20), b"F,\xff"])
@pytest.mark.parametrize("csv", [None, {"encoding": "latin-1"}])
def test_one_person_more_among_a_thousand(
    last: bytes, csv: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = b"".join(b"%d,%d,F\n" % (i, i % 10) for i in range(1000))
    (tmp_path / "a.csv").write_bytes(HEADER + good[:300] + b"evil,1," + last + b"\n" + good[300:])
    found = count(tmp_path / "a.csv", DOMAIN, privacy_unit="who", csv=csv).values.sum()
    assert 999 <= found <= 1001
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("block", [16, 17, 18, 64])
def test_a_mark_of_unicode_is_part_of_a_record_wherever_a_block_begins(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_csv, "A_BLOCK", block)
    monkeypatch.setattr(_csv, "HEADER", 16)
    rows = b"".join(b"\xef\xbb\xbf%d,1,F\n%d,1,F\n" % (i, i) for i in range(50))
    found = count(io.BytesIO(b"\xef\xbb\xbf" + HEADER + rows), DOMAIN, privacy_unit="who")
    assert found.values.sum() == 100  # two people for each number


def test_fields_of_several_lines_are_declared() -> None:
    content = HEADER + b'1,2,F\n2,"3\n",M\n"3\n\r",4,"M"\n4,5,F\n'
    read = {"privacy_unit": "who"}
    assert count(io.BytesIO(content), DOMAIN, **read).values.sum() == 2  # type: ignore[arg-type]
    found = count(io.BytesIO(content), DOMAIN, **read, csv={"multiline": True})  # type: ignore[arg-type]
    assert found.multiline
    assert found.values.sum() == 3  # 3 and a line end is no age
    header = io.BytesIO(b'who,"a\nnote",age,sex\n1,"\n",2,F\n')
    assert count(header, DOMAIN, **read, csv={"multiline": True}).values.sum() == 1  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"csv\['multiline'\] is of type str; say True or False"):
        count(io.BytesIO(content), DOMAIN, **read, csv={"multiline": "yes"})  # type: ignore[arg-type]


def test_what_declared_lines_cost_ends(capfd: pytest.CaptureFixture[str]) -> None:
    """A stray quote takes 16 MB and the rest of a line with it, no more; bad bytes take their own record."""
    good = b"".join(b"%d,%d,F\n" % (i, i % 10) for i in range(100))
    filler = b"x,y,z\n" * (3 << 20)
    content = HEADER + b"evil,1,F,\xff\n" + good[:50] + b'evil,1,"F\n' + good[50:] + filler + b"last,1,F\n"
    found = count(io.BytesIO(content), DOMAIN, privacy_unit="who", csv={"multiline": True})
    assert found.values.sum() == good[:50].count(b"\n") + 1
    assert capfd.readouterr() == ("", "")


def test_their_owner_is_told_how_many_lines_were_broken(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(HEADER + b'1,2,F\n\n2,3\n3,4,"F\n4,5,\xff\n5,6,F,\n6,7,' + b"z" * (17 << 20))
    found = check(tmp_path / "a.csv", DOMAIN, privacy_unit="who")
    assert (found.rows, found.failures[0].rows, found.counted) == (6, 5, 1)
    assert found.failures[0].examples == ("2,3", '3,4,"F', "4,5,\ufffd")
