"""Whole files to start from: small, of every mechanism and every kind; the records have secrets planted in them."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import sparsedp as sdp
from fuzz.verdicts import SECRET_NUMBER, SECRET_TEXT
from sparsedp.noise.source import KEY_BYTES, SystemSource

BY = ("day:2024-01-01..2024-01-14/1d", "sex:F,M")
"""The axes of most specimens."""

GROUPED = ("county:north(a,b),south(c)/state", "age:child(0..2),adult(3..5)", "sex:F,M")
"""Three axes, two of them in groups: a table that is measured by its marginals."""

Files = dict[str, bytes]
"""By name, relative to the folder that they belong in."""


@dataclass(frozen=True)
class Specimens:
    """By a name for each."""

    releases: dict[str, bytes]
    synopses: dict[str, bytes]
    ledger: Files
    streams: dict[str, bytes]
    records: Any
    """An Arrow table: whose, when, sex, age, amount, remark."""
    csv: bytes
    """The records again, and once more: as files."""
    parquet: bytes


def put(files: Files) -> None:
    """Write the files into the current folder."""
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def made_specimens() -> Specimens:
    """All of them, made in a folder that is gone afterwards; the same in every run, but for the times of spends."""
    keys = random.Random(20_240_101)  # these are no releases of anything
    here = os.getcwd()
    with (
        tempfile.TemporaryDirectory(prefix="sparsedp-fuzz-") as folder,
        patch.object(SystemSource, "key", lambda _: keys.randbytes(KEY_BYTES)),
        patch("secrets.token_hex", lambda length=8: keys.randbytes(length).hex()),
    ):
        os.chdir(folder)
        try:
            records = _records()
            pyarrow.csv.write_csv(records, "visits.csv")
            pq.write_table(records, "visits.parquet")
            return Specimens(
                releases=_saved(_releases()),
                synopses=_saved(_synopses()),
                ledger=_ledger(),
                streams=_streams(),
                records=records,
                csv=Path("visits.csv").read_bytes(),
                parquet=Path("visits.parquet").read_bytes(),
            )
        finally:
            os.chdir(here)


def _records() -> Any:
    """Eighty visits of thirty people. Each id is a secret, and some labels, ages, amounts and remarks are too."""
    draw = np.random.default_rng(5)
    rows = 80
    odd = np.arange(rows) % 20 == 7
    return pa.table(
        {
            "patient_id": [f"{SECRET_TEXT}-{number}" for number in draw.integers(0, 30, rows)],
            "day": pa.array(np.datetime64("2024-01-01") + draw.integers(0, 14, rows), pa.date32()),
            "sex": np.where(odd, SECRET_TEXT, draw.choice(["F", "M"], rows)).tolist(),
            "age": np.where(odd, SECRET_NUMBER, draw.integers(0, 100, rows)),
            "amount": np.where(odd, float(SECRET_NUMBER), draw.integers(0, 50_000, rows) / 100),
            "remark": [f"{SECRET_TEXT} says {SECRET_NUMBER}"] * rows,
        }
    )


def _saved(made: dict[str, Any]) -> dict[str, bytes]:
    found = {}
    for name, thing in made.items():
        path = Path("specimen.parquet")
        thing.save(path)
        found[name] = path.read_bytes()
    return found


def _releases() -> dict[str, Any]:
    counts = np.random.default_rng(3).poisson(20, (14, 2))
    table = list(BY)
    ticks = sdp.ContinualAdaptive(epsilon=1, start="2026-01-01", every="1h")
    ticks.observe_many([3, 1, 4, 1, 5, 9, 2, 6])
    adaptive = sdp.release(counts, epsilon=1, domain=table)
    return {
        "adaptive": adaptive,
        "marginal": adaptive.marginal("sex"),
        "vector": sdp.release(counts[:, 0], epsilon="0.5", contribution=3),
        "laplace": sdp.release(counts, epsilon=1, mechanism="laplace", domain=table),
        "gaussian": sdp.release(counts, rho="0.5", mechanism="laplace", domain=table),
        "with delta": sdp.release(counts, epsilon=1, delta="1e-6", domain=table),
        "hierarchical": sdp.release(counts.ravel(), epsilon=1, mechanism="hierarchical", domain=["age:0..27"]),
        "privelet": sdp.release(counts, epsilon=1, mechanism="privelet", domain=["age:0..70/5", "sex:F,M"]),
        "compressive": sdp.release(counts[:, 0], epsilon=5, mechanism=sdp.Compressive(seed=1, sparsity=2)),
        "marginals": sdp.release(np.full((3, 6, 2), 9), epsilon=1, domain=list(GROUPED)),
        "rhythms": sdp.release(counts, epsilon="0.1", domain=table, mechanism="adaptive:day.weekday*sex,day"),
        "constrained": sdp.release(
            counts, epsilon=1, constraints=sdp.Constraints(total=560, integers=True), domain=table, mechanism="laplace"
        ),
        "months": sdp.release(counts[:12, 0], epsilon=1, domain=["month:2024-01..2024-12/1mo"]),
        "bins": sdp.release(counts[:3, 0], epsilon=1, mechanism="laplace", domain=["age:[0,18,65,120]"]),
        "hours": sdp.release(np.full(24, 9), epsilon=1, domain=["at:2024-03-31..2024-03-31/1h@Europe/Berlin"]),
        "stream": ticks.release(),
        "sums": sdp.publish(
            "visits.parquet",
            to="sums.parquet",
            domain=list(BY),
            privacy_unit="patient_id",
            value="amount",
            clamp=(0, 500),
            resolution="0.01",
            epsilon=1,
            ledger=sdp.Ledger(epsilon=2),
        ),
    }


def _synopses() -> dict[str, Any]:
    counts = np.random.default_rng(4).poisson(9, 32)
    table = sdp.Domain.parse(["age:0..15", "sex:F,M"])
    return {
        "adaptive": sdp.Adaptive().measure(counts, epsilon=1),
        "table": sdp.Adaptive().measure(counts.reshape(16, 2), epsilon=1, domain=table),
        "marginals": sdp.Adaptive("marginals").measure(np.full((3, 6, 2), 9), rho=1, domain=list(GROUPED)),
        "rhythms": sdp.Adaptive().measure(
            np.full((28, 2), 3), epsilon="0.1", domain=["day:2024-01-01..2024-01-28", "sex:F,M"]
        ),
        "gaussian": sdp.Adaptive().measure(counts, rho=1),
        "laplace": sdp.Laplace().measure(counts, epsilon=1),
        "hierarchical": sdp.Hierarchical(branching=4).measure(counts, epsilon=1),
        "privelet": sdp.Privelet().measure(counts.reshape(16, 2), epsilon=1, domain=table),
        "hadamard": sdp.Compressive(sparsity=2, seed=1).measure(counts, epsilon=1),
        "bernoulli": sdp.Compressive(sparsity=2, seed=1, sensing="bernoulli", basis="db4").measure(counts, epsilon=1),
        "cosine": sdp.Compressive(sparsity=2, seed=1, basis="cosine", recovery="cosamp").measure(counts, epsilon=1),
        "pursuit": sdp.Compressive(sparsity=2, seed=1, recovery="basis_pursuit").measure(counts, epsilon=1),
        "constrained": sdp.Laplace().measure(
            counts.reshape(16, 2), epsilon=1, domain=table, constraints=sdp.Constraints(monotone={"age": "increasing"})
        ),
    }


def _ledger() -> Files:
    """One file with several data sets and spends in every state, and the synopses beside it."""
    books = sdp.open_ledger("budget.db")
    visits = books.declare("visits", epsilon=4)
    books.declare("trials", epsilon=1, delta="1e-9", composition="zcdp")
    rho = books.declare("census", rho=2)
    sdp.publish(
        "visits.parquet", to="paid.parquet", domain=list(BY), privacy_unit="patient_id", epsilon=1, ledger=visits
    )
    sdp.publish("visits.csv", to="again.parquet", domain=["sex:F,M"], privacy_unit="patient_id", rho=1, ledger=rho)
    spend = visits.debit(sdp.Budget(epsilon=1), "a stored one", parameters={"note": ["x", 1]})
    visits.settle(spend, sdp.Laplace().measure([1, 2, 3], epsilon=1))
    visits.debit(sdp.Budget(epsilon="1/3"), "one that was stopped", request="nobody's")
    found = {"budget.db": Path("budget.db").read_bytes()}
    for path in Path("budget.db.synopses").iterdir():
        found[str(path)] = path.read_bytes()
    return found


def _streams() -> dict[str, bytes]:
    """So little budget that no noisy count is ever a true one: what equals a secret is one."""
    kinds: dict[str, Callable[[], Any]] = {
        "adaptive": lambda: sdp.ContinualAdaptive(epsilon="1e-6", start="2026-01-01", every="1h"),
        "plain": lambda: sdp.ContinualAdaptive(epsilon="1e-6"),
        "totals": lambda: sdp.ContinualAdaptive(epsilon="1e-6", totals="0.5", horizon=64),
        "difference": lambda: sdp.ContinualDifference(epsilon="1e-6", horizon=32),
        "compressive": lambda: sdp.ContinualCompressive(epsilon="1e-6", horizon=32, sparsity=2, seed=1),
    }
    found = {}
    for name, make in kinds.items():
        path = Path(f"{name}.stream")
        with sdp.open_stream(path, make()) as stream:
            stream.observe_many([SECRET_NUMBER, 1, 4, SECRET_NUMBER, 5])
            stream.observe(SECRET_NUMBER, at=7, fill=2)
        found[name] = path.read_bytes()
    return found
