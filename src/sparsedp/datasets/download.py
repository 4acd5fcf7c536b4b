"""Small files from the web: bounded in time and size, through the proxy that the environment names."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.version import __version__

PATIENCE = 10
"""A server that sends something now and then may take this many times its time limit for all of it."""

_PIECE = 1 << 16
_RETRY = "try again, and check the network and its proxy if that does not help"


def check_address(argument: str, address: str) -> str:
    """The address of a folder on a web server, with a slash at its end; an error does not quote it (a password)."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        usable = usable and address.isascii() and address.isprintable() and " " not in address and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInput(argument, "no web address", "give one such as https://example.org/data, without a password")
    return address if address.endswith("/") else f"{address}/"


def download(address: str, *, most: int, timeout: float) -> bytes:
    """What is at the address, in full.

    `most`: the largest answer that is read, in bytes. `timeout`: seconds of silence after which it is given up.
    """
    import urllib.error
    from http.client import HTTPException
    from urllib.request import Request

    host = urlsplit(address).netloc
    request = Request(address, headers={"User-Agent": f"sparsedp/{__version__}"})  # noqa: S310
    try:
        with _web().open(request, timeout=timeout) as answer:
            return _read(answer, address, most, time.monotonic() + PATIENCE * timeout)
    except urllib.error.HTTPError as error:
        error.close()
        raise BadFile(_answered(address, error.code)) from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise BadFile(f"{host} did not answer in {timeout:g} s; {_RETRY}.") from None
        said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        raise BadFile(f"Could not reach {host} ({' '.join(str(said).split())}); {_RETRY}.") from None
    except HTTPException:
        raise BadFile(f"{host} gave no answer that could be understood, or broke it off; {_RETRY}.") from None


def _web() -> Any:
    """What urllib opens by itself, but for files and FTP; made anew, so that it knows the proxies of this moment."""
    from urllib import request

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPRedirectHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


def _read(answer: Any, address: str, most: int, end: float) -> bytes:
    content = bytearray()
    announced = answer.length  # what is left of it; None if the server did not say
    if announced is not None and announced > most:
        raise BadFile(_too_large(address, most))
    while piece := answer.read1(_PIECE):
        content += piece
        if len(content) > most:
            raise BadFile(_too_large(address, most))
        if time.monotonic() > end:
            raise BadFile(f"{address} came too slowly; {_RETRY}.")
    if announced is not None and len(content) < announced:
        raise BadFile(f"The answer from {address} was cut short; {_RETRY}.")
    return bytes(content)


def _answered(address: str, code: int) -> str:
    if code in (404, 410):
        return f"There is no {address} (the answer was {code}); check the address, or whether the file has moved."
    if code in (401, 403, 407):
        return f"{address} may not be read (the answer was {code}); check the address and the proxy."
    return f"{address} could not be had (the answer was {code}); try again later."


def _too_large(address: str, most: int) -> str:
    return f"What is at {address} is larger than {most:,} bytes, so it is not the file; check the address."
