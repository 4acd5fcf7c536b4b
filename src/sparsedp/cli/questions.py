"""The questions of `sparsedp query`, each put to a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparsedp.cli.answers import INTERVAL, Answer, fields, one_interval
from sparsedp.cli.as_typed import check_axes
from sparsedp.cli.boxes import box_of
from sparsedp.cli.places import place_words
from sparsedp.releases.uncertainty import UnknownTogether, checked_level

if TYPE_CHECKING:
    from sparsedp.arrays import Floats
    from sparsedp.domain import Domain
    from sparsedp.releases.release import Release

ONE_BY_ONE = "Each range holds for a cell that was named beforehand; the largest are chosen for their noise, too."
NOT_KNOWN = "The errors of this release are not known."


class Questions:
    """A release that is asked, along an axis where that matters, for intervals of a level."""

    def __init__(self, release: Release, axis: str | None, level: str) -> None:
        self._asked, self._axis, self._level = release, axis, level
        self._release, self._known = release, True
        self._along = "" if axis is None else f" of {axis}"

    def answer(self, kind: str, asked: Any, *, simultaneous: bool = False) -> Answer:
        """The answer to one question; where nothing is known of its error, the estimate alone."""
        try:
            self._release, self._known = self._asked, self._asked.uncertainty is not None
            if not self._known:
                self._release = replace(self._asked, uncertainty=_NoErrors())
            return self._answer(kind, asked, simultaneous=simultaneous)
        except UnknownTogether:
            self._release, self._known = replace(self._asked, uncertainty=_NoErrors()), False
            return self._answer(kind, asked, simultaneous=simultaneous)

    def _answer(self, kind: str, asked: Any, *, simultaneous: bool) -> Answer:
        release, axis, level = self._release, self._axis, self._level
        if kind == "total":
            return one_interval("total", release.total(level), known=self._known)
        if kind == "box":
            return one_interval(", ".join(asked), release.interval(box_of(release, asked), level), known=self._known)
        if kind == "mean":
            found = release.mean(axis, level)
            return one_interval(f"mean{self._along}", found, known=self._known, remark=self._of_bins())
        if kind == "median":
            return one_interval(f"median{self._along}", release.quantile("0.5", axis, level), known=self._known)
        if kind == "quantile":
            name = f"quantile {asked}{self._along}"
            return one_interval(name, release.quantile(asked, axis, level), known=self._known)
        if kind == "cdf":
            return self._cdf()
        return self._top(asked, simultaneous=simultaneous)

    def _of_bins(self) -> str:
        domain = self._release.domain
        name = self._axis or (domain.names[0] if domain is not None else "")
        bins = domain is not None and domain.axis(name).kind == "bins"
        return "(bins count as their midpoints)" if bins else ""

    def _cdf(self) -> Answer:
        shares = self._release.cdf(self._axis, self._level)
        ends = [(each.low, each.high) if self._known else (None, None) for each in shares]
        rows = [(each.position, each.share, *end, each.level) for each, end in zip(shares, ends, strict=True)]
        return Answer(("position", "share", "low", "high", "level"), rows, remark=None if self._known else NOT_KNOWN)

    def _top(self, count: int, *, simultaneous: bool) -> Answer:
        cells = self._release.top(count, self._level, simultaneous=simultaneous)
        rows = [
            (*place_words(self._release, each.place).values(), *fields(each.interval, known=self._known))
            for each in cells
        ]
        share = f"{100 * checked_level(self._level):g} %"
        remark = f"All ranges hold at once, in {share} of releases like this one." if simultaneous else ONE_BY_ONE
        return Answer((*cells[0].place, *INTERVAL), rows, remark=remark if self._known else NOT_KNOWN)


class _NoErrors:
    """Stands where the error of a release is not known, so that its estimates can be asked for; its ends are none."""

    def variance(self, weights: Floats) -> float:
        """Not known."""
        return 0.0

    def stderr(self) -> Floats:
        """Not known."""
        raise UnknownTogether("query", "about errors that are not known", "ask for estimates")


def axes_named(given: Sequence[str], domain: Domain | None) -> list[str]:
    """Names of axes that were given one by one, or several with commas between."""
    names = () if domain is None else domain.names
    found = [name for text in given for name in ([text] if text in names else text.split(","))]
    if domain is not None:  # a release without axes says so itself
        check_axes("--marginal", found, names)
    return found
