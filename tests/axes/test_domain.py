"""The domain: shape, numbering of the cells, boxes, columns, and what cannot be one."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput, UnknownName

REGION = Categories("region", ["north", "south"])
AGE = Bins("age", [0, 18, 65, 120])
HOUR = Calendar("hour", "2026-01-01T00:00Z", every="1h", length=4)
DOMAIN = Domain([REGION, AGE, HOUR])


def test_facts() -> None:
    assert DOMAIN.shape == (2, 3, 4)
    assert DOMAIN.size == 24
    assert DOMAIN.names == ("region", "age", "hour")
    assert DOMAIN.ordered == (False, True, True)
    assert DOMAIN.axis("age") is AGE
    assert DOMAIN.utc == ("hour",)
    assert str(DOMAIN) == "region (2) × age (3) × hour (4)"
    assert Domain(REGION) == Domain([REGION])
    with pytest.raises(UnknownName, match="did you mean 'region'"):
        DOMAIN.axis("regoin")


def test_description_gives_an_equal_domain_back() -> None:
    rebuilt = Domain.from_description(json.loads(json.dumps(DOMAIN.describe())))
    assert rebuilt == DOMAIN
    assert hash(rebuilt) == hash(DOMAIN)
    assert rebuilt != Domain([AGE, REGION, HOUR])


def test_plain_shapes_have_plain_axes() -> None:
    plain = Domain.of_shape((5, 1, 3))
    assert plain.shape == (5, 1, 3)
    assert plain.names == ("axis0", "axis1", "axis2")
    assert plain.ordered == (True, True, True)
    assert Domain.of_shape([4]).axes == (Integers("axis0", 0, 3),)


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 3), st.integers(-1, 5)), max_size=30))
def test_records_are_numbered_row_by_row(records: list[tuple[int, int, int]]) -> None:
    domain = Domain([Integers("a", 0, 3), Categories("b", [0, 1, 2]), Bins("c", [0, 1, 2, 3, 4, 5])])
    columns = np.array(records, dtype=np.int64).reshape(-1, 3).T
    counts = np.zeros(domain.shape, dtype=np.int64)
    for a, b, c in records:
        if 0 <= a <= 3 and 0 <= b <= 2 and 0 <= c <= 5:
            counts[a, b, min(c, 4)] += 1
    cells = domain.index_of(dict(zip("cab", (columns[2], columns[0], columns[1]), strict=True)))
    assert (cells == -1).sum() == len(records) - counts.sum()
    np.testing.assert_array_equal(np.bincount(cells[cells >= 0], minlength=domain.size), counts.ravel())


def test_records_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="values is without 'age'"):
        DOMAIN.index_of({"region": ["north"]})
    with pytest.raises(UnknownName, match="axis is 'ages'"):
        DOMAIN.index_of({"ages": [1]})
    with pytest.raises(InvalidInput, match="arrays of different lengths"):
        Domain([REGION, AGE]).index_of({"region": ["north"], "age": [1, 2]})


def test_columns_run_as_the_flattened_array_does() -> None:
    columns = DOMAIN.columns()
    assert list(columns) == ["region", "age_left", "age_right", "hour"]
    for place in np.ndindex(DOMAIN.shape):
        row = np.ravel_multi_index(place, DOMAIN.shape)
        assert columns["region"][row] == REGION.labels[place[0]]
        assert (columns["age_left"][row], columns["age_right"][row]) == AGE.edges[place[1] : place[1] + 2]
        assert columns["hour"][row] == HOUR.columns()["hour"][place[2]]
    assert {name: column.size for name, column in columns.items()} == dict.fromkeys(columns, 24)


def test_a_box_is_what_each_axis_says() -> None:
    region, age, hour = DOMAIN.box({"hour": ("2026-01-01T01:00Z", "2026-01-01T03:00Z"), "region": "south"})
    assert np.asarray(region).tolist() == [1]
    assert age == slice(0, 3)
    assert hour == slice(1, 3)
    with pytest.raises(UnknownName, match="axis is 'ages'"):
        DOMAIN.box({"ages": 3})
    with pytest.raises(InvalidInput, match="box is of type list"):
        DOMAIN.box([1])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="axis is of type int"):
        DOMAIN.box({3: 1})  # type: ignore[dict-item]


BAD: list[tuple[Any, str]] = [
    ([], "axes is empty"),
    (3, "axes is of type int"),
    ("age", "axes is of type str"),
    ([3], "axes is a list with something of type int"),
    ([AGE, Integers("age", 0, 1)], "axes is a list with two axes named 'age'"),
    ([Integers("count", 0, 1)], "axes is a list in which 'count' needs the column 'count', which is the release's own"),
    ([AGE, Integers("age_left", 0, 1)], "axes is .* the column 'age_left', which is that of 'age'"),
    ([Integers("a", 1, 2**15), Integers("b", 1, 2**14)], r"axes is 32,768 × 16,384 = 536,870,912 cells; .* 2\*\*28"),
    ([Integers(f"a{i}", 0, 0) for i in range(33)], "axes is a list of 33 axes; give at most 32"),
]


@pytest.mark.parametrize(("axes", "complaint"), BAD, ids=[complaint for _, complaint in BAD])
def test_what_cannot_be_a_domain_is_refused(axes: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        Domain(axes)


@pytest.mark.parametrize("shape", [(), (0,), (2, -1), (2.5,), "ab", 3, (2**28 + 1,), (2**20, 2**20)])
def test_impossible_shapes_are_refused(shape: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^(shape|axes) is"):
        Domain.of_shape(shape)


@pytest.mark.parametrize("description", [None, [], {}, {"axes": 3}, {"axes": [3]}, {"axes": [{"kind": "x"}]}])
def test_what_describes_no_domain_is_refused(description: Any) -> None:
    with pytest.raises(InvalidInput):
        Domain.from_description(description)


def test_the_largest_domain_is_allowed() -> None:
    axes: list[Axis] = [Integers("a", 1, 2**14), Integers("b", 1, 2**14)]
    assert Domain(axes).size == 2**28


def test_lines_of_text_declare_a_domain() -> None:
    domain = Domain.parse(["region:north,south", "age:[0,18,65,120]", "hour:2026-01-01T00:00Z..2026-01-01T04:00Z/1h"])
    assert domain == DOMAIN
    assert Domain.parse(DOMAIN.specs) == DOMAIN
    assert Domain.parse("region:north,south") == Domain(REGION)
    assert Domain.parse(iter(["region:north,south"])) == Domain(REGION)


def test_a_domain_may_be_given_by_its_axes_as_objects_or_as_text() -> None:
    assert Domain.of(DOMAIN) is DOMAIN
    assert Domain.of(REGION) == Domain.of("region:north,south") == Domain(REGION)
    mixed: list[Axis | str] = ["region:north,south", AGE]
    assert Domain.of(iter(mixed)) == Domain([REGION, AGE])


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        (None, r"domain is of type NoneType; give a sparsedp\.Domain, or its axes: \['day:"),
        ((4,), "domain is of type tuple"),
        (b"age:0..3", "domain is of type bytes"),
        (np.arange(3), "domain is of type ndarray"),
        ([], "axes is empty"),
        (["age"], "domain is 'age', which does not say what the cells are"),
        ("day:2024-13-01..2024-12-31", "domain is "),
    ],
)
def test_what_declares_no_domain_is_refused(declared: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        Domain.of(declared)


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (3, "by is of type int; give a list of texts such as age:0..120/5"),
        (b"age:0..3", "by is of type bytes"),
        ([], "axes is empty"),
        ([3], "by is of type int; give text such as"),
        (["age"], "by is 'age', which does not say what the cells are; they are never read off the data"),
        (["a:0..1", "a:0..1"], "axes is a list with two axes named 'a'"),
        (["a:0..9999", "b:0..9999", "c:0..9999"], "axes is .* = 1,000,000,000,000 cells; give coarser axes"),
    ],
)
def test_lines_that_declare_no_domain_are_refused(texts: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        Domain.parse(texts)
