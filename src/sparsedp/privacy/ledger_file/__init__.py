"""Ledgers in a file: one SQLite database for the budgets of several data sets, shared by processes (`ledger.md`)."""

from sparsedp.privacy.ledger_file.books import LedgerFile
from sparsedp.privacy.ledger_file.data_set import DataSetLedger
from sparsedp.privacy.ledger_file.opening import open_ledger

__all__ = ["DataSetLedger", "LedgerFile", "open_ledger"]
