"""The same page as one HTML file with its figures inside: it opens offline, and can be sent to somebody."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from sparsedp.experiments.paper.chapter import Chapter, Judged, efforts, in_the_papers_order, stand_ins, tally
from sparsedp.experiments.paper.claim import Expectation, Verdict
from sparsedp.experiments.paper.words import BEFORE_THE_CLAIMS, HEADINGS, TITLE, counted, made_of

_CLASS = {
    Verdict.HOLDS: "holds",
    Verdict.HOLDS_ONLY: "only",
    Verdict.DOES_NOT_HOLD: "fails",
    Verdict.UNDECIDED: "open",
}
_HEAD = "<meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")


def html_page(chapters: Sequence[Chapter], expectations: Sequence[Expectation]) -> str:
    """The whole page."""
    style = files("sparsedp.experiments.paper").joinpath("page.css").read_text()
    made = made_of(efforts(chapters), stand_ins(chapters))
    texts = (*BEFORE_THE_CLAIMS, made, counted(tally(chapters)))
    body = [f"<h1>{TITLE}</h1>", *(_paragraph(text) for text in texts)]
    body += [_contents(chapters), "<h2 id='claims'>Claim by claim</h2>", _claims(chapters)]
    if expectations:
        body += ["<h2 id='expected'>What must come out on the paper's files</h2>", _expected(expectations)]
    for chapter in chapters:
        body += _chapter(chapter)
    head = f"{_HEAD}<title>{TITLE}</title><style>{style}</style>"
    main = "\n".join(body)
    return f"<!doctype html><html lang='en'><head>{head}</head><body><main>{main}</main></body></html>\n"


def _contents(chapters: Sequence[Chapter]) -> str:
    links = (f"<li><a href='#{one.experiment.name}'>{_inline(one.experiment.title)}</a></li>" for one in chapters)
    return f"<nav aria-label='Experiments'><ul>{''.join(links)}</ul></nav>"


def _claims(chapters: Sequence[Chapter]) -> str:
    table = _table(HEADINGS, (_claim(chapter, judged) for chapter, judged in in_the_papers_order(chapters)))
    return f"<div class='claims'>{table}</div>"


def _claim(chapter: Chapter, judged: Judged) -> list[str]:
    claim, judgement = judged.claim, judged.judgement
    return [
        _inline(claim.where),
        f"<q>{_inline(claim.sentence)}</q>",
        _inline(judgement.measured),
        f"<strong class='{_CLASS[judgement.verdict]}'>{_inline(judgement.in_words)}</strong>",
        f"<a href='#{chapter.experiment.name}'>{_inline(chapter.experiment.title)}</a>",
    ]


def _expected(expectations: Sequence[Expectation]) -> str:
    rows = (
        [_inline(one.what), _inline(one.measured), "met" if one.met else "<strong>missed</strong>"]
        for one in expectations
    )
    return _table(("expected", "measured", ""), rows)


def _chapter(chapter: Chapter) -> list[str]:
    parts = [f"<h2 id='{chapter.experiment.name}'>{_inline(chapter.experiment.title)}</h2>"]
    parts.append(_paragraph(chapter.experiment.about))
    for picture in chapter.pictures:
        source, alternative = _embedded(picture.path), escape(picture.caption, quote=True)
        caption = f"<figcaption>{_inline(picture.caption)}</figcaption>"
        parts.append(f"<figure><img src='{source}' alt=\"{alternative}\">{caption}</figure>")
    for numbers in chapter.numbers:
        rows = ([_inline(entry) for entry in row] for row in numbers.rows)
        parts += [_paragraph(numbers.caption), _table(numbers.headings, rows)]
    data = f"Data: {chapter.data}. " if chapter.data else ""
    return [*parts, f"<p class='made'>{_inline(data)}Made by {_inline(chapter.made_by)}</p>"]


def _embedded(picture: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML already; headings are text."""
    head = "".join(f"<th scope='col'>{_inline(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{entry}</td>' for entry in row)}</tr>" for row in rows)
    return f"<div class='wide' tabindex='0'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _paragraph(text: str) -> str:
    return "".join(f"<p>{_inline(part)}</p>" for part in text.split("\n\n"))


def _inline(text: str) -> str:
    """The little Markdown that the experiments' texts use: code, bold, italics, links."""
    spans = re.split(r"`([^`]+)`", text)
    return "".join(f"<code>{escape(span)}</code>" if odd % 2 else _marked(span) for odd, span in enumerate(spans))


def _marked(text: str) -> str:
    shown = _LINK.sub(r"<a href='\2'>\1</a>", escape(text, quote=False))
    shown = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", shown)
    return re.sub(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])", r"<em>\1</em>", shown)
