"""Axes whose labels and groups are in a public table: read, declared, and refused in one sentence."""

import csv
import io
from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused, run

from sparsedp.axes import Axis, Categories
from sparsedp.cli._label_files import axis_of, label_file
from sparsedp.cli._project import read_project
from sparsedp.errors import BadFile, InvalidInput


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


COUNTIES = "county,state\na,north\nc,south\nb,north\n"
COUNTY = Categories("county", {"north": ["a", "b"], "south": ["c"]}, levels=["state"])


@pytest.mark.parametrize(
    ("content", "axis"),
    [
        (COUNTIES, COUNTY),
        ("\ufeff" + COUNTIES.replace("\n", "\r\n"), COUNTY),
        (COUNTIES + "\na,north\n\n", COUNTY),
        ("whatever , state\n a, north\nb ,north\nc,south", COUNTY),
        ("county\na\nb\n", Categories("county", ["a", "b"])),
        ("county\n7\n-1\n", Categories("county", [7, -1])),
        ("county\n07\n1\n", Categories("county", ["07", "1"])),
        ("code,kind\n3,odd\n2,even\n1,odd\n", Categories("county", {"odd": [3, 1], "even": [2]}, levels=["kind"])),
        ('county,state\n"a, b","no ""n"""\n', Categories("county", {'no "n"': ["a, b"]}, levels=["state"])),
        (
            "c,state,land\na,n,x\nb,s,y\nd,n,x\n",
            Categories("county", {"x": {"n": ["a", "d"]}, "y": {"s": ["b"]}}, levels=["land", "state"]),
        ),
    ],
)
def test_tables_of_labels(content: str, axis: Axis) -> None:
    Path("counties.csv").write_text(content, encoding="utf-8")
    assert axis_of("county:@counties.csv") == axis
    assert axis_of(" county : @counties.csv ") == axis


def test_names_and_paths_of_any_kind() -> None:
    for folder in ("a,b", "c(d)", 'e"f', "g:h@i"):
        Path(folder).mkdir()
        (Path(folder) / "x y.CSV").write_text(COUNTIES)
        assert axis_of(f"county:@{folder}/x y.CSV") == COUNTY
    assert axis_of('"a:b":@a,b/x y.CSV').name == "a:b"
    for text in (
        "x:a,b.csv",
        "x:a.csv,",
        "x:@a,b",
        'x:"@a.csv"',
        "x:1..2",
        "@a.csv",
        "t:2024-01-01..2024-01-02/1h@UTC",
    ):
        assert label_file(text) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "counties.csv is empty; write the columns' names in its first line, such as county,state, and labels."),
        ("county,state\n", "counties.csv has a first line and no labels below it; write the columns' names in its"),
        (
            COUNTIES + "a,south\n",
            "counties.csv has 'a' in 'north' and in 'south'; let each be in one group, with a name",
        ),
        ("c,s,l\na,n,x\nb,n,y\n", "counties.csv has 'n' in 'x' and in 'y'; let each be in one group, with a name of"),
        (COUNTIES + "d\n", "Line 5 of counties.csv has 1 field, and the first line 2; give every label all its groups"),
        (COUNTIES + "d,e,f\n", "Line 5 of counties.csv has 3 fields, and the first line 2; give every label all its"),
        (
            COUNTIES.replace(",", ";"),
            "The first line of counties.csv has ';' and no comma; write commas between its columns.",
        ),
        (COUNTIES.replace(",", "\t"), r"The first line of counties.csv has '\t' and no comma; write commas between"),
        (COUNTIES + "x" * 200_000 + ",n\n", "field limit (131072); check its double quotes, and how long its labels"),
        (COUNTIES + "d,\n", "Line 5 of counties.csv has an empty field; give every label its groups."),
        ("county,state\nnorth,north\n", "labels is a hierarchy in which 'north' is a group and a label as well; give"),
        (
            "county,the state\na,n\n",
            "levels is 'the state'; give a word of letters and digits such as 'state'; levels are",
        ),
        ("county,s,s\na,n,x\n", "levels is a list with a name in it twice; there are 2 levels of groups: name each"),
        (
            'county,state\n"a,north\n',
            "counties.csv is not a readable CSV file: unexpected end of data; check its double quotes",
        ),
        (
            ",".join("abcdefghij") + "\n" + ",".join("0123456789"),
            "labels is a hierarchy nested too deep; give at most 8",
        ),
        ("county\n9999999999999999999\n", "labels is beyond 64-bit integers; give different labels"),
    ],
)
def test_tables_that_declare_nothing(content: str, said: str) -> None:
    Path("counties.csv").write_text(content)
    message = refused("release", "x.csv", "--by", "county:@counties.csv", "--each-row-is-a-person", *RELEASE)
    assert said in message
    assert message.count("\n") == 1


