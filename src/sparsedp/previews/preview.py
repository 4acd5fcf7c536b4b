"""`sparsedp.preview`: what a release would be worth, before anything is spent."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Floats
from sparsedp.axes import Axis
from sparsedp.axes.domain import Declared, Domain
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.mechanisms import Mechanism
from sparsedp.previews._made_up import ALIASES, ALL_SHAPES, ASKED, SHAPES, cells_asked_for, shapes_for
from sparsedp.previews._questions import Catalogue, questions_of, verdict_on
from sparsedp.previews._shown import as_html, as_text, draw, in_one_line
from sparsedp.previews._simulation import ASKED_FOR, Guess, Scenario, Setting, simulate
from sparsedp.previews._suggestions import suggestions_for
from sparsedp.privacy.budget import Budget, asked_for
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.progress import part, stage
from sparsedp.publishing import DEFAULT, checked_mechanism
from sparsedp.reports.picture import checked_picture, drawn_to


def preview(
    domain: Declared | int | tuple[int, ...],
    *,
    epsilon: validate.Number | Budget | None = None,
    rho: validate.Number | None = None,
    delta: validate.Number | None = None,
    total: _Total,
    smoothness: str | npt.ArrayLike = "unknown",
    mechanism: str | Mechanism = DEFAULT,
    contribution: int = 1,
    neighbours: str = "add_remove",
    runs: int | None = None,
) -> Preview:
    """How far off a release would be, from public assumptions alone. Nothing is spent, and no data is seen.

    The real mechanism is run on made-up counts, so there is no argument for data and none for a ledger. What you guess
    must be public: last year's published table, a census, an order of magnitude. **Never read `total` or `smoothness`
    off the counts you mean to publish**: a preview made from them would say something about them, and so would your
    choice of a budget after it.

    `domain`: a `Domain`, its axes (["day:2024-01-01..2024-12-31", "sex:F,M"]), a shape such as (24, 7), or a number of
    cells.
    `epsilon`, `rho`, `delta`, `mechanism`, `contribution`, `neighbours`: as for `sparsedp.release`.
    `total`: a guess at the sum of all counts, or two of them for a range: (10_000, 50_000).
    `smoothness`: how the counts run along the ordered axes: "flat", "smooth", "steps" (constant blocks), "spiky" (few
    cells hold everything), "rough" or "unordered" (neighbours say nothing about a cell), "linked" (every axis depends
    on the one before it); "unknown" tries them all, "linked" on tables of three axes and more.
    Or an array of the domain's shape, in any unit: a guess at each cell's share, simulated as it is however large.
    `runs`: how many made-up tables of each kind; left out, as many as take seconds.

    Tables of more than 65,536 cells are simulated on two smaller ones of the same form, and their errors extended;
    those of up to 524,288 also once themselves. The same call gives the same numbers each time.

    >>> preview(24, epsilon="0.5", total=10_000, smoothness="smooth", mechanism="laplace")
    Preview(axis0 (24), ε = 0.5, laplace: a cell off by 2.7)
    """
    table = _checked_domain(domain)
    totals = _checked_totals(total)
    guesses = _checked_guesses(smoothness, totals, table)
    budget = asked_for(epsilon, rho, delta)
    whom = Neighbours(contribution, neighbours)
    setting = Setting(checked_mechanism(mechanism), budget, whom.contribution, whom.relation)
    setting.plain_noise(ASKED_FOR)
    if runs is not None:
        runs = validate.whole("runs", runs, most=10_000)
    with stage(f"simulating releases of {table.size:,} cells"):
        scenarios = []
        marginals = questions_of(table).marginals
        for place, guess in enumerate(guesses):
            with part((place + 1) / len(guesses)):
                scenarios.append(simulate(guess, table, setting, marginals, runs=runs, seed=place))
    return Preview(table, setting, tuple(scenarios))


# What a caller assumes, checked: the cells, the total, the shape, the mechanism.

_MOST = 2**53
_YOURS = "as you guessed"
"""The name of a shape that the caller gave as an array."""
_TOTAL_WANTED = "give a public guess of at least 1, or two for a range: (10_000, 50_000)"
_Total = validate.Number | tuple[validate.Number, validate.Number]


def _checked_domain(domain: object) -> Domain:
    """A domain, from itself, its axes, a shape, or a number of cells."""
    if isinstance(domain, Domain | Axis) or _names_axes(domain):
        return Domain.of(domain)  # type: ignore[arg-type]
    if isinstance(domain, Integral) and not isinstance(domain, bool):
        return Domain.of_shape((validate.whole("domain", domain),))
    if isinstance(domain, tuple) and domain:
        return Domain.of_shape([validate.whole("domain", side) for side in domain])
    remedy = (
        "give a sparsedp.Domain, its axes (['age:0..100/5', 'sex:F,M']), a shape such as (24, 7), or a number of "
        "cells; never the counts themselves"
    )
    raise InvalidInput("domain", "empty" if isinstance(domain, tuple) else _kind(domain), remedy)


def _checked_totals(total: object) -> tuple[int, ...]:
    """One guess, or the two ends of a range."""
    if not isinstance(total, tuple | list):
        return (_checked_total(total),)
    if len(total) != 2:
        raise InvalidInput("total", f"{len(total)} numbers", _TOTAL_WANTED)
    low, high = map(_checked_total, total)
    if low > high:
        raise InvalidInput("total", f"from {low:,} to {high:,}", "give the smaller guess first")
    return (low,) if low == high else (low, high)


def _checked_guesses(smoothness: object, totals: tuple[int, ...], domain: Domain) -> list[Guess]:
    """Every shape at every total."""
    if isinstance(smoothness, str):
        return [Guess(shape, total) for total in totals for shape in _named(smoothness, domain)]
    shares = _checked_shares(smoothness, domain)
    return [Guess(_YOURS, total, shares) for total in totals]


def _named(smoothness: str, domain: Domain) -> tuple[str, ...]:
    if smoothness == "unknown":
        return shapes_for(domain)
    known = {**SHAPES, **ALIASES, "unknown": None}
    if smoothness not in known:
        names = ", ".join([*ALL_SHAPES, *ALIASES, "unknown"])
        remedy = f"choose one of {names}, or give an array of guessed shares"
        raise UnknownName("smoothness", smoothness, known, remedy)
    return (ALIASES.get(smoothness, smoothness),)


def _checked_shares(smoothness: object, domain: Domain) -> Floats:
    try:
        weights: npt.NDArray[np.float64] = np.array(smoothness, dtype=np.float64)
    except (TypeError, ValueError):
        remedy = f"choose one of {', '.join(ALL_SHAPES)}, or give an array of guessed shares"
        raise InvalidInput("smoothness", _kind(smoothness), remedy) from None
    if weights.shape != domain.shape:
        given = f"an array of shape {weights.shape}"
        raise InvalidInput("smoothness", given, f"give the domain's shape, {domain.shape}, or the name of a shape")
    if not np.isfinite(weights).all() or (weights < 0).any() or not 0 < weights.sum() < np.inf:
        given = "an array that cannot be shares of a total"
        raise InvalidInput("smoothness", given, "give finite numbers of at least 0, not all of them 0")
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _checked_total(total: object) -> int:
    try:
        number = validate.exact_number("total", total)
    except InvalidInput as error:
        raise InvalidInput("total", error.given, _TOTAL_WANTED) from None
    if not 1 <= number <= _MOST:
        raise InvalidInput("total", validate.shown(number), _TOTAL_WANTED if number < 1 else "give at most 2**53")
    return round(number)


def _names_axes(domain: object) -> bool:
    """Whether it is axes or texts that begin with the name of one: "sex:F,M"."""
    parts = domain if isinstance(domain, list | tuple) and domain else [domain]
    return all(isinstance(part, Axis) or (isinstance(part, str) and ":" in part) for part in parts)


def _kind(given: object) -> str:
    return f"of type {type(given).__name__}"


# What a preview found: rows of figures, a paragraph in plain language, a picture.

_FARTHEST = 8
"""No halving is foretold at more than so many times the budget: twice the largest one simulated."""


@dataclass(frozen=True, eq=False)
class Preview:
    """The errors that a release can be expected to have, under each of the assumptions. No data was seen.

    `print(preview)` says it in words; `questions` says which answers will be worth something, and `suggestions` what
    would be better; `table` has every figure; `plot("preview.png")` draws it.
    """

    domain: Domain
    setting: Setting
    scenarios: tuple[Scenario, ...]

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """One row for each total, shape and question, ready for `pandas.DataFrame`.

        `total`, `shape`: what was assumed. `asked`: "cell", "box" (about a tenth of all cells) or "total"; `cells`:
        how many are summed for it. `answer`: how large the true answer is on average. `error`: the root mean square
        error; `relative`: that as a part of the answer. `laplace`: the error of the Laplace mechanism, exactly.
        `half_at`: the ε or ρ at which the error would be about half; None if that is more than 8 times ε, or 64 times
        ρ. `stands_out`: for cells, the least height over its surroundings from which a lone cell is seen.
        """
        cells = cells_asked_for(self.domain)
        noise = self.setting.plain_noise(ASKED_FOR)
        return [
            {
                "total": scenario.guess.total,
                "shape": scenario.guess.shape,
                "asked": asked,
                "cells": cells[place],
                "answer": (answer := scenario.guess.total * cells[place] / self.domain.size),
                "error": (error := float(scenario.errors[ASKED_FOR][place])),
                "relative": error / answer,
                "laplace": noise * cells[place] ** 0.5,
                "half_at": self._half_at(scenario, place),
                "stands_out": scenario.stands_out if asked == "cell" else None,
            }
            for scenario in self.scenarios
            for place, asked in enumerate(ASKED)
        ]

    @cached_property
    def questions(self) -> list[dict[str, Any]]:
        """One row for each total and each question that people ask, from the total down to a single cell.

        `question`: "sex × region", whose axes or groups are `axes`; `entries`: how many numbers answer it; `entry`: how
        large one of them is on average. `error`: the root mean square error of one entry, over all entries, runs and
        shapes; `least` and `most`: the same for the best and for the worst of the shapes. `relative`: the error as a
        part of the average entry. `verdict`: "good" up to 10 %, "noise" from 50 %, "rough" between.
        """
        rows = []
        for total in dict.fromkeys(scenario.guess.total for scenario in self.scenarios):
            alike = [scenario for scenario in self.scenarios if scenario.guess.total == total]
            for place, question in enumerate(self._catalogue.questions):
                errors = np.array([each.error_of(place, ASKED_FOR) for each in alike])
                if np.isnan(errors).any():
                    continue  # groups that the smaller tables do not have
                entry, error = total / question.entries, float(np.sqrt(np.mean(errors**2)))
                rows.append(
                    {
                        "total": total,
                        "question": question.text,
                        "axes": list(question.names),
                        "entries": question.entries,
                        "entry": entry,
                        "error": error,
                        "least": float(errors.min()),
                        "most": float(errors.max()),
                        "relative": error / entry,
                        "verdict": verdict_on(error / entry),
                    }
                )
        return rows

    @property
    def left_out(self) -> list[str]:
        """Which questions the table leaves out, in sentences."""
        shown = {row["question"] for row in self.questions}
        missing = [question.text for question in self._catalogue.questions if question.text not in shown]
        unseen = [f"{', '.join(missing)}: left out, for the smaller tables do not have such groups."] if missing else []
        return [*self._catalogue.left_out, *unseen]

    @cached_property
    def suggestions(self) -> list[str]:
        """Up to three sentences on what would make the noisy ones of the questions better; none if nothing is noise.

        They say what fewer cells, another workload and more budget would give. The first two are simulated when this is
        first asked for, with a few runs; the third follows from the errors at other budgets, by a power law.
        """
        with stage("looking for something better"):
            return suggestions_for(self.domain, self.setting, self.scenarios, self._catalogue, self.questions)

    @cached_property
    def _catalogue(self) -> Catalogue:
        return questions_of(self.domain)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw one guessed table, a release of it, and the error at other budgets; needs matplotlib.

        With a `path` ending in .png, .svg or .pdf the picture is written there, and the path returned; without, the
        matplotlib figure is.
        """
        target = checked_picture(path)
        return drawn_to(target, draw(self))

    def _half_at(self, scenario: Scenario, place: int) -> float | None:
        law = scenario.power_law(place)
        if law is None or law.halving_factor > _FARTHEST:
            return None
        factor, budget = law.halving_factor, self.setting.budget
        return float(budget.epsilon) * factor if budget.epsilon is not None else float(budget.rho or 0) * factor**2

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return in_one_line(self)

    def _repr_html_(self) -> str:
        return as_html(self)
