"""Every mechanism: when its first noise is drawn, its debit is committed, as any other process can see."""

import sqlite3
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.noise.samplers import SparsedpSampler
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.ledger_file import open_ledger


@pytest.mark.parametrize("name", sdp.MECHANISMS)
def test_the_debit_is_on_disk_when_noise_is_drawn(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "budget.db"
    ledger = open_ledger(path).declare("visits", epsilon=1)
    seen = []
    draw = SparsedpSampler.add_noise

    def add_noise(self: SparsedpSampler, values: Ints, scale: Fraction, source: RandomSource) -> None:
        file = sqlite3.connect(path)
        seen.extend(file.execute("SELECT epsilon FROM spends").fetchall())
        file.close()
        draw(self, values, scale, source)

    monkeypatch.setattr(SparsedpSampler, "add_noise", add_noise)
    counts = np.arange(64) % 7
    sdp.release(counts, epsilon="0.6", mechanism=name, ledger=ledger)
    assert seen
    assert set(seen) == {("3/5",)}
    drawn = len(seen)
    with pytest.raises(sdp.BudgetExceeded, match=r"ε = 0\.6 was asked for and ε = 0\.4 is left"):
        sdp.release(counts, epsilon="0.6", mechanism=name, ledger=ledger)
    assert len(seen) == drawn, "refused before any noise"


def test_a_streams_debit_is_on_disk_before_its_first_tick(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "budget.db").declare("cases", epsilon=1)
    stream = sdp.ContinualAdaptive(epsilon="0.5", ledger=ledger)
    stream.observe(12)
    (spend,) = open_ledger(tmp_path / "budget.db", "cases").entries
    assert spend.spent == sdp.Budget(epsilon="0.5")


def test_the_file_is_synchronised_in_full(tmp_path: Path) -> None:
    """With less than EXTRA a power cut could bring back the journal of a commit that had returned."""
    ledger = open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    with ledger._store.writing("") as connection:
        found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")]
        assert connection.in_transaction
    assert found == [3, "delete"]
