"""sparsedp.toml: every name checked, the command line over it, and paths from its own folder."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused, run

from sparsedp.cli._project import read_project
from sparsedp.cli._release import counting_of, declared


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


PROJECT = """
[data]
source = "visits.parquet"
dataset = "visits"
unit = "patient_id"
max_contributions = 3
by = ["day:2024-01-01..2025-01-05/1w", "sex:F,M"]

[privacy]
ledger = "budget.db"
epsilon = 0.5

[output]
release = "visits.release.parquet"
"""


@pytest.fixture
def project() -> Path:
    path = Path("sparsedp.toml")
    path.write_text(PROJECT)
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")
    return path


def dry(*arguments: str, code: int = 0) -> dict[str, object]:
    ended = run("release", *arguments, "--dry-run", "--json")
    assert ended.code == code, ended.errors
    found: dict[str, object] = ended.json
    return found


def test_release_alone_is_enough(project: Path) -> None:
    facts = dry()
    assert facts["source"] == "visits.parquet"
    assert facts["cells"] == 106
    assert facts["unit"] == "patient_id"
    assert facts["max_contributions"] == 3
    assert facts["would_spend"] == {"epsilon": "1/2"}
    assert facts["left"] == {"epsilon": "2"}
    assert facts["refusal"] is None


def test_numbers_are_exact(project: Path) -> None:
    project.write_text(PROJECT.replace("0.5", "0.1"))
    assert dry()["would_spend"] == {"epsilon": "1/10"}


def test_the_command_line_takes_precedence(project: Path) -> None:
    facts = dry("other.parquet", "--by", "sex:F,M", "--rho", "1/8", "--each-row-is-a-person", "-o", "o.parquet", code=1)
    assert facts["source"] == "other.parquet"
    assert facts["cells"] == 2
    assert facts["unit"] is None
    assert facts["max_contributions"] == 1
    assert facts["would_spend"] == {"rho": "1/8"}
    assert "kept in epsilon" in str(facts["refusal"])
    assert facts["release"] == "o.parquet"


def test_more_than_is_left_is_told_beforehand(project: Path) -> None:
    assert "ε = 2 is left" in str(dry("--epsilon", "3", code=3)["refusal"])
    ended = run("release", "--epsilon", "3", "--dry-run")
    assert ended.code == 3
    assert "would be refused" in ended.errors


def test_a_dry_run_refuses_what_the_release_would(project: Path) -> None:
    assert "--outside is 'age'" in refused("release", "--outside", "age=clamp", "--dry-run")
    assert "--neighbours is 'neither'" in refused("release", "--neighbours", "neither", "--dry-run")


def test_paths_are_from_the_project_files_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    for given in ("..", "../sparsedp.toml"):
        facts = dry("--project", given)
        assert facts["source"] == "../visits.parquet"
        assert facts["release"] == "../visits.release.parquet"
    assert "missing" in refused("release", "--dry-run")
    assert "There is no project file" in refused("release", "--dry-run", "--project", "nowhere.toml")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("unit =", "unti ="), "did you mean 'unit'?"),
        (("[privacy]", "[privcy]"), "did you mean 'privacy'?"),
        (("epsilon = 0.5", "max_contributions = 2"), "it belongs in [data]"),
        (("max_contributions = 3", 'max_contributions = "3"'), "give a whole number"),
        (("epsilon = 0.5", "epsilon = true"), "give a number"),
        (('by = ["day', 'by = ["nonsense", "day'), "nonsense"),
        (("[output]", "[output"), "is not TOML"),
        (("max_contributions = 3", f"max_contributions = {'9' * 5000}"), "a number of thousands of digits"),
        (('unit = "patient_id"', f"unit = {'[' * 2000}{']' * 2000}"), "lists nested too deep"),
        (("epsilon = 0.5", "epsilon = 0.5\nrho = 0.1"), "rho"),
    ],
)
def test_mistakes_are_found(project: Path, change: tuple[str, str], says: str) -> None:
    project.write_text(PROJECT.replace(*change))
    assert says in refused("release", "--dry-run")


def test_every_setting_of_the_template_can_be_used() -> None:
    ok("init", "template.toml")
    lines = Path("template.toml").read_text().splitlines()
    settings = [line.removeprefix("# ") for line in lines if not line.startswith("# ") or "=" in line]
    Path("all.toml").write_text("\n".join(line for line in settings if "Options on" not in line))
    found = read_project(Path("all.toml"))
    wanted = declared({"unit": "patient_id"}, "all.toml", no_ledger=False, form=None, overwrite=False)
    assert counting_of(wanted.settings, ["day", "sex"]) == {
        "columns": {"day": "visited_on"},
        "outside": {"sex": "other"},
        "value": "amount",
        "clamp": (0, 500),
        "with_counts": True,
        "resolution": "0.01",
        "csv": {
            "delimiter": ";",
            "decimal": ",",
            "date_format": "%d.%m.%Y",
            "encoding": "latin-1",
            "multiline": True,
        },
    }
    assert found["each_row_is_a_person"] is True
    assert wanted.settings["integers"] is True
    assert wanted.report == "visits.html"


def test_the_template_is_not_overwritten() -> None:
    ok("init")
    assert "exists already" in refused("init")
    ok("init", "--overwrite")


def test_what_is_taken_from_it_is_said_and_what_is_typed_is_not(project: Path) -> None:
    said = run("release", "--dry-run").errors
    assert said.startswith(
        "sparsedp: from sparsedp.toml: source = visits.parquet, dataset = visits, unit = patient_id,"
    )
    assert "by = ['day:2024-01-01..2025-01-05/1w', 'sex:F,M'], ledger = budget.db, epsilon = 0.5, release = " in said
    assert said.count("\n") == 1
    less = run("release", "--dry-run", "--unit", "person", "--rho", "0.1", "--no-ledger").errors
    assert "max_contributions = 3, by = " in less
    assert not any(f"{name} = " in less for name in ("unit", "epsilon", "rho", "ledger"))
    assert "from sparsedp.toml: ledger = budget.db." in ok("ledger", "show").errors


def test_a_release_says_what_was_taken_before_it_is_made(project: Path) -> None:
    Path("visits.csv").write_text("patient_id,age\n7,41\n8,42\n")
    project.write_text('[data]\nsource = "visits.csv"\nby = ["age:0..99"]\ncolumns = { age = "patient_id" }\n')
    ended = run("release", "--unit", "patient_id", "--epsilon", "1", "--no-ledger", "-o", "ages.release.parquet")
    assert ended.code == 0
    assert (
        "from sparsedp.toml: source = visits.csv, by = ['age:0..99'], columns = {'age': 'patient_id'}.\n"
        in ended.errors
    )


def test_what_it_says_is_shown_without_control_characters(project: Path) -> None:
    project.write_text(PROJECT.replace("[output]", '[output]\ntitle = "A\\u001b[2K\\rsigned \\u202e"'))
    said = run("release", "--dry-run").errors
    assert r"title = 'A\x1b[2K\rsigned \u202e'" in said
    assert said.removesuffix("\n").isprintable()


OUTSIDE = [
    ('source = "visits.parquet"', 'source = "{outside}/visits.parquet"', "source"),
    ('source = "visits.parquet"', 'source = "../outside/visits.parquet"', "source"),
    ('source = "visits.parquet"', 'source = "visits\\u0000.parquet"', "source"),
    ('source = "visits.parquet"', 'source = "~/visits.parquet"', "source"),
    ('source = "visits.parquet"', 'source = "linked.parquet"', "source"),
    ('source = "visits.parquet"', 'source = "parts"', "source"),
    ('source = "visits.parquet"', 'source = "parts/*.parquet"', "source"),
    ('source = "visits.parquet"', 'source = "parts/../../outside/*.parquet"', "source"),
    ('ledger = "budget.db"', 'ledger = "../outside/budget.db"', "ledger"),
    ('ledger = "budget.db"', 'ledger = "linked/budget.db"', "ledger"),
    ('release = "visits.release.parquet"', 'release = "{outside}/visits.release.parquet"', "release"),
    ('release = "visits.release.parquet"', 'release = "linked/visits.release.parquet"', "release"),
    ('release = "visits.release.parquet"', 'report = "../outside/report.html"', "report"),
]


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside the project's, which links and dots lead to."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "visits.parquet").touch()
    inside = tmp_path / "inside"
    (inside / "parts").mkdir(parents=True)
    monkeypatch.chdir(inside)
    monkeypatch.setenv("HOME", str(folder))
    (inside / "linked.parquet").symlink_to(folder / "visits.parquet")
    (inside / "parts" / "one.parquet").symlink_to(folder / "visits.parquet")
    (inside / "linked").symlink_to(folder)
    return folder


@pytest.mark.parametrize(("line", "instead", "name"), OUTSIDE, ids=[instead for _, instead, _ in OUTSIDE])
@pytest.mark.parametrize("named", [(), ("--project", "sparsedp.toml")], ids=["found", "named"])
def test_it_does_not_lead_out_of_its_folder(
    line: str, instead: str, name: str, named: tuple[str, ...], outside: Path
) -> None:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")
    ok("ledger", "init", "linked/budget.db", "--dataset", "visits", "--epsilon", "2")
    Path("sparsedp.toml").write_text(PROJECT.replace(line, instead.format(outside=outside)))
    before = sorted(outside.iterdir())
    for dry_run in ((), ("--dry-run",)):
        said = refused("release", *named, *dry_run)
        assert f"{name} in sparsedp.toml is " in said
        assert "which is outside the folder of that file" in said
    assert sorted(outside.iterdir()) == before
    assert ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"] == []


def test_what_is_typed_may_lead_anywhere(outside: Path) -> None:
    ok("ledger", "init", "../outside/budget.db", "--dataset", "visits", "--epsilon", "2")
    text = PROJECT.replace('"visits.parquet"', '"../visits.parquet"').replace('"budget.db"', '"../outside/budget.db"')
    Path("sparsedp.toml").write_text(text.replace('"visits.release.parquet"', '"../outside/r.parquet"'))
    typed = ("linked.parquet", "--ledger", "../outside/budget.db", "-o", f"{outside}/visits.release.parquet")
    assert dry(*typed)["refusal"] is None
    assert "ledger in sparsedp.toml is '../outside/budget.db'" in refused("ledger", "show")
    ok("ledger", "show", "../outside/budget.db")


@pytest.mark.parametrize("whose", ["another user", "every user"])
def test_one_that_somebody_else_may_have_put_there_applies_only_if_it_is_named(
    whose: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if whose == "every user":
        project.chmod(0o666)
    else:
        mine = project.stat().st_uid
        monkeypatch.setattr("os.geteuid", lambda: mine + 1)
        monkeypatch.setattr("sparsedp.cli._project.ROOT", mine + 2)
    said = refused("release", "--dry-run")
    assert (
        f"{whose}, so it does not apply by itself; if you trust what it says, name it: --project sparsedp.toml" in said
    )
    assert "does not apply by itself" in refused("ledger", "show")
    dry("--project", "sparsedp.toml")
