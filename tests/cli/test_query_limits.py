"""`sparsedp query` ends within its limits, also where the engine cannot be stopped: in processes of their own."""

from pathlib import Path

import numpy as np
import pytest
from real_process import PATIENCE, started

import sparsedp as sdp

NEEDS_MORE = b"sparsedp: --memory is 64MB, and the query or its answer needs more; give more, or ask for less.\n"
TAKES_LONGER = b"sparsedp: --seconds is 1, and the query takes longer; give more, or ask for less.\n"
ENDLESS = "with recursive t(i) as (select 1 union all select i + 1 from t) select sum(i) from t"


@pytest.mark.parametrize(
    ("question", "limits", "sentence"),
    [
        # One step of the engine: of 8 GB, which no setting of its own forbids, and an answer that Python has to hold.
        ("select list_sum(range(1000000000))", ("--memory", "64MB"), NEEDS_MORE),
        ("select * from range(7000000) t(i)", ("--memory", "64MB"), NEEDS_MORE),
        (ENDLESS, ("--seconds", "1"), TAKES_LONGER),
    ],
)
def test_a_question_ends_in_one_sentence(
    question: str, limits: tuple[str, str], sentence: bytes, tmp_path: Path
) -> None:
    path = sdp.Laplace().release(np.arange(8), epsilon=1).save(tmp_path / "r.parquet")
    process = started("query", str(path), question, *limits)
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output, errors) == (1, b"", sentence)
