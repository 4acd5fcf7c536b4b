"""Parts of blocks: as first cells and as letters they are the same, and nothing else is taken for parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import InvalidInput
from sparsedp.sensing import sensing_from
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.parts_of_blocks import cut_blocks, from_letters, to_letters

LETTERS = "abcdefgh"


@st.composite
def letters_of_blocks(draw: st.DrawFn) -> tuple[str, int, int]:
    """Letters, the cells of a block, and all of them; the last block may be cut by the end. The first letter may be a
    capital, if the first part is not all there is of its block, and has several cells.
    """
    power = draw(st.integers(0, 7))
    blocks = draw(st.integers(1, 12))
    n = (blocks - 1) * 2**power + draw(st.integers(1, 2**power))
    text = "".join(draw(st.sampled_from(LETTERS[: power + 1])) for _ in range(blocks))
    if 1 < 2 ** LETTERS.index(text[0]) < min(n, 2**power) and draw(st.booleans()):
        text = text[0].upper() + text[1:]
    return text, 2**power, n


@given(letters_of_blocks())
def test_parts_by_a_plain_loop(told: tuple[str, int, int]) -> None:
    letters, block, n = told
    expected = []
    for number, letter in enumerate(letters):
        end = min((number + 1) * block, n)
        size = 2 ** LETTERS.index(letter.lower())
        expected += list(range(number * block, end, size))
        if letter.isupper():
            expected += [2**power for power in range(LETTERS.index(letter.lower()))]
    expected.sort()
    assert from_letters(letters, block, n).tolist() == expected


@given(letters_of_blocks())
def test_a_description_reads_back_as_the_same_sums(told: tuple[str, int, int]) -> None:
    letters, block, n = told
    sensing = GroupSums(n, [from_letters(letters, block, n), block, n])
    described = sensing.describe()
    assert described["layers"][0][1:-1] == letters[1:-1], "of parts that the end cuts the size may not be told"
    assert from_letters(described["layers"][0], block, n).tolist() == sensing.layers[0]
    again = sensing_from(described)
    assert again == sensing
    assert isinstance(again, GroupSums)
    np.testing.assert_array_equal(again.materialize(), sensing.materialize())


@given(st.lists(st.booleans(), min_size=32, max_size=32), st.sampled_from([4, 8]))
def test_other_groups_have_no_letters(begins: list[bool], block: int) -> None:
    """Any groups: they have letters if and only if they are parts of one size, a power of two, in every block; or if
    they are so once what halves the first of them is taken away.
    """
    starts = np.flatnonzero([place % block == 0 or begin for place, begin in enumerate(begins)])
    letters = to_letters(starts, block, 32)
    sizes = [np.diff(starts[starts // block == number], append=(number + 1) * block) for number in range(32 // block)]
    first, *others = [each.tolist() for each in sizes]
    cut = [[1, *(2**at for at in range(power)), *[2**power] * (block // 2**power - 1)] for power in (1, 2)]
    alike = [len(set(each)) == 1 and each[0] in (1, 2, 4, 8) for each in (first, *others)]
    assert (letters is not None) == ((alike[0] or first in cut) and all(alike[1:]))
    if letters is not None:
        assert from_letters(letters, block, 32).tolist() == starts.tolist()


def test_groups_across_blocks_and_blocks_of_odd_sizes_have_no_letters() -> None:
    assert to_letters(np.array([0, 8]), 4, 16) is None
    assert to_letters(np.array([0, 6]), 6, 12) is None
    assert to_letters(np.array([0, 2**26]), 2**26, 2**27) is None


def test_parts_that_a_file_lists_stay_listed() -> None:
    """Synopses are stored with the digest of their description: opened, they have to say what they said."""
    listed = {"name": "group_sums", "n": 16, "layers": [[0, 4, 8, 9, 10, 11, 12, 13, 14, 15], 8, 16]}
    assert sensing_from(listed).describe() == listed
    parts = np.array(listed["layers"][0])  # type: ignore[index]
    assert GroupSums(16, [parts, 8, 16]).describe()["layers"][0] == "ca"


def test_half_a_million_parts_take_a_letter_a_block() -> None:
    starts = cut_blocks(np.repeat([1, 64], 2**13), 64, 2**20)
    assert len(starts) > 2**19
    assert GroupSums(2**20, [starts, 64]).describe()["layers"] == ["a" * 2**13 + "g" * 2**13, 64]


@pytest.mark.parametrize(("letters", "n"), [("Ab", 8), ("bB", 8), ("Zb", 8), ("Cb", 8), ("C", 4), ("ß", 4), ("Éb", 8)])
def test_capitals_that_say_nothing_are_refused(letters: str, n: int) -> None:
    """Of the first block alone, and of a part of two cells at least that is not all there is."""
    with pytest.raises(InvalidInput, match="layers"):
        from_letters(letters, 4, n)
