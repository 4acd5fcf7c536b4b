"""Time zones by their IANA names, and the wall clock of one at many instants."""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.axes.months import DAY
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.moments import EPOCH, MICROSECOND

NO_TIME = -(2**63)
"""What stands for a missing or unreadable time: datetime64's own mark."""

SECOND = 1_000_000
"""In microseconds. No zone changes its offset within a second."""

IN_UTC = ("UTC", "Etc/UTC")
"""Zones whose wall clock shows UTC."""

_WANTED = "give the IANA name of a time zone, such as 'Europe/Berlin' or 'UTC'"
_OF_THE_MACHINE = ("localtime", "posixrules", "Factory")
"""Names that some machines have, and that mean another zone on each."""


def checked_zone(zone: object) -> str | None:
    """The name of a zone; None for none."""
    if zone is None:
        return None
    if isinstance(zone, tzinfo):
        zone = "UTC" if zone is UTC else getattr(zone, "key", zone)
    if not isinstance(zone, str):
        raise InvalidInput("zone", f"of type {type(zone).__name__}", _WANTED)
    try:
        if zone not in _OF_THE_MACHINE:
            return ZoneInfo(zone).key
    except (KeyError, ValueError, OSError):  # no such file, no path within the folder, a folder
        pass
    raise UnknownName("zone", zone[:60], available_timezones(), _WANTED)


def wall_clock(instants: Integers, zone: str) -> Integers:
    """What the clocks of a zone show at each instant, both in microseconds since 1970; NO_TIME outside years 1–9999."""
    known = np.flatnonzero(instants != NO_TIME)
    moments = instants.ravel()[known]
    offsets, sure = _offsets(moments, DAY, zone)
    if not sure.all():
        offsets[~sure] = _offsets(moments[~sure], SECOND, zone)[0]
    walls = np.full(instants.size, NO_TIME, dtype=np.int64)
    walls[known] = np.where(offsets == NO_TIME, NO_TIME, moments + offsets)
    return walls.reshape(instants.shape)


def _offsets(moments: Integers, span: int, zone: str) -> tuple[Integers, Integers]:
    """The offset at the begin of each moment's span, and whether it is the same at the span's end.

    Spans are far fewer than moments: one look in the zone's table for each, not for every record.
    """
    info = ZoneInfo(zone)
    spans, places = np.unique(moments // span, return_inverse=True)
    begins = np.array([_offset(one * span, info) for one in spans.tolist()], dtype=np.int64)
    ends = np.array([_offset((one + 1) * span, info) for one in spans.tolist()], dtype=np.int64)
    return begins[places], (begins == ends)[places]


def _offset(moment: int, info: ZoneInfo) -> int:
    try:
        local = (EPOCH + moment * MICROSECOND).replace(tzinfo=UTC).astimezone(info)
    except OverflowError:
        return NO_TIME
    return (local.replace(tzinfo=None) - EPOCH) // MICROSECOND - moment
