"""Ledgers and streams: SQLite files whose cells, tables, headers, pages and logs are changed.

Triggers that guard a ledger are taken away before its cells are changed, and put back word for word: its schema is then
as it should be, and the checks of what it holds are reached.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import sparsedp as sdp
from fuzz import hostile
from fuzz.sandbox import Doors
from fuzz.specimens import Specimens, put
from fuzz.verdicts import SECRET_NUMBER


def change_database(draw: random.Random, path: str, *, keep: tuple[str, ...] = ()) -> None:
    """Change the file in its bytes, or by SQL; now and then put something beside it that a crash could have left."""
    how = draw.random()
    file = Path(path)
    if how < 0.30:
        file.write_bytes(hostile.damaged(draw, file.read_bytes()))
    elif how < 0.36:
        _change_header(draw, file)
    else:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for pragma in (
                "ignore_check_constraints = ON",
                "writable_schema = ON",
                "foreign_keys = OFF",
                "synchronous = OFF",
            ):
                connection.execute(f"PRAGMA {pragma}")
            connection.text_factory = lambda text: text.decode(errors="surrogateescape")
            for _ in range(draw.choice((1, 1, 2, 3))):
                with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError, ValueError):
                    draw.choice(DATABASE_CHANGES)(draw, connection)
    if draw.random() < 0.08:
        beside = draw.choice(("-journal", "-wal", "-shm"))
        Path(path + beside).write_bytes(draw.choice((b"", bytes(512), draw.randbytes(2000), file.read_bytes()[:4096])))


def _change_header(draw: random.Random, file: Path) -> None:
    """The hundred bytes that say how all others are read."""
    content = bytearray(file.read_bytes())
    place, width = draw.choice(
        ((16, 2), (18, 1), (19, 1), (20, 1), (24, 4), (28, 4), (32, 4), (36, 4), (40, 4), (44, 4))
    )
    content[place : place + width] = draw.choice((0, 1, 2, 255, draw.getrandbits(8 * width))).to_bytes(4, "big")[
        -width:
    ]
    file.write_bytes(bytes(content))


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]


def _cells(draw: random.Random, connection: sqlite3.Connection) -> None:
    """Other values, of any type, in one column of some rows."""
    table = draw.choice(_tables(connection))
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    if not columns:  # an index took the table's name
        return
    column = draw.choice(columns)
    rows = connection.execute(f'SELECT rowid, "{column}" FROM "{table}"').fetchall()
    if not rows:
        return
    guards = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        connection.execute(f'DROP TRIGGER "{name}"')
    try:
        for row, old in draw.sample(rows, draw.choice((1, 1, len(rows)))):
            where = f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?'
            connection.execute(where, (_cell(draw, old), row))
    finally:
        for _, sql in guards:
            connection.execute(sql)


def _cell(draw: random.Random, old: Any) -> Any:
    if isinstance(old, str) and old.startswith(("{", "[")) and draw.random() < 0.85:
        return hostile.json_text(draw, hostile.mutated_tree(draw, json.loads(old)))
    if isinstance(old, bytes) and draw.random() < 0.7:
        return hostile.damaged(draw, old)
    new = draw.choice(
        (
            draw.choice(hostile.TEXTS),
            draw.choice(hostile.FRACTIONS),
            draw.choice([number for number in hostile.NUMBERS if abs(number) < 2**63]),
            hostile.near(draw, old),
            None,
            draw.randbytes(9),
            2**62,
            SECRET_NUMBER - 1,
        )
    )
    return json.dumps(new) if isinstance(new, list | dict | bool) else new


def _rows(draw: random.Random, connection: sqlite3.Connection) -> None:
    """Rows lost, doubled, or moved elsewhere."""
    table = draw.choice(_tables(connection))
    guards = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        connection.execute(f'DROP TRIGGER "{name}"')
    some = f'(SELECT rowid FROM "{table}" ORDER BY random() LIMIT 1)'.replace(
        "random()", f"rowid % {draw.randint(1, 5)}"
    )
    try:
        connection.execute(
            draw.choice(
                (
                    f'DELETE FROM "{table}"',
                    f'DELETE FROM "{table}" WHERE rowid IN {some}',
                    f'UPDATE "{table}" SET rowid = rowid + {draw.choice((1, 1000, 2**40))} WHERE rowid IN {some}',
                    f'INSERT OR IGNORE INTO "{table}" SELECT * FROM "{table}" WHERE rowid IN {some}',
                    f'UPDATE "{table}" SET rowid = -rowid WHERE rowid IN {some}',
                )
            )
        )
    finally:
        for _, sql in guards:
            connection.execute(sql)


def _schema(draw: random.Random, connection: sqlite3.Connection) -> None:
    """More tables, views and triggers than there should be, or other ones under the same names."""
    table = draw.choice(_tables(connection))
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"
    first = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    columns = ", ".join(f'x AS "{row[1]}"' for row in first)
    connection.executescript(
        draw.choice(
            (
                "CREATE TABLE more (x)",
                "CREATE TABLE x (y PRIMARY KEY) WITHOUT ROWID",
                f'CREATE VIEW more AS SELECT * FROM "{table}"',
                f'CREATE TRIGGER more BEFORE INSERT ON "{table}" BEGIN SELECT raise(IGNORE); END',
                f'CREATE TRIGGER more AFTER UPDATE ON "{table}" BEGIN DELETE FROM "{table}"; END',
                f'CREATE TRIGGER more AFTER UPDATE ON "{table}" BEGIN SELECT count(*) FROM ({endless} x FROM n); END',
                f'CREATE INDEX more ON "{table}" ("{first[0][1] if first else "x"}")',
                f'DROP TABLE "{table}"',
                f'ALTER TABLE "{table}" RENAME TO other',
                f'ALTER TABLE "{table}" ADD COLUMN more',
                f'ALTER TABLE "{table}" RENAME TO other; CREATE VIEW "{table}" AS {endless} {columns} FROM n',
                f'ALTER TABLE "{table}" RENAME TO other; CREATE VIEW "{table}" AS SELECT * FROM other',
                f'ALTER TABLE "{table}" RENAME TO other; CREATE TABLE "{table}" AS SELECT * FROM other',
                "UPDATE sqlite_schema SET sql = 'CREATE TABLE x (' WHERE rowid = 1",
                "UPDATE sqlite_schema SET rootpage = rootpage + 1 WHERE type = 'table'",
                "UPDATE sqlite_schema SET rootpage = 2",
                "UPDATE sqlite_schema SET name = 'x', tbl_name = 'x' WHERE rowid = 2",
                "DELETE FROM sqlite_schema WHERE type = 'trigger'",
            )
        )
    )


def _settings(draw: random.Random, connection: sqlite3.Connection) -> None:
    """What the header says."""
    connection.executescript(
        draw.choice(
            (
                f"PRAGMA user_version = {draw.choice((0, 2, -1, 2**31 - 1))}",
                f"PRAGMA application_id = {draw.choice((0, 1, -1, 0x53445053, 0x5344504C))}",
                "PRAGMA journal_mode = WAL",
                "PRAGMA page_size = 512; VACUUM",
                "PRAGMA auto_vacuum = FULL; VACUUM",
                "PRAGMA schema_version = 2147483647",
                "PRAGMA default_cache_size = -1",
            )
        )
    )


DATABASE_CHANGES: tuple[Callable[[random.Random, sqlite3.Connection], None], ...] = (
    *(_cells, _cells, _cells, _cells, _cells, _cells, _rows, _rows, _schema, _schema, _settings),
)


class Ledgers:
    """`sparsedp.open_ledger`, and everything that asks a ledger or spends from it."""

    name = "ledger"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """A changed ledger, or a changed synopsis beside it."""
        put(specimens.ledger)
        Path("visits.csv").write_bytes(specimens.csv)
        if draw.random() < 0.1:
            stored = draw.choice([name for name in specimens.ledger if name != "budget.db"])
            Path(stored).write_bytes(hostile.damaged(draw, specimens.ledger[stored]))
        else:
            change_database(draw, "budget.db")
        dataset = draw.choice(("visits", "visits", "census", "trials", "no such"))
        spend = draw.random() < 0.3
        command = draw.choice(LEDGER_COMMANDS) if draw.random() < 0.35 else None

        def run(doors: Doors) -> None:
            books = doors.call("open_ledger", lambda: sdp.open_ledger("budget.db"), may_change=BESIDE)
            if books is not None:
                names = doors.call("ledger.names", lambda: books.names, may_change=BESIDE)
                ledger = doors.call("ledger[name]", lambda: books[dataset], may_change=BESIDE) if names else None
                if ledger is not None:
                    doors.call("ledger.entries", lambda: str(ledger.entries), may_change=BESIDE)
                    doors.call("ledger.remaining", lambda: f"{ledger.remaining} {ledger.spent}", may_change=BESIDE)
                    if spend:
                        budget = sdp.Budget(rho="0.1") if dataset == "census" else sdp.Budget(epsilon="0.1")
                        doors.call("ledger.debit", lambda: ledger.debit(budget, "fuzz"), may_change=BESIDE)
            if command is not None:
                doors.command(*command, may_change=BESIDE)

        return run


BESIDE = ("budget.db-journal", "budget.db-wal", "budget.db-shm")
"""Files of SQLite's own, which it settles and removes when it opens a database."""

