"""A source of real randomness that watches a ledger."""

import sparsedp as sdp
from sparsedp.noise.source import RandomSource, SystemSource


class WatchingSource(RandomSource):
    """Remembers what the ledger had spent whenever a key was asked for."""

    def __init__(self, ledger: sdp.Ledger) -> None:
        self.ledger = ledger
        self.spent: list[sdp.Budget | None] = []

    def key(self) -> bytes:
        self.spent.append(self.ledger.spent)
        return SystemSource().key()
