"""The SQLite file under a ledger: every operation opens it, checks it, and closes it again.

A connection that lives for one operation cannot be shared by a fork or by threads, and an operation always meets the
file that the path leads to now. The file has a rollback journal, not a write-ahead log: between two operations it is
all in one file, so a debit cannot get lost with a log that was left behind. `synchronous = EXTRA` is FULL and, beyond
it, the folder is on disk too before a commit returns: else a power cut could bring the journal back, and undo a debit.
"""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from io import FileIO
from pathlib import Path

from sparsedp.errors import BadFile
from sparsedp.files.untrusted import statements_in, work_at_most
from sparsedp.privacy.ledger_file import _faults
from sparsedp.privacy.ledger_file._faults import Refused

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
            raise BadFile(_faults.gone(self.path))
        if self.synopses.exists():
            raise BadFile(_faults.lost(self.path, self.synopses))

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
                    _lay_out(connection)
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
                raise Refused(_faults.gone(self.path), "No noise was drawn." if token else outcome)

    def _begin(self, connection: sqlite3.Connection) -> None:
        (journal,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        if journal != "delete":
            raise Refused(_faults.in_use(self.path, self._wait))
        connection.execute("BEGIN IMMEDIATE")

    def _commit(self, connection: sqlite3.Connection, token: str | None) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if token is None:
                raise
            connection.close()  # which takes back what is not committed
            fault = _faults.sentence(self.path, error, self._wait)
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
        return "The debit was committed all the same; no noise was drawn." if found else _faults.NOTHING_SPENT

    @contextmanager
    def _opened(self, *, exclusive: bool, outcome: str) -> Iterator[tuple[sqlite3.Connection, Hold]]:
        deadline = time.monotonic() + self._wait
        try:
            with (
                _held(self.file, exclusive=exclusive, deadline=deadline) as hold,
                closing(self._connected(max(deadline - time.monotonic(), 0.1))) as connection,
            ):
                yield connection, hold
            return
        except Refused as refusal:
            fault, outcome = refusal.fault, outcome if refusal.outcome is None else refusal.outcome
        except FileNotFoundError:
            fault = _faults.no_ledger(self.path) if self._identity is None else _faults.gone(self.path)
        except NotAFile:
            fault = f"{self.path} is not a file; give the path of a ledger."
        except StillHeld:
            fault = _faults.in_use(self.path, self._wait)
        except (sqlite3.Error, OSError) as error:
            fault = _faults.sentence(self.path, error, self._wait)
        except UnicodeDecodeError:  # SQLite quotes a damaged file, and Python cannot read what it quotes
            fault = _faults.damaged(self.path)
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
            raise Refused(_faults.gone(self.path))
        if hold.size == 0 and not new:
            raise Refused(_faults.no_ledger(self.path))
        (kind,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if kind != _APPLICATION_ID:
            raise Refused(_faults.not_a_ledger(self.path))
        if version != _FORMAT:
            raise Refused(_faults.later_version(self.path, version, _FORMAT))
        if new:
            return
        if not _is_whole(connection, hold):
            raise Refused(_faults.damaged(self.path))
        self._recognise(connection)

    def _recognise(self, connection: sqlite3.Connection) -> None:
        known = connection.execute(_KNOWN).fetchone()
        if known is None or not isinstance(known[0], str):
            raise Refused(_faults.damaged(self.path))
        identity, last = known
        (count,) = connection.execute("SELECT count(*) FROM spends").fetchone()
        if self._identity not in (None, identity):
            raise Refused(_faults.replaced(self.path))
        if last != count:
            raise Refused(_faults.damaged(self.path))
        if last < self._seen:
            raise Refused(_faults.rolled_back(self.path))
        self._identity, self._seen = identity, max(self._seen, last)


def _is_whole(connection: sqlite3.Connection, hold: Hold) -> bool:
    """The tables as they were made, before anything reads them; that no page is cut short, as SQLite reads zeros there;
    and SQLite's own checks."""
    if not _is_laid_out(connection):
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


# Hold a ledger's file for one operation: a lock that nothing else in this process can drop by accident.
#
# SQLite's own lock is not enough: on POSIX systems it is gone as soon as *any* handle on the file is closed in this
# process, by a copy or a checksum for instance. This one belongs to its handle, so every operation takes it first.

try:
    import fcntl
except ImportError:  # Windows, where SQLite's own locks last
    fcntl = None  # type: ignore[assignment]

_PAUSE = 0.005
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotAFile(Exception):
    """A folder, a device or a pipe."""


class StillHeld(Exception):
    """Another holder did not let go in time."""


class Hold:
    """The file that is held."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    @property
    def in_place(self) -> bool:
        """Whether its name still leads to it: what is written to a file without a name, nobody will find."""
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._handle))
        except OSError:
            return False

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return os.fstat(self._handle).st_size


@contextmanager
def _held(path: Path, *, exclusive: bool, deadline: float) -> Iterator[Hold]:
    """The file at the path, for this block alone (or with other readers), waiting for it until the deadline."""
    # A file object, not a bare handle: if an interruption comes between any two lines, it is closed when forgotten.
    with _opened(path) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotAFile
        _lock(file.fileno(), exclusive=exclusive, deadline=deadline)
        try:
            yield Hold(path, file.fileno())
        finally:
            # A child that was forked meanwhile has the handle too: closing ours alone would not let go.
            if fcntl is not None:
                fcntl.flock(file.fileno(), fcntl.LOCK_UN)


def _opened(path: Path) -> FileIO:
    try:
        return FileIO(path, opener=lambda name, _: os.open(name, _FLAGS))
    except IsADirectoryError:
        raise NotAFile from None


def _lock(handle: int, *, exclusive: bool, deadline: float) -> None:
    if fcntl is None:
        return
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StillHeld from None
            time.sleep(_PAUSE)
        except OSError:  # a file system without such locks: SQLite's own must do
            return


# The tables of a ledger's file: lines are added, and their state goes forward; nothing else can be done to them.

_APPLICATION_ID = 0x5344504C
"""Marks the file as a sparsedp ledger ("SDPL" in the SQLite header)."""

_FORMAT = 1
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


def _lay_out(connection: sqlite3.Connection) -> None:
    """Make an empty file a ledger without data sets, within the transaction that is under way."""
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")
    for statement in STATEMENTS:
        connection.execute(statement)
    connection.execute("INSERT INTO ledger VALUES (?)", (secrets.token_hex(16),))


def _is_laid_out(connection: sqlite3.Connection) -> bool:
    """Whether all tables and triggers are there, word for word, and nothing else."""
    return statements_in(connection) == sorted(STATEMENTS)
