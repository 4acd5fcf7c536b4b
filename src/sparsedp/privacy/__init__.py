"""What is promised and to whom: budgets, neighbouring data sets, and the ledger that keeps count."""
