"""Real records to try things on, and the paper's own data."""

import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli_terminal import in_own_folder, ok, refused, run

from local_mirror import FILES, Mirror, mirrored
from sparsedp.datasets import paper_files
from sparsedp.datasets._download import download
from sparsedp.datasets.flights import hourly_departures


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """The paper's files, small ones, behind SPARSEDP_DATA_URL; they are fetched to `data` here."""
    with mirrored(monkeypatch, Path("data")) as server:
        yield server


def test_the_flights_are_all_there() -> None:
    ok("datasets", "export", "flights.parquet")
    table = pq.read_table("flights.parquet")
    assert table.num_rows == 336_776
    assert {"day", "hour", "time_hour", "origin", "carrier", "tailnum", "dep_delay"} <= set(table.column_names)
    departed = table.filter(pc.is_valid(table["dep_delay"]))
    days = departed["day"].to_numpy() - np.datetime64("2013-01-01")
    hours = days.astype(np.int64) * 24 + departed["hour"].to_numpy()
    assert np.array_equal(np.bincount(hours, minlength=8760), hourly_departures())


def test_the_name_of_the_file_is_no_data_sets_name() -> None:
    assert "Wrote f.parquet: every flight" in ok("datasets", "export", "f.parquet").text
    assert pq.read_metadata("f.parquet").num_rows == 336_776
    assert ok("datasets", "export", "-").text.startswith('"day","hour"')


def test_csv_and_names() -> None:
    found = ok("datasets", "export", "all.csv", "--name", "flights", "--json").json
    assert found == {"data_set": "flights", "file": "all.csv", "unit": "tailnum"}
    assert pyarrow.csv.read_csv("all.csv").num_rows == 336_776


def test_the_list_says_what_is_here(mirror: Mirror) -> None:
    ok("datasets", "fetch", "nettrace")
    Path("data/search_logs.txt").write_text("1\n2\n")
    Path("data/lbl-conn-7.red").write_text("0 1 smtp 1 1 1 2 SF L\n")
    records, *files = ok("datasets", "list", "--json").json
    assert (records["name"], records["kind"], records["unit"]) == ("flights", "records", "tailnum")
    assert {each["name"]: each["here"] for each in files} == {
        "social_network": False,
        "search_logs": None,
        "nettrace": True,
        "tcptrace": True,
    }
    assert [each["cells"] for each in files] == [11_342, 32_768, 65_536, 8_640]
    assert all(each["cite"] for each in files)
    text = ok("datasets", "list").text
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert lines["flights"].split()[1] == "tailnum"
    assert lines["social_network"].split()[1:3] == ["11,342", "no"]
    assert lines["search_logs"].split()[1:4] == ["32,768", "another", "file"]
    assert lines["nettrace"].split()[1:3] == ["65,536", "yes"]
    assert "PVLDB 3(1), 2010" in text
    assert "do not pass the files on" in text


def test_all_files_are_fetched_once(mirror: Mirror) -> None:
    first = ok("datasets", "fetch").text
    assert first.count("fetched and checked") == 3
    assert "cite this paper" in first
    assert "do not pass the files on" in first
    assert {path.stem: path.read_bytes() for path in Path("data").iterdir()} == FILES
    assert ok("datasets", "fetch").text.count("was there already") == 3
    assert len(mirror.asked) == 3


def test_fetching_for_scripts(mirror: Mirror) -> None:
    found = ok("datasets", "fetch", "nettrace", "nettrace", "search_logs", "--json").json
    assert found["files"] == [
        {"name": "nettrace", "file": "data/nettrace.txt", "fetched": True},
        {"name": "search_logs", "file": "data/search_logs.txt", "fetched": True},
    ]
    assert "PVLDB" in found["cite"]
    assert "do not pass" in found["terms"]
    again = ok("datasets", "fetch", "--json", "nettrace").json
    assert again["files"] == [{"name": "nettrace", "file": "data/nettrace.txt", "fetched": False}]
    assert mirror.asked == ["/nettrace.txt", "/search_logs.txt"]


def test_another_file_stays_unless_it_may_be_overwritten(mirror: Mirror) -> None:
    Path("data").mkdir()
    Path("data/nettrace.txt").write_text("precious")
    assert "move it away, or say `--overwrite`" in refused("datasets", "fetch", "nettrace")
    assert Path("data/nettrace.txt").read_text() == "precious"
    ok("datasets", "fetch", "nettrace", "--overwrite")
    assert Path("data/nettrace.txt").read_bytes() == FILES["nettrace"]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("nettrace", "netrace"), "did you mean 'nettrace'?"),
        (("nettrace", "tcptrace"), "LBL-CONN-7.html, unpack it and put it in data as lbl-conn-7.red"),
        (("nettrace", "flights"), "`sparsedp datasets export` writes it"),
    ],
)
def test_nothing_is_fetched_where_a_name_is_wrong(mirror: Mirror, names: tuple[str, ...], says: str) -> None:
    assert says in refused("datasets", "fetch", *names)
    assert mirror.asked == []


