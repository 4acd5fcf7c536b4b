"""Small files from the web: bounded in time and size, through the proxy that the environment names."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.version import __version__

if TYPE_CHECKING:
    from sparsedp.datasets._web import Web


PATIENCE = 10.0
"""All of it, from the name of the host to the last byte, may take this many times the limit of silence."""

_PIECE = 1 << 16
_RETRY = "try again, and check the network and its proxy if that does not help"


def download(address: str, *, most: int, timeout: float) -> bytes:
    """What is at the address (see `check_address`), in full.

    `most`: the largest answer that is read, in bytes. `timeout`: seconds of silence after which it is given up; a
    server that sends something now and then has ten times as long for all of it.
    """
    from sparsedp.datasets._web import Web

    web = Web()
    ended = threading.Event()
    found: list[bytes | BaseException] = []

    def work() -> None:
        try:
            found.append(_asked(web, address, most, timeout))
        except BaseException as error:
            found.append(error)
        finally:
            ended.set()

    # In a thread of its own, for a limit of silence starts anew with every byte, wherever it is waited for.
    threading.Thread(target=work, name="sparsedp download", daemon=True).start()
    try:
        in_time = ended.wait(PATIENCE * timeout)
    finally:
        web.cut()  # after an interruption too; where all went well nothing is left to cut
    if not in_time:
        raise BadFile(f"{address} came too slowly; {_RETRY}.")
    (outcome,) = found
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _asked(web: Web, address: str, most: int, timeout: float) -> bytes:
    import urllib.error
    from http.client import HTTPException, InvalidURL
    from urllib.request import Request

    host = urlsplit(address).netloc
    request = Request(address, headers={"User-Agent": f"sparsedp/{__version__}"})  # noqa: S310
    try:
        with web.ask(request, timeout=timeout) as answer:
            return _read(answer, address, most)
    except urllib.error.HTTPError as error:
        error.close()
        raise BadFile(_answered(address, error.code)) from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise BadFile(f"{host} did not answer in {timeout:g} s; {_RETRY}.") from None
        said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        raise BadFile(f"Could not reach {host} ({' '.join(str(said).split())}); {_RETRY}.") from None
    except (ValueError, InvalidURL):
        # The address was looked at before; the proxy's was not. It is not quoted, for it can hold a password.
        raise BadFile(
            f"Could not ask {host}: its address, or that of the proxy which http_proxy or https_proxy names, cannot be "
            "used; check both."
        ) from None
    except HTTPException:
        raise BadFile(f"{host} gave no answer that could be understood, or broke it off; {_RETRY}.") from None


def _read(answer: Any, address: str, most: int) -> bytes:
    content = bytearray()
    announced = answer.length  # what is left of it; None if the server did not say
    if announced is not None and announced > most:
        raise BadFile(_too_large(address, most))
    while piece := answer.read1(_PIECE):
        content += piece
        if len(content) > most:
            raise BadFile(_too_large(address, most))
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


# What counts as an address on the web.


def is_web_address(address: str) -> bool:
    """Whether a web server can be asked for it: http or https, a host that can exist, no password, no odd letters."""
    try:
        parts = urlsplit(address)
        # What the system is asked for is this form of the name; it refuses empty parts and parts that are too long.
        (parts.hostname or "").encode("idna")
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        return usable and address.isascii() and address.isprintable() and " " not in address and parts.port != 0
    except ValueError:
        return False


def check_address(argument: str, address: str) -> str:
    """The address of a folder on a web server, with a slash at its end; an error does not quote it (a password)."""
    if not is_web_address(address):
        raise InvalidInput(argument, "no web address", "give one such as https://example.org/data, without a password")
    return address if address.endswith("/") else f"{address}/"
