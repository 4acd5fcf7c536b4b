"""A program that counts records until it is stopped; it says on standard output when some of them are on disk."""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import sparsedp as sdp

SCHEMA = pa.schema([("who", pa.string()), ("age", pa.int64())])


def batches() -> Iterator[Any]:
    start = 0
    while not list(Path(tempfile.gettempdir()).glob("sparsedp-*/**/*storage*")):
        people = [f"raw id {i} ".ljust(1_000, "x") for i in range(start, start + 5_000)]
        yield pa.record_batch([people, [1] * 5_000], schema=SCHEMA)
        start += 5_000
    print("spilled", flush=True)
    while "once" not in sys.argv:
        time.sleep(0.01)
        yield pa.record_batch([["somebody"], [1]], schema=SCHEMA)


def own_handler(number: int, _: Any) -> None:
    raise RuntimeError(f"stopped by {number}")


if "handled" in sys.argv:
    signal.signal(signal.SIGTERM, own_handler)
try:
    sdp.count(pa.RecordBatchReader.from_batches(SCHEMA, batches()), ["age:0..9"], privacy_unit="who")
except RuntimeError as error:
    left = os.listdir(tempfile.gettempdir())
    print(error, left, signal.getsignal(signal.SIGTERM) is own_handler, flush=True)
