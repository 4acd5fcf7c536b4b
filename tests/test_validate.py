"""Every argument check: what is accepted, what is refused, and that a refusal quotes no private value."""

import os
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp import validate
from sparsedp.errors import InvalidInput, UnknownName


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (2, Fraction(2)),
        (np.int64(2), Fraction(2)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Fraction(3, 7), Fraction(3, 7)),
        ("1e-5", Fraction(1, 100_000)),
        (1e-5, Fraction(1, 100_000)),
        (" 0.5 ", Fraction(1, 2)),
    ],
)
def test_numbers_mean_what_they_print_as(written: object, meant: Fraction) -> None:
    assert validate.exact_number("epsilon", written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "nan", float("nan"), float("inf"), "-inf", "", "abc", "1/0", None, True, [1], 1j,
        "1e999999999", Decimal("1e999999999"), Decimal("nan"), "9" * 500, b"1", "1_0", "१", "²",
    ],
)  # fmt: skip
def test_what_is_not_a_finite_number_is_refused(written: object) -> None:
    with pytest.raises(InvalidInput, match=r"^epsilon is .*; give a finite number .*\.$"):
        validate.exact_number("epsilon", written)


@pytest.mark.parametrize("written", [0, -1, "-0.1", "0", -0.0])
def test_positive_refuses_zero_and_below(written: object) -> None:
    with pytest.raises(InvalidInput, match="give a number above zero"):
        validate.positive("epsilon", written)


@pytest.mark.parametrize("written", [0, 1, "1.5", -0.1])
def test_share_is_strictly_inside(written: object) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        validate.share("selection_share", written)


@pytest.mark.parametrize("written", [0, 33, 2.0, "4", True, None, np.float64(3)])
def test_whole_refuses(written: object) -> None:
    with pytest.raises(InvalidInput, match=r"give a whole number from 1 to 32 \(the number of cells\)"):
        validate.whole("rows", written, most=32, why="the number of cells")


def test_one_of_offers_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'laplace'") as caught:
        validate.one_of("mechanism", "laplce", {"laplace": 1, "privelet": 2})
    assert caught.value.known == ["laplace", "privelet"]
    with pytest.raises(InvalidInput, match="of type int"):
        validate.one_of("mechanism", 3, {"laplace": 1})


def test_a_name_that_fills_a_screen_is_shortened() -> None:
    with pytest.raises(UnknownName, match=r"axis is 'x{99}…', which is not known; choose one of a\.$") as caught:
        raise UnknownName("axis", "x" * 200_000, ["a"])
    assert len(str(caught.value)) < 200


@given(st.fractions(min_value=-5, max_value=5, max_denominator=1000))
def test_shown_is_exact(number: Fraction) -> None:
    assert Fraction(validate.shown(number)) == number


SECRET = 123_456_789


class Complaining:
    def __array__(self, dtype: object = None, copy: object = None) -> object:
        raise RuntimeError(f"private {SECRET}")


