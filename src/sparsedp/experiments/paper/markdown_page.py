"""`docs/paper.md`: every claim of the paper with what was measured, then every experiment with its figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sparsedp.experiments.accuracy.tables import markdown
from sparsedp.experiments.paper.chapter import Chapter, Judged, efforts, in_the_papers_order, stand_ins, tally
from sparsedp.experiments.paper.words import BEFORE_THE_CLAIMS, HEADINGS, NOTICE, TITLE, counted, made_of

_GENERATED = f"<!-- {NOTICE} -->"


def markdown_page(chapters: Sequence[Chapter], page: Path) -> str:
    """The whole page, with links from where it will stand."""
    parts = [
        f"# {TITLE}",
        _GENERATED,
        *BEFORE_THE_CLAIMS,
        made_of(efforts(chapters), stand_ins(chapters)),
        counted(tally(chapters)),
        "## Claim by claim",
        _claims(chapters),
    ]
    for chapter in chapters:
        parts += _chapter(chapter, page.parent)
    return "\n\n".join(parts) + "\n"


def _claims(chapters: Sequence[Chapter]) -> str:
    rows = [_row(chapter, judged) for chapter, judged in in_the_papers_order(chapters)]
    return markdown(HEADINGS, rows)


def _row(chapter: Chapter, judged: Judged) -> list[str]:
    claim, judgement = judged.claim, judged.judgement
    link = f"[{chapter.experiment.title}](#{_anchor(chapter.experiment.title)})"
    return [claim.where, _cell(f"“{claim.sentence}”"), _cell(judgement.measured), f"**{judgement.in_words}**", link]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _anchor(title: str) -> str:
    """GitHub's name for a heading."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def _chapter(chapter: Chapter, folder: Path) -> list[str]:
    parts = [f"## {chapter.experiment.title}", chapter.experiment.about]
    for picture in chapter.pictures:
        parts += [
            f"![{_cell(picture.caption)}]({Path(os.path.relpath(picture.path, folder)).as_posix()})",
            picture.caption,
        ]
    for numbers in chapter.numbers:
        rows = [[_cell(entry) for entry in row] for row in numbers.rows]
        parts += [numbers.caption, markdown([_cell(heading) for heading in numbers.headings], rows)]
    data = f"Data: {chapter.data}. " if chapter.data else ""
    return [*parts, f"*{data}Made by* {chapter.made_by}"]
