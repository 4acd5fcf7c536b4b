"""Random bits: fresh for every draw, repeatable only when seeded, gone when the draw is over."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import (
    BitStream,
    NoiselessSource,
    RandomSource,
    SeededSource,
    SystemSource,
    protects,
)

FORK = """
import os
from fractions import Fraction
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SystemSource
source = SystemSource()
discrete_laplace(Fraction(10**9), 8, source)
child = os.fork()
noise = discrete_laplace(Fraction(10**9), 8, source).tolist()
if child:
    os.waitpid(child, 0)
print(noise, flush=True)
"""


pytestmark = pytest.mark.systems_noise


class CountingSource(RandomSource):
    def __init__(self) -> None:
        self.keys: list[bytes] = []

    def key(self) -> bytes:
        self.keys.append(SystemSource().key())
        return self.keys[-1]


def keystream(key: bytes, size: int) -> bytes:
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(size))


@pytest.mark.parametrize("size", [1, 17, 2**17 + 5])
def test_fill_gives_the_keystream(size: int) -> None:
    key = bytes(range(32))
    words = np.zeros(size, dtype=np.uint16)
    BitStream(key).fill(words)
    assert words.tobytes() == keystream(key, 2 * size)


def test_fill_goes_on_where_it_stopped() -> None:
    stream, key = BitStream(bytes(range(32))), bytes(range(32))
    first, second = np.zeros((3, 5), dtype=np.uint16), np.zeros(4, dtype=np.uint64)
    stream.fill(first)
    stream.fill(second)
    assert first.tobytes() + second.tobytes() == keystream(key, 62)


def test_bits_are_uniform_integers_of_the_asked_width() -> None:
    stream = BitStream(bytes(32))
    for count in (1, 7, 8, 13, 64, 65):
        drawn = [stream.bits(count) for _ in range(400)]
        assert 0 <= min(drawn) < 2**count // 2 <= max(drawn) < 2**count


def test_a_closed_stream_gives_nothing() -> None:
    with SystemSource().draw() as stream:
        stream.bits(8)
    with pytest.raises(RuntimeError, match="closed"):
        stream.bits(8)
    with pytest.raises(RuntimeError, match="closed"):
        stream.fill(np.zeros(1, dtype=np.uint16))


def test_every_draw_takes_one_fresh_key() -> None:
    source = CountingSource()
    for draws in range(1, 4):
        discrete_laplace(Fraction(5), 3000, source)
        assert len(set(source.keys)) == len(source.keys) == draws


def test_a_stream_is_closed_when_the_draw_fails() -> None:
    with pytest.raises(ZeroDivisionError), SystemSource().draw() as stream:
        raise ZeroDivisionError
    with pytest.raises(RuntimeError, match="closed"):
        stream.bits(1)


def test_the_system_source_asks_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(100, 100 + size)))
    assert SystemSource().key() == bytes(range(100, 132))


def test_the_system_source_never_repeats() -> None:
    source = SystemSource()
    assert len({source.key() for _ in range(1000)}) == 1000
    assert protects(source)


def test_a_seeded_source_repeats_and_is_not_private() -> None:
    first, second, other = SeededSource(7), SeededSource(7), SeededSource(8)
    assert [first.key() for _ in range(3)] == [second.key() for _ in range(3)]
    assert len({first.key(), second.key(), other.key(), first.key()}) == 3
    assert not protects(first)


def test_a_fork_does_not_repeat_noise() -> None:
    run = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    child, parent = run.stdout.split("\n")[:2]
    assert parent.startswith("[")
    assert child.startswith("[")
    assert parent != child


def test_nobody_can_claim_to_protect() -> None:
    class Pretender(SystemSource):
        private = True

        def key(self) -> bytes:
            return bytes(32)

    assert not protects(Pretender())


@pytest.mark.parametrize("scale", ["1/1000", "1/3", "1", "7/2", "1000", "1000000007/3", "36028797018963968"])
def test_noiseless_source_makes_every_noise_zero_and_protects_nobody(scale: str) -> None:
    assert not discrete_laplace(Fraction(scale), 5000, NoiselessSource()).any()
    assert not protects(NoiselessSource())
