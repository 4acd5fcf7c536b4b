"""The SQLite file under a ledger: every operation opens it, checks it, and closes it again.

A connection that lives for one operation cannot be shared by a fork or by threads, and an operation always meets the
file that the path leads to now. The file has a rollback journal, not a write-ahead log: between two operations it is
all in one file, so a debit cannot get lost with a log that was left behind. `synchronous = EXTRA` is FULL and, beyond
it, the folder is on disk too before a commit returns: else a power cut could bring the journal back, and undo a debit.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sparsedp.errors import BadFile
from sparsedp.files.untrusted import work_at_most
from sparsedp.privacy.ledger_file import faults
from sparsedp.privacy.ledger_file.faults import Refused
from sparsedp.privacy.ledger_file.holding import Hold, NotAFile, StillHeld, held
from sparsedp.privacy.ledger_file.schema import APPLICATION_ID, FORMAT, is_laid_out, lay_out

_PRAGMAS = (
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA temp_store = MEMORY",
)
_KNOWN = "SELECT identity, (SELECT coalesce(max(number), 0) FROM spends) FROM ledger"
_SPEND = "SELECT 1 FROM spends WHERE token = ?"


class LedgerStore:
    """Transactions on the file at one path; it remembers which ledger it met there, and how many spends that had."""

    def __init__(self, path: Path, wait: float) -> None:
        self.path = path
        self.file = path.resolve()  # wherever the process goes, and if the path is a link
        if self.file.is_symlink():  # where Python resolves circles without a word
            raise OSError(errno.ELOOP, "its links go round in circles")
        self._wait = wait
        self._identity: str | None = None
        self._seen = 0
        self._made = False
        self.reached: Callable[[str], None] = lambda point: None
        """Called at named points of the protocol; tests end the process there."""

    def create(self) -> None:
        """Make an empty file there, for its owner alone, unless there is one; but not in place of one that was lost."""
        if self.file.exists():
            return
        self._refuse_a_second_beginning()
        try:
            os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            self._made = True
            sync_folder(self.file.parent)
        except FileExistsError:
            return
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            reason = f"there is no folder {self.path.parent}" if missing else error.strerror
            raise BadFile(f"Could not create the ledger {self.path}: {reason}.") from None

    def _refuse_a_second_beginning(self) -> None:
        """What was there and is not any more held what was spent: beginning anew would be a second budget."""
        if self._identity is not None:
            raise BadFile(faults.gone(self.path))
        if self.synopses.exists():
            raise BadFile(faults.lost(self.path, self.synopses))

    @property
    def synopses(self) -> Path:
        """The folder beside the file where synopses are stored."""
        return self.file.with_name(f"{self.file.name}.synopses")

    @contextmanager
    def reading(self, outcome: str = "") -> Iterator[sqlite3.Connection]:
        """One view of the ledger, as it was at one moment; an error says `outcome`."""
        with self._opened(exclusive=False, outcome=outcome) as (connection, hold):
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()  # what a crash left is settled first
            self._check(connection, hold)
            try:
                yield connection
            finally:
                connection.close()  # an interruption from here on leaves no lock

    @contextmanager
    def writing(self, outcome: str, *, token: str | None = None, begin: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction: when the block is left it is on disk, or nothing of it is and the error says `outcome`.

        `token`: of the spend that is debited, to tell whether it was if the commit itself fails.
        `begin`: lay out the tables if the file is empty.
        """
        with self._opened(exclusive=True, outcome=outcome) as (connection, hold):
            try:
                self._begin(connection)
                new = begin and hold.size == 0
                if new:
                    self._refuse_a_second_beginning()
                    lay_out(connection)
                self._check(connection, hold, new=new)
                yield connection
                known = connection.execute(_KNOWN).fetchone()
                self.reached("before the commit")
                self._commit(connection, token)
            except BaseException:
                connection.close()  # which takes back what is not committed
                if self._made and hold.size == 0 and hold.in_place:
                    self.file.unlink()
                raise
            (self._identity, self._seen), self._made = known, False
            if not hold.in_place:
                raise Refused(faults.gone(self.path), "No noise was drawn." if token else outcome)

    def _begin(self, connection: sqlite3.Connection) -> None:
        (journal,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        if journal != "delete":
            raise Refused(faults.in_use(self.path, self._wait))
        connection.execute("BEGIN IMMEDIATE")

    def _commit(self, connection: sqlite3.Connection, token: str | None) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if token is None:
                raise
            connection.close()  # which takes back what is not committed
            fault = faults.sentence(self.path, error, self._wait)
            raise Refused(fault, self._after_a_failed_commit(token)) from None

    def _after_a_failed_commit(self, token: str) -> str:
        """A disk may fail before the moment of the commit, or after it."""
        try:
            with closing(self._connected(0)) as again:
                found = again.execute(_SPEND, (token,)).fetchone() is not None
        except sqlite3.Error:
            # The commit is the removal of the journal: while there is one, whoever opens the file takes it back.
            if not self.file.with_name(f"{self.file.name}-journal").exists():
                return "Whether the debit was committed cannot be read at present; no noise was drawn."
            found = False
        return "The debit was committed all the same; no noise was drawn." if found else faults.NOTHING_SPENT

    @contextmanager
    def _opened(self, *, exclusive: bool, outcome: str) -> Iterator[tuple[sqlite3.Connection, Hold]]:
        deadline = time.monotonic() + self._wait
        try:
            with (
                held(self.file, exclusive=exclusive, deadline=deadline) as hold,
                closing(self._connected(max(deadline - time.monotonic(), 0.1))) as connection,
            ):
                yield connection, hold
            return
        except Refused as refusal:
            fault, outcome = refusal.fault, outcome if refusal.outcome is None else refusal.outcome
        except FileNotFoundError:
            fault = faults.no_ledger(self.path) if self._identity is None else faults.gone(self.path)
        except NotAFile:
            fault = f"{self.path} is not a file; give the path of a ledger."
        except StillHeld:
            fault = faults.in_use(self.path, self._wait)
        except (sqlite3.Error, OSError) as error:
            fault = faults.sentence(self.path, error, self._wait)
        except UnicodeDecodeError:  # SQLite quotes a damaged file, and Python cannot read what it quotes
            fault = faults.damaged(self.path)
        raise BadFile(f"{fault} {outcome}".strip())

    def _connected(self, wait: float) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{self.file.as_uri()}?mode=rw", uri=True, timeout=wait, isolation_level=None)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            # A file can be made whose pages lead round and round; work in proportion to its size is all that is due.
            work_at_most(connection, self.file.stat().st_size)
            for pragma in _PRAGMAS:
                connection.execute(pragma)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection, hold: Hold, *, new: bool = False) -> None:
        """Refuse what is not a whole ledger of this version, and the one that was met before."""
        if not hold.in_place:
            raise Refused(faults.gone(self.path))
        if hold.size == 0 and not new:
            raise Refused(faults.no_ledger(self.path))
        (kind,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if kind != APPLICATION_ID:
            raise Refused(faults.not_a_ledger(self.path))
        if version != FORMAT:
            raise Refused(faults.later_version(self.path, version, FORMAT))
        if new:
            return
        if not _is_whole(connection, hold):
            raise Refused(faults.damaged(self.path))
        self._recognise(connection)

    def _recognise(self, connection: sqlite3.Connection) -> None:
        known = connection.execute(_KNOWN).fetchone()
        if known is None or not isinstance(known[0], str):
            raise Refused(faults.damaged(self.path))
        identity, last = known
        (count,) = connection.execute("SELECT count(*) FROM spends").fetchone()
        if self._identity not in (None, identity):
            raise Refused(faults.replaced(self.path))
        if last != count:
            raise Refused(faults.damaged(self.path))
        if last < self._seen:
            raise Refused(faults.rolled_back(self.path))
        self._identity, self._seen = identity, max(self._seen, last)


def _is_whole(connection: sqlite3.Connection, hold: Hold) -> bool:
    """The tables as they were made, before anything reads them; that no page is cut short, as SQLite reads zeros there;
    and SQLite's own checks."""
    if not is_laid_out(connection):
        return False
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return (
        hold.size >= pages * size
        and connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
        and connection.execute("PRAGMA foreign_key_check").fetchone() is None
    )


def sync_folder(folder: Path) -> None:
    """The names in the folder are on disk when this returns; where a system does not know that, it is not asked."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
