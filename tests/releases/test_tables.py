"""Releases of tables: shape, boxes, indexing, and files that other tools open."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.axes import Bins, Calendar, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files import columns_file
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.releases.uncertainty import CellErrors

GUARANTEE = Guarantee((Expense("measure", sdp.Budget(epsilon="0.5")),), Neighbours(), private=True)
DOMAIN = Domain(
    [
        Categories("region", ["north", "south"]),
        Bins("age", [0, 18, 65, 120]),
        Calendar("hour", "2026-01-01T00:00Z", every="1h", length=4),
        Integers("dose", 1, 2),
    ]
)
VALUES = np.random.default_rng(0).normal(size=DOMAIN.shape)


def release_of(values: npt.NDArray[np.float64], domain: Domain | None = DOMAIN, **more: Any) -> sdp.Release:
    noise = {"name": "discrete_laplace", "scale": "2"}
    return sdp.Release(values, GUARANTEE, "laplace", noise, {"status": "converged"}, domain=domain, **more)


RELEASE = release_of(VALUES)


def test_values_have_the_domains_shape() -> None:
    np.testing.assert_array_equal(release_of(VALUES.ravel()).values, VALUES)
    assert RELEASE.shape == DOMAIN.shape
    assert len(RELEASE) == DOMAIN.size == len(list(RELEASE))
    assert list(RELEASE) == VALUES.ravel().tolist()
    np.testing.assert_array_equal(np.asarray(RELEASE), VALUES)
    assert np.sum(RELEASE) == pytest.approx(VALUES.sum())
    assert "48 cells by laplace, region (2) × age (3) × hour (4) × dose (2). " in repr(RELEASE)
    with pytest.raises(ValueError, match="read-only"):
        RELEASE.values[0] = 1


def test_a_table_without_a_domain_has_plain_axes() -> None:
    plain = release_of(VALUES, None)
    assert plain.domain == Domain.of_shape(DOMAIN.shape)
    assert plain.box_sum(axis0=1, axis2=(1, 3)) == pytest.approx(VALUES[1, :, 1:3].sum())
    assert release_of(np.arange(3.0), None).domain is None


def test_any_query() -> None:
    weights = np.random.default_rng(1).normal(size=DOMAIN.shape)
    assert RELEASE.query(weights) == pytest.approx((weights * VALUES).sum())
    np.testing.assert_array_equal(RELEASE.query(lambda table: table.sum(axis=0)), VALUES.sum(axis=0))
    with pytest.raises(InvalidInput, match=r"question is .*one number for each cell of the shape \(2, 3, 4, 2\)"):
        RELEASE.query(weights.ravel())


def test_cells_by_number_label_and_time() -> None:
    assert RELEASE[1, 2, 3, 0] == RELEASE["south", 2, "2026-01-01T03:00Z", 0] == VALUES[1, 2, 3, 0]
    np.testing.assert_array_equal(RELEASE["north"], VALUES[0])
    np.testing.assert_array_equal(RELEASE[:, 1:], VALUES[:, 1:])
    with pytest.raises(InvalidInput, match="region is 'east'"):
        RELEASE["east"]
    with pytest.raises(InvalidInput):
        RELEASE[0, "old"]


@st.composite
def boxes(draw: st.DrawFn) -> tuple[dict[str, object], npt.NDArray[np.bool_]]:
    """A box in the axes' own words, and the cells it means."""
    words: dict[str, object] = {}
    cells = np.ones(DOMAIN.shape, dtype=np.bool_)
    for axis, edges in enumerate(
        [None, [0, 18, 65, 120], [f"2026-01-01T{hour:02}:00Z" for hour in range(5)], [1, 2, 3]]
    ):
        if draw(st.booleans()):
            continue
        start, stop = sorted(draw(st.tuples(*[st.integers(0, DOMAIN.shape[axis])] * 2)))
        words[DOMAIN.names[axis]] = ["north", "south"][start:stop] if edges is None else (edges[start], edges[stop])
        if draw(st.booleans()):
            words[DOMAIN.names[axis]] = slice(start, stop)
        inside = np.zeros(DOMAIN.shape[axis], dtype=np.bool_)
        inside[start:stop] = True
        cells &= inside.reshape([-1 if other == axis else 1 for other in range(4)])
    return words, cells


@given(boxes())
def test_a_box_sums_its_cells(box: tuple[dict[str, object], npt.NDArray[np.bool_]]) -> None:
    words, cells = box
    assert RELEASE.box_sum(words) == pytest.approx(VALUES[cells].sum(), abs=1e-12)
    assert RELEASE.box_sum(**words) == RELEASE.box_sum(words)
    assert RELEASE.query(cells) == pytest.approx(VALUES[cells].sum(), abs=1e-12)


