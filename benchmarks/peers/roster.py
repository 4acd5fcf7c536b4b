"""Who takes part: what can be imported and runs here, and one sentence on each of the others."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from peers.contender import KINDS, Contender
from peers.ours import CONTENDERS

PEERS = {
    "OpenDP": "peers.with_opendp",
    "diffprivlib": "peers.with_diffprivlib",
    "Google DP": "peers.with_google_dp",
    "PipelineDP": "peers.with_pipeline_dp",
    "JAX Privacy": "peers.with_jax_privacy",
}
REQUIRED = frozenset({"OpenDP", "diffprivlib"})
"""Without one of these the comparison has failed: both are small and install everywhere."""

NOT_TRIED = {
    "TensorFlow Privacy": "0.9 needs numpy 1 and 2.4 GB of packages; sparsedp needs numpy 2",
    "Tumult Core": "0.20 needs numpy 1 and pandas 1 on Python 3.11, and Spark; sparsedp needs numpy 2",
}
TRIAL = np.arange(512, 0, -1)
"""Counts for a first run of everything: it shows who can run, and loads or compiles what is made once."""


@dataclass(frozen=True)
class Roster:
    """The contenders by kind of release, ours first, and why others are not among them."""

    groups: dict[str, list[Contender]]
    absent: dict[str, str]

    @property
    def complete(self) -> bool:
        """Whether every required peer takes part."""
        return not REQUIRED & self.absent.keys()


def assembled() -> Roster:
    """Try everyone on a few cells. A peer that cannot be imported, or fails, is absent, and its error says why."""
    taking_part, absent = _tried(CONTENDERS), dict(NOT_TRIED)
    for library, module in PEERS.items():
        try:
            taking_part += _tried(importlib.import_module(module).CONTENDERS)
        # Anything at all can go wrong in another library; that is to be told, not to end the benchmark.
        except Exception as error:
            absent[library] = " ".join(f"{type(error).__name__}: {error}".split())
    return Roster({kind: [one for one in taking_part if one.kind == kind] for kind in KINDS}, absent)


def _tried(contenders: Sequence[Contender]) -> list[Contender]:
    for contender in contenders:
        contender.prepare(TRIAL, "1")()
    return list(contenders)
