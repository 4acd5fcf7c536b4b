"""The releases by sparsedp."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sparsedp as sdp
from peers.contender import CELLS, PEOPLE, RECORDS, STREAM, TREE, WIDE, WIDE_TREE, Contender, Prepare, Run, records_of
from sparsedp.arrays import Floats, Ints
from sparsedp.mechanisms.base import Mechanism

PURE = "pure ε; integers and exact discrete noise, randomness from the operating system, fresh for every draw"
ONE_INTRUSION = f"{PURE}; also against an intruder who once sees the state"
ANY_INTRUSIONS = f"{PURE}; also against an intruder who sees the state, however often"


def released_by(mechanism: Mechanism) -> Prepare:
    def prepare(counts: Ints, epsilon: str) -> Run:
        return lambda: mechanism.release(counts, epsilon=epsilon).values

    return prepare


def from_records(counts: Ints, epsilon: str) -> Run:
    records, cells = records_of(counts), counts.size

    def run() -> Floats:
        counted, _ = np.histogram(records, bins=cells, range=(0, cells))
        return np.maximum(sdp.Laplace().release(counted, epsilon=epsilon).values, 0.0)

    return run


def from_people(counts: Ints, epsilon: str) -> Run:
    cells = np.repeat(np.arange(counts.size), counts)
    records = pa.table({"person": np.arange(cells.size), "cell": cells})
    domain = sdp.Domain([sdp.Integers("cell", 0, counts.size - 1)])

    def run() -> Floats:
        counted = sdp.count(records, domain, privacy_unit="person", max_contributions=1)
        return sdp.Laplace().release(counted, epsilon=epsilon).values

    return run


def differences(counts: Ints, epsilon: str) -> Run:
    def run() -> Floats:
        with sdp.ContinualDifference(epsilon=epsilon, horizon=counts.size) as stream:
            stream.observe_many(counts)
            return stream.release().values

    return run


def noise_once(counts: Ints, epsilon: str) -> Run:
    def run() -> Floats:
        with sdp.ContinualAdaptive(epsilon=epsilon) as stream:
            stream.observe_many(counts)
            return stream.release().values

    return run


def noise_and_totals(counts: Ints, epsilon: str) -> Run:
    def run() -> Floats:
        with sdp.ContinualAdaptive(epsilon=epsilon, totals="0.3", horizon=counts.size) as stream:
            stream.observe_many(counts)
            return stream.release().values

    return run


CONTENDERS = (
    Contender("sparsedp", "Laplace()", CELLS, PURE, released_by(sdp.Laplace())),
    Contender("sparsedp", "Adaptive(), the default", CELLS, PURE, released_by(sdp.Adaptive())),
    Contender("sparsedp", 'Adaptive("cells")', CELLS, PURE, released_by(sdp.Adaptive("cells"))),
    Contender("sparsedp", "Laplace() of np.histogram, clipped at 0", RECORDS, PURE, from_records),
    Contender("sparsedp", "count(privacy_unit=…), Laplace()", PEOPLE, f"{PURE}; for people", from_people),
    Contender("sparsedp", "Hierarchical()", TREE, PURE, released_by(sdp.Hierarchical())),
    Contender(
        "sparsedp", f"Hierarchical(branching={WIDE})", WIDE_TREE, PURE, released_by(sdp.Hierarchical(branching=WIDE))
    ),
    Contender("sparsedp", "ContinualDifference(horizon=T)", STREAM, ONE_INTRUSION, differences),
    Contender("sparsedp", "ContinualAdaptive()", STREAM, ANY_INTRUSIONS, noise_once),
    Contender("sparsedp", 'ContinualAdaptive(totals="0.3")', STREAM, ONE_INTRUSION, noise_and_totals),
)
