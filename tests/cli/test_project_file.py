"""sparsedp.toml: every name checked, the command line over it, and paths from its own folder."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused, run

from sparsedp.cli.declaration import declared
from sparsedp.cli.project import read_project


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


PROJECT = """
[data]
source = "visits.parquet"
dataset = "visits"
unit = "patient_id"
max_contributions = 3
by = ["day:2024-01-01..2024-12-31/1d", "sex:F,M"]

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
    assert facts["cells"] == 732
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
    assert wanted.counting == {
        "columns": {"day": "visited_on"},
        "outside": {"sex": "other"},
        "value": "amount",
        "clamp": (0, 500),
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
    assert wanted.integers is True
    assert wanted.report == "visits.html"


def test_the_template_is_not_overwritten() -> None:
    ok("init")
    assert "exists already" in refused("init")
    ok("init", "--overwrite")
