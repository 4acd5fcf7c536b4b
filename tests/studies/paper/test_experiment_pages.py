"""Results on disk, and the pages made of them: nothing in `docs/paper.md` was written by hand."""

import dataclasses
from html.parser import HTMLParser
from pathlib import Path

import made_up_experiment as made_up
import pytest

from sparsedp.errors import BadFile
from studies.paper.command import NAMES, experiments
from studies.paper.experiment import Effort, Judgement, Outcome, Outcomes, Verdict
from studies.paper.pages import Chapter, chapter_of, counted, html_page, in_the_papers_order, markdown_page, tally
from studies.paper.running import STUDIES, Results, Store, timed

OUTCOMES = Outcomes(timed(made_up.measure, settings) for settings in made_up.jobs(Effort.SMOKE, {}))
RESULTS = Results.of("made-up", Effort.QUICK, "make experiments", OUTCOMES)


@pytest.fixture
def chapter(tmp_path: Path) -> Chapter:
    return chapter_of(made_up.EXPERIMENT, RESULTS, tmp_path)


def test_results_are_read_back_as_they_were(tmp_path: Path) -> None:
    read = Results.read(RESULTS.save(tmp_path / "made-up.json"))
    assert [one.settings for one in read.outcomes] == [one.settings for one in OUTCOMES]
    assert [one.found for one in read.outcomes] == [one.found for one in OUTCOMES]
    assert dataclasses.replace(read, outcomes=OUTCOMES) == RESULTS
    assert read.versions["numpy"]
    assert read.origins == {"nettrace": "stand-in"}


@pytest.mark.parametrize("damage", ["", "{}", "[1]", '{"experiment": "a", "effort": "huge"}'])
def test_a_file_that_holds_no_results_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(damage)
    with pytest.raises(BadFile, match=r"bad\.json"):
        Results.read(path)
    with pytest.raises(BadFile, match="missing"):
        Results.read(tmp_path / "missing.json")


def test_outcomes_are_found_by_their_settings() -> None:
    assert len(OUTCOMES.where(data="nettrace", number=3)) == 1
    assert OUTCOMES.values("number") == list(range(6))
    assert OUTCOMES.found("square", number=3) == 9
    assert len(OUTCOMES.where(other=None)) == 0
    with pytest.raises(BadFile, match="6 outcomes"):
        OUTCOMES.only(data="nettrace")


def test_claims_stand_in_the_papers_order(chapter: Chapter) -> None:
    ordered = [judged.claim.where for _, judged in in_the_papers_order([chapter])]
    assert ordered == ["Abstract", "Section 7.1.2", "Section 7.1.10", "Appendix B"]


def test_verdicts_are_counted(chapter: Chapter) -> None:
    found = tally([chapter, chapter])
    assert found == {verdict: 8 if verdict is Verdict.HOLDS_ONLY else 0 for verdict in Verdict}
    assert counted(found) == "8 claims: 8 hold only under a condition."
    assert counted({**found, Verdict.HOLDS: 1}).startswith("9 claims: 1 hold, 8 hold only")
    assert Judgement(Verdict.HOLDS_ONLY, "", "on Sundays").in_words == "holds only on Sundays"


def test_the_markdown_page_is_tables_that_stay_tables(chapter: Chapter, tmp_path: Path) -> None:
    page = markdown_page([chapter], tmp_path.parent / "paper.md")
    tables = [line for line in page.splitlines() if line.startswith("| ")]
    widths = {line.replace("\\|", "").count("|") for line in tables}
    assert widths == {6, 3}
    assert "[Squares, made up](#squares-made-up)" in page
    assert f"]({tmp_path.name}/made-up.png)" in page
    assert "**holds only up to five**" in page
    assert "nettrace (a stand-in)" in page
    assert "quick effort, with stand-ins for nettrace" in page
    assert "`make experiments` (quick), seed 2011" in page


class _Checked(HTMLParser):
    """Notes the tags that are open, and every source and link."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.sources += [given["src"] or ""] if "src" in given else []
        self.links += [given["href"] or ""] if "href" in given else []
        self.names.add(given.get("id") or "")
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_html_page_is_whole_and_needs_nothing_else(chapter: Chapter) -> None:
    page = html_page([chapter], chapter.expectations)
    checked = _Checked()
    checked.feed(page)
    assert checked.open == []
    assert all(source.startswith("data:image/png;base64,") for source in checked.sources)
    assert all(link[1:] in checked.names for link in checked.links)
    assert "&lt;b&gt;" in page
    assert "<em>numbers</em> &lt;and&gt; <code>code</code>" in page
    assert "small squares" in page


def test_the_trace_is_not_called_the_papers_own_cut(chapter: Chapter) -> None:
    settings = {"data": "tcptrace", "origin": "file"}
    results = dataclasses.replace(RESULTS, outcomes=Outcomes([Outcome(settings, {}, 0.0)]))
    assert "how the paper cut it is not known" in dataclasses.replace(chapter, results=results).data


def test_what_is_no_number_is_not_written(tmp_path: Path) -> None:
    outcomes = Outcomes([Outcome({"number": 1}, {"square": float("nan")}, 0.0)])
    with pytest.raises(ValueError, match="not JSON compliant"):
        dataclasses.replace(RESULTS, outcomes=outcomes).save(tmp_path / "made-up.json")
    assert not (tmp_path / "made-up.json").exists()
    with pytest.raises(BadFile, match="made-up found what is no number"):
        Store(tmp_path).put(made_up.EXPERIMENT, next(iter(outcomes)))


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
    written = {file for file in STUDIES.glob("paper/**/*.py") if "EXPERIMENT = Experiment(" in file.read_text()}
    assert {(file.parent if file.stem == "__init__" else file).stem for file in written} == set(NAMES)
    names = list(experiments())
    assert len(set(names)) == len(names)
