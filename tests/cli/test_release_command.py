"""From records to a published file, from the shell."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli_shell import execute
from cli_terminal import in_own_folder, ok, refused, run
from visit_records import ISSUE, visits, write_visits

import sparsedp as sdp

PAID = ("--epsilon", "0.5", "--ledger", "budget.db")
OUT = ("-o", "visits.release.parquet")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    write_visits()
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "1.2")


def spends() -> list[Any]:
    found: list[Any] = ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"]
    return found


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def test_records_become_a_published_file_and_a_spend() -> None:
    text = ok("release", *ISSUE, *PAID, *OUT).text
    assert "Wrote visits.release.parquet" in text
    assert "ε = 0.5" in text
    assert "left: ε = 0.7" in text
    release = sdp.open_release("visits.release.parquet")
    assert release.shape == (53, 2)
    (spend,) = spends()
    assert spend["release"] == release.digest
    assert spend["state"] == "delivered"
    # 400 patients with at most 3 visits each; the noise of a total at ε = 0.5 and c = 3 is far below 600.
    assert 600 < release.total().estimate < 1800


def test_as_json() -> None:
    facts = ok("release", *ISSUE, *PAID, *OUT, "--json").json
    assert facts["cells"] == 106
    assert facts["spent"] == {"epsilon": "1/2"}
    assert facts["ledger"]["data_set"] == "visits"
    assert facts["digest"] == sdp.open_release("visits.release.parquet").digest


def test_an_output_that_exists_is_refused_before_anything_is_spent() -> None:
    Path("visits.release.parquet").write_text("precious")
    assert "exists already" in refused("release", *ISSUE, *PAID, *OUT)
    Path("visits.html").write_text("precious")
    assert "visits.html exists" in refused("release", *ISSUE, *PAID, "-o", "new.parquet", "--report", "visits.html")
    assert spends() == []
    assert Path("visits.release.parquet").read_text() == "precious"
    ok("release", *ISSUE, *PAID, *OUT, "--overwrite")
    assert len(sdp.open_release("visits.release.parquet")) == 106


def test_the_budget_cannot_be_exceeded() -> None:
    ok("release", *ISSUE, *PAID, *OUT)
    ok("release", *ISSUE, *PAID, "-o", "second.release.parquet")
    assert "ε = 0.2 is left" in refused("release", *ISSUE, *PAID, "-o", "third.release.parquet", code=3)
    assert not Path("third.release.parquet").exists()


def test_the_data_set_is_named_where_there_are_several() -> None:
    ok("ledger", "init", "budget.db", "--dataset", "trials", "--epsilon", "1")
    assert "--dataset visits or trials" in refused("release", *ISSUE, *PAID, *OUT)
    ok("release", *ISSUE, *PAID, *OUT, "--dataset", "trials")
    assert spends() == []


def test_the_command_that_begins_a_ledger_is_offered_ready_to_run() -> None:
    sentence = refused("release", *ISSUE, "--epsilon", "0.5", "--ledger", "my budget.db", *OUT)
    offered = sentence.split("`")[1]
    assert offered == "sparsedp ledger init 'my budget.db' --dataset visits --epsilon 2"
    assert not Path("my budget.db").exists()
    assert execute(offered).code == 0
    ok("release", *ISSUE, "--epsilon", "0.5", "--ledger", "my budget.db", *OUT)


def test_without_a_ledger_only_if_it_is_said() -> None:
    assert "--no-ledger" in refused("release", *ISSUE, "--epsilon", "0.5", *OUT)
    ended = run("release", *ISSUE, "--epsilon", "0.5", "--no-ledger", *OUT)
    assert ended.code == 0
    assert "in no ledger" in ended.errors
    assert spends() == []


def test_a_dry_run_reads_nothing_spends_nothing_and_writes_nothing() -> None:
    Path("visits.parquet").unlink()
    before = files()
    text = ok("release", *ISSUE, *PAID, *OUT, "--dry-run").text
    assert "106 cells" in text
    assert "Would spend ε = 0.5" in text
    assert "Nothing was read and nothing was spent." in text
    assert spends() == []
    assert files() == before


def test_to_standard_output() -> None:
    ended = ok("release", *ISSUE, *PAID, "-o", "-")
    assert pq.read_table(io.BytesIO(ended.output)).num_rows == 106
    assert "ε = 0.5" in ended.errors
    as_csv = ok("release", *ISSUE, *PAID, "-o", "-", "--format", "csv")
    assert pyarrow.csv.read_csv(io.BytesIO(as_csv.output)).column_names[:3] == ["day", "sex", "count"]
    assert files() == ["budget.db", *[name for name in files() if name.startswith("budget.db.")], "visits.parquet"]
    terminal = run("release", *ISSUE, "--epsilon", "0.1", "--ledger", "budget.db", "-o", "-", terminal=True)
    assert terminal.code == 1
    assert "a terminal" in terminal.errors
    assert len(spends()) == 2


def test_csv_in_and_csv_out() -> None:
    write_visits("visits.csv")
    ok("release", "visits.csv", *ISSUE[1:], *PAID, "-o", "visits.release.csv")
    assert pyarrow.csv.read_csv("visits.release.csv").num_rows == 106
    content = io.BytesIO()
    pyarrow.csv.write_csv(visits(), content)
    ok("release", "-", *ISSUE[1:], *PAID, *OUT, given=content.getvalue())
    assert 600 < sdp.open_release("visits.release.parquet").total().estimate < 1800


def test_sums_labels_that_collect_and_other_columns() -> None:
    ok(
        *("release", "visits.parquet", "--by", "gender:F,other", "--column", "gender=sex", "--outside", "gender=other"),
        *("--each-row-is-a-person", "--value", "amount", "--clamp", "0..100", "--resolution", "0.01"),
        *("--mechanism", "laplace", *PAID, *OUT),
    )
    release = sdp.open_release("visits.release.parquet")
    assert str(release.quantity) == "total amount"
    table = visits().to_pandas()
    truth = table["amount"].clip(0, 100).groupby(table["sex"]).sum()
    # The noise has scale 100/0.5; this far off once in e^−20.
    assert abs(release.values[0] - truth["F"]) < 4000
    assert abs(release.values[1] - truth["M"]) < 4000


def test_with_a_report() -> None:
    text = ok("release", *ISSUE, *PAID, *OUT, "--report", "visits.html", "--title", "Visits by day").text
    assert "Wrote visits.html" in text
    assert "Visits by day" in Path("visits.html").read_text()


def test_the_project_file_is_enough() -> None:
    ok("init")
    ok("release", "--mechanism", "laplace")
    assert sdp.open_release("visits.release.parquet").mechanism == "laplace"
    assert "visits: total" in ok("ledger", "show").text


def test_whole_numbers_and_other_budgets() -> None:
    ok("release", *ISSUE, *PAID, *OUT, "--integers", "--mechanism", "adaptive:cells")
    values = sdp.open_release("visits.release.parquet").values
    assert (values == values.round()).all()
    ok("ledger", "init", "rho.db", "--dataset", "visits", "--rho", "1")
    for budget in (("--rho", "1/8"), ("--epsilon", "1", "--delta", "1e-6")):
        ok("release", *ISSUE, *budget, "--ledger", "rho.db", *OUT, "--overwrite")


def test_reports_and_pictures() -> None:
    ok("release", *ISSUE, *PAID, *OUT)
    ok("report", "visits.release.parquet", "-o", "visits.html", "--title", "Our visits")
    assert "Our visits" in Path("visits.html").read_text()
    assert "<html" in ok("report", "-", "-o", "-", given=Path("visits.release.parquet").read_bytes()).text
    ok("plot", "visits.release.parquet", "-o", "visits.png")
    assert Path("visits.png").read_bytes().startswith(b"\x89PNG")
    assert "end it in .html" in refused("report", "visits.release.parquet", "-o", "visits.pdf")
    assert "exists already" in refused("plot", "visits.release.parquet", "-o", "visits.png")


def test_in_a_real_shell_from_records_to_an_answer() -> None:
    sparsedp = Path(sys.executable).with_name("sparsedp")
    declared = " ".join(f"'{word}'" for word in (*ISSUE, *PAID))
    script = f"{sparsedp} release {declared} -o - | {sparsedp} query - --total --json"
    ended = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, check=True)
    assert 600 < json.loads(ended.stdout)["estimate"] < 1800
    assert "\x1b" not in ended.stderr
    assert "Traceback" not in ended.stderr


def test_what_the_bound_left_out_is_said_everywhere() -> None:
    text = " ".join(ok("release", *ISSUE, "--epsilon", "0.5", "--no-ledger", *OUT, "--report", "v.html").text.split())
    cut = sdp.open_release("visits.release.parquet").cut
    assert cut is not None
    assert str(cut) in text
    assert "by the bound of 3 a person" in text
    assert "by the bound of 3 a person" in Path("v.html").read_text()
    assert "by the bound of 3 a person" in ok("inspect", "visits.release.parquet").text.replace("\n", " ")
    facts = ok("release", *ISSUE, *PAID, "-o", "again.parquet", "--json").json["cut"]
    assert facts["bound"] == 3
    assert facts["low"] <= facts["estimate"] <= facts["likely_high"] <= facts["high"]
    assert facts == sdp.open_release("again.parquet").cut.facts()  # type: ignore[union-attr]


def test_without_a_look_at_what_is_left_out() -> None:
    assert "left out" not in ok("release", *ISSUE, *PAID, "--cut-share", "0", *OUT).text
    person = ("visits.parquet", "--by", "sex:F,M", "--each-row-is-a-person", "--epsilon", "1", "--no-ledger")
    assert ok("release", *person, "-o", "e.parquet", "--json").json["cut"] is None
    for wrong in ("1", "-0.1", "some"):
        assert "--cut-share" in refused("release", *ISSUE, *PAID, "--cut-share", wrong, "-o", "w.parquet")
    assert len(spends()) == 1


def test_a_bound_that_is_chosen() -> None:
    auto = [*ISSUE[:-1], "auto"]
    dry = ok("release", *auto, *PAID, *OUT, "--dry-run").text
    assert "as many records as a private look chooses" in dry
    assert ok("release", *auto, *PAID, *OUT, "--dry-run", "--json").json["max_contributions"] == "auto"
    text = ok("release", *auto, *PAID, *OUT).text.replace("\n", " ")
    assert "a bound that a private look at the records chose" in text
    bound = sdp.open_release("visits.release.parquet").guarantee.neighbours.contribution
    assert f"by the bound of {bound} a person" in text or "cannot be told" in text
    records = pyarrow.csv.read_csv(write_visits("visits.csv"))
    assert records.num_rows == 2000
    piped = refused("release", "-", *auto[1:], *PAID, "-o", "p.parquet", given=Path("visits.csv").read_bytes())
    assert "--max-contributions" in piped
    assert "read only once" in piped
    truth = ok("compare", "visits.release.parquet", "--truth", "visits.parquet", "--unit", "patient_id", "--json")
    assert truth.json["not_private"]
    assert len(spends()) == 1


def test_a_project_file_with_a_bound_that_is_chosen() -> None:
    Path("sparsedp.toml").write_text(
        '[data]\nsource = "visits.parquet"\nunit = "patient_id"\nmax_contributions = "auto"\nby = ["sex:F,M"]\n'
        '[privacy]\nledger = "budget.db"\nepsilon = "0.5"\ncut_share = "0.2"\n[output]\nrelease = "p.parquet"\n'
    )
    ok("release")
    release = sdp.open_release("p.parquet")
    assert release.guarantee.expenses[0].budget.describe() == {"epsilon": "1/10"}
    assert release.cut is not None
    assert release.cut.chosen
    previewed = run("preview", "--total", "2000")
    assert previewed.code == 1
    assert "--max-contributions is " in previewed.errors
    Path("sparsedp.toml").write_text('[data]\nmax_contributions = "many"\n')
    assert 'not a whole number or "auto"' in refused("release")
