"""SQL reaches the release and what is given beside it, and answers print and travel."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput

DOMAIN = sdp.Domain(
    [
        sdp.Categories("sex", ["F", "M"]),
        sdp.Calendar("time", "2024-01-01T00:00Z", "1h", 24),
        sdp.Bins("age", [0, 18, 65, 120]),
    ]
)
with noise_from(__name__):
    RELEASE = sdp.release(np.random.default_rng(1).poisson(30, DOMAIN.shape), epsilon=1, domain=DOMAIN)


def test_it_answers_as_the_release_does() -> None:
    (found,) = RELEASE.sql("select sum(count) from release where hour(time) < 6 and sex = 'F'").fetchall()
    assert found == pytest.approx((RELEASE.values[0, :6].sum(),))
    grouped = RELEASE.sql("select age_left, sum(count) as n from release group by 1 order by 1")
    assert grouped.columns == ["age_left", "n"]
    np.testing.assert_allclose([row[1] for row in grouped], RELEASE.values.sum(axis=(0, 1)))
    assert len(grouped) == 3
    assert RELEASE.sql("select 1 where false").fetchone() is None
    assert len(RELEASE.sql("from release")) == len(RELEASE)
    assert len(RELEASE.sql("explain select sum(count) from release")) > 0
    assert [row[0] for row in RELEASE.sql("describe release")] == RELEASE.to_arrow().column_names


def test_a_plain_vector_and_a_stream_have_their_columns() -> None:
    vector = sdp.release(np.arange(10), epsilon=1)
    assert vector.sql("select count(*) from release where cell < 6").fetchone() == (6,)
    timed = replace(vector, time=Schedule("2024-01-01", "1d"))
    answer = timed.sql("select max(time), max(tick) from release").fetchone()
    assert answer == (pd.Timestamp("2024-01-10").to_pydatetime(), 9)


def test_answers_go_to_other_tools() -> None:
    answer = RELEASE.sql("select time, sum(count) as n from release group by 1 order by 1 limit 2")
    assert isinstance(answer.to_pandas(), pd.DataFrame)
    assert isinstance(answer.to_polars(), pl.DataFrame)
    assert answer.to_arrow().schema.field("time").type == pa.timestamp("us", tz="UTC")
    assert answer.to_pandas()["n"].tolist() == answer.to_polars()["n"].to_list() == [row[1] for row in answer]


def test_answers_print_as_tables() -> None:
    text = repr(RELEASE.sql("select sex, count(*) as cells from release group by 1 order by 1"))
    assert text == "sex  cells\n───  ─────\nF       72\nM       72\n(2 rows)"
    long = repr(RELEASE.sql("select row_number() over () as row from release"))
    assert "(144 rows)" in long
    assert long.count("\n") == 23
    assert "…" in long


FRAME = pd.DataFrame({"private": [1]})

REFUSED: list[tuple[str, str]] = [
    ("select * from 'x.csv'", "file system operations are disabled"),
    ("select * from '/etc/passwd'", "does not exist"),
    ("select * from read_csv('/etc/passwd')", "file system operations are disabled"),
    ("select * from read_parquet('*')", "file system operations are disabled"),
    ("select * from read_text('/etc/passwd')", "file system operations are disabled"),
    ("select * from read_blob('/etc/passwd')", "file system operations are disabled"),
    ("select * from glob('/*')", "file system operations are disabled"),
    ("select * from FRAME", "FRAME does not exist"),
    ("select getenv('HOME')", "getenv does not exist"),
    ("from duckdb_extensions()", "file system operations are disabled"),
    ("copy release to 'x.csv'", "a statement of the kind COPY"),
    ("copy (select 1) to '/dev/stdout'", "a statement of the kind COPY"),
    ("attach 'x.db'", "a statement of the kind ATTACH"),
    ("install httpfs", "a statement of the kind LOAD"),
    ("load httpfs", "a statement of the kind LOAD"),
    ("pragma version", "a statement of the kind PRAGMA"),
    ("set threads = 1", "a statement of the kind SET"),
    ("set enable_external_access = true", "a statement of the kind SET"),
    ("create table x as select 1", "a statement of the kind CREATE"),
    ("drop view release", "a statement of the kind DROP"),
    ("insert into release values (1)", "a statement of the kind INSERT"),
    ("export database 'x'", "a statement of the kind EXPORT"),
    ("call pragma_version()", "a statement of the kind CALL"),
    ("explain analyze copy release to 'x.csv'", "file system operations are disabled"),
    ("select 1; select 2", "2 statements"),
    ("-- nothing", "0 statements"),
    ("selec 1", "Parser Error"),
    ("select visits from release", "visits"),
    ("select 1/'a'", "Could not convert string"),
    ("", "empty"),
]


@pytest.mark.parametrize(("query", "complaint"), REFUSED, ids=[query for query, _ in REFUSED])
def test_nothing_else_is_within_reach(query: str, complaint: str, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    (tmp_path / "x.parquet").write_text("no")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InvalidInput, match=r"^query is ") as found:
        RELEASE.sql(query)
    assert complaint in str(found.value)
    assert "\n" not in str(found.value)
    assert sorted(tmp_path.iterdir()) == before


def test_a_variable_of_the_caller_is_not_a_table() -> None:
    secret = pa.table({"a": [1]})
    with pytest.raises(InvalidInput, match="secret does not exist"):
        RELEASE.sql("select * from secret")
    elsewhere = duckdb.query("select * from secret")
    assert elsewhere is not None
    assert len(elsewhere.fetchall()) == secret.num_rows


def test_no_setting_tells_where_anybodys_files_are() -> None:
    for setting, value in RELEASE.sql("select name, value from duckdb_settings()"):
        assert str(Path.home()) not in str(value), setting
        assert str(Path.cwd()) not in str(value), setting


def test_no_bar_is_drawn_among_the_answers() -> None:
    """DuckDB draws how far it is on standard output, once a query takes two seconds."""
    assert RELEASE.sql("select current_setting('enable_progress_bar')").fetchone() == (False,)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="query is of type int"):
        RELEASE.sql(5)  # type: ignore[arg-type]


def test_halves_of_characters_are_refused() -> None:
    """As a command line has them where its bytes are no UTF-8."""
    for query in ("\udcbe", "select '\udcbe'", "select 1 as \ud800"):
        with pytest.raises(InvalidInput, match="query is not valid Unicode text; write it anew, in UTF-8"):
            RELEASE.sql(query)


def test_the_table_is_made_once_and_not_copied() -> None:
    assert RELEASE.to_arrow() is RELEASE.to_arrow()
    column = RELEASE.to_arrow().column("count").chunk(0)
    assert column.buffers()[1].address == RELEASE.values.ctypes.data


def test_frames_have_the_columns_of_the_file(tmp_path: Path) -> None:
    path = RELEASE.save(tmp_path / "x.parquet")
    pd.testing.assert_frame_equal(RELEASE.to_pandas(), pd.read_parquet(path))
    assert RELEASE.to_polars().equals(pl.read_parquet(path))


ENDLESS = [
    ("select * from range(1000000000000)", "memory is 64MB"),
    ("select * from range(100000000) a, range(100000000) b", "memory is 64MB"),
    ("select list(i) from range(10000000000) t(i)", "memory is 64MB"),
    ("select * from range(1000000000) t(i) order by i desc", "memory is 64MB"),
    ("with recursive t(i) as (select 1 union all select i + 1 from t) select sum(i) from t", "seconds is 0.2"),
    ("with recursive t(i) as (select 1 union all select i + 1 from t) select * from t where i < 0", "seconds is 0.2"),
]


@pytest.mark.parametrize(("question", "complaint"), ENDLESS)
def test_a_question_without_end_ends_in_a_sentence(question: str, complaint: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        RELEASE.sql(question, memory="64MB", seconds=30 if "memory" in complaint else "0.2")
    assert str(refused.value).startswith(complaint)
    assert str(refused.value).endswith("give more, or ask for less.")
    assert RELEASE.sql("select count(*) from release").fetchall() == [(144,)]


def test_an_error_amid_the_rows_is_a_sentence() -> None:
    with pytest.raises(InvalidInput, match=r"query is refused .*boom"):
        RELEASE.sql("select case when i < 500000 then i else error('boom') end from range(1000000) t(i)")


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({"memory": "much"}, "memory is 'much'; give a size such as"),
        ({"memory": 0}, "memory is of type int; give a size such as"),
        ({"memory": "1e9GB"}, "memory is '1e9GB'"),
        ({"seconds": 0}, "seconds is 0; give a number above zero"),
        ({"seconds": "1e300000000"}, "seconds is '1e300000000'"),
        ({"seconds": 10**9}, "seconds is 1000000000; give at most"),
    ],
)
def test_limits_are_sizes_and_seconds(limits: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        RELEASE.sql("select 1", **limits)
    assert str(refused.value).startswith(complaint)
    assert RELEASE.sql("select 1", memory=10**9, seconds="1/2").fetchall() == [(1,)]
