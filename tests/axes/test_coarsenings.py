"""Laws of coarsenings, over every axis that has any: cells in one group each, no group empty, sums that agree."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from every_axis import EVERY_AXIS
from sparsedp.axes import Axis, Bins, Categories, Integers, axis_from, parse_axis
from sparsedp.axes.base import LONGEST_NAME
from sparsedp.axes.coarsening import Coarsening, all_names, found_in
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput, UnknownName

GROUPED = [(kind, name) for kind, axis in EVERY_AXIS.items() for name in axis.coarsenings]


@pytest.fixture(params=GROUPED, ids=": ".join, name="pair")
def one_coarsening(request: pytest.FixtureRequest) -> tuple[Axis, Coarsening]:
    kind, name = request.param
    return EVERY_AXIS[kind], EVERY_AXIS[kind].coarsenings[name]


def test_calendars_labels_and_numbers_have_some() -> None:
    assert {EVERY_AXIS[kind].kind for kind, _ in GROUPED} == {"calendar", "categories", "integers"}
    assert not Bins("age", [0, 1, 2]).coarsenings
    assert not Integers("age", 0, 9).coarsenings
    assert not Categories("sex", ["F", "M"]).coarsenings


def test_every_cell_is_in_one_group_and_no_group_is_empty(pair: tuple[Axis, Coarsening]) -> None:
    axis, coarsening = pair
    assert coarsening.group_of.shape == (axis.length,)
    assert coarsening.group_of.dtype == np.int64
    sizes = np.bincount(coarsening.group_of, minlength=coarsening.groups)
    assert len(sizes) == coarsening.groups == coarsening.axis.length
    assert sizes.min() >= 1
    assert sizes.sum() == axis.length


def test_it_cannot_be_changed(pair: tuple[Axis, Coarsening]) -> None:
    axis, coarsening = pair
    with pytest.raises(ValueError, match="read-only"):
        coarsening.group_of[0] = 1
    with pytest.raises(AttributeError):
        coarsening.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        axis.coarsenings["other"] = coarsening  # type: ignore[index]


def test_it_has_the_name_of_its_axis_before_its_own(pair: tuple[Axis, Coarsening]) -> None:
    axis, coarsening = pair
    assert coarsening.axis.name == f"{axis.name}.{coarsening.name}"
    assert coarsening.name == next(name for name, found in axis.coarsenings.items() if found is coarsening)
    assert found_in(axis, coarsening.name) is coarsening
    assert Domain(axis).part(coarsening.axis.name) == (0, coarsening)
    assert coarsening.axis.name in all_names((axis,))


def test_its_axis_is_an_axis_like_any_other(pair: tuple[Axis, Coarsening]) -> None:
    _, coarsening = pair
    coarse = coarsening.axis
    assert axis_from(coarse.describe()) == coarse
    assert parse_axis(coarse.spec) == coarse
    first = next(iter(coarse.columns().values()))
    np.testing.assert_array_equal(coarse.index_of(first), np.arange(coarse.length))


def test_the_same_facts_make_the_same_groups(pair: tuple[Axis, Coarsening]) -> None:
    axis, coarsening = pair
    again = axis_from(axis.describe()).coarsenings[coarsening.name]
    assert again == coarsening
    assert hash(again) == hash(coarsening)
    assert pickle.loads(pickle.dumps(axis)).coarsenings[coarsening.name] == coarsening
    assert coarsening != "weekday"
    assert str(axis.length) in repr(coarsening)


def test_finer_groups_lie_within_coarser_ones_of_their_axis(pair: tuple[Axis, Coarsening]) -> None:
    axis, coarsening = pair
    for name, coarser in coarsening.axis.coarsenings.items():
        through = found_in(axis, f"{coarsening.name}.{name}")
        assert through is not None
        np.testing.assert_array_equal(through.group_of, coarser.group_of[coarsening.group_of])
        assert through.axis == coarser.axis
        assert through.name == f"{coarsening.name}.{name}"
        if name in axis.coarsenings:  # which is not said of a week's month and a day's
            together = np.unique(np.stack([through.group_of, axis.coarsenings[name].group_of]), axis=1)
            assert together.shape[1] == coarser.groups or coarsening.name == "week"


def test_a_group_is_asked_for_in_the_words_of_its_axis(pair: tuple[Axis, Coarsening]) -> None:
    axis, coarsening = pair
    words = next(iter(coarsening.axis.columns().values())).tolist()
    cells = np.arange(axis.length)
    if coarsening.axis.kind == "calendar":
        words = [slice(group, group + 1) for group in range(coarsening.groups)]
    for group, word in enumerate(words[:40]):
        (found,) = Domain(axis).box({coarsening.axis.name: word})
        np.testing.assert_array_equal(cells[found], np.flatnonzero(coarsening.group_of == group))


@given(data=st.data())
def test_sums_of_groups_are_sums_of_cells(data: st.DataObject) -> None:
    kind, name = data.draw(st.sampled_from(GROUPED))
    axis = EVERY_AXIS[kind]
    coarsening = axis.coarsenings[name]
    counts = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-1000, 1000, axis.length)
    sums = np.zeros(coarsening.groups, dtype=np.int64)
    np.add.at(sums, coarsening.group_of, counts)
    assert sums.sum() == counts.sum()
    group = data.draw(st.integers(0, coarsening.groups - 1))
    assert sums[group] == sum(int(count) for count, at in zip(counts, coarsening.group_of, strict=True) if at == group)


@pytest.mark.parametrize(
    "group_of",
    [[0, 0, 0], [0, 1, 3], [0, 1, -1], [1, 2, 2], [[0, 1]], []],
    ids=["too few", "a gap", "-1", "2", "2d", "0"],
)
def test_groups_that_are_not_those_of_the_axis_are_refused(group_of: list[object]) -> None:
    refused = r"group_of is groups of cells that are not all of the 2 of its axis; give the number of its group"
    with pytest.raises(InvalidInput, match=refused):
        Coarsening("group", Categories("x.group", ["a", "b"]), np.array(group_of, dtype=np.int64))


def test_a_name_that_is_no_part_is_refused_with_what_there_is() -> None:
    domain = Domain([EVERY_AXIS["days of years"], EVERY_AXIS["counties of states"]])
    with pytest.raises(UnknownName, match=r"did you mean 'day\.weekday'"):
        domain.part("day.wekday")
    with pytest.raises(UnknownName, match=r"did you mean 'county\.state'"):
        domain.part("county.sate")
    for name in ("day.", "day.weekday.", ".weekday", "weekday", "county.group", ""):
        with pytest.raises(UnknownName):
            domain.part(name)
    with pytest.raises(InvalidInput, match="axis is of type int"):
        domain.part(3)  # type: ignore[arg-type]


def test_an_axis_comes_before_a_coarsening_of_its_name() -> None:
    plain = Categories("county.state", ["x", "y"])
    domain = Domain([EVERY_AXIS["counties of states"], plain])
    assert domain.part("county.state") == (1, None)
    grouped = Categories("county.state", {"big": ["x"], "small": ["y", "z"]}, levels=["size"])
    place, coarsening = Domain([EVERY_AXIS["counties of states"], grouped]).part("county.state.size")
    assert place == 1
    assert coarsening == grouped.coarsenings["size"]


def test_several_parts_of_an_axis_mean_the_cells_of_all() -> None:
    axis = EVERY_AXIS["days of years"]
    (cells,) = Domain(axis).box({"day": ("2024-03-01", "2024-04-01"), "day.weekday": ["Sat", "Sun"]})
    days = np.asarray(axis.columns()["day"])[cells]
    assert days[0] == np.datetime64("2024-03-02")
    assert len(days) == 10
    (none,) = Domain(axis).box({"day.year": "2023", "day.weekday": "Mon"})
    assert np.arange(axis.length)[none].tolist() == []


def test_an_axis_whose_name_leaves_no_room_has_no_rhythms() -> None:
    room = LONGEST_NAME - len(".month_of_year")
    days = EVERY_AXIS["days of years"].describe()
    assert axis_from({**days, "name": "x" * room}).coarsenings
    assert not axis_from({**days, "name": "x" * (room + 1)}).coarsenings
    with pytest.raises(InvalidInput, match="name is"):
        Categories("x" * (LONGEST_NAME - 5), {"n": ["a"]})
    with pytest.raises(InvalidInput, match="name is"):
        Integers("x" * (LONGEST_NAME - 4), 0, 9, bands=[0, 5])
