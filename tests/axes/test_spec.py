"""Axes in one line of text: what is read, what is written, and what is refused in a sentence that helps."""

import tracemalloc
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers, parse_axis
from sparsedp.axes.base import checked_name
from sparsedp.errors import InvalidInput


def _possible(name: str) -> bool:
    try:
        return bool(checked_name(name))
    except InvalidInput:
        return False


names = st.one_of(st.sampled_from(["day", 'a:b,"c"', '"', "x..y"]), st.text(max_size=8).filter(_possible))
texts = st.one_of(
    st.text(max_size=6), st.sampled_from(["auto", "1", "-0", "0..3", "[0", "a,b", '"', "2024-01-01", "x:y", "@"])
)
labels = st.one_of(
    st.lists(texts, min_size=1, max_size=6, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6, unique=True),
)
edges = st.lists(st.floats(allow_nan=False), min_size=2, max_size=8, unique=True).map(sorted)
regular = st.tuples(st.decimals(-1000, 1000, places=3), st.decimals("0.001", 50, places=3), st.integers(1, 40)).map(
    lambda given: (Fraction(given[0]), Fraction(given[0]) + Fraction(given[1]) * given[2], given[2])
)
clocks = st.sampled_from([(None, None), (UTC, None), (None, "UTC"), (None, "Europe/Berlin"), (UTC, "Asia/Kolkata")])
starts = st.datetimes(datetime(1, 1, 2), datetime(9000, 1, 1)).filter(lambda start: 1 < start.day < 28)
steps = st.sampled_from(["1us", "250ms", "7s", "15min", "1h", "1d", "1w", "1mo", "3mo", "1y", "7y"])
whole_starts = st.dates(datetime(2, 1, 1).date(), datetime(9000, 1, 1).date()).filter(lambda start: 1 < start.day < 28)


@st.composite
def calendars(draw: st.DrawFn) -> Calendar:
    """From a day, a moment, or a moment in UTC; by any clock."""
    timezone, zone = draw(clocks)
    start = draw(st.one_of(starts, whole_starts))
    moment = start if isinstance(start, datetime) else datetime(start.year, start.month, start.day)
    return Calendar(draw(names), moment.replace(tzinfo=timezone), draw(steps), draw(st.integers(1, 99)), zone=zone)


axes: st.SearchStrategy[Axis] = st.one_of(
    st.builds(Categories, names, labels),
    st.builds(Bins, names, edges),
    st.builds(lambda name, ends: Bins.regular(name, *ends), names, regular),
    st.builds(
        lambda name, first, more: Integers(name, first, first + more),
        names,
        st.integers(-(2**60), 2**60),
        st.integers(0, 99),
    ),
    calendars(),
)


@given(axes)
def test_what_is_written_is_read_back(axis: Axis) -> None:
    assert parse_axis(axis.spec) == axis
    assert parse_axis(axis.spec).spec == axis.spec


READ: list[tuple[str, Axis]] = [
    ("sex:F,M", Categories("sex", ["F", "M"])),
    (" sex : F , M ", Categories("sex", ["F", "M"])),
    ("x:1,2,-3", Categories("x", [1, 2, -3])),
    ("x:01,02", Categories("x", ["01", "02"])),
    ("x:1,b", Categories("x", ["1", "b"])),
    ('x:1,"2"', Categories("x", ["1", "2"])),
    ('x:"a, b" , c', Categories("x", ["a, b", "c"])),
    ('x:"say ""no""",c', Categories("x", ['say "no"', "c"])),
    ("x:F,", Categories("x", ["F"])),
    ("x:7,", Categories("x", [7])),
    ('x:"auto"', Categories("x", ["auto"])),
    ("x:auto,bus", Categories("x", ["auto", "bus"])),
    ('x:"",a', Categories("x", ["", "a"])),
    ("x:a:b,c", Categories("x", ["a:b", "c"])),
    ("x:a..b,c", Categories("x", ["a..b", "c"])),
    ('"a:b":F,M', Categories("a:b", ["F", "M"])),
    ("hour:0..23", Integers("hour", 0, 23)),
    ("x:-5..-2", Integers("x", -5, -2)),
    ("x: 1e3 .. 1001", Integers("x", 1000, 1001)),
    ("age:0..100/5", Bins.regular("age", 0, 100, 20)),
    ("x:0..1/0.1", Bins("x", [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])),
    ("x:-1..1/.5", Bins("x", [-1, -0.5, 0, 0.5, 1])),
    ("x:1e-3..3e-3/1e-3", Bins("x", [0.001, 0.002, 0.003])),
    ("x:[0, 18,65,120]", Bins("x", [0, 18, 65, 120])),
    ("x:[-inf,0,0.1,inf]", Bins("x", [float("-inf"), 0, 0.1, float("inf")])),
    ("x:[0,1/3,+Infinity]", Bins("x", [0, 1 / 3, float("inf")])),
    ("day:2024-01-01..2024-12-31/1d", Calendar("day", "2024-01-01", "1d", 366)),
    ("day:2024-01-01..2024-12-31", Calendar("day", "2024-01-01", "1d", 366)),
    (
        "day: 2024-01-01 .. 2024-12-31 / 1d @ Europe/Berlin",
        Calendar("day", "2024-01-01", "1d", 366, zone="Europe/Berlin"),
    ),
    ("h:2024-01-01..2024-12-31/1h@UTC", Calendar("h", "2024-01-01", "1h", 8784, zone="UTC")),
    ("h:2024-01-01T08:00..2024-01-01T17:00/1h", Calendar("h", "2024-01-01T08:00", "1h", 9)),
    ("h:2024-01-01T08:00..2024-01-01/1h", Calendar("h", "2024-01-01T08:00", "1h", 16)),
    ("h:2024-01-01T00:00Z..2024-01-02T00:00Z/1h", Calendar("h", "2024-01-01T00:00Z", "1h", 24)),
    ("m:2024-01..2024-12/1mo", Calendar("m", "2024-01-01", "1mo", 12)),
    ("m:2024..2024/3mo", Calendar("m", "2024-01-01", "3mo", 4)),
    ("y:2020..2024/1y", Calendar("y", "2020-01-01", "1y", 5)),
    ("y:2020-01-01..2024/1y", Calendar("y", "2020-01-01", "1y", 5)),
    ("y:2020..2024", Integers("y", 2020, 2024)),
    ("y:2020..2024/2", Bins("y", [2020, 2022, 2024])),
    ("w:2024-W01..2024-W52/1w", Calendar("w", "2024-01-01", "1w", 52)),
]


