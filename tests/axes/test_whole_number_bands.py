"""Bands of whole numbers: runs one after another, named or not, as text and as descriptions."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Categories, Integers, axis_from, parse_axis
from sparsedp.errors import InvalidInput


@st.composite
def banded(draw: st.DrawFn) -> Integers:
    first, length = draw(st.integers(-(2**61), 2**61)), draw(st.integers(1, 60))
    inner = draw(st.sets(st.integers(1, length - 1), max_size=6)) if length > 1 else set()
    begins = [first, *(first + each for each in sorted(inner))]
    names = draw(st.none() | st.lists(st.text(min_size=1, max_size=6), min_size=7, max_size=7, unique=True))
    bands = begins if names is None else dict(zip(names, begins, strict=False))
    return Integers("age", first, first + length - 1, bands)


@given(axis=banded())
def test_text_and_description_give_an_equal_axis_back(axis: Integers) -> None:
    assert parse_axis(axis.spec) == axis
    assert axis_from(json.loads(json.dumps(axis.describe()))) == axis
    assert eval(repr(axis), {"Integers": Integers}) == axis  # noqa: S307  # as somebody may copy it
    band = axis.coarsenings["band"]
    assert band.axis.ordered
    assert parse_axis(band.axis.spec) == band.axis
    begins = [begin for _, begin in axis.bands]
    plain = [sum(begin <= number for begin in begins) - 1 for number in range(axis.first, axis.last + 1)]
    assert band.group_of.tolist() == plain


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("age:0..17,18..64,65..120", Integers("age", 0, 120, [0, 18, 65])),
        ("age:0, 1..17 ,18", Integers("age", 0, 18, [0, 1, 18])),
        ("age:child(0..17),adult(18..120)", Integers("age", 0, 120, {"child": 0, "adult": 18})),
        ("age:none(0),some(1..9)", Integers("age", 0, 9, {"none": 0, "some": 1})),
        ('t:"below, far"(-9..-1),"above"(0..3)', Integers("t", -9, 3, {"below, far": -9, "above": 0})),
        ("age:all(0..9)", Integers("age", 0, 9, {"all": 0})),
    ],
)
def test_as_it_is_written(text: str, axis: Integers) -> None:
    assert parse_axis(text) == axis


def test_single_numbers_in_brackets_are_labels_in_groups() -> None:
    assert parse_axis("code:a(0),b(1)") == Categories("code", {"a": [0], "b": [1]})


def test_records_hold_numbers_and_bands_have_labels() -> None:
    age = Integers("age", 0, 120, bands=[0, 18, 65])
    assert age.index_of([17, 18, 121]).tolist() == [17, 18, -1]
    assert age.coarsenings["band"].axis == Categories("age.band", ["0..17", "18..64", "65..120"], ordered=True)
    assert np.bincount(age.coarsenings["band"].group_of).tolist() == [18, 47, 56]
    assert Integers("age", 0, 2, bands=[0, 1, 2]).coarsenings["band"].axis.columns()["age.band"].tolist() == [
        "0",
        "1",
        "2",
    ]
    assert Integers("age", 0, 120) != age


@pytest.mark.parametrize(
    ("bands", "said"),
    [
        ("0,18", "bands is of type str; give the number that each band begins with, from 0 on"),
        (3, "bands is of type int; give the number that each band begins with"),
        ([], "bands is empty; give the number that each band begins with"),
        ({}, "bands is empty; give the number that each band begins with"),
        ([18, 65], "bands is a list that begins with 18; give the number that each band begins with, from 0 on"),
        ([0, 18, 18], "bands is not rising: 18 comes after 18; give the number"),
        ([0, 65, 18], "bands is not rising: 18 comes after 65; give the number"),
        ([0, 121], "bands is 121; "),
        ([0, 1.5], "bands is"),
        ([0, "18"], "bands is"),
        ([("a", 0), 18], "bands is a list of bands with and without names; give"),
        ([("a", 0, 1)], "bands is a list of bands with and without names; give"),
        ([("a", 0), ("a", 18)], "bands is a list with 'a' in it twice; give every band a name of its own"),
        ([("", 0)], "bands is a list with a band without a name; name every band by text, or none"),
        ([(1, 0)], "bands is a list with a band with a name of type int; name every band by text, or none"),
        ([([], 0)], "bands is a list with a band with a name of type list; name every band by text, or none"),
    ],
)
def test_what_is_no_partition_is_refused(bands: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Integers("age", 0, 120, bands)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "age:0..17,19..64",
            "in which bands is a list in which 19 comes after 17; let each begin where the one before",
        ),
        (
            "age:0..17,17..64",
            "in which bands is a list in which 17 comes after 17; let each begin where the one before",
        ),
        ("age:0..17,64..18", "in which bands is a list with 64..18; give the lower end of each first"),
        ("age:a(0..17),a(18..64)", "in which bands is a list with 'a' in it twice; give every band a name of its own"),
        ("age:0..17,18..99999999999", "in which last is"),
    ],
)
def test_text_of_bands_that_do_not_follow_one_another_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_axis(text)
    assert said in str(refusal.value)


@pytest.mark.parametrize("text", ["a:0..17,18..64,65+", "a:0..17,18..64,", "a:0..17,old", "a:child(0..17),adult(18+)"])
def test_bands_beside_something_else_are_not_taken_for_labels(text: str) -> None:
    """No number is such a label: every record would be dropped in silence."""
    with pytest.raises(
        InvalidInput, match=r"bands is 0\.\.17 in a list that is not one of bands; give every band both"
    ):
        parse_axis(text)


def test_labels_in_quotes_may_look_like_bands() -> None:
    assert parse_axis('a:"0..17","65+"') == Categories("a", ["0..17", "65+"])
