"""Bounds of values that are chosen by a private look: the bins, their noise, and the rule."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedp.arrays import Floats, Ints
from sparsedp.errors import InvalidInput
from sparsedp.ingest import counted
from sparsedp.ingest.bounding import DOUBLES
from sparsedp.ingest.clamps import USUAL_SHARE, ClampLook, best_clamp, checked_share
from sparsedp.ingest.request import Request
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from sparsedp.mechanisms.terms import checked_terms


def bin_of(value: int) -> int | None:
    """As the definition has it, in whole numbers."""
    if value == 0:
        return None
    double = next(j for j in range(DOUBLES) if abs(value) <= 2**j)
    return double if value > 0 else DOUBLES + double


def sizes_of(records: list[tuple[int, int]], most: int, key: bytes) -> Ints:
    """Of records of somebody, with a value in whole steps."""
    schema = pa.schema([("who", pa.int64()), ("cell", pa.int64()), ("cost", pa.float64())])
    rows = [{"who": who, "cell": value % 3, "cost": float(value)} for who, value in records]
    asked = Request.of(
        pa.Table.from_pylist(rows, schema=schema),
        ["cell:0..2"],
        privacy_unit="who",
        max_contributions=most,
        value="cost",
        clamp="auto",
        resolution=1,
    )
    found = counted(asked, key).sizes
    assert found is not None
    return found


AROUND = st.sampled_from([sign * (2**j + k) for j in range(44) for k in (-1, 0, 1) for sign in (1, -1)])
RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(-(2**44), 2**44) | AROUND), max_size=25)
KEYS = st.binary(min_size=16, max_size=16)


@given(records=RECORDS, key=KEYS)
@settings(max_examples=30)
def test_bins_are_as_they_are_defined(records: list[tuple[int, int]], key: bytes) -> None:
    each = [(person, value) for person, (_, value) in enumerate(records)]
    bins = [bin_of(value) for _, value in each]
    expected = np.bincount([one for one in bins if one is not None], minlength=2 * DOUBLES)
    assert sizes_of(each, 1, key).tolist() == expected.tolist()


@given(records=RECORDS, most=st.integers(1, 4), key=KEYS)
@settings(max_examples=30)
def test_one_person_changes_the_bins_by_at_most_their_records(
    records: list[tuple[int, int]], most: int, key: bytes
) -> None:
    everybody = sizes_of(records, most, key)
    for person in range(4):
        others = sizes_of([record for record in records if record[0] != person], most, key)
        assert np.abs(everybody - others).sum() <= most


def test_a_bound_that_is_wrong_is_seen_to_be_broken() -> None:
    records = [(person, 2**person) for person in (1, 2) for _ in range(6)]
    apart = np.abs(sizes_of(records, 4, bytes(16)) - sizes_of(records[6:], 4, bytes(16))).sum()
    assert apart == 4 > 3


@pytest.mark.parametrize(("relation", "times"), [("add_remove", 1), ("replace_one", 2)])
def test_the_noise_is_for_all_records_of_a_person_and_for_the_share(relation: str, times: int) -> None:
    """Of 3 records a person, whatever a value may add to a sum."""
    pure = checked_terms("1/2", None, None, 3 * 5000, relation, None, "sparsedp", None)
    law = ClampLook.of(pure, 3, Fraction(1, 20)).noise.law
    assert isinstance(law, DiscreteLaplaceLaw)
    assert law.scale == 3 * times * 40
    assert law.scale != ClampLook.of(pure, 2, Fraction(1, 20)).noise.law.scale  # type: ignore[union-attr]
    zcdp = checked_terms(None, "1/2", None, 3 * 5000, relation, None, "sparsedp", None)
    found = ClampLook.of(zcdp, 3, Fraction(1, 20)).noise.law
    assert isinstance(found, DiscreteGaussianLaw)
    assert found.variance_parameter == Fraction(9 * times**2 * 20)


def seen(**records: int) -> Floats:
    """So many records by bins: `up10` is the one up to 2¹⁰, `down3` the one from −2³."""
    bins = np.zeros(2 * DOUBLES)
    for name, count in records.items():
        side = 0 if name.startswith("up") else DOUBLES
        bins[side + int(name.removeprefix("up").removeprefix("down"))] = count
    return bins


def test_the_rule_takes_the_last_bin_that_stands_out_of_the_noise() -> None:
    assert best_clamp(seen(up8=5000, up10=900, up20=40), 50, 1.0, 2**40) == (0, 2**10)
    assert best_clamp(seen(up8=5000, up10=900, up20=60), 50, 1.0, 2**40) == (0, 2**20)
    assert best_clamp(seen(up8=5000, down4=300, down20=3), 50, 1.0, 2**40) == (-(2**4), 2**8)
    assert best_clamp(seen(down4=300), 50, 1.0, 2**40) == (-(2**4), 0)
    assert best_clamp(seen(up0=300), 50, 1.0, 2**40) == (0, 1)


def test_noise_is_weighed_against_what_is_cut_off() -> None:
    """A hundred values of up to 2²⁰ are worth less than the noise that they would bring, of a thousand such values."""
    records = seen(up8=50_000, up20=100)
    assert best_clamp(records, 50, 10.0, 2**40) == (0, 2**20)
    assert best_clamp(records, 50, 1000.0, 2**40)[1] < 2**20


def test_nothing_is_beyond_what_fits() -> None:
    assert best_clamp(seen(up30=5000), 50, 1.0, 2**12) == (0, 2**12)


def test_where_nothing_stands_out_the_fullest_bin_is_taken() -> None:
    assert best_clamp(seen(up8=20, up10=30, down3=4), 50, 0.1, 2**40) == (0, 2**10)
    assert best_clamp(seen(up8=2, down10=30), 50, 0.1, 2**40) == (-(2**10), 0)
    low, high = best_clamp(np.zeros(2 * DOUBLES), 50, 0.1, 2**40)
    assert low < high


def test_shares() -> None:
    assert checked_share(None, chosen=True) == USUAL_SHARE
    assert checked_share("0.1", chosen=True) == Fraction(1, 10)
    assert checked_share(None, chosen=False) == 0
    for share, chosen in ((0, True), (1, True), ("much", True), ("0.1", False)):
        with pytest.raises(InvalidInput, match=r"^clamp_share is"):
            checked_share(share, chosen=chosen)


def test_an_empty_bin_is_hardly_ever_believed_to_hold_values() -> None:
    """The threshold is exceeded by noise alone in one of a hundred looks: in 300 looks not 20 times, but for one run
    in 10⁹; and if there were ten times the noise, far more often.
    """
    terms = checked_terms(1, None, None, 1, "add_remove", None, "sparsedp", None)
    look = ClampLook.of(terms, 1, USUAL_SHARE)
    law = look.noise.law
    threshold = law.quantile(1 - 0.01 / (2 * DOUBLES))
    stray = narrow = 0
    for _ in range(300):
        bins = np.zeros(2 * DOUBLES, np.int64)
        look.noise.add_to(bins)
        stray += bool((bins > threshold).any())
        narrow += bool((10 * bins > threshold).any())
    assert stray < 20 <= narrow
