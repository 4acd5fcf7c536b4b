"""What a preview found: rows of figures, a paragraph in plain language, a picture."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sparsedp.domain import Domain
from sparsedp.previews import words
from sparsedp.previews.factors import ASKED_FOR
from sparsedp.previews.picture import draw
from sparsedp.previews.questions import ASKED, cells_asked_for
from sparsedp.previews.scenario import Scenario
from sparsedp.previews.setting import Setting
from sparsedp.reports.picture_file import checked_picture, drawn_to

FARTHEST = 8
"""No halving is foretold at more than so many times the budget: twice the largest one simulated."""


@dataclass(frozen=True, eq=False)
class Preview:
    """The errors that a release can be expected to have, under each of the assumptions. No data was seen.

    `print(preview)` says it in words; `table` has every figure; `plot("preview.png")` draws it.
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

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw one guessed table, a release of it, and the error at other budgets; needs matplotlib.

        With a `path` ending in .png, .svg or .pdf the picture is written there, and the path returned; without, the
        matplotlib figure is.
        """
        target = checked_picture(path)
        return drawn_to(target, draw(self))

    def _half_at(self, scenario: Scenario, place: int) -> float | None:
        law = scenario.power_law(place)
        if law is None or law.halving_factor > FARTHEST:
            return None
        factor, budget = law.halving_factor, self.setting.budget
        return float(budget.epsilon) * factor if budget.epsilon is not None else float(budget.rho or 0) * factor**2

    def __str__(self) -> str:
        return words.as_text(self)

    def __repr__(self) -> str:
        return words.in_one_line(self)

    def _repr_html_(self) -> str:
        return words.as_html(self)
