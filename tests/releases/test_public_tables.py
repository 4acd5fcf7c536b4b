"""Tables of one's own beside a release, in SQL: rates per population, and nothing that was not given."""

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
from sparsedp.errors import InvalidInput

REGIONS = sdp.Domain.parse(["region:north,south,west"])
with noise_from(__name__):
    RELEASE = sdp.release([1000, 2000, 3000], epsilon=1, domain=REGIONS)
PEOPLE = [10_000, 40_000, 5_000]
POPULATION = pd.DataFrame({"region": ["north", "south", "west"], "people": PEOPLE})
ARROW = pa.table({"region": POPULATION["region"].tolist(), "people": PEOPLE})
RATES = "select region, count / people from release join population using (region) order by region"


@pytest.mark.parametrize(
    "population",
    [
        POPULATION,
        POPULATION.set_index("region"),
        POPULATION[::-1],
        pl.DataFrame({"region": POPULATION["region"].tolist(), "people": PEOPLE}),
        pl.LazyFrame({"region": POPULATION["region"].tolist(), "people": PEOPLE}),
        ARROW,
        ARROW.to_batches()[0],
        RELEASE.sql(
            "select region, case region when 'north' then 10000 when 'south' then 40000 else 5000 end as people"
            " from release"
        ),
    ],
    ids=["pandas", "an index", "rows turned round", "polars", "lazy", "Arrow", "a batch", "an answer"],
)
def test_rates_per_population(population: Any) -> None:
    found = RELEASE.sql(RATES, tables={"population": population})
    assert [region for region, _ in found] == list(REGIONS.axes[0].labels)  # type: ignore[attr-defined]
    np.testing.assert_allclose([rate for _, rate in found], RELEASE.values / PEOPLE)


def test_a_reader_is_read_once_and_whole() -> None:
    assert RELEASE.sql("select sum(people) from x", tables={"x": ARROW.to_reader()}).fetchone() == (sum(PEOPLE),)


def test_two_releases_side_by_side() -> None:
    other = sdp.release([900, 2100, 3000], epsilon=1, domain=REGIONS)
    asked = "select sum(release.count - other.count) from release join other using (region)"
    (apart,) = RELEASE.sql(asked, tables={"other": other}).fetchall()
    assert apart == pytest.approx((RELEASE.values.sum() - other.values.sum(),))


def test_an_index_without_a_name_is_no_column() -> None:
    found = RELEASE.sql("from population", tables={"population": POPULATION[::-1]})
    assert found.columns == ["region", "people"]


REFUSED: list[tuple[Any, str]] = [
    ([POPULATION], "tables is of type list"),
    ({"my table": POPULATION}, "a name that is no identifier"),
    ({"x; drop view release": POPULATION}, "a name that is no identifier"),
    ({5: POPULATION}, "a name that is no identifier"),
    ({"release": POPULATION}, "the name release a second time"),
    ({"RELEASE": POPULATION}, "the name RELEASE a second time"),
    ({"people": POPULATION, "People": POPULATION}, "the name People a second time"),
    ({"population": "population.csv"}, r"tables\['population'\] is of type str; give a pandas or polars frame"),
    ({"population": pl.Series([1])}, "is of type Series"),
    ({"population": duckdb}, "is of type module"),
    ({"population": pd.DataFrame({"a": [1, "x"]})}, "a column of mixed or unknown types; give columns of one type"),
    ({"population": pd.DataFrame({"a": [1], "A": [2]})}, "two columns of one name"),
]


@pytest.mark.parametrize(("tables", "complaint"), REFUSED, ids=[complaint for _, complaint in REFUSED])
def test_other_tables_are_refused(tables: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        RELEASE.sql("select 1", tables=tables)


def test_the_remedy_names_all_tables() -> None:
    with pytest.raises(
        InvalidInput, match="`release`, whose columns are region, count, stderr; or `population`, whose"
    ):
        RELEASE.sql("select poeple from population", tables={"population": POPULATION})


def test_beside_them_nothing_else_is_within_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)
    for query in ("from 'x.csv'", "from POPULATION", "from read_csv('x.csv')", "insert into people values ('x', 1)"):
        with pytest.raises(InvalidInput, match="query is "):
            RELEASE.sql(query, tables={"people": POPULATION})


def test_a_type_that_the_database_does_not_know_is_refused_in_a_sentence() -> None:
    intervals = pd.DataFrame({"a": pd.interval_range(0, 2)})
    with pytest.raises(InvalidInput, match="query is refused"):
        RELEASE.sql("select a.b.c from x", tables={"x": intervals})
