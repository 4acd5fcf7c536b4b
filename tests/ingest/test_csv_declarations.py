"""How CSV is written is declared: separators, decimals, dates and characters."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from where_records_fall import cells_in

from sparsedp.axes import Bins, Calendar, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.cli._files import records_from
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest import count

GERMAN = {"delimiter": ";", "decimal": ",", "date_format": "%d.%m.%Y", "encoding": "latin-1"}


def cells(axis: Any, values: list[str], csv: dict[str, Any] | None = None) -> list[int]:
    encoding = (csv or {}).get("encoding", "utf-8")
    delimiter = (csv or {}).get("delimiter", ",")
    lines = [f"record{delimiter}{axis.name}", *(f"{place}{delimiter}{value}" for place, value in enumerate(values))]
    content = "\n".join(lines).encode(encoding)
    return [int(one) for one in cells_in(axis, io.BytesIO(content), len(values), csv=csv)]


def test_a_german_file(tmp_path: Path) -> None:
    lines = "Patient;Tag;Größe;Geschlecht\n1;05.03.2024;1,75;männlich\n2;31.12.2024;1,6;weiblich\n3;1.1.2024;2;männlich"
    (tmp_path / "visits.csv").write_bytes(lines.encode("latin-1"))
    domain = Domain([Calendar("Tag", "2024-01-01", "1mo", 12), Categories("Geschlecht", ["männlich", "weiblich"])])
    options: dict[str, Any] = {"value": "Größe", "clamp": (0, 3), "resolution": "0.01"}
    found = count(tmp_path, domain, privacy_unit="Patient", csv=GERMAN, **options).values
    assert {place: int(found[place]) for place in map(tuple, np.argwhere(found))} == {
        (2, 0): 175,
        (11, 1): 160,
        (0, 0): 200,
    }


def test_a_decimal_comma() -> None:
    axis = Bins("x", [0, 1, 2, 1000])
    numbers = ["0,5", "1,5", "1,5e2", "1", "1.5", "1.234,5", ",5", "5,", "1,,5", "-0,1"]
    german = {"delimiter": ";", "decimal": ","}
    assert cells(axis, numbers, german) == [0, 1, 2, 1, -1, -1, 0, 2, -1, -1]
    assert cells(Integers("x", 0, 9), ["3", "3,0", "3.0", "3,5"], german) == [3, 3, -1, -1]


@pytest.mark.parametrize(
    ("declared", "first", "others"),
    [
        (
            "%d.%m.%Y",
            "05.03.2024",
            ["2024-03-05", "05/03/2024", "31.02.2024", "5.3.2024 x", "epoch", "infinity", "now"],
        ),
        ("%m/%d/%Y %I:%M %p", "03/05/2024 02:30 PM", ["03/05/2024", "13/05/2024 02:30 PM", "03/05/2024 14:30"]),
        ("%Y%m%d", "20240305", ["2024-03-05", "2024030", ""]),
        ("%d.%m.%y %H:%M:%S", "05.03.24 23:59:59", ["05.03.24 24:00:00", "05.03.24"]),
    ],
)
def test_a_format_of_dates(declared: str, first: str, others: list[str]) -> None:
    for zone in (None, "Europe/Berlin"):
        axis = Calendar("x", "2024-03-01", "1d", 31, zone=zone)
        assert cells(axis, [first, f" {first} "], {"date_format": declared}) == [4, 4]
        assert cells(axis, [*others, first], {"date_format": {"x": declared}}) == [-1] * len(others) + [4]
        assert cells(axis, ["2024-03-05"], {"date_format": {"record": declared}}) == [4]
        with pytest.raises(InvalidInput, match="column is 'y', and the first line"):
            cells(axis, [first], {"date_format": {"y": declared}})


@pytest.mark.parametrize("text", ["2024-3-5", "20240305", "2024/03/05", "05.03.2024", "March 5, 2024", "1709596800"])
def test_dates_that_have_to_be_declared(text: str) -> None:
    assert cells(Calendar("x", "2024-03-01", "1d", 31), [text, "2024-03-05"]) == [-1, 4]


def test_times_that_name_an_offset_or_none() -> None:
    written = ["2024-03-05T23:30:00Z", "2024-03-05 23:30+02:00", "2024-03-05T23:30"]
    assert cells(Calendar("x", "2024-03-05", "1d", 2), written) == [0, 0, 0]
    assert cells(Calendar("x", "2024-03-05T00:00Z", "1h", 24), written) == [23, 21, 23]
    assert cells(Calendar("x", "2024-03-05", "1d", 2, zone="Europe/Berlin"), written) == [1, 0, 0]


def test_blanks_around_a_field_are_no_part_of_it() -> None:
    assert cells(Categories("x", ["F", "M"]), [" F", "M\t", "F F", " ", '" F "']) == [0, 1, -1, -1, 0]
    table = io.BytesIO(b"who,age\n1,0\n 1 ,0\n1\t,0\n01,0\n  ,0\n")
    assert count(table, Domain([Integers("age", 0, 1)]), privacy_unit="who").values.tolist() == [2, 0]


def test_characters_of_windows() -> None:
    """Each of its 256 bytes is another character, also the five that were never given out."""
    lines = b"".join(bytes([byte]) + b"x,0\n" for byte in range(256) if byte not in b'\t\n\r ",')
    for encoding in ("latin-1", "cp1252"):
        source = io.BytesIO(b"who,age\n" + lines)
        found = count(source, Domain([Integers("age", 0, 0)]), privacy_unit="who", csv={"encoding": encoding})
        assert found.values.tolist() == [256 - 6]
    assert cells(Categories("x", ["5 €"]), ["5 €"], {"encoding": "cp1252"}) == [0]
    # Not guessed: the same bytes are no UTF-8, and these records are left out.
    source = io.BytesIO(b"who,x\n1,5 \x80\n2,F\n")
    assert count(source, Domain([Categories("x", ["5 €", "F"])]), privacy_unit="who").values.tolist() == [0, 1]


def test_characters_across_blocks(tmp_path: Path) -> None:
    rows = 200_000
    (tmp_path / "a.csv").write_bytes(b"who,x\n" + b"".join(b"%d,\xe4\xf6\xfc\n" % i for i in range(rows)))
    for source in (tmp_path / "a.csv", (tmp_path / "a.csv").open("rb"), (tmp_path / "a.csv").open("rb", buffering=0)):
        found = count(source, Domain([Categories("x", ["äöü"])]), privacy_unit="who", csv={"encoding": "latin-1"})
        assert found.values.tolist() == [rows]
        if isinstance(source, io.IOBase):
            assert not source.closed
            source.close()


@pytest.mark.parametrize(
    "declared",
    [
        {"decimal": ";"}, {"decimal": None}, {"encoding": "utf-16"}, {"encoding": 5}, {"date_format": "%d.%m"},
        {"date_format": "day %s"}, {"date_format": "%d.%b.%Y"}, {"date_format": "%d.%m.%Y %z"}, {"date_format": 5},
        {"date_format": {"x": "%Y"}}, {"date_format": "%d.%m.%Y\n"}, {"date_format": "%d.%m.%Y%"},
    ],
)  # fmt: skip
def test_what_cannot_be_declared(declared: Any) -> None:
    with pytest.raises(InvalidInput, match=r"csv\['(decimal|encoding|date_format)'\] is .*; give"):
        count(io.BytesIO(b"who,x\n"), Domain([Integers("x", 0, 1)]), privacy_unit="who", csv=declared)


def test_declarations_for_what_is_no_csv() -> None:
    with pytest.raises(InvalidInput, match="csv is given, and the records are not CSV"):
        count(
            pa.table({"who": [1], "age": [0]}),
            Domain([Integers("age", 0, 1)]),
            privacy_unit="who",
            csv={"decimal": ","},
        )


def test_a_stream_is_read_as_a_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain([Integers("age", 0, 1)])
    good = b"".join(b"%d,1\n" % i for i in range(1000))

    def counted(content: bytes) -> list[int]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return [int(one) for one in count(records_from("-"), domain, privacy_unit="who").values]

    assert counted(b"who,age\n" + good) == [0, 1000]
    assert counted(b"\xef\xbb\xbfwho,age\r\n" + good) == [0, 1000]
    assert counted(b"who,age\n") == counted(b"who,age") == [0, 0]
    for size in (9, 40):  # nobody is left out because of somebody's long record
        long = b"evil," + b"z" * (size << 20) + b"\n"
        assert counted(b"who,age\n" + long + good) == counted(b"who,age\n" + good + long) == [0, 1000]
    with pytest.raises(BadFile, match="The stream is empty"):
        counted(b"")
    with pytest.raises(InvalidInput, match="first line of the stream"):
        counted(b"1,2\n")
    with pytest.raises(InvalidInput, match="opened as text"):
        count(io.StringIO("who,age\n"), domain, privacy_unit="who")
