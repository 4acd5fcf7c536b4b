"""Labels in groups: declared as mappings and as text, read back from both, refused in a sentence if no partition."""

import json
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sparsedp.axes import Categories, axis_from, parse_axis
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput, UnknownName

COUNTY = Categories("county", {"north": ["a", "b"], "south": ["c"]}, levels=["state"])
PLACE = Categories(
    "place",
    {"old": {"north": {"n1": ["a", "b"], "n2": ["c"]}}, "new": {"south": {"s1": ["d"], "s2": ["e", "f"]}}},
    levels=["world", "land", "state"],
)

words = st.one_of(st.text(max_size=5), st.sampled_from(["a)", "(b", "x/y", "1", "0..3", "<", '"', "a, b", "auto", " "]))


@st.composite
def hierarchies(draw: st.DrawFn) -> Categories:
    """Of one to three levels; labels are text or codes, and all names differ."""
    names = iter(draw(st.lists(words, min_size=42, max_size=42, unique=True)))
    labels = iter(range(1000, 1100)) if draw(st.booleans()) else names

    def part(level: int) -> Any:
        several = range(draw(st.integers(1, 2 if level else 3)))
        return {next(names): part(level - 1) for _ in several} if level else [next(labels) for _ in several]

    depth = draw(st.integers(1, 3))
    levels = draw(st.sampled_from([None, [f"level{number}" for number in range(depth)]]))
    return Categories("x", part(depth), levels, ordered=draw(st.booleans()))


@given(axis=hierarchies())
@example(axis=Categories("x", {"Inf": {"g": ["inf", "a"]}}, ordered=True))
@example(axis=Categories("x", {"g": ["INF"]}))
def test_text_and_description_give_an_equal_axis_back(axis: Categories) -> None:
    assert parse_axis(axis.spec) == axis
    assert parse_axis(axis.spec).spec == axis.spec
    assert axis_from(json.loads(json.dumps(axis.describe()))) == axis
    assert eval(repr(axis), {"Categories": Categories}) == axis  # noqa: S307  # as somebody may copy it
    for coarsening in axis.coarsenings.values():
        assert parse_axis(coarsening.axis.spec) == coarsening.axis


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("county:north(a,b),south(c)", Categories("county", {"north": ["a", "b"], "south": ["c"]})),
        ("county:north(a,b),south(c)/state", COUNTY),
        (" county : north ( a , b ) , south(c), / state ", COUNTY),
        ('county:"north"("a",b),south("c")/state', COUNTY),
        ("code:odd(1,3),even(2)", Categories("code", {"odd": [1, 3], "even": [2]})),
        ('code:odd("1",3),even(2)', Categories("code", {"odd": ["1", "3"], "even": ["2"]})),
        ("size:small(S<M)<large(L)", Categories("size", {"small": ["S", "M"], "large": ["L"]}, ordered=True)),
        ("size:S<M<L", Categories("size", ["S", "M", "L"], ordered=True)),
        ("size:S<", Categories("size", ["S"], ordered=True)),
        ("x:only(a)", Categories("x", {"only": ["a"]})),
        (
            "place:old(north(n1(a,b),n2(c))),new(south(s1(d),s2(e,f)))/world/land/state",
            PLACE,
        ),
    ],
)
def test_as_it_is_written(text: str, axis: Categories) -> None:
    assert parse_axis(text) == axis


def test_records_hold_labels_and_people_may_name_groups() -> None:
    assert COUNTY.labels == ("a", "b", "c")
    assert COUNTY.index_of(["c", "north", "a"]).tolist() == [2, -1, 0]
    assert np.asarray(COUNTY.cells_of("north")).tolist() == [0, 1]
    assert np.asarray(COUNTY.cells_of(["south", "a"])).tolist() == [0, 2]
    assert np.asarray(PLACE.cells_of("new")).tolist() == [3, 4, 5]
    with pytest.raises(UnknownName, match="county"):
        COUNTY.cells_of("nrth")


