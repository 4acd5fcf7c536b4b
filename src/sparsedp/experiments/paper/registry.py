"""Every experiment, in the order of the paper."""

from __future__ import annotations

from importlib import import_module

from sparsedp.errors import UnknownName
from sparsedp.experiments.paper.experiment import Experiment

FOLDERS = (
    "choosing_sparsity",
    "epsilon_sweep",
    "cosine_sweep",
    "continual",
    "scaling",
    "stream_scaling",
    "isometry",
    "recovery_constant",
    "noise_norm",
    "sensitivities",
)


def experiments() -> dict[str, Experiment]:
    """All of them, by name."""
    every: list[Experiment] = [
        import_module(f"sparsedp.experiments.paper.{folder}.definition").EXPERIMENT for folder in FOLDERS
    ]
    return {experiment.name: experiment for experiment in every}


def chosen(names: list[str]) -> list[Experiment]:
    """Those with these names; all of them if no name is given."""
    known = experiments()
    for name in names:
        if name not in known:
            raise UnknownName("experiment", name, known)
    return [experiment for name, experiment in known.items() if not names or name in names]
