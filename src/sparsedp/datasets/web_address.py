"""What counts as an address on the web."""

from __future__ import annotations

from urllib.parse import urlsplit

from sparsedp.errors import InvalidInput


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
