"""Run as a program: count more than fits in memory where no file may grow beyond a limit, as on a full disk."""

import json
import os
import resource
import tempfile

import numpy as np
import pyarrow as pa

import sparsedp as sdp
from sparsedp.axes import Integers
from sparsedp.axes.domain import Domain
from sparsedp.ingest import count

if __name__ == "__main__":
    rows = 6_000_000
    table = pa.table({"who": np.random.default_rng(1).integers(0, rows, rows), "age": np.arange(rows) % 10})
    domain = Domain([Integers("age", 0, 9)])
    heard = []
    for size in (1_000_000, resource.RLIM_INFINITY):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            count(table, domain, privacy_unit="who")
            heard.append("")
        except sdp.SparsedpError as error:
            heard.append(str(error))
    print(json.dumps({"heard": heard, "left": sorted(os.listdir(tempfile.gettempdir()))}))