def test_levels_are_coarsenings_finest_first() -> None:
    assert PLACE.levels == ("world", "land", "state")
    assert list(PLACE.coarsenings) == ["state", "land", "world"]
    assert [coarsening.groups for coarsening in PLACE.coarsenings.values()] == [4, 2, 2]
    assert PLACE.coarsenings["state"].group_of.tolist() == [0, 0, 1, 2, 3, 3]
    state = PLACE.coarsenings["state"].axis
    assert isinstance(state, Categories)
    assert state.levels == ("world", "land")
    assert state == Categories(
        "place.state", {"old": {"north": ["n1", "n2"]}, "new": {"south": ["s1", "s2"]}}, levels=["world", "land"]
    )
    assert Domain(PLACE).part("place.state.world")[1] == PLACE.coarsenings["state"].then(state.coarsenings["world"])


def test_many_groups_take_no_longer_than_reading_them() -> None:
    """The first label of each was looked for from the beginning: minutes for the streets of a country."""
    many = 150_000
    axis = Categories("street", {f"group {number}": [f"a{number}", f"b{number}"] for number in range(many)})
    begun = process_time()
    assert axis.coarsenings["group"].axis.length == many
    assert process_time() - begun < 20, "a second, and was minutes"


def test_levels_that_nobody_named_are_counted_from_within() -> None:
    axis = Categories("x", {"A": {"B": {"C": ["d"]}}})
    assert axis.levels == ("group3", "group2", "group")
    assert axis.spec == "x:A(B(C(d)))"
    assert axis.describe()["levels"] == ["group3", "group2", "group"]


