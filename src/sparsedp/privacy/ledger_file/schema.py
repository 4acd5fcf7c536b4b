"""The tables of a ledger's file: lines are added, and their state goes forward; nothing else can be done to them."""

from __future__ import annotations

import secrets
import sqlite3

from sparsedp.files.untrusted import statements_in

APPLICATION_ID = 0x5344504C
"""Marks the file as a sparsedp ledger ("SDPL" in the SQLite header)."""

FORMAT = 1
"""The version of the tables, in the SQLite header too."""

# Amounts are exact rationals, so they are text: "1/3". What is asked for, and what is charged for it, stand side by
# side. There is no column for rows, durations, sources or digests of the data, and no balance: it is summed each time.
_TABLES = (
    """CREATE TABLE ledger (
  identity TEXT NOT NULL PRIMARY KEY)""",
    """CREATE TABLE data_sets (
  name TEXT NOT NULL PRIMARY KEY,
  folded TEXT NOT NULL UNIQUE,
  epsilon TEXT, delta TEXT, rho TEXT,
  composition TEXT NOT NULL CHECK (composition IN ('basic', 'zcdp')),
  limit_rho TEXT,
  declared TEXT NOT NULL,
  CHECK ((epsilon IS NULL) <> (rho IS NULL)))""",
    """CREATE TABLE spends (
  number INTEGER PRIMARY KEY,
  data_set TEXT NOT NULL REFERENCES data_sets (name),
  time TEXT NOT NULL,
  purpose TEXT NOT NULL,
  relation TEXT, protects TEXT,
  epsilon TEXT, delta TEXT, rho TEXT,
  charged_epsilon TEXT, charged_delta TEXT, charged_rho TEXT,
  parameters TEXT NOT NULL,
  request TEXT,
  token TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('debited', 'stored', 'delivered')),
  synopsis_digest TEXT,
  release_digest TEXT,
  CHECK (epsilon IS NOT NULL OR rho IS NOT NULL),
  CHECK ((charged_epsilon IS NULL) <> (charged_rho IS NULL)),
  CHECK (state <> 'stored' OR synopsis_digest IS NOT NULL),
  CHECK ((state = 'delivered') = (release_digest IS NOT NULL)))""",
    "CREATE INDEX spends_of_data_sets ON spends (data_set, request)",
)

_KEPT = "number, data_set, time, purpose, relation, protects, epsilon, delta, rho, charged_epsilon, charged_delta"
_TRIGGERS = (
    """CREATE TRIGGER spends_are_numbered BEFORE INSERT ON spends
  WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM spends)
  BEGIN SELECT raise(ABORT, 'spends are numbered one after the other'); END""",
    """CREATE TRIGGER spends_stay BEFORE DELETE ON spends
  BEGIN SELECT raise(ABORT, 'a debit is never given back'); END""",
    f"""CREATE TRIGGER spends_are_final BEFORE UPDATE OF {_KEPT}, charged_rho, parameters, request, token ON spends
  BEGIN SELECT raise(ABORT, 'a debit is never changed'); END""",
    """CREATE TRIGGER states_go_forward BEFORE UPDATE ON spends
  WHEN OLD.state = 'delivered' OR NEW.state = 'debited'
  BEGIN SELECT raise(ABORT, 'a state only goes forward'); END""",
    """CREATE TRIGGER data_sets_stay BEFORE DELETE ON data_sets
  BEGIN SELECT raise(ABORT, 'a data set stays in its ledger'); END""",
    """CREATE TRIGGER totals_are_final BEFORE UPDATE ON data_sets
  BEGIN SELECT raise(ABORT, 'a total never changes'); END""",
    """CREATE TRIGGER identity_stays BEFORE DELETE ON ledger
  BEGIN SELECT raise(ABORT, 'a ledger keeps its identity'); END""",
    """CREATE TRIGGER identity_is_final BEFORE UPDATE ON ledger
  BEGIN SELECT raise(ABORT, 'a ledger keeps its identity'); END""",
)

STATEMENTS = (*_TABLES, *_TRIGGERS)


def lay_out(connection: sqlite3.Connection) -> None:
    """Make an empty file a ledger without data sets, within the transaction that is under way."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for statement in STATEMENTS:
        connection.execute(statement)
    connection.execute("INSERT INTO ledger VALUES (?)", (secrets.token_hex(16),))


def is_laid_out(connection: sqlite3.Connection) -> bool:
    """Whether all tables and triggers are there, word for word, and nothing else."""
    return statements_in(connection) == sorted(STATEMENTS)
