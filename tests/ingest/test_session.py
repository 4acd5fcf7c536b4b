"""Memory has a bound, what spills is private, and nothing is left behind, however a count ends."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from sparsedp.axes import Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput, SparsedpError
from sparsedp.ingest import count
from sparsedp.ingest.session import guarded, memory_limit, session, threads

DOMAIN = Domain([Integers("age", 0, 9)])
SCHEMA = pa.schema([("who", pa.int64()), ("age", pa.int64())])
BATCH = pa.record_batch([np.arange(50), np.arange(50) % 10], schema=SCHEMA)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_private_and_goes(temporary: Path) -> None:
    modes: list[int] = []

    def batches() -> Iterator[Any]:
        modes.extend(stat.S_IMODE(folder.stat().st_mode) for folder in temporary.iterdir())
        yield BATCH

    count(pa.RecordBatchReader.from_batches(SCHEMA, batches()), DOMAIN, privacy_unit="who")
    assert modes == [0o700]
    assert not list(temporary.iterdir())


def test_an_interrupt_is_an_interrupt(temporary: Path) -> None:
    """DuckDB and Arrow catch what the signal raises in the middle of a stream and call it an error of the stream."""
    handler = signal.getsignal(signal.SIGINT)

    def batches() -> Iterator[Any]:
        yield BATCH
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            yield BATCH

    reader = pa.RecordBatchReader.from_batches(SCHEMA, batches())
    with pytest.raises(KeyboardInterrupt):
        count(reader, DOMAIN, privacy_unit="who")
    assert not list(temporary.iterdir())
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_full_disk_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    program = Path(__file__).with_name("full_disk_count.py")
    environment = {**os.environ, "TMPDIR": str(tmp_path), "SPARSEDP_MEMORY": "100MB", "SPARSEDP_THREADS": "1"}
    ran = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    told = json.loads(ran.stdout)
    assert told["heard"][0].startswith(f"The disk ran full while records were sorted in {tmp_path}; free some space")
    assert told["heard"][1] == ""
    assert told["left"] == []


def test_memory_does_not_grow_with_the_records(tmp_path: Path) -> None:
    """More of them than fit in the bound; that they would not, is seen where the bound is far away."""
    for rows, name in ((1000, "few"), (5_000_000, "many")):
        numbers = np.arange(rows)
        people = pc.binary_join_element_wise(
            "patient number", pa.array(numbers * 7919 % (rows // 8)).cast(pa.string()), " "
        )
        pq.write_table(pa.table({"who": people, "age": numbers % 120}), tmp_path / f"{name}.parquet")
    program = [sys.executable, str(Path(__file__).with_name("peak_memory.py"))]
    files = [str(tmp_path / "few.parquet"), str(tmp_path / "many.parquet")]
    taken = {}
    for memory in ("100MB", "4GB"):
        environment = {**os.environ, "TMPDIR": str(tmp_path), "SPARSEDP_MEMORY": memory, "SPARSEDP_THREADS": "1"}
        ran = subprocess.run([*program, *files], env=environment, capture_output=True, check=True)
        taken[memory] = int(ran.stdout)
    assert taken["100MB"] < 260 < taken["4GB"]


def test_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", "/nowhere/at/all")
        with pytest.raises(SparsedpError, match="set TMPDIR"):
            count(pa.Table.from_batches([BATCH]), DOMAIN, privacy_unit="who")
    # Python would fall back to another folder, on a disk that nobody chose for records.
    monkeypatch.setenv("TMPDIR", "/nowhere/at/all")
    with pytest.raises(SparsedpError, match="set TMPDIR"):
        count(pa.Table.from_batches([BATCH]), DOMAIN, privacy_unit="who")


def test_memory_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARSEDP_MEMORY", raising=False)
    monkeypatch.delenv("SPARSEDP_THREADS", raising=False)
    cores = len(os.sched_getaffinity(0))
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert memory_limit() == max(10**8, min(machine // 4, min(10**9, max(256 * 10**6, cores * 128 * 10**6))))
    assert threads(10**8) == 1
    assert threads(10**9) == min(cores, 10)
    for given, expected in (("2GB", 2 * 10**9), ("250 mb", 250 * 10**6), ("1.5GB", 1_500_000_000)):
        monkeypatch.setenv("SPARSEDP_MEMORY", given)
        assert memory_limit() == expected
    for given in ("2", "99MB", "lots", "-1GB", "1GB; drop"):
        monkeypatch.setenv("SPARSEDP_MEMORY", given)
        with pytest.raises(InvalidInput, match="SPARSEDP_MEMORY"):
            memory_limit()
    monkeypatch.setenv("SPARSEDP_THREADS", "3")
    assert threads(10**8) == 3
    for given in ("0", "two", "-1", "9999"):
        monkeypatch.setenv("SPARSEDP_THREADS", given)
        with pytest.raises(InvalidInput, match="SPARSEDP_THREADS"):
            threads(10**8)


def test_the_engine_stays_within_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSEDP_MEMORY", "100MB")
    with session() as connection:
        rows = connection.execute("SELECT name, value FROM duckdb_settings()").fetchall()
        settings = dict(rows)
        assert settings["memory_limit"] == "95.3 MiB"
        assert settings["threads"] == "1"
        for name in ("autoinstall_known_extensions", "autoload_known_extensions", "preserve_insertion_order"):
            assert settings[name] == "false"
        assert settings["enable_progress_bar"] == "false"  # it would be drawn on standard output
        with pytest.raises(SparsedpError, match="ran out of memory; let it use more by setting SPARSEDP_MEMORY"):
            guarded(lambda: connection.execute("SELECT list(i) FROM range(100000000) t(i)").fetchall())