WRONG_COUNTS = {
    "nan": [SECRET, float("nan")],
    "infinite": [SECRET, float("inf")],
    "fraction": [SECRET, 0.5],
    "negative": [SECRET, -SECRET],
    "negative float": [float(SECRET), -1.0],
    "empty": [],
    "two dimensions": [[SECRET, 1], [2, 3]],
    "scalar": SECRET,
    "text": [str(SECRET), "1"],
    "mixed": [SECRET, None],
    "ragged": [[SECRET], [1, 2]],
    "too big": [SECRET, 2**63],
    "too big for anything": [SECRET, 2**70],
    "too big float": [float(SECRET), 1e19],
    "float where integers merge": [2**60 + 129, 0.0],
    "first float that is not alone": [2**53 + 1, 0.0],
    "mixed signs of 64 bits": [np.int64(2**60 + 129), np.uint64(0)],
    "single precision": np.array([2**24 + 1, 0], dtype=np.float32),
    "extended precision beyond 64 bits": np.array([2.0**63, 0], dtype=np.longdouble),
    "masked": np.ma.masked_array([SECRET, 6], mask=[True, False]),
    "bytes": [b"123", b"4"],
    "an object that complains": Complaining(),
    "complex": [SECRET + 0j],
    "dates": np.array(["2024-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("counts", WRONG_COUNTS.values(), ids=WRONG_COUNTS.keys())
def test_wrong_counts_are_refused_without_quoting_a_value(counts: object) -> None:
    with pytest.raises(InvalidInput, match=r"^counts is [^\n]*\.$") as caught:
        validate.counts_vector("counts", counts)
    assert str(SECRET) not in str(caught.value)
    assert "456" not in str(caught.value)
    assert not re.search(r"<U\d|\|S\d", str(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "counts",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1, 2, 3], dtype=object),
        np.array([1, 2, 3], dtype=np.float32),
        np.array([1, 2, 3, 9, 9])[:3],
    ],
)
def test_right_counts_become_a_fresh_int64_vector(counts: object) -> None:
    vector = validate.counts_vector("counts", counts)
    assert vector.dtype == np.int64
    assert vector.tolist() == [1, 2, 3]
    assert not np.shares_memory(vector, np.asarray(counts))


def test_negative_counts_are_taken_when_said_so() -> None:
    extremes = [-(2**63), 2**63 - 1]
    assert validate.counts_vector("counts", extremes, negative=True).tolist() == extremes


def test_whole_decimals_are_counts() -> None:
    """Databases return sums as decimals."""
    assert validate.counts_vector("counts", [Decimal(3), Decimal("4.0"), 5]).tolist() == [3, 4, 5]
    assert validate.count("value", Decimal("7")) == 7
    for bad in (Decimal("1.5"), Decimal("NaN"), Decimal("1e30"), Decimal("Infinity")):
        with pytest.raises(InvalidInput):
            validate.count("value", bad)


def test_tables_are_checked_as_vectors_are() -> None:
    table = np.arange(6.0).reshape(2, 3)
    checked = validate.counts_array("counts", table)
    assert checked.dtype == np.int64
    assert checked.flags.c_contiguous
    np.testing.assert_array_equal(checked, table)
    np.testing.assert_array_equal(validate.counts_array("counts", table.T), table.T)
    given = np.ones((2, 2), dtype=np.int64)
    validate.counts_array("counts", given)[:] = 0
    assert given.all()
    assert validate.counts_array("counts", [[1, -1]], negative=True).tolist() == [[1, -1]]
    assert validate.counts_array("counts", [[1, 2]], shape=(1, 2)).shape == (1, 2)
    assert validate.counts_array("counts", [3, 4]).tolist() == [3, 4]


TABLES: list[tuple[object, str]] = [
    ([[1, 2], [3]], "not an array of numbers"),
    (3, "not an array"),
    ([[]], "empty"),
    ([[1, -2]], "negative somewhere"),
    ([[0.5]], "not whole numbers"),
    ([[float("nan")]], "not finite"),
    ([["a"]], "an array of text values"),
    (np.ma.masked_array([[1, 2]], mask=[[True, False]]), "an array with masked cells"),
    (np.zeros((1,) * 33), "an array of 33 dimensions"),
    ([[1, 2, 3]], r"an array of shape \(1, 3\); give the domain's shape, \(2, 3\)"),
    ([1, 2, 3, 4, 5, 6], r"an array of shape \(6,\); give the domain's shape"),
]


@pytest.mark.parametrize(("counts", "complaint"), TABLES, ids=[complaint for _, complaint in TABLES])
def test_tables_that_cannot_be_counts_are_refused(counts: object, complaint: str) -> None:
    shape = (2, 3) if "shape" in complaint else None
    with pytest.raises(InvalidInput, match=f"^counts is {complaint}"):
        validate.counts_array("counts", counts, shape=shape)


@pytest.mark.parametrize("number", [10**5000, -(10**5000)], ids=["large", "negative"])
def test_a_number_that_python_refuses_to_write_out_is_refused_in_words(number: int) -> None:
    with pytest.raises(InvalidInput, match="a number of very many digits; give a whole number from 1 to 9"):
        validate.whole("most", number, most=9)


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800", 3, None], ids=["empty", "null", "half", "number", "none"])
def test_what_no_file_can_be_called_is_no_path(path: object) -> None:
    with pytest.raises(InvalidInput, match=r"place is .*give the path of a file"):
        validate.file_path("place", path)


def test_a_path_in_the_systems_own_bytes_is_one() -> None:
    assert validate.file_path("place", os.fsdecode(b"caf\xe9")) == Path(os.fsdecode(b"caf\xe9"))
