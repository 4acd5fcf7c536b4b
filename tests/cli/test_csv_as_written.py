"""CSV that is written otherwise: declared on the command line or in the project file, never guessed."""

import html
import json
from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused

import sparsedp as sdp

ROWS = "".join(f"{n};{5 + n % 20:02d}.03.2024;{n % 7},50;{'Männer' if n % 2 else 'Frauen'}\n" for n in range(2000))
WRITTEN = ("--delimiter", ";", "--decimal", ",", "--date-format", "%d.%m.%Y", "--encoding", "latin-1")
BY = ("--by", "tag:2024-03-01..2024-03-31/1d", "--by", "wer:Frauen,Männer", "--unit", "id")
PAID = ("--epsilon", "100", "--no-ledger")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    Path("besuche.csv").write_bytes(f"id;tag;kosten;wer\n{ROWS}".encode("latin-1"))


def total(file: str) -> float:
    return float(json.loads(ok("query", file, "--total", "--json").text)["estimate"])


def test_a_german_file_is_read_as_declared() -> None:
    ok("release", "besuche.csv", *WRITTEN, *BY, *PAID, "-o", "b.release.parquet")
    assert total("b.release.parquet") == pytest.approx(2000, abs=5)
    sums = ("--value", "kosten", "--clamp", "0..10", "--resolution", "0.5")
    ok("release", "besuche.csv", *WRITTEN, *BY, *PAID, *sums, "-o", "k.release.parquet")
    assert total("k.release.parquet") == pytest.approx(sum(n % 7 + 0.5 for n in range(2000)), abs=60)


def test_the_project_file_may_declare_it() -> None:
    Path("sparsedp.toml").write_text(
        '[data]\nsource = "besuche.csv"\ndelimiter = ";"\ndecimal = ","\ndate_format = "%d.%m.%Y"\n'
        'encoding = "latin-1"\nunit = "id"\nby = ["tag:2024-03-01..2024-03-31/1d", "wer:Frauen,Männer"]\n',
        encoding="utf-8",
    )
    ok("release", *PAID, "-o", "b.release.parquet")
    assert total("b.release.parquet") == pytest.approx(2000, abs=5)


def test_the_owner_sees_what_was_left_out_and_is_warned() -> None:
    """Published without its date format: nothing was read, which a release cannot say, and `--truth` does."""
    wrong = ("--delimiter", ";", "--encoding", "latin-1")
    ok("release", "besuche.csv", *wrong, *BY, *PAID, "--allow-empty", "-o", "b.release.parquet")
    done = ok("compare", "b.release.parquet", "--truth", "besuche.csv", "--unit", "id", *wrong)
    assert "NOT PRIVATE" in done.errors
    assert "2,000 read" in done.text
    assert "2,000 tag unreadable" in done.text


def test_fields_of_several_lines_are_declared_and_everything_published_says_what_that_costs() -> None:
    Path("notes.csv").write_text("".join(["id,sex,note\n", *(f'{n},{"FM"[n % 2]},"one\ntwo"\n' for n in range(2000))]))
    released = ("release", "notes.csv", "--by", "sex:F,M", "--unit", "id", *PAID)
    cost = "a stray quote of one person can drop other people's records, and the bound does not cover that"
    assert "declare that fields have several lines, --multiline, or see" in refused(*released)
    plain = ok(*released, "--allow-empty", "-o", "lines.release.parquet")
    assert total("lines.release.parquet") == pytest.approx(0, abs=5)
    assert cost not in plain.text
    done = ok(*released, "--multiline", "-o", "notes.release.parquet", "--report", "notes.html")
    assert total("notes.release.parquet") == pytest.approx(2000, abs=5)
    assert cost in done.text
    assert cost in ok("inspect", "notes.release.parquet").text
    assert cost in sdp.open_release("notes.release.parquet").guarantee.describe()["statement"]
    page = html.unescape(Path("notes.html").read_text(encoding="utf-8"))
    assert cost in page
    assert "A quote that one person's record leaves open can then make records of others unreadable" in page
    Path("sparsedp.toml").write_text("[data]\nmultiline = true\n")
    assert cost in ok(*released, "-o", "again.release.parquet").text
    lost = ok("compare", "notes.release.parquet", "--truth", "notes.csv", "--unit", "id", "--project", "sparsedp.toml")
    assert "2,000 read, 2,000 counted" in lost.text
    Path("sparsedp.toml").unlink()
    lost = ok("compare", "notes.release.parquet", "--truth", "notes.csv", "--unit", "id")
    assert "4,000 read, 4,000 broken" in lost.text
