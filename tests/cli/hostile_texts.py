"""Files in which every text is made to take over the terminal of whoever reads them, digests and all."""

from __future__ import annotations

import copy
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

import sparsedp as sdp
from sparsedp.files.columns_file import Contents
from sparsedp.privacy.ledger_file.store import STATEMENTS

EVIL = (
    "a\x1b[2K\rsigned by the Ministry\x1b]0;b\x07\x9b31m\u202e\u2066[red]\u2028:smile:\n"
    "signed by the Ministry\x7f$x^$<b>"
)
"""Erases a line, names the window, colours, turns the direction of writing, begins lines of its own."""

DOMAIN = sdp.Domain([sdp.Categories("place", [EVIL, "</script><script>alert(1)</script>", "$\\frac{1}{$", "d"])])


def release(path: Path) -> Path:
    made = sdp.Laplace().release([5, 6, 7, 8], epsilon=1, domain=DOMAIN)
    document: dict[str, Any] = copy.deepcopy(made_description(made))
    document |= {"mechanism": EVIL, "written_by": EVIL, "plan": {EVIL: EVIL}}
    document["recovery"] |= {"name": EVIL, "status": EVIL, EVIL: EVIL}
    document["record"] = {"data_set": EVIL, "spend": 1, "time": EVIL, "total": EVIL, "left": EVIL, EVIL: EVIL}
    document["guarantee"]["neighbours"]["counted"] = {"unit": [EVIL, "b"], "records": 1}
    document["guarantee"]["statement"] = EVIL
    document["guarantee"]["expenses"].append({"purpose": EVIL, "epsilon": "1/100"})
    document["spent"] = {"epsilon": "101/100"}
    path.write_bytes(Contents("release", made._columns, document).packed().content)
    return path


def made_description(made: sdp.Release) -> dict[str, Any]:
    from sparsedp.releases.saved_form import description

    return json.loads(json.dumps(description(made)))  # type: ignore[no-any-return]


def synopsis(path: Path) -> Path:
    made = sdp.Laplace().measure([5, 6, 7, 8], epsilon=1, domain=DOMAIN)
    facts = copy.deepcopy(dict(made._contents.description)) | {"mechanism": EVIL, "written_by": EVIL, EVIL: EVIL}
    facts["guarantee"]["neighbours"]["counted"] = {"unit": [EVIL], "records": 1}
    facts["guarantee"]["expenses"].append({"purpose": EVIL, "epsilon": "1/100"})
    path.write_bytes(Contents("synopsis", {"value": made.values}, facts).packed().content)
    return path


def ledger(path: Path, *, name: str = "visits") -> Path:
    """With a spend whose words, and a data set whose name, are hostile."""
    visits = sdp.open_ledger(path).declare("visits", epsilon=3)
    sdp.Laplace().release([5, 6], epsilon=1, ledger=visits)
    sdp.Laplace().release([5, 6], epsilon=1, ledger=visits)
    triggers = [sql for sql in STATEMENTS if sql.startswith("CREATE TRIGGER")]
    file = sqlite3.connect(path, isolation_level=None)
    for trigger in triggers:
        file.execute(f"DROP TRIGGER {trigger.split()[2]}")
    words = (EVIL, EVIL, EVIL, EVIL, EVIL, EVIL, json.dumps({"mechanism": EVIL, "cells": EVIL, EVIL: [EVIL]}))
    file.execute(
        "UPDATE spends SET time = ?, purpose = ?, relation = ?, protects = ?, request = ?, synopsis_digest = ?, "
        "parameters = ? WHERE number = 1",
        words,
    )
    file.execute("UPDATE data_sets SET name = ?, folded = ?", (name, name))
    file.execute("UPDATE spends SET data_set = ?", (name,))
    for trigger in triggers:
        file.execute(trigger)
    file.close()
    return path


def stream(path: Path, **changes: Any) -> Path:
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)) as made:
        made.observe(5)
        description = made.describe()
    description["terms"] |= changes
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("UPDATE stream SET description = ?", (json.dumps(description),))
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    return path


def honest(path: Path) -> Path:
    return sdp.Laplace().release(np.arange(4), epsilon=1, domain=DOMAIN).save(path)
