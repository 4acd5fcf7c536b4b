"""Every page image in every file of a stream, read byte by byte: what somebody who takes the disk can find there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WAL_MAGIC = (0x377F0682, 0x377F0683)
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
KINDS = {2: "index interior", 5: "table interior", 10: "index leaf", 13: "table leaf"}


@dataclass(frozen=True)
class PageImage:
    """The bytes of one version of one page, and where they were. `page` is 0 for bytes that belong to no page."""

    file: str
    place: str
    page: int
    content: bytes


def files_of(path: Path) -> list[Path]:
    """The stream's file and all that lies beside it under its name: log, journal, scratch files."""
    return sorted(
        each for each in path.parent.iterdir() if each.is_file() and each.name.lstrip(".").startswith(path.name)
    )


def page_images(path: Path) -> list[PageImage]:
    """Every byte of every file of the stream is in one of these."""
    found: list[PageImage] = []
    for file in files_of(path):
        content = file.read_bytes()
        if file.name.endswith("-wal"):
            found += _in_log(file.name, content)
        elif file.name.endswith("-journal"):
            found += _in_journal(file.name, content)
        elif content.startswith(b"SQLite format 3\0"):
            found += _in_database(file.name, content)
        elif content:
            found.append(PageImage(file.name, "unknown", 0, content))
    return found


def _number(content: bytes, start: int, size: int = 4) -> int:
    return int.from_bytes(content[start : start + size], "big")


def _in_database(name: str, content: bytes) -> Iterator[PageImage]:
    stored = _number(content, 16, 2)
    size = 65536 if stored == 1 else stored
    free = _free_pages(content, size)
    for page in range(1, -(-len(content) // size) + 1):
        image = content[(page - 1) * size : page * size]
        kind = KINDS.get(image[100 if page == 1 else 0], "overflow or unused") if len(image) == size else "cut off"
        yield PageImage(name, f"page, {free.get(page, kind)}", page, image)


def _free_pages(content: bytes, size: int) -> dict[int, str]:
    """The freelist: trunk pages, each of which lists its successor and some leaves."""
    free: dict[int, str] = {}
    trunk = _number(content, 32)
    while trunk and trunk not in free:
        free[trunk] = "freelist trunk"
        start = (trunk - 1) * size
        for leaf in range(min(_number(content, start + 4), size // 4 - 2)):
            free[_number(content, start + 8 + 4 * leaf)] = "freelist leaf"
        trunk = _number(content, start)
    return free


def _in_log(name: str, content: bytes) -> Iterator[PageImage]:
    """Frames of the present log, committed or not, and stale ones of an earlier log that it has not overwritten."""
    if _number(content, 0) not in WAL_MAGIC:
        if content:
            yield PageImage(name, "log without a header", 0, content)
        return
    yield PageImage(name, "log header", 0, content[:32])
    size = _number(content, 8)
    salts = content[16:24]
    starts = range(32, len(content), 24 + size)
    commits = [at for at in starts if content[at + 8 : at + 16] == salts and _number(content, at + 4)]
    last_commit = max(commits, default=0)
    for number, at in enumerate(starts):
        state = "committed" if at <= last_commit else "uncommitted"
        if content[at + 8 : at + 16] != salts:
            state = "stale"
        yield PageImage(name, f"frame {number}, {state}", _number(content, at), content[at + 24 : at + 24 + size])


def _in_journal(name: str, content: bytes) -> Iterator[PageImage]:
    """Records of a rollback journal: the pages as they were before; one header at least, padded to a sector."""
    if not content.startswith(JOURNAL_MAGIC):
        if content:
            yield PageImage(name, "journal without a header", 0, content)
        return
    sector, size = _number(content, 20), _number(content, 24)
    yield PageImage(name, "journal header", 0, content[:sector])
    at = sector
    while at < len(content):
        if content.startswith(JOURNAL_MAGIC, at):
            yield PageImage(name, "journal header", 0, content[at : at + sector])
            at += sector
            continue
        yield PageImage(name, "journal record", _number(content, at), content[at + 4 : at + 4 + size + 4])
        at += 4 + size + 4