@pytest.mark.parametrize(("text", "axis"), READ, ids=[text for text, _ in READ])
def test_what_is_read(text: str, axis: Axis) -> None:
    assert parse_axis(text) == axis


WRITTEN = [
    "sex:F,M",
    'x:"a, b",c',
    "x:7,",
    "hour:0..23",
    "age:0..100/5",
    "x:0..1/0.1",
    "x:[0,18,65,120]",
    "x:[-inf,0,inf]",
    "day:2024-01-01..2024-12-31/1d",
    "day:2024-01-01..2024-12-31/1mo@Europe/Berlin",
    "h:2024-01-01T08:00..2024-01-01T17:00/15min",
    "h:2024-01-01T00:00Z..2024-01-02T00:00Z/1h",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_plain_texts_are_written_as_they_were(text: str) -> None:
    assert parse_axis(text).spec == text


@pytest.mark.parametrize(
    "text", ["age", "age:", "age: ", "age:auto", "age:AUTO", "age:auto/10", "age:min..max", "age:*", "age:bins"]
)
def test_cells_are_never_read_off_the_data(text: str) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_axis(text)
    assert error.value.argument == "by"
    assert error.value.given == f"{text!r}, which does not say what the cells are"
    assert error.value.remedy.startswith("they are never read off the data")
    for example in ("age:0..120/5", "age:[0,18,65,120]", "age:A,B,C", "age:2024-01-01..2024-12-31/1d"):
        assert example in error.value.remedy
        assert parse_axis(example).length > 1


BAD: list[tuple[Any, str]] = [
    (3, "by is of type int; give text such as age:0..120/5"),
    (":F,M", "by is ':F,M', in which name is ''"),
    ('"a"b:F,M', "by is .*; give a name, a colon and its cells"),
    ("x:A", "by is 'x:A', in which what follows the colon is 'A', neither several labels nor a range; give one of age"),
    ("age:0-100", "by is 'age:0-100', in which .* neither several labels nor a range"),
    ("day:2024-01-01", "by is .* neither several labels nor a range"),
    ("x:A,,B", "by is .*, in which one of the labels is empty"),
    ("x:,", "by is .*, in which one of the labels is empty"),
    ("x:A,A", "by is .*, in which labels is a list with 'A' in it twice"),
    ('x:"a,b', "by is .* a double quote out of place"),
    ('x:a"b,c', "by is .* a double quote out of place"),
    ('x:"a"b,c', "by is .* a double quote out of place"),
    ("x:0,0.5,1", r"by is .* numbers that are not all whole; give edges in brackets, \[0,0.5,1\]"),
    ("x:99999999999999999999,1", "by is .* beyond 64-bit integers"),
    ("x:[0,1", "by is .* without its closing bracket"),
    ("x:[]", "by is .* edges is ''"),
    ("x:[0,2,1]", "by is .* not rising: 1 comes after 2"),
    ("x:[0,nan]", "by is .* edges is 'nan'"),
    ("x:[0,1e309]", "by is .* edges is beyond the largest float"),
    ("x:0..1e309/1e308", "by is .* edges is beyond the largest float"),
    ("x:5..1", "by is 'x:5..1', in which x is from 5 to 1"),
    ("x:0..1.5", "by is .* 1.5, not a whole number; give bins a width: 0..1.5/0.1"),
    ("x:0..10/0", "by is .* the step is 0"),
    ("x:0..10/-1", "by is .* the step is -1"),
    ("x:10..0/1", "by is .* last is 0, with first 10"),
    ("x:0..100/7", "by is 'x:0..100/7', in which last is 100, .* whole steps of 7 to it; give 98 or 105"),
    ("x:0..1/0.3", "by is .*; give 0.9 or 1.2"),
    ("x:0..1/3", "by is .*; give 3"),
    ("x:0..inf/3", r"by is .*'inf'; .* infinite ends need edges, such as \[-inf,"),
    ("x:1...3", "by is .*'1...3'; give a range such as"),
    ("x:..3", "by is .*; give a range such as"),
    ("x:0..10/", "by is .*; give a range such as"),
    ("x:a..b", "by is .* one end of the range is 'a'; give a range such as"),
    ("x:0..b", "by is .* one end of the range is 'b'; give a range such as"),
    ("x:0..10/1@UTC", "by is .* the step is '1', without its unit"),
    ("x:0..10/1h", "by is .* first is '0'; give a time such as"),
    ("d:2024-01-01..2024-12-31/3", "by is .* the step is '3', without its unit; give one such as /15min"),
    ("d:2024-01..2024-12", "by is .* the step is missing"),
    ("d:2024-01-01..2024-12-31/1m", "by is .* every is '1m'; give a step such as .*mo"),
    ("d:2024-01-01..2024-12-31/1d@", "by is .*; give a range such as"),
    ("d:2024-01-01..2024-12-31/1d@Europe/Berln", r"by is .* zone is 'Europe/Berln', .* did you mean 'Europe/Berlin'\?"),
    ("d:2024-01-01..2024-12-31/1w", "by is .* last is 2024-12-31, .*; give 2024-12-29 or 2025-01-05"),
    ("d:2024-01-01T00:00..2024-12-31T23:59:59/1h", "by is .*; give 2024-12-31T23:00 or 2024-12-31$"),
    ("d:2024-02-30..2024-12-31/1d", "by is .* first is '2024-02-30'"),
    ("d:2024-12-31..2024-01-01/1d", "by is .* last is before first"),
    ("x:0..1000000000000", "by is .* last is 1000000000000, with first 0; give from 1 to"),
    ("x:0..1000000000000/1", "by is .* one of 1,000,000,000,000 bins; give from 1 to"),
    ("x:0..1e300/1e-300", r"by is .* one of more than 10\*\*24 bins; give from 1 to"),
    ("x:0..1e300", "by is .* one end of the range is '1e300'; give whole numbers"),
    ("x:0..1.7e308/1.1e308", "by is .*; give about 1.1e[+]308"),
    ("x:0..1e999999999/1", "by is .* last is '1e999999999'"),
    ("x:0..1e999999999", "by is .* last is '1e999999999'"),
    ("d:1900..2100/1s", "by is .* after 6,342,969,600 ticks every second .*; give coarser or fewer cells"),
    ("x:" + "9" * 10_000, "by is 'x:999.*…', in which"),
    ("c:Washington, DC,New York", "by is .* labels is a list with a blank after some of its commas.*double quotes"),
    ("c:east(Washington, DC,Boston),west(Reno)", "by is .* labels is a list with a blank after some of its commas"),
]


@pytest.mark.parametrize(("text", "complaint"), BAD, ids=[str(text)[:40] for text, _ in BAD])
def test_what_is_no_axis_is_refused_in_a_sentence(text: Any, complaint: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=f"^{complaint.removesuffix('$')}") as error:
            parse_axis(text)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert error.value.argument == "by"
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["c:a, b, c", 'c:"Washington, DC",New York', "c:east(a, b),west(c)", "c:east(a,b), west(c,d)", "c:a, b,"]
)
def test_commas_that_are_all_alike_end_labels(text: str) -> None:
    assert parse_axis(text).length == 1 + text.count(",") - text.count("DC") - text.endswith(",")


@given(st.one_of(st.text(max_size=30), st.text('x:0123456789.,/@[]-"TZ+eWdhmo ', max_size=30).map("x:".__add__)))
def test_any_text_is_an_axis_or_is_refused(text: str) -> None:
    outcome = _outcome(text)
    assert outcome == "by" if isinstance(outcome, str) else parse_axis(outcome.spec) == outcome


def _outcome(text: str) -> Axis | str:
    try:
        return parse_axis(text)
    except InvalidInput as error:
        return error.argument
