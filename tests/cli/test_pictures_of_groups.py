"""Pages and pictures by groups of cells, from the shell."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused
from daily_visits import daily_visits


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    in_own_folder(tmp_path, monkeypatch)
    return daily_visits()


def test_a_page_has_a_panel_by_weekday(release: str) -> None:
    ok("report", release, "-o", "visits.html")
    page = Path("visits.html").read_text(encoding="utf-8")
    assert '"title":"day.weekday"' in page
    assert '"labels":["Mon","Tue","Wed","Thu","Fri","Sat","Sun"]' in page


@pytest.mark.parametrize(
    "names", [["day.weekday"], ["day.weekday,sex"], ["day.month", "day.weekday"], ["sex"]], ids=str
)
def test_pictures(release: str, names: list[str]) -> None:
    ok("plot", release, "-o", "x.svg", *(part for name in names for part in ("--marginal", name)))
    assert Path("x.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_names_that_are_not_there(release: str) -> None:
    said = refused("plot", release, "-o", "x.svg", "--marginal", "day.wekday")
    assert "--marginal is 'day.wekday', which is not known; did you mean 'day.weekday'?" in said
    assert not Path("x.svg").exists()
