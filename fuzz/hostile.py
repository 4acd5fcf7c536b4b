"""What nobody meant: numbers, texts and nested things for places that hold others, and damaged bytes."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

NUMBERS: tuple[int | float, ...] = (
    *(0, 1, -1, 2, 3, 7, 255, 256, 65_536, 2**24, 2**26, 2**28, 2**31 - 1, 2**31, 2**32, 2**40, 2**53 + 1, 2**62),
    *(2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, -(10**30), 10**400, 10**4400),
    *(0.5, -0.5, 1e-9, 1e9, 1e15, 1e16, 1e300, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf, -0.0),
)
TEXTS: tuple[str, ...] = (
    *("", " ", "nan", "NaN", "inf", "-inf", "Infinity", "1e300000000", "-1e300000000", "1e-300000000", "1e400", "1/0"),
    *("0/1", "1/3", "-1", "-1/2", "0", "0.0", "1.", ".5", "1e0", "0x10", "1_000", "1,5", "٣", "½", "+1", "1 2", "1e"),
    *("9" * 30, "9" * 500, "9" * 5000, "0." + "3" * 300, "1/" + "7" * 200, "1e99999999999999999999"),
    *("\x1b[2K\rsigned by the Ministry", "\x1b]0;title\x07", "\0", "a\0b", "a\nb", "\r", "\t", "\x7f", "\x9b31m"),
    *("\u202eevil", "\ufeff", "\ud800", "\udcff", "\U0001f600", "ﬁ", "İ", "ß", "e\u0301", "x" * 10_000, "é" * 300),
    *("../up", "/dev/null", "/dev/full", "/proc/self/mem", "nowhere/at/all", "-", "--", "-o", "~", "*", "?", "[", "{}"),
    *("true", "null", "None", "[]", "{", '"', "'", "`", "$(id)", "%s%n%x", "{0}", "{x.__class__}", "<script>", "&amp;"),
    *("2024-02-30", "0000-00-00", "0001-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "2024-W01", "24:00"),
    *("2024-01-01T00:00:00.0000001", "1h", "0h", "-1d", "1e9d", "1mo", "UTC", "Mars/Olympus", "Europe/Berlin"),
    *("count", "stderr", "release", "synopsis", "direct", "laplace", "adaptive", "calendar", "categories", "identity"),
)
FRACTIONS = ("1", "1/2", "1/10", "10", "1000000", "1/1000000", "3/7", "1e100", "1e-100", "1" + "0" * 99, "2/1")


def value(draw: random.Random) -> Any:
    """Something that JSON can hold, of any type."""
    return draw.choice(
        (
            lambda: draw.choice(NUMBERS),
            lambda: draw.choice(TEXTS),
            lambda: draw.choice(FRACTIONS),
            lambda: draw.choice((None, True, False)),
            lambda: [draw.choice(NUMBERS) for _ in range(draw.choice((0, 1, 2, 3, 40)))],
            lambda: [draw.choice(TEXTS) for _ in range(draw.choice((1, 2, 3)))],
            lambda: {draw.choice(TEXTS): draw.choice(NUMBERS)},
            lambda: draw.choice(([], {}, [[]], [{}], {"": {}}, {"name": {}}, {"name": None})),
            lambda: list(range(draw.choice((10, 1000, 20_000)))),
            lambda: nested(draw),
        )
    )()


def nested(draw: random.Random) -> Any:
    """Lists or tables within one another, up to deeper than a reader's stack."""
    inner: Any = draw.choice((None, 1, "x"))
    lists = draw.random() < 0.5
    for _ in range(draw.choice((3, 33, 200, 450, 900, 1500))):
        inner = [inner] if lists else {"name": inner}
    return inner


def text_of(draw: random.Random, most: int = 12) -> str:
    """A short text of any characters."""
    ranges = ((32, 126), (0, 31), (128, 255), (0x300, 0x36F), (0x4E00, 0x4E80), (0x1F600, 0x1F640), (0xDC80, 0xDCFF))
    return "".join(chr(draw.randint(*draw.choice(ranges))) for _ in range(draw.randint(0, most)))


# ---- trees: what JSON and TOML hold


def mutated_tree(draw: random.Random, tree: Any, pool: dict[str, list[Any]] | None = None) -> Any:
    """The tree with one to four places changed; `pool`: what other trees have under the same names."""
    changed = deepcopy(tree)
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        places = list(_places(changed))
        if not places:
            return value(draw)
        holder, name = draw.choice(places)
        _change(draw, holder, name, pool or {})
    return changed


def _places(tree: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    if depth > 12 or not isinstance(tree, dict | list):
        return
    entries = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree))[:60]
    for name, entry in entries:
        yield tree, name
        yield from _places(entry, depth + 1)


