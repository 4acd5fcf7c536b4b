"""`sparsedp check`, and releases of records that were read wrongly: seen before anything is spent, or told for free."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused, run
from visit_records import ISSUE, write_visits

import sparsedp as sdp

ROWS = "".join(f"{n};{5 + n % 20:02d}.03.2024;{n % 7},50;{'Männer' if n % 2 else 'Frauen'}\n" for n in range(2000))
WRITTEN = ("--delimiter", ";", "--encoding", "latin-1")
BY = ("--by", "tag:2024-03-01..2024-03-31/1d", "--by", "wer:Frauen,Männer", "--unit", "id")
COSTS = ("--value", "kosten", "--clamp", "0..10", "--resolution", "0.5")
PAID = ("--epsilon", "0.5", "--ledger", "budget.db")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    Path("besuche.csv").write_bytes(f"id;tag;kosten;wer\n{ROWS}".encode("latin-1"))
    ok("ledger", "init", "budget.db", "--dataset", "besuche", "--epsilon", "2")


def spends() -> int:
    return len(ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"])


# A German file: the two mistakes that cost a budget before.


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("--date-format", "%m/%d/%Y"), "tag is unreadable (not a time written as '%m/%d/%Y'); declare how times are"),
        (("--date-format", "%d.%m.%Y", *COSTS), "kosten is unreadable (not a number such as 1.5); declare how numbers"),
    ],
)
def test_records_of_which_nothing_is_read_cost_nothing(wrong: tuple[str, ...], says: str, *, piped: bool) -> None:
    source, given = ("-", Path("besuche.csv").read_bytes()) if piped else ("besuche.csv", b"")
    before = Path("budget.db").read_bytes()
    said = refused("release", source, *WRITTEN, *BY, *wrong, *PAID, "-o", "b.release.parquet", given=given)
    assert says in said
    assert "--date-format '%d.%m.%Y'" in said or "--decimal ','" in said
    assert "--allow-empty" in said
    assert ".03.2024" not in said
    assert ",50" not in said
    assert spends() == 0
    assert Path("budget.db").read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["besuche.csv", "budget.db"]


def test_who_wants_an_empty_table_published_says_so() -> None:
    wrong = ("release", "besuche.csv", *WRITTEN, *BY, "--mechanism", "laplace", *PAID)
    ok(*wrong, "--allow-empty", "-o", "one.release.parquet")
    Path("sparsedp.toml").write_text("[data]\nallow_empty = true\n", encoding="utf-8")
    ok(*wrong, "-o", "two.release.parquet")
    assert spends() == 2
    assert "besuche.csv" in ok(*wrong, "--dry-run", "-o", "three.release.parquet").text


def test_a_release_of_nothing_but_zeros_says_so_for_free() -> None:
    """So much budget that the intervals are narrow, for a table that is empty and for one that is not."""
    told = "Nothing in this release can be told from an empty table"
    rich = ("--epsilon", "1000", "--no-ledger", "--mechanism", "laplace")
    ended = ok("release", "besuche.csv", *WRITTEN, *BY, *rich, "--allow-empty", "-o", "zeros.release.parquet")
    assert told in ended.errors
    assert "sparsedp check" in ended.errors
    read = ("--date-format", "%d.%m.%Y")
    assert told not in ok("release", "besuche.csv", *WRITTEN, *BY, *read, *rich, "-o", "b.release.parquet").errors


# The command.


def test_their_owner_sees_what_would_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    ended = run("check", "besuche.csv", *WRITTEN, *BY)
    assert ended.code == 1
    assert "NOT PRIVATE" in ended.errors
    assert "a release would be refused" in ended.errors
    assert ended.text.startswith("NOT PRIVATE")
    assert "2,000  tag is unreadable (not a time such as 2024-03-05 or 2024-03-05T14:30)" in ended.text
    assert "such as '05.03.2024', '06.03.2024', '07.03.2024'" in ended.text
    assert max(map(len, ended.text.splitlines())) <= 80
    right = ("check", "besuche.csv", *WRITTEN, *BY, "--date-format", "%d.%m.%Y")
    assert "2,000  would be counted" in ok(*right).text
    found = ok(*right, "--decimal", ",", *COSTS, "--json").json
    assert found["not_private"] is True
    assert (found["rows"], found["counted"], found["cut"]) == (2000, 2000, 0)
    assert {each["what"]: each["rows"] for each in found["failures"]} == dict.fromkeys(
        ("broken", "missing", "unreadable", "outside"), 0
    )
    assert spends() == 0
    assert sorted(path.name for path in Path().iterdir()) == ["besuche.csv", "budget.db"]


def test_on_a_terminal_the_notice_is_red_and_said_once() -> None:
    ended = run("check", "besuche.csv", *WRITTEN, *BY, "--date-format", "%d.%m.%Y", terminal=True)
    assert "\x1b[1;31msparsedp: NOT PRIVATE" in ended.errors
    assert "NOT PRIVATE" not in ended.text


def test_it_reads_the_project_file() -> None:
    Path("sparsedp.toml").write_text(
        '[data]\nsource = "besuche.csv"\ndelimiter = ";"\ndecimal = ","\ndate_format = "%d.%m.%Y"\n'
        'encoding = "latin-1"\nunit = "id"\nby = ["tag:2024-03-01..2024-03-31/1d", "wer:Frauen,Männer"]\n'
        '[privacy]\nledger = "elsewhere.db"\nepsilon = 0.5\n[output]\nrelease = "b.release.parquet"\n',
        encoding="utf-8",
    )
    ended = ok("check")
    assert "2,000  would be counted" in ended.text
    assert "date_format" in ended.errors
    assert "epsilon" not in ended.errors
    assert "2,000  tag is unreadable" in run("check", "--date-format", "%m/%d/%Y").text


def test_it_counts_what_a_release_counts() -> None:
    write_visits()
    found = ok("check", *ISSUE, "--json").json
    domain = ["day:2024-01-01..2025-01-05/1w", "sex:F,M"]
    counts = sdp.count("visits.parquet", domain, privacy_unit="patient_id", max_contributions=3)
    assert found["counted"] == counts.values.sum()
    assert found["rows"] == found["counted"] + found["cut"] == 2000
    again = sdp.check("visits.parquet", domain, privacy_unit="patient_id", max_contributions=3)
    assert {**again.describe(), "source": "visits.parquet", "privacy_unit": ["patient_id"]} == {
        **found, "failures": again.describe()["failures"]
    }  # fmt: skip


def test_what_is_missing_or_unknown_is_said_as_for_a_release() -> None:
    assert "source is missing" in refused("check")
    assert "--by is missing" in refused("check", "besuche.csv", "--unit", "id")
    assert "--unit is missing" in refused("check", "besuche.csv", *BY[:4])
    assert "no file gone.csv" in run("check", "gone.csv", *BY).errors
    assert "--by" in run("check", "besuche.csv", *WRITTEN, "--by", "gone:0..9", "--unit", "id").errors