def test_groups_may_be_pairs_for_json_keeps_no_order() -> None:
    pairs = [("north", ["a", "b"]), ("south", ["c"])]
    assert Categories("county", pairs, levels=["state"]) == COUNTY
    assert COUNTY.describe()["labels"] == [["north", ["a", "b"]], ["south", ["c"]]]
    other = Categories("county", {"south": ["c"], "north": ["a", "b"]}, levels=["state"])
    assert other != COUNTY


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"n": ["a", "b"], "s": ["b"]}, "labels is a list with 'b' in it twice; give different labels"),
        ({"n": ["a"], "s": []}, "labels is a hierarchy whose group 's' is empty; give every group a label, or leave"),
        ({"n": {}, "s": ["a"]}, "labels is a hierarchy whose group 'n' is empty; give every group a label"),
        ({}, "labels is 0 labels; give from 1 to"),
        ([("n", ["a"]), ("n", ["b"])], "labels is a hierarchy with the group 'n' in it twice; give all its labels at"),
        ({"n": ["a"], "s": ["n"]}, "labels is a hierarchy in which 'n' is a group and a label as well; give every"),
        ({"n": {"x": ["a"]}, "s": {"x": ["b"]}}, "'x' is a group and another group as well; give every group a name"),
        ({"n": {"x": ["a"]}, "x": {"y": ["b"]}}, "'x' is a group and another group as well; give every group a name"),
        ({"n": {"x": ["a"]}, "s": ["b"]}, "'a' and 'b' are below different numbers of groups; give every label"),
        ({1: ["a"], 2: ["b"]}, "labels is a hierarchy with a group of type int; name groups by text"),
        ({None: ["a"]}, "labels is a hierarchy with a group of type NoneType; name groups by text"),
        ({"n": "ab"}, "labels is a hierarchy whose group 'n' is of type str; give each group its labels, such as"),
        ({"n": 3}, "labels is a hierarchy whose group 'n' is of type int; give each group its labels, such as"),
        ([("n", ["a"]), "b"], "labels is a list of groups and labels side by side; give each group its labels"),
        ([["n", ["a"], "b"]], "labels is a list of groups and labels side by side; give each group its labels"),
        ({"n": ["a", 1]}, "labels is of type int and str; give different labels, all of them text or all of them"),
        ({"n": ["a", None]}, "labels is of type NoneType and str; give different labels"),
        ({"n": [1.5]}, "labels is of type float; give different labels"),
        ({"1": [1, 2]}, "labels is a hierarchy in which '1' is a group and a label as well"),
        ({"n" * 200: ["n" * 200]}, f"labels is a hierarchy in which '{'n' * 40}' is a group and a label as well"),
    ],
)
def test_what_is_no_partition_is_refused(labels: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Categories("x", labels)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_nested_too_deep() -> None:
    tree: Any = ["a"]
    for level in range(9):
        tree = {f"g{level}": tree}
    with pytest.raises(InvalidInput, match="labels is a hierarchy nested too deep; give at most 8 levels of groups"):
        Categories("x", tree)
    with pytest.raises(InvalidInput, match="groups nested too deep; give at most 8 levels of groups"):
        parse_axis(f"x:{'g(' * 50}a{')' * 50}")
    assert Categories("x", tree["g8"]).coarsenings["group8"].groups == 1


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ("state", "levels is of type str; give a list of names, outermost first"),
        (3, "levels is of type int; give a list of names, outermost first"),
        ([], "levels is a list of 0; there is one level of groups: name each once, outermost first"),
        (["a", "b"], "levels is a list of 2; there is one level of groups: name each once"),
        (["a b"], "levels is 'a b'; give a word of letters and digits such as 'state'"),
        (["a.b"], "levels is 'a.b'; give a word of letters and digits such as 'state'"),
        ([""], "levels is ''; give a word of letters and digits such as 'state'"),
        ([1], "levels is of type int; give a word of letters and digits such as 'state'"),
        (["x" * 99], "name is"),
    ],
)
def test_levels_that_cannot_be_named_so(levels: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Categories("county", {"north": ["a", "b"], "south": ["c"]}, levels)
    assert said in str(refusal.value)


def test_levels_are_of_groups_and_each_its_own() -> None:
    with pytest.raises(InvalidInput, match=r"levels is given with labels that are in no groups; leave it out, or give"):
        Categories("county", ["a", "b"], levels=["state"])
    with pytest.raises(InvalidInput, match=r"levels is a list with a name in it twice; there are 2 levels"):
        Categories("x", {"n": {"m": ["a"]}}, levels=["state", "state"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("county:north(a,b", "in which labels is a list whose brackets do not all end; write groups as north(a,b),"),
        ("county:north(a,b)),south(c)", "in which labels is a list with a bracket out of place; write groups as"),
        ("county:(a,b),south(c)", "in which labels is a list with a bracket out of place; write groups as"),
        ("county:north(a,b)south(c)", "in which labels is a list with a double quote or a bracket out of place"),
        ("county:north(a,b),c", "in which labels is a list of groups and labels side by side; write groups as"),
        ("county:north(a,b)(c),south(d)", "in which labels is a list with a bracket out of place; write groups as"),
        ("county:north(),south(c)", "in which labels is a hierarchy whose group 'north' is empty; give every group"),
        ("county:north(a,,b)", "in which one of the labels is empty; give labels such as F,M; an empty one is"),
        ("county:north(a,b),south(b)", "in which labels is a list with 'b' in it twice; give different labels"),
        ("county:north(a),north(b)", "in which labels is a hierarchy with the group 'north' in it twice; give all its"),
        ("county:north(a,b),south(c)/a/b", "in which levels is a list of 2; there is one level of groups: name each"),
        ("county:north(a,b),south(c)/", "in which labels is a list with a double quote or a bracket out of place"),
        ('county:north("a,b),south(c)', "in which labels is a list with a double quote or a bracket out of place"),
        ("size:S<<M", "in which one of the labels is empty; give labels such as F,M"),
        ("size:<S<M", "in which one of the labels is empty; give labels such as F,M"),
        ("size:low(S<M)<high(S)", "in which labels is a list with 'S' in it twice; give different labels"),
    ],
)
def test_text_that_is_no_hierarchy_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_axis(text)
    assert str(refusal.value).startswith(f"by is {text!r}, ")
    assert said in str(refusal.value)


@given(text=st.text(alphabet='ab12(),<>/". ', max_size=24))
def test_any_text_is_an_axis_or_refused(text: str) -> None:
    try:
        axis = parse_axis(f"x:{text}")
    except InvalidInput:
        return
    assert parse_axis(axis.spec) == axis


@pytest.mark.parametrize(
    "description",
    [
        {"labels": [["n", ["a"]], ["n", ["b"]]]},
        {"labels": [["n", ["a", "a"]]]},
        {"labels": [["n"]]},
        {"labels": [["n", [["m"]]]]},
        {"labels": [[["n"], ["a"]]]},
        {"labels": [["n", ["a"]]], "levels": "state"},
        {"labels": [["n", ["a"]]], "levels": {"state": 1, "other": 2}},
        {"labels": [["n", [{}]]]},
        {"labels": {"n": None}},
        {"labels": None},
    ],
)
def test_a_description_from_a_stranger_is_refused_in_a_sentence(description: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        axis_from({"kind": "categories", "name": "x", **description})