RELEASE = ("--epsilon", "1", "--no-ledger", "-o", "out.release.parquet")


def test_tables_that_cannot_be_read() -> None:
    with pytest.raises(BadFile, match=r"There is no file counties\.csv, which an axis takes its labels from; check"):
        axis_of("county:@counties.csv")
    Path("counties.csv").mkdir()
    with pytest.raises(BadFile, match=r"There is no file counties\.csv"):
        axis_of("county:@counties.csv")
    Path("latin.csv").write_bytes("county\nØ\n".encode("latin-1"))
    with pytest.raises(BadFile, match=r"latin\.csv is not a text file in UTF-8; save it as UTF-8\."):
        axis_of("county:@latin.csv")
    with open("large.csv", "wb") as file:
        file.truncate(2**26 + 1)
    with pytest.raises(BadFile, match=r"large\.csv is larger than 64 MB"):
        axis_of("county:@large.csv")
    with pytest.raises(BadFile, match="There is no file"):
        axis_of("county:@a\0.csv")
    Path("good.csv").write_text(COUNTIES)
    for name in ("census.parquet", "/etc"):
        with pytest.raises(
            InvalidInput, match=r"a table of labels whose name does not end in \.csv; write the table as"
        ):
            axis_of(f"county:@{name}")
    with pytest.raises(InvalidInput, match=r"name is ''"):
        axis_of(":@good.csv")


def records() -> None:
    Path("visits.csv").write_text("who,county\n" + "".join(f"{number},{'abc'[number % 3]}\n" for number in range(300)))


def test_a_release_from_a_table_knows_its_groups() -> None:
    records()
    Path("counties.csv").write_text(COUNTIES)
    options = ("--epsilon", "1000", "--no-ledger", "-o", "out.release.parquet")
    ok("release", "visits.csv", "--by", "county:@counties.csv", "--unit", "who", *options)
    rows = ok("query", "out.release.parquet", "--marginal", "county.state", "--csv").text
    found = {row["county.state"]: float(row["estimate"]) for row in csv.DictReader(io.StringIO(rows))}
    assert found == {"north": pytest.approx(200, abs=1), "south": pytest.approx(100, abs=1)}
    Path("counties.csv").unlink()
    assert ok("inspect", "out.release.parquet", "--json").json["groups"] == {"county.state": 2}


PROJECT = """
[data]
source = "visits.csv"
unit = "who"
by = ["county:@counties.csv"]

[privacy]
epsilon = 1000

[output]
release = "out.release.parquet"
"""


def test_in_a_project_file_the_table_lies_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    records()
    Path("counties.csv").write_text(COUNTIES)
    Path("sparsedp.toml").write_text(PROJECT)
    assert ok("release", "--no-ledger", "--dry-run", "--json").json["cells"] == 3
    Path("elsewhere, too").mkdir()
    monkeypatch.chdir("elsewhere, too")
    assert ok("release", "--project", "..", "--no-ledger", "--dry-run", "--json").json["cells"] == 3
    ok("release", "--project", "../sparsedp.toml", "--no-ledger")
    assert ok("inspect", "../out.release.parquet", "--json").json["groups"] == {"county.state": 2}
    monkeypatch.chdir("..")
    Path("elsewhere, too/p.toml").write_text(PROJECT)
    assert read_project(Path("elsewhere, too/p.toml"))["by"] == ["county:@elsewhere, too/counties.csv"]


def test_a_project_file_does_not_lead_to_tables_outside_its_folder(tmp_path: Path) -> None:
    records()
    outside = tmp_path.parent / f"{tmp_path.name}-outside.csv"
    outside.write_text(COUNTIES)
    Path("linked.csv").symlink_to(outside)
    for table in (str(outside), f"../{outside.name}", "linked.csv"):
        Path("sparsedp.toml").write_text(PROJECT.replace("counties.csv", table))
        for command in (
            ["release", "--no-ledger", "--dry-run"],
            ["release", "--no-ledger"],
            ["preview", "--total", "9", "--epsilon", "1"],
        ):
            said = refused(*command)
            assert f"by in sparsedp.toml is 'county:@{table}', whose labels are outside the folder of that file" in said
    ended = run("release", "--no-ledger", "--by", f"county:@{outside}", "--dry-run")
    assert ended.code == 0, ended.errors
