"""Where random bits come from: the operating system, through a cipher whose key lives for one draw only."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

KEY_BYTES = 32

# The plaintext whose encryption is the keystream; small enough to stay in cache beside its output.
_ZEROS = bytes(1 << 18)


_FROM_ZERO = modes.CTR(bytes(16))


class BitStream:
    """Random words from AES-256 in counter mode. Open one for a draw, close it when the draw is done."""

    def __init__(self, key: bytes) -> None:
        # The counter may start at zero because no key is ever used for two streams.
        self._encryptor: CipherContext | None = Cipher(algorithms.AES(key), _FROM_ZERO).encryptor()

    def fill(self, words: npt.NDArray[np.unsignedinteger]) -> None:
        """Overwrite a contiguous array of unsigned integers with fresh random words."""
        keystream = self._opened()
        view = words.reshape(-1).view(np.uint8).data
        zeros = memoryview(_ZEROS)
        for start in range(0, len(view), len(_ZEROS)):
            part = view[start : start + len(_ZEROS)]
            keystream.update_into(zeros[: len(part)], part)

    def bits(self, count: int) -> int:
        """A uniform integer of `count` bits."""
        size = (count + 7) // 8
        return int.from_bytes(self._opened().update(bytes(size)), "little") >> (8 * size - count)

    def close(self) -> None:
        """Drop the key: the cipher library overwrites its copy, and the stream gives nothing more."""
        self._encryptor = None

    def _opened(self) -> CipherContext:
        if self._encryptor is None:
            raise RuntimeError("This bit stream is closed: its draw is over; open another with `source.draw()`.")
        return self._encryptor


class RandomSource(ABC):
    """Opens a fresh bit stream for every draw."""

    @abstractmethod
    def key(self) -> bytes:
        """32 bytes, never returned twice."""

    @contextmanager
    def draw(self) -> Iterator[BitStream]:
        """One draw: a fresh key in, the key and every unused word dropped at the end."""
        stream = BitStream(self.key())
        try:
            yield stream
        finally:
            stream.close()


class SystemSource(RandomSource):
    """The operating system's cryptographic generator: what every private release uses."""

    def key(self) -> bytes:
        """Fresh from the operating system, so a forked child or a restored snapshot never repeats one."""
        return os.urandom(KEY_BYTES)


def fresh_word() -> int:
    """64 bits of the operating system's: a seed that nobody chose, or half a secret that puts records in order."""
    with SystemSource().draw() as stream:
        return stream.bits(64)


class SeededSource(RandomSource):
    """FOR TESTS ONLY: repeatable noise that protects nobody; whatever it makes is marked `private=False`."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def key(self) -> bytes:
        """The next key of a repeatable sequence."""
        return self._generator.bytes(KEY_BYTES)


class NoiselessSource(RandomSource):
    """FOR TESTS ONLY: bits that make every noise zero; whatever it makes is marked `private=False`.

    All bits are ones. A sampler sets a digit of the noise where a uniform number lies below its probability, and
    all ones are below nothing but one.
    """

    def key(self) -> bytes:
        """Not used: there is nothing random to encrypt."""
        return bytes(KEY_BYTES)

    @contextmanager
    def draw(self) -> Iterator[BitStream]:
        """A stream of ones."""
        yield _Ones(self.key())


class _Ones(BitStream):
    def fill(self, words: npt.NDArray[np.unsignedinteger]) -> None:
        words.fill(np.iinfo(words.dtype).max)

    def bits(self, count: int) -> int:
        return (1 << count) - 1


def protects(source: RandomSource) -> bool:
    """Whether what the source draws protects anybody: only the system's own does; no subclass can claim to."""
    return type(source) is SystemSource
