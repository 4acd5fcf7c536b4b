"""Finding one's way in the outcomes: panels, and the streams in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.experiments.paper.data_names import called, told
from sparsedp.experiments.paper.outcomes import Outcome, Outcomes

SIGNIFICANT = 2.0
"""How many times as large an error must be to be called significantly worse."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Panel:
    """One data set at one ε."""

    data: str
    origin: str
    epsilon: str

    @property
    def named(self) -> str:
        """The data set, and where it is from."""
        return called(self.data, self.origin)

    @property
    def power(self) -> str:
        """ε as the paper writes it."""
        return "10" + f"{round(np.log10(float(self.epsilon)))}".translate(SUPERSCRIPTS)


def panels(outcomes: Outcomes) -> list[Panel]:
    """Row by row."""
    seen = outcomes.where(part="error")
    found = [Panel(one.settings["data"], one.settings["origin"], one.settings["epsilon"]) for one in seen]
    return list(dict.fromkeys(found))


def stream_in(outcomes: Outcomes, panel: Panel, mechanism: str, decoder: str = "cosamp") -> Outcome:
    """One stream's errors in a panel; `decoder` is for CMCO, which has two."""
    asked = outcomes.where(part="error", mechanism=mechanism, **vars(panel))
    return (asked.where(decoder=decoder) if mechanism.startswith("cmco") else asked).only()


def last_error(outcomes: Outcomes, panel: Panel, mechanism: str, decoder: str = "cosamp") -> float:
    """‖D − D*‖₂ at t = T, mean over runs."""
    return float(np.mean(stream_in(outcomes, panel, mechanism, decoder).found["errors"][-1]))


def least_ratio(outcomes: Outcomes, panel: Panel, mechanism: str, other: str) -> float:
    """How many times as large the first one's error is as the other's, at the moment where that is least."""
    first, second = (np.mean(stream_in(outcomes, panel, name).found["errors"], axis=1) for name in (mechanism, other))
    return float((first / second).min())


def told_of_panels(outcomes: Outcomes, measured: str) -> str:
    """A sentence about all panels, with a warning where the data are not the paper's."""
    return told(outcomes, list(dict.fromkeys(panel.data for panel in panels(outcomes))), measured)
