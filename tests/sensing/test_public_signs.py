"""The public stream is pinned: a synopsis saved today must be recovered in ten years.

If one of the literal values below ever has to change, every stored synopsis is lost: change the code instead.
"""

from hashlib import sha256

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import InvalidInput
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.hadamard import Hadamard
from sparsedp.sensing.public_signs import public_bytes, public_permutation, public_seed, public_subset, public_words


def test_pinned_values() -> None:
    assert public_bytes(2011, "test", 8).tobytes().hex() == "72e43f12f1d76223"
    assert public_words(2011, "test", 2).tolist() == [2549837769438389362, 13408511194503150512]
    assert public_permutation(2011, "test", 10).tolist() == [7, 6, 9, 3, 4, 0, 1, 8, 5, 2]
    assert public_subset(2011, "test", 6, 1000).tolist() == [54, 337, 407, 777, 932, 981]
    assert public_subset(2**64 - 1, "test", 3, 2**31).tolist() == [135225500, 1856834972, 2031377550]


def test_pinned_matrices() -> None:
    weights = 3 ** np.arange(30)
    hadamard = Hadamard(30, rows=4, seed=2011)
    assert hadamard.apply(weights).tolist() == [-102851714505650, 50140660346944, -51449373048712, 55494186102148]
    assert Hadamard(5000, rows=3, seed=1).apply(np.arange(5000) ** 3).tolist() == [
        -2179783315306,
        -1279618653602,
        3306073177792,
    ]
    assert Bernoulli(30, rows=4, seed=2011).apply(weights).tolist() == [
        -82024856277212,
        41310023988332,
        -50155362826670,
        102377508362926,
    ]


def test_stream_is_the_documented_one() -> None:
    key = sha256(b"sparsedp public randomness 1/some purpose/42").digest()
    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(1000))
    assert public_bytes(42, "some purpose", 1000).tobytes() == stream
    assert public_bytes(42, "some purpose", 100, start=160).tobytes() == stream[160:260]
    assert public_words(42, "some purpose", 3)[2] == int.from_bytes(stream[16:24], "little")


@given(st.integers(0, 2**64 - 1), st.integers(1, 200))
def test_permutation_is_the_documented_shuffle(seed: int, size: int) -> None:
    order = list(range(size))
    for draw, i in enumerate(range(size - 1, 0, -1)):
        other = int(public_words(seed, "p", size)[draw]) % (i + 1)
        order[i], order[other] = order[other], order[i]
    assert public_permutation(seed, "p", size).tolist() == order


@given(st.integers(0, 2**64 - 1), st.integers(1, 200), st.data())
def test_subset_is_the_documented_choice(seed: int, population: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, population))
    taken: set[int] = set()
    for word, last in zip(public_words(seed, "s", size), range(population - size, population), strict=True):
        place = int(word) % (last + 1)
        taken.add(last if place in taken else place)
    assert public_subset(seed, "s", size, population).tolist() == sorted(taken)


def test_every_place_is_chosen_equally_often() -> None:
    counts = np.zeros(20)
    for seed in range(4000):
        counts[public_subset(seed, "s", 5, 20)] += 1
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", None, True])
def test_seeds_that_no_file_could_hold_are_refused(seed: object) -> None:
    with pytest.raises(InvalidInput, match="seed"):
        public_seed(seed)