def test_what_cannot_be_fetched_is_said_in_one_sentence(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror.answers = {"/nettrace.txt": b"1\n2\n"}
    assert "its SHA-256 differs; nothing was written" in refused("datasets", "fetch", "nettrace")
    assert "the answer was 404" in refused("datasets", "fetch", "search_logs")
    monkeypatch.setenv("SPARSEDP_DATA_URL", "mirror")
    assert "SPARSEDP_DATA_URL is no web address" in refused("datasets", "fetch")
    assert not Path("data").exists()


@pytest.mark.parametrize(
    ("during", "says"),
    [
        ("nettrace", "Interrupted. Nothing was spent and nothing was written."),
        ("search_logs", "Interrupted. Fetched before that: nettrace."),
    ],
)
@pytest.mark.usefixtures("mirror")
def test_interrupted_it_says_what_is_there(monkeypatch: pytest.MonkeyPatch, during: str, says: str) -> None:
    def pressed(address: str, *, most: int, timeout: float) -> bytes:
        if during in address:
            signal.raise_signal(signal.SIGINT)
        return download(address, most=most, timeout=timeout)

    monkeypatch.setattr(paper_files, "download", pressed)
    ended = run("datasets", "fetch", "nettrace", "search_logs")
    assert ended.code == 130
    assert ended.errors == f"sparsedp: {says}\n"
    assert Path("data/nettrace.txt").exists() is (during == "search_logs")
    assert not Path("data/search_logs.txt").exists()


def test_the_folder_and_the_files_in_it(mirror: Mirror) -> None:
    assert ok("datasets", "path").text == "data\n"
    Path("data").mkdir()
    assert "`sparsedp datasets fetch nettrace`" in refused("datasets", "path", "nettrace")
    assert "get the trace LBL-CONN-7 from https://" in refused("datasets", "path", "tcptrace")
    ok("datasets", "fetch", "nettrace")
    Path("data/lbl-conn-7.red").touch()
    assert ok("datasets", "path", "nettrace").text == "data/nettrace.txt\n"
    assert ok("datasets", "path", "nettrace", "--json").json == {"data_set": "nettrace", "path": "data/nettrace.txt"}
    assert ok("datasets", "path", "tcptrace").text == "data/lbl-conn-7.red\n"
    Path("data/nettrace.txt").write_text("1\n")
    assert "its SHA-256 differs" in refused("datasets", "path", "nettrace")
    assert "did you mean 'tcptrace'?" in refused("datasets", "path", "tcp_trace")


def test_a_slip_in_the_folders_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSEDP_DATA", "slip")
    for arguments in (("list",), ("list", "--json"), ("path", "nettrace"), ("path", "tcptrace")):
        assert "SPARSEDP_DATA names slip, and there is no such folder" in refused("datasets", *arguments)
    assert ok("datasets", "path").text == "slip\n"
    assert not Path("slip").exists()


def test_a_file_in_the_folders_place_is_said(mirror: Mirror) -> None:
    Path("data").write_text("precious")
    for arguments in (("list",), ("path",), ("path", "nettrace"), ("fetch",), ("fetch", "--overwrite")):
        assert "SPARSEDP_DATA names data, which is not a folder" in refused("datasets", *arguments)
    assert Path("data").read_text() == "precious"
    assert mirror.asked == []


@pytest.mark.parametrize("address", ["http://a..b", "http://.", f"http://{'a' * 70}"])
@pytest.mark.usefixtures("mirror")
def test_a_host_that_cannot_exist(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("SPARSEDP_DATA_URL", address)
    assert "SPARSEDP_DATA_URL is no web address" in refused("datasets", "fetch")


def test_the_help_names_the_mirror() -> None:
    assert "SPARSEDP_DATA_URL" in ok("datasets", "fetch", "--help").text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("f.parquet", "--name", "fligths"), "did you mean 'flights'?"),
        (("flights.json",), "end it in .parquet or .csv"),
        (("no/flights.parquet",), "There is no folder"),
        (("-", "--json"), "only one of the two"),
        (("there.csv", "--name", "flights"), "exists already"),
    ],
)
def test_refusals(arguments: tuple[str, ...], says: str) -> None:
    Path("there.csv").write_text("precious")
    assert says in refused("datasets", "export", *arguments)
    assert [path.name for path in Path().iterdir()] == ["there.csv"]
