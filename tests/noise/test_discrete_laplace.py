"""The vectorised sampler: exact where chance would hardly ever look, and well behaved around it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_source import ScriptedSource, ScriptedStream, Words

from sparsedp.arrays import Numbers
from sparsedp.errors import InvalidInput
from sparsedp.noise import discrete_laplace as sampler
from sparsedp.noise.discrete_laplace import (
    STORED_LATER_WORDS,
    DigitTable,
    add_digit_words,
    add_discrete_laplace,
    digit_table,
    discrete_laplace,
)
from sparsedp.noise.source import SeededSource, SystemSource

NEGATIVE = 0x8000
ZERO_DIGIT = 0x7FFF  # as large a magnitude as there is: above every threshold
ALWAYS, NEVER = 0, 2**64 - 1


def tie_at(table: DigitTable, row: int, place: int, sign: int = 0) -> ScriptedStream:
    """A stream whose first words make every digit 0, except for one tie."""

    def first(words: Words) -> None:
        words[...] = ZERO_DIGIT
        words[0, row, place] = int(table.first[row]) | sign

    return ScriptedStream(first, [], [])


def scripted(stream: ScriptedStream, later: list[list[int]], single: list[int]) -> ScriptedSource:
    stream._later, stream._single = later, single
    return ScriptedSource(stream)


def later_words(table: DigitTable, row: int, count: int) -> list[int]:
    """The words after the first, from the certified probability itself rather than from the table."""
    bits = table.probabilities[row].floor(15 + 64 * count)
    return [bits >> 64 * (count - 1 - i) & (2**64 - 1) for i in range(count)]


@pytest.mark.parametrize("equal_words", [0, 1, STORED_LATER_WORDS, STORED_LATER_WORDS + 3])
@pytest.mark.parametrize(("step", "digit"), [(-1, 1), (1, 0)])
@pytest.mark.parametrize("sign", [0, NEGATIVE])
@pytest.mark.parametrize("row", [0, 3, 13, 14, 30])
def test_a_forced_tie_goes_on_past_the_table(equal_words: int, step: int, digit: int, sign: int, row: int) -> None:
    table = digit_table(Fraction(10**9))
    words = later_words(table, row, equal_words + 1)
    words[-1] += step
    source = scripted(tie_at(table, row, 3, sign), [[word] for word in words], [])
    noise = discrete_laplace(Fraction(10**9), 5, source)
    assert noise.tolist() == [0, 0, 0, (-digit if sign else digit) << row, 0]
    assert isinstance(source.stream, ScriptedStream)
    assert source.stream.exhausted


def test_ties_of_one_value_and_of_many_are_settled_apart() -> None:
    table = digit_table(Fraction(1000))

    def first(words: Words) -> None:
        words[...] = ZERO_DIGIT
        words[0, 2, 0] = table.first[2]
        words[0, 5, 0] = int(table.first[5]) | NEGATIVE
        words[1, 7, 4] = table.first[7]

    # Listed block by block, value by value, row by row.
    stream = ScriptedStream(first, [[ALWAYS, ALWAYS, NEVER]], [])
    noise = discrete_laplace(Fraction(1000), 600, ScriptedSource(stream))
    assert noise[0] == 2**2 - 2**5
    assert not noise[1:].any()


@pytest.mark.parametrize("sign", [0, NEGATIVE])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10), Fraction(10**9), Fraction(2**63, 17)])
def test_forced_high_digits_take_the_big_integer_path(scale: Fraction, sign: int) -> None:
    table = digit_table(scale)
    successes = 5
    stream = tie_at(table, table.digits, 1, sign)
    source = scripted(stream, [[ALWAYS]], [ALWAYS] * successes + [NEVER])
    exact = (1 + successes) << table.digits
    wrapped = ((-exact if sign else exact) + 2**63) % 2**64 - 2**63
    assert discrete_laplace(scale, 3, source).tolist() == [0, wrapped, 0]
    assert stream.exhausted


def test_a_tie_in_the_high_row_is_mostly_nothing() -> None:
    table = digit_table(Fraction(10))
    source = scripted(tie_at(table, table.digits, 0), [[NEVER]], [])
    assert not discrete_laplace(Fraction(10), 2, source).any()


@given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40),
    scale=st.fractions(min_value=Fraction(1, 1000), max_value=10**25),
    seed=st.integers(0, 2**31),
)
def test_adding_in_place_is_the_sum_modulo_2_to_64(values: list[int], scale: Fraction, seed: int) -> None:
    noise = discrete_laplace(scale, len(values), SeededSource(seed))
    noisy = np.array(values, dtype=np.int64)
    add_discrete_laplace(noisy, scale, SeededSource(seed))
    expected = [(value + int(x) + 2**63) % 2**64 - 2**63 for value, x in zip(values, noise, strict=True)]
    assert noisy.tolist() == expected


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 40_000])
def test_every_value_gets_noise_of_its_own(size: int) -> None:
    noise = discrete_laplace(Fraction(10**15), size, SystemSource())
    assert noise.size == np.unique(noise).size == size
    assert noise.dtype == np.int64


def test_any_shape_is_noised_in_place() -> None:
    table = np.zeros((30, 4, 5), dtype=np.int64)
    add_discrete_laplace(table, Fraction(10**9), SeededSource(1))
    assert (table.reshape(-1) == discrete_laplace(Fraction(10**9), 600, SeededSource(1))).all()


def test_seeded_noise_repeats_and_system_noise_does_not() -> None:
    scale, size = Fraction(10**6), 1000
    seeded = [discrete_laplace(scale, size, SeededSource(9)) for _ in range(2)]
    assert (seeded[0] == seeded[1]).all()
    source = SeededSource(9)
    assert (discrete_laplace(scale, size, source) != discrete_laplace(scale, size, source)).any()
    system = SystemSource()
    assert (discrete_laplace(scale, size, system) != discrete_laplace(scale, size, system)).mean() > 0.99


def test_a_huge_scale_is_nearly_uniform_modulo_2_to_64() -> None:
    noise = discrete_laplace(Fraction(10) ** 300, 4000, SeededSource(6)).view(np.uint64)
    ones = np.array([np.count_nonzero(noise >> np.uint64(bit) & np.uint64(1)) for bit in range(64)])
    assert (np.abs(ones - 2000) < 5 * np.sqrt(1000)).all()


def test_random_words_are_wiped_and_their_number_is_public() -> None:
    table = digit_table(Fraction(100))

    def first(words: Words) -> None:
        words[...] = ZERO_DIGIT
        words[0, 1, 0] = table.first[1]

    stream = ScriptedStream(first, [[7]], [])
    discrete_laplace(Fraction(100), 700, ScriptedSource(stream))
    assert [words.shape for words in stream.filled] == [(2, table.rows, 512), (1,)]
    assert not any(words.any() for words in stream.filled)


def test_all_that_the_kernel_wrote_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    table = digit_table(Fraction(100))
    written: list[tuple[Numbers, ...]] = []

    def recorded(words: Numbers, first: Numbers, values: Numbers, *scratch: Numbers) -> int:
        found = add_digit_words(words, first, values, *scratch)
        assert all(array.any() for array in scratch)
        written.append((words, *scratch))
        return found

    def first(words: Words) -> None:
        words[...] = ZERO_DIGIT
        words[:, 0] = 0
        words[:, 1] = table.first[1]

    monkeypatch.setattr(sampler, "add_digit_words", recorded)
    stream = ScriptedStream(first, [[NEVER] * 100], [])
    discrete_laplace(Fraction(100), 100, ScriptedSource(stream))
    assert len(written) == 1
    assert not any(array.any() for array in written[0])


def test_words_are_wiped_when_a_draw_is_interrupted() -> None:
    seen: list[Words] = []

    def interrupted(words: Words) -> None:
        words[...] = 5
        seen.append(words)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        discrete_laplace(Fraction(3), 10, ScriptedSource(ScriptedStream(interrupted, [], [])))
    assert not seen[0].any()


def test_memory_beside_the_values_does_not_grow_with_them() -> None:
    import tracemalloc

    values = np.zeros(2**21, dtype=np.int64)
    add_discrete_laplace(values[:1], Fraction(1000), SystemSource())
    tracemalloc.start()
    add_discrete_laplace(values, Fraction(1000), SystemSource())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2**20


@pytest.mark.parametrize("scale", [0, -1, "nan", None])
def test_bad_scales_are_refused(scale: object) -> None:
    with pytest.raises(InvalidInput, match="scale"):
        discrete_laplace(scale, 3, SystemSource())  # type: ignore[arg-type]


def test_values_that_cannot_be_noised_in_place_are_refused_unquoted() -> None:
    frozen = np.arange(1234, 1244)
    frozen.flags.writeable = False
    for values in (np.array([1234.0]), np.arange(1234, 1244)[::2], frozen, [1234]):
        with pytest.raises(InvalidInput) as refusal:
            add_discrete_laplace(values, Fraction(1), SystemSource())  # type: ignore[arg-type]
        assert "1234" not in str(refusal.value)
    with pytest.raises(InvalidInput, match="size"):
        discrete_laplace(Fraction(1), -1, SystemSource())
