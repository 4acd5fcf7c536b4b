"""The vectorised sampler: exact where chance would hardly ever look, and well behaved around it."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_source import ScriptedSource

from sparsedp.errors import InvalidInput
from sparsedp.noise import discrete_gaussian as sampler
from sparsedp.noise.coins import Probability, exponential
from sparsedp.noise.discrete_gaussian import (
    FLOAT_MARGIN,
    HEIGHT_BITS,
    GaussianTable,
    add_discrete_gaussian,
    discrete_gaussian,
    gaussian_table,
)
from sparsedp.noise.discrete_laplace import low_digits
from sparsedp.noise.source import BitStream, NoiselessSource, SeededSource, SystemSource

NARROW, WIDE, WIDEST = Fraction(1000, 3), Fraction(10**12, 7), Fraction(2**110)
ALWAYS, NEVER = 0, 2**64 - 1
Words = npt.NDArray[np.uint64]


class Planted(BitStream):
    """The first candidates are written by the test, as (number, negative, offset); after them all noise is 0.

    `later` are the 64-bit words that settling asks for, in turn; asking for more is an error.
    """

    def __init__(self, table: GaussianTable, candidates: list[tuple[int, bool, int]], later: list[int]) -> None:
        super().__init__(bytes(32))
        self._planted = [
            word
            for number, negative, offset in candidates
            for word in ((negative << 63) | (2**63 - 1 - number), offset)[: table.words]
        ]
        self.later = later
        self.filled: list[Words] = []

    def fill(self, words: npt.NDArray[np.unsignedinteger]) -> None:
        words.fill(2**64 - 1)
        words[: len(self._planted)] = np.array(self._planted, dtype=np.uint64)
        self.filled.append(words.view(np.uint64))
        self._planted = []

    def bits(self, count: int) -> int:
        assert count == 64
        return self.later.pop(0)


def drawn(
    variance: Fraction, candidates: list[tuple[int, bool, int]], later: list[int] | None = None, size: int = 1
) -> list[int]:
    stream = Planted(gaussian_table(variance), candidates, list(later or []))
    noise = discrete_gaussian(variance, size, ScriptedSource(stream))
    assert not stream.later
    return [int(value) for value in noise]


def begin(table: GaussianTable, slab: int) -> int:
    return int(table.ends[slab - 1])


def places(table: GaussianTable, magnitude: int, words: int) -> list[int]:
    """The height of a magnitude, ⌊h⌋ and then 64 places a word, by mpmath at far more digits than are used."""
    with mpmath.workprec(1000):
        exponent = Fraction(magnitude * magnitude) / (2 * table.variance)
        height = table.factor * mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
        bits = int(mpmath.floor(mpmath.ldexp(height, 64 * words)))
    return [bits >> 64 * words, *((bits >> 64 * (words - 1 - i)) & (2**64 - 1) for i in range(words))]


def zeros_below(probability: Probability, first: int) -> list[int]:
    """As many words of zeros as it takes to see that they lie below a probability; the first has `first` places."""
    count = 1
    while probability.enclose(first + 64 * (count - 1))[0] < 1:
        count += 1
    return [ALWAYS] * count


def some_magnitudes(table: GaussianTable) -> list[tuple[int, int]]:
    """A few (slab, offset) pairs: the first and the last slabs, and both ends of each."""
    slabs = sorted({1, 2, table.tail // 3, table.tail // 2, table.tail - 1})
    return [(slab, offset) for slab in slabs for offset in sorted({0, table.width // 3, table.width - 1})]


@pytest.mark.parametrize("equal_words", [0, 1, 4])
@pytest.mark.parametrize(("step", "kept"), [(-1, True), (1, False)])
@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("variance", [Fraction(1), NARROW, WIDE, WIDEST])
def test_a_number_that_hugs_the_curve_is_settled_exactly(
    variance: Fraction, negative: bool, step: int, kept: bool, equal_words: int
) -> None:
    table = gaussian_table(variance)
    for slab, offset in some_magnitudes(table):
        magnitude = int(table.starts[slab]) + offset
        above, *later = places(table, magnitude, equal_words + 1)
        later[-1] += step
        noise = drawn(variance, [(begin(table, slab) + above, negative, offset)], later)
        assert noise == [0 if not kept else -magnitude if negative else magnitude]


@pytest.mark.parametrize("variance", [Fraction(1), NARROW, WIDE, WIDEST])
def test_numbers_within_the_margin_are_settled_and_beyond_it_need_no_more_bits(variance: Fraction) -> None:
    table = gaussian_table(variance)
    for slab, offset in some_magnitudes(table):
        magnitude = int(table.starts[slab]) + offset
        floor, _ = places(table, magnitude, 1)
        size = int(table.ends[slab]) - begin(table, slab)
        margin = int(FLOAT_MARGIN * float(table.heights[slab]))
        for distance in {1, 2, margin // 30, margin // 2, margin, 2 * margin, 100 * margin, size // 100}:
            # No bits are scripted: whatever is not the very cell of the curve is decided without more of them.
            for above, kept in ((floor - distance, True), (floor + distance, False)):
                if distance and 0 <= above < size:
                    noise = drawn(variance, [(begin(table, slab) + above, False, offset)])
                    assert noise == [magnitude if kept else 0], (slab, offset, distance)


@given(
    deviation=st.integers(64, 2**55),
    place=st.floats(0, 1, exclude_max=True),
    within=st.floats(0, 1, exclude_max=True),
    closeness=st.floats(0, 60),
    sign=st.sampled_from([-1, 1]),
)
def test_the_kernel_decides_as_mpmath_does(
    deviation: int, place: float, within: float, closeness: float, sign: int
) -> None:
    table = gaussian_table(Fraction(deviation**2))
    slab = 1 + int(place * (table.tail - 1))
    offset = int(within * table.width)
    magnitude = int(table.starts[slab]) + offset
    floor, _ = places(table, magnitude, 1)
    size = int(table.ends[slab]) - begin(table, slab)
    above = floor + sign * (1 + int(size / 2**closeness))
    if 0 <= above < size:
        noise = drawn(table.variance, [(begin(table, slab) + above, False, offset)])
        assert noise == [magnitude if sign < 0 else 0]


def test_only_what_is_close_to_the_curve_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[int] = []
    original = sampler._settle

    def recorded(table: GaussianTable, word: int, offset: int, stream: BitStream) -> int | None:
        settled.append(word)
        return original(table, word, offset, stream)

    monkeypatch.setattr(sampler, "_settle", recorded)
    discrete_gaussian(WIDE, 1_000_000, SeededSource(3))
    discrete_gaussian(NARROW, 1_000_000, SeededSource(4))
    assert not settled
    table = gaussian_table(WIDE)
    floor, _ = places(table, int(table.starts[5]) + 9, 1)
    drawn(WIDE, [(begin(table, 5) + floor - 3, False, 9)])
    assert len(settled) == 1


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1), NARROW, WIDE, WIDEST])
def test_the_tail_goes_on_for_ever(variance: Fraction, negative: bool) -> None:
    table = gaussian_table(variance)
    first = begin(table, table.tail)
    scale = variance / table.tail_start
    digits = low_digits(scale)
    beyond = 2 << digits
    # Below its own curve; the digits of the distance all 0; two steps above them and no third; kept.
    below = zeros_below(table.tail_height(), HEIGHT_BITS)
    further = zeros_below(exponential(2**digits / scale), 64)
    kept = zeros_below(exponential(beyond**2 / (2 * variance)), 64)
    later = [*below[1:], *[NEVER] * digits, *further, *further, NEVER]
    exact = table.tail_start + beyond
    wrapped = ((-exact if negative else exact) + 2**63) % 2**64 - 2**63
    assert drawn(variance, [(first, negative, 7)], [*later, *kept]) == [wrapped]
    assert drawn(variance, [(first, negative, 7)], [*later, NEVER]) == [0]


def test_a_tail_that_is_not_below_its_own_curve_is_refused() -> None:
    table = gaussian_table(NARROW)
    last = int(table.ends[table.tail]) - 1
    assert drawn(NARROW, [(last, False, 0)], [NEVER]) == [0]


def test_a_refused_candidate_leaves_its_place_to_the_next() -> None:
    table = gaussian_table(WIDE)
    void = 2**63 - 1
    kept = begin(table, 4)
    top = int(table.ends[9]) - 1
    planted = [(void, False, 3), (kept, True, 5), (top, False, table.width - 1), (kept, False, 6)]
    start = int(table.starts[4])
    assert drawn(WIDE, planted, size=3) == [-(start + 5), start + 6, 0]


@given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40),
    variance=st.fractions(min_value=Fraction(1, 1000), max_value=2**110),
    seed=st.integers(0, 2**31),
)
def test_adding_in_place_is_the_sum_modulo_2_to_64(values: list[int], variance: Fraction, seed: int) -> None:
    noise = discrete_gaussian(variance, len(values), SeededSource(seed))
    noisy = np.array(values, dtype=np.int64)
    add_discrete_gaussian(noisy, variance, SeededSource(seed))
    expected = [(value + int(x) + 2**63) % 2**64 - 2**63 for value, x in zip(values, noise, strict=True)]
    assert noisy.tolist() == expected


def test_a_settled_candidate_wraps_too() -> None:
    table = gaussian_table(WIDE)
    magnitude = int(table.starts[3])
    above, word = places(table, magnitude, 1)
    stream = Planted(table, [(begin(table, 3) + above, False, 0)], [word - 1])
    values = np.array([2**63 - 1], dtype=np.int64)
    add_discrete_gaussian(values, WIDE, ScriptedSource(stream))
    assert values.tolist() == [-(2**63) + magnitude - 1]


@pytest.mark.parametrize("variance", ["1e-300", "1/100", "1", "7/2", "4095", "1000000", "1e18", str(2**110)])
def test_a_noiseless_source_makes_every_noise_zero(variance: str) -> None:
    assert not discrete_gaussian(Fraction(variance), 40_000, NoiselessSource()).any()


@pytest.mark.parametrize("size", [0, 1, 7, 511, 40_000])
def test_every_value_gets_noise_of_its_own(size: int) -> None:
    noise = discrete_gaussian(Fraction(10**30), size, SystemSource())
    assert noise.size == np.unique(noise).size == size
    assert noise.dtype == np.int64


def test_any_shape_is_noised_in_place() -> None:
    table = np.zeros((30, 4, 5), dtype=np.int64)
    add_discrete_gaussian(table, Fraction(10**9), SeededSource(1))
    assert (table.reshape(-1) == discrete_gaussian(Fraction(10**9), 600, SeededSource(1))).all()


def test_seeded_noise_repeats_and_system_noise_does_not() -> None:
    variance, size = Fraction(10**12), 50_000
    seeded = [discrete_gaussian(variance, size, SeededSource(9)) for _ in range(2)]
    assert (seeded[0] == seeded[1]).all()
    source = SeededSource(9)
    assert (discrete_gaussian(variance, size, source) != discrete_gaussian(variance, size, source)).any()
    system = SystemSource()
    assert (discrete_gaussian(variance, size, system) != discrete_gaussian(variance, size, system)).mean() > 0.99


def test_one_fresh_key_a_call() -> None:
    class Counting(SystemSource):
        keys = 0

        def key(self) -> bytes:
            self.keys += 1
            return super().key()

    source = Counting()
    discrete_gaussian(WIDE, 100_000, source)
    assert source.keys == 1


def test_random_words_are_wiped() -> None:
    table = gaussian_table(WIDE)
    stream = Planted(table, [(begin(table, 2), False, 1)], [])
    discrete_gaussian(WIDE, 100_000, ScriptedSource(stream))
    assert len(stream.filled) > 1
    assert not any(words.any() for words in stream.filled)


def test_words_are_wiped_when_a_draw_is_interrupted() -> None:
    class Interrupted(Planted):
        def bits(self, count: int) -> int:
            raise KeyboardInterrupt

    table = gaussian_table(NARROW)
    stream = Interrupted(table, [(begin(table, table.tail), False, 0)], [])
    with pytest.raises(KeyboardInterrupt):
        discrete_gaussian(NARROW, 10, ScriptedSource(stream))
    assert stream.filled
    assert not stream.filled[0].any()


def test_memory_beside_the_values_does_not_grow_with_them() -> None:
    values = np.zeros(2**21, dtype=np.int64)
    add_discrete_gaussian(values[:1], WIDE, SystemSource())
    tracemalloc.start()
    add_discrete_gaussian(values, WIDE, SystemSource())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize("variance", [0, -1, "nan", None, 2**110 + 1])
def test_bad_variances_are_refused(variance: object) -> None:
    with pytest.raises(InvalidInput, match="variance"):
        discrete_gaussian(variance, 3, SystemSource())  # type: ignore[arg-type]


def test_values_that_cannot_be_noised_in_place_are_refused_unquoted() -> None:
    frozen = np.arange(1234, 1244)
    frozen.flags.writeable = False
    for values in (np.array([1234.0]), np.arange(1234, 1244)[::2], frozen, [1234]):
        with pytest.raises(InvalidInput) as refusal:
            add_discrete_gaussian(values, Fraction(1), SystemSource())  # type: ignore[arg-type]
        assert "1234" not in str(refusal.value)
    with pytest.raises(InvalidInput, match="size"):
        discrete_gaussian(Fraction(1), -1, SystemSource())
