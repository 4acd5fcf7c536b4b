"""CSV is read by fixed rules: one person's record never changes how another's is read."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from sparsedp.axes import Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest import _csv, count

DOMAIN = Domain([Integers("age", 0, 9), Categories("sex", ["F", "M"])])


def counted(folder: Path, content: bytes, *, name: str = "visits.csv", **options: Any) -> list[tuple[int, int]]:
    """The cells that have a record, one for each."""
    (folder / name).write_bytes(content)
    values = count(folder / name, DOMAIN, privacy_unit="who", **options).values
    return [(age, sex) for age in range(10) for sex in range(2) for _ in range(values[age, sex])]


@pytest.mark.parametrize(
    "record",
    [
        b"", b" ", b'"', b'""', b",", b"9", b"9,1,F,and,more", b'9,"1"x,F', b'9,1,"F"" M"', b"9,\xff,F",
        b"\xff\xfe,1,F", b"9,1,\x00", b"9,one,F",
        b"9,1e999,F", b"9,,", b",1,F", b'9,"1\n2\n9,4,X\n",M', b"9,1,N/A", b"9,10,M", b"9,nan,F", b"9,1,f",
        b'9,1 "x",F', b'9,1 "x,"F', b'9,1,"F', b'"9,1,F', b'9",",F', b'9,1,"F""', b"9,\xff,F,more", b'9,1,"F\xff',
        b"9,1\rF", b'9,"1\r",F,', b"\r\r\n", b"\xef\xbb\xbf", b"9,1,\xed\xa0\x80", b"9,\xc3\n\xa4,F", b"\xf0",
        b"\x00" * 50, b"9,1,F" + b"z" * (17 << 20),
    ],
)  # fmt: skip
def test_a_strange_record_is_dropped_and_the_others_stay(record: bytes, tmp_path: Path) -> None:
    others = b"who,age,sex\n1,2,F\n" + record + b"\n2,3,M\n3,4,M\n"
    assert [cell for cell in counted(tmp_path, others) if cell[0] > 1] == [(2, 0), (3, 1), (4, 1)]
    assert counted(tmp_path, others).count((1, 0)) == 0


def test_a_first_record_does_not_make_the_types(tmp_path: Path) -> None:
    """A reader that guesses takes ages for text, people for numbers, and the semicolon for the separator."""
    strange = b"who,age,sex\n" + b"a;b;c,old;old;old,F\n" * 3 + b"01,2,F\n1,2,F\n001,2,F\n"
    assert counted(tmp_path, strange) == [(2, 0)] * 3


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_ends_of_lines_and_a_mark_of_unicode(end: bytes, tmp_path: Path) -> None:
    lines = [b"\xef\xbb\xbfwho,age,sex", b'"1","2","F"', b"", b"2,3,M"]
    assert counted(tmp_path, end.join(lines)) == [(2, 0), (3, 1)]
    assert counted(tmp_path, end.join(lines) + end) == [(2, 0), (3, 1)]


def test_other_separators_are_declared(tmp_path: Path) -> None:
    assert counted(tmp_path, b"who;age;sex\n1;2;F\n", csv={"delimiter": ";"}) == [(2, 0)]
    assert counted(tmp_path, b"who\tage\tsex\n1\t2\tF\n", name="visits.tsv") == [(2, 0)]
    assert counted(tmp_path, b"who|age|sex\n1|2|'F'\n", csv={"delimiter": "|", "quote": "'"}) == [(2, 0)]
    with pytest.raises(InvalidInput, match=r"column is 'who', and the first line of .*csv.*the separator \(csv="):
        counted(tmp_path, b"who;age;sex\n1;2;F\n")


def test_a_record_in_the_place_of_the_header_is_not_quoted(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="taken for its header, has no such name") as raised:
        counted(tmp_path, b"Alice Smith,HIV positive,F\n2,3,M\n")
    assert "Alice" not in str(raised.value)
    assert "HIV" not in str(raised.value)
    assert not hasattr(raised.value, "known")
    for header, near in ((b"whom,age,sex", "'whom'"), (b" WHO,age,sex", "' WHO'")):
        with pytest.raises(InvalidInput, match=f"did you mean {near}") as raised:
            counted(tmp_path, header + b"\n")
        assert "sex" not in str(raised.value)


@pytest.mark.parametrize(
    "declared", [";", {"sep": ";"}, {"delimiter": "::"}, {"delimiter": "\n"}, {"delimiter": '"'}, {"quote": 5}]
)
def test_what_cannot_be_declared(declared: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r'delimiter": ";"|one plain character; give one'):
        counted(tmp_path, b"who,age,sex\n", csv=declared)


def test_blocks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records with line ends in them, wherever a block of the file happens to end."""
    note = '"' + "\n1,1,F\n" * 3 + '"",\n"'
    lines = "".join(f"{i},{i % 10},{'FM'[i % 2]},{note}\n" for i in range(300))
    content = f"who,age,sex,note\n{lines}".encode()
    across: Any = {"csv": {"multiline": True}}
    whole = counted(tmp_path, content, **across)
    assert len(whole) == 300
    for block in (64, 101, 1000):
        monkeypatch.setattr(_csv, "A_BLOCK", block)
        assert counted(tmp_path, content, **across) == whole


def test_a_packed_file_that_is_cut_off(tmp_path: Path) -> None:
    packed = gzip.compress(b"who,age,sex\n" + b"1,2,F\n" * 100_000)
    assert counted(tmp_path, packed, name="visits.csv.gz") == [(2, 0)]
    for cut in (packed[:-300], packed[:5], b"who,age,sex\n1,2,F\n"):
        with pytest.raises(BadFile, match=r"cannot be read|could not be read") as raised:
            counted(tmp_path, cut, name="visits.csv.gz")
        assert raised.value.__context__ is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n1,2,F\n",
        b"\xef\xbb\xbf",
        b'who,age,"sex\n1,2,F\n2,2,"F"\n',
        b"who,age,sex," + b"x" * (2 << 20) + b"\n",
    ],
)
def test_a_file_without_a_header(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="whose first line names its columns"):
        counted(tmp_path, content)


def test_a_header_with_a_name_twice(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="two columns named 'age'"):
        counted(tmp_path, b"who,age,age,sex\n1,2,3,F\n")
    assert counted(tmp_path, b"who,note,age,note,sex\n1,x,2,y,F\n") == [(2, 0)]
