"""`docs/paper.md` is what its results say: no verdict and no number in it was written by hand."""

from pathlib import Path

import pytest

from sparsedp.experiments.paper.chapter import chapter_of
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.markdown_page import markdown_page
from sparsedp.experiments.paper.registry import FOLDERS, experiments
from sparsedp.experiments.paper.results import Results

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.slow
def test_the_page_follows_from_the_committed_results(tmp_path: Path) -> None:
    every = experiments()
    results = {name: Results.read(DOCS / "paper" / f"{name}.json") for name in every}
    chapters = [chapter_of(every[name], results[name], tmp_path / "paper") for name in every]
    assert markdown_page(chapters, tmp_path / "paper.md") == (DOCS / "paper.md").read_text()
    drawn = {path.name for path in (tmp_path / "paper").iterdir()}
    assert drawn == {path.name for path in (DOCS / "paper").glob("*.png")}


def test_the_committed_results_are_full_ones_and_of_the_papers_files() -> None:
    for name in experiments():
        results = Results.read(DOCS / "paper" / f"{name}.json")
        assert (results.experiment, results.effort) == (name, Effort.FULL)
        paper = {data: origin for data, origin in results.origins.items() if data not in ("flights", "tcptrace")}
        assert set(paper.values()) <= {"file"}


def test_every_experiment_is_registered() -> None:
    folders = {path.parent.name for path in (DOCS.parent / "src/sparsedp/experiments/paper").glob("*/definition.py")}
    assert folders == set(FOLDERS)
    names = list(experiments())
    assert len(set(names)) == len(names)