def _change(draw: random.Random, holder: Any, name: Any, pool: dict[str, list[Any]]) -> None:
    old = holder[name]
    known = pool.get(name, []) if isinstance(name, str) else []
    how = draw.random()
    if known and how < 0.25:
        holder[name] = deepcopy(draw.choice(known))
    elif how < 0.45:
        holder[name] = near(draw, old)
    elif how < 0.80:
        holder[name] = value(draw)
    elif how < 0.90:
        del holder[name]
    elif isinstance(holder, dict):
        other = draw.choice((draw.choice(TEXTS), draw.choice([*pool] or ["name"])))
        holder[other] = holder.pop(name) if draw.random() < 0.5 else value(draw)
    else:
        holder.insert(draw.randint(0, len(holder)), deepcopy(old) if draw.random() < 0.5 else value(draw))


def near(draw: random.Random, old: Any) -> Any:
    """Something of the same type, a little or far off: what gets past the check of the type."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        as_float = float(old) if abs(old) < 2**1000 else math.inf
        return draw.choice((old + 1, old - 1, -old, old * 2, old * 1000, old // 2, 0, 2**20, 2**27, 2**31, as_float))
    if isinstance(old, float):
        return draw.choice((old * 2, -old, old + 1e-9, math.nan, math.inf, 0.0, 1e300, 5e-324))
    if isinstance(old, str):
        if old[:1].isdigit() and draw.random() < 0.5:
            return draw.choice(FRACTIONS)
        return draw.choice((old + "x", old[:-1], old.upper(), old * 50, f"{old}\n", f"\x1b[31m{old}", old[::-1]))
    if isinstance(old, list):
        return draw.choice((old[::-1], old[:-1], old + old, old * 40, [old], draw.sample(old, len(old))))
    if isinstance(old, dict):
        return draw.choice(
            (list(old), list(old.items()), {**old, "more": 1}, {"name": old}, dict(list(old.items())[1:]))
        )
    return draw.choice((0, "", []))


def pool_of(trees: Sequence[Any]) -> dict[str, list[Any]]:
    """What the trees have under each name."""
    pool: dict[str, list[Any]] = {}
    for tree in trees:
        for holder, name in _places(tree):
            if isinstance(name, str):
                pool.setdefault(name, []).append(holder[name])
    return pool


def json_text(draw: random.Random, tree: Any) -> str:
    """The tree as JSON, now and then with a name twice, or with what only some readers take."""
    text = json.dumps(tree, ensure_ascii=draw.random() < 0.5, sort_keys=True)
    if draw.random() < 0.06:
        braces = [place for place, sign in enumerate(text) if sign == "{"]
        if braces:
            place = draw.choice(braces) + 1
            rest = text[place:].lstrip()
            comma = "" if rest.startswith("}") else ", "
            name = draw.choice(("kind", "format", "name", "epsilon", "digest", "cells"))
            extra = f'"{name}": {json.dumps(value(draw))}'
            text = f"{text[:place]}{extra}{comma}{rest}"
    if draw.random() < 0.02:
        text = text[: draw.randint(0, len(text))]
    return text


# ---- bytes


def damaged(draw: random.Random, content: bytes, others: Sequence[bytes] = ()) -> bytes:
    """The bytes with some of them flipped, cut, doubled, moved, or overwritten by numbers that matter to readers."""
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        size = len(changed)
        if size == 0:
            break
        # Footers and headers decide what the rest means: they are hit as often as all that lies between.
        place = draw.choice(
            (draw.randrange(size), draw.randrange(min(size, 128)), size - 1 - draw.randrange(min(size, 600)))
        )
        _DAMAGES[draw.randrange(len(_DAMAGES))](draw, changed, place)
    if others and draw.random() < 0.05:
        other = draw.choice(others)
        cut = draw.randrange(len(changed) + 1)
        changed[cut:] = other[min(cut, len(other)) :]
    return bytes(changed)


def _flip(draw: random.Random, content: bytearray, place: int) -> None:
    content[place] ^= 1 << draw.randrange(8)


def _overwrite(draw: random.Random, content: bytearray, place: int) -> None:
    width = draw.choice((1, 2, 4, 8))
    number = draw.choice((0, 1, -1, 2 ** (8 * width - 1) - 1, -(2 ** (8 * width - 1)), draw.getrandbits(8 * width - 1)))
    content[place : place + width] = number.to_bytes(width, draw.choice(("little", "big")), signed=True)


def _cut(draw: random.Random, content: bytearray, place: int) -> None:
    del content[place : place + draw.choice((1, 2, 8, 64, 512, 4096))]


def _end(draw: random.Random, content: bytearray, place: int) -> None:
    del content[place:]


def _double(draw: random.Random, content: bytearray, place: int) -> None:
    length = draw.choice((1, 4, 64, 1024))
    content[place:place] = content[place : place + length]


def _insert(draw: random.Random, content: bytearray, place: int) -> None:
    content[place:place] = draw.choice((draw.randbytes(draw.choice((1, 8, 100))), bytes(draw.choice((1, 64, 4096)))))


_DAMAGES: tuple[Callable[[random.Random, bytearray, int], None], ...] = (
    *(_flip, _flip, _flip, _flip, _overwrite, _overwrite, _overwrite),
    *(_cut, _end, _double, _insert),
)
