"""The examples on the page work as they are printed."""

import contextlib
import io
import shlex
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from report_releases import EVERY

import sparsedp as sdp
from sparsedp.reports._page import snippets

NAME = 'it\'s a "file".parquet'


def odd_names() -> sdp.Release:
    axes = [sdp.Categories('a from release "x"', ["it's", 'a "label"']), sdp.Bins("age", [float("-inf"), float("inf")])]
    return sdp.release([[5], [7]], epsilon=1, domain=sdp.Domain(axes))


def in_a_zone() -> sdp.Release:
    axis = sdp.Calendar("month", "2024-01-01", every="1mo", length=12, zone="Europe/Berlin")
    return sdp.release([9] * 12, epsilon=1, domain=sdp.Domain(axis))


def in_utc() -> sdp.Release:
    axis = sdp.Calendar("quarter", "2024-01-01T00:15Z", every="15min", length=9)
    return sdp.release([9] * 9, epsilon=1, domain=sdp.Domain(axis))


def of_one_cell() -> sdp.Release:
    return sdp.release([9], epsilon=1)


def with_open_bins() -> sdp.Release:
    axis = sdp.Bins("age", [0, 18, 65, float("inf")])
    return sdp.release([9, 9, 9], epsilon=1, domain=sdp.Domain(axis))


MADE: list[Callable[[], sdp.Release]] = [*EVERY.values(), odd_names, in_a_zone, in_utc, of_one_cell, with_open_bins]


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_examples_run(make: Callable[[], sdp.Release], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = make()
    release.save(tmp_path / NAME)
    monkeypatch.chdir(tmp_path)
    python, shell, sql = snippets(release, NAME)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(python.code, {})  # noqa: S102  # the very lines of the page
    assert len(printed.getvalue().splitlines()) >= 2
    with duckdb.connect() as connection:
        found = connection.sql(sql.code)
        assert found is not None
        rows = found.to_arrow_table().num_rows
    assert rows > 0
    command = shlex.split(shell.code)
    assert command[:3] == ["sparsedp", "query", NAME]
    assert len(release.sql(command[3]).fetchall()) == rows
