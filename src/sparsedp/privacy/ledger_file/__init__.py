"""Ledgers in a file: one SQLite database for the budgets of several data sets, shared by processes (`ledger.md`)."""

from sparsedp.privacy.ledger_file.books import LedgerFile, open_ledger
from sparsedp.privacy.ledger_file.data_set import DataSetLedger

__all__ = ["DataSetLedger", "LedgerFile", "open_ledger"]