def test_labels_far_apart_make_a_box() -> None:
    domain = Domain([Categories("x", list("abcd")), Integers("y", 0, 2)])
    values = np.arange(12.0).reshape(4, 3)
    assert release_of(values, domain).box_sum(x=["d", "a"], y=[2, 0]) == values[[0, 3]][:, [0, 2]].sum()


def test_ranges_are_for_one_axis() -> None:
    with pytest.raises(InvalidInput, match="release is a table of 4 axes; use `box_sum`"):
        RELEASE.range_sum(0, 1)
    values = np.arange(4.0)
    ages = release_of(values[:3], Domain([DOMAIN.axes[1]]))
    assert ages.range_sum(1, 3) == 3.0 == ages.box_sum(age=(18, 120))  # cell numbers, and edges
    hours = release_of(values, Domain([DOMAIN.axes[2]]))
    assert hours.range_sum("2026-01-01T01:00Z", 4) == 6.0 == hours.range_sum(1, 4)
    assert hours["2026-01-01T02:00Z"] == 2.0
    np.testing.assert_array_equal(hours.times, DOMAIN.columns()["hour"].reshape(DOMAIN.shape)[0, 0, :, 0])


def test_impossible_releases_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"values is of shape \(2, 24\); the domain has the shape"):
        release_of(VALUES.reshape(2, 24))
    with pytest.raises(InvalidInput, match="domain is of type str"):
        release_of(VALUES, "region")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="time is given beside a domain"):
        replace(RELEASE, time=Schedule())


def test_saved_and_opened(tmp_path: Path) -> None:
    release = release_of(VALUES, uncertainty=CellErrors(np.abs(VALUES)))
    again = sdp.open_release(release.save(tmp_path / "x.parquet"))
    assert again.domain == DOMAIN
    assert repr(again) == repr(release)
    np.testing.assert_array_equal(again.values, VALUES)
    assert again.stderr is not None
    np.testing.assert_array_equal(again.stderr, np.abs(VALUES))
    assert again.box_sum(region="south", dose=2) == release.box_sum(region="south", dose=2)


def test_pandas_and_arrow_open_it_as_it_is(tmp_path: Path) -> None:
    path = release_of(VALUES, uncertainty=CellErrors(np.abs(VALUES))).save(tmp_path / "x.parquet")
    frame, schema = pd.read_parquet(path), pq.read_schema(path)
    assert list(frame.columns) == ["region", "age_left", "age_right", "hour", "dose", "count", "stderr"]
    assert schema.field("region").type == pa.string()
    assert schema.field("age_left").type == pa.float64()
    assert schema.field("hour").type == pa.timestamp("us", tz="UTC")
    assert schema.field("dose").type == pa.int64()
    wanted = (frame["region"] == "south") & (frame["age_left"] >= 18) & (frame["dose"] == 2)
    assert frame["count"][wanted].sum() == pytest.approx(VALUES[1, 1:, :, 1].sum())
    assert frame["stderr"][wanted].sum() == pytest.approx(np.abs(VALUES[1, 1:, :, 1]).sum())


FORGERIES: dict[str, tuple[str, npt.NDArray[Any]]] = {
    "other labels": ("region", np.repeat(np.array(["east", "west"], dtype=object), 24)),
    "labels that are numbers": ("region", np.repeat([0, 1], 24)),
    "other edges": ("age_left", np.zeros(48)),
    "a column too many": ("sex", np.zeros(48)),
}


@pytest.mark.parametrize(("name", "column"), FORGERIES.values(), ids=FORGERIES.keys())
def test_columns_that_disagree_with_the_domain_are_refused(name: str, column: npt.NDArray[Any], tmp_path: Path) -> None:
    columns, description = columns_file.read(RELEASE.save(tmp_path / "x.parquet"), "release")
    columns_file.write(tmp_path / "x.parquet", "release", {**columns, name: column}, description, utc=["hour"])
    with pytest.raises(BadFile, match="columns that disagree with region"):
        sdp.open_release(tmp_path / "x.parquet")


@pytest.mark.parametrize("domain", [{}, [], 5, {"axes": []}, {"axes": [{"kind": "bins", "name": "x", "edges": [1]}]}])
def test_a_description_that_is_no_domain_is_refused(domain: Any, tmp_path: Path) -> None:
    columns, description = columns_file.read(RELEASE.save(tmp_path / "x.parquet"), "release")
    columns_file.write(tmp_path / "x.parquet", "release", columns, {**description, "domain": domain}, utc=["hour"])
    with pytest.raises(BadFile, match="fields missing"):
        sdp.open_release(tmp_path / "x.parquet")


def test_the_digest_covers_the_labels(tmp_path: Path) -> None:
    path = RELEASE.save(tmp_path / "x.parquet")
    table = pq.read_table(path)
    labels = pa.array(["south", *table.column("region").to_pylist()[1:]])
    pq.write_table(table.set_column(0, "region", labels).replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(BadFile, match="does not match its digest"):
        sdp.open_release(path)