_RELEASE = ("release", "visits.csv", "--by", "sex:F,M", "--unit", "patient_id", "--epsilon", "0.5", "-o", "out.parquet")
LEDGER_COMMANDS = (
    ("ledger", "show", "budget.db"),
    ("ledger", "show", "budget.db", "--json"),
    ("inspect", "budget.db"),
    ("ledger", "recover", "budget.db", "--spend", "1", "-o", "out.parquet"),
    ("ledger", "recover", "budget.db", "--spend", "3", "-o", "out.parquet"),
    ("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "4"),
    ("ledger", "init", "budget.db", "--dataset", "new", "--epsilon", "4"),
    (*_RELEASE, "--ledger", "budget.db", "--dataset", "visits"),
    (*_RELEASE, "--ledger", "budget.db", "--dataset", "visits", "--dry-run"),
)


class StreamFiles:
    """`sparsedp.open_stream`, ticks that are taken in, and releases."""

    name = "stream"

    def made(self, draw: random.Random, specimens: Specimens) -> Callable[[Doors], None]:
        """A changed stream."""
        path = "visits.stream"
        Path(path).write_bytes(draw.choice(list(specimens.streams.values())))
        change_database(draw, path)
        command = draw.choice(STREAM_COMMANDS) if draw.random() < 0.35 else None
        lost = draw.random() < 0.2

        def run(doors: Doors) -> None:
            stream = doors.call("open_stream", lambda: sdp.open_stream(path, log_lost=lost), may_change=(path,))
            if stream is not None:
                doors.answer(
                    "stream", lambda: f"{stream.ticks} {stream.guarantee} {stream.describe()}", may_change=(path,)
                )
                # A stream that says it has next to no noise may publish what it was given.
                observe = doors.answer if stream.epsilon < 1 else doors.call
                observe("observe", lambda: stream.observe(SECRET_NUMBER), may_change=(path,))
                doors.call("observe again", lambda: stream.observe(SECRET_NUMBER, at=3), may_change=(path,))
                release = doors.call("stream.release", lambda: stream.release(), may_change=(path,))
                if release is not None:
                    doors.call("release.total", lambda: str(release.total()), may_change=(path,))
                doors.call("stream.close", lambda: stream.close(), may_change=(path,))
            if command is not None:
                doors.command(*command, given=b"%d\n" % SECRET_NUMBER, may_change=(path,))

        return run


STREAM_COMMANDS = (
    ("stream", "status", "visits.stream"),
    ("stream", "status", "visits.stream", "--json"),
    ("stream", "observe", "visits.stream"),
    ("stream", "observe", "visits.stream", "--follow"),
    ("stream", "publish", "visits.stream", "-o", "out.parquet"),
    ("stream", "publish", "visits.stream", "-o", "-", "--format", "csv"),
    ("inspect", "visits.stream"),
)
