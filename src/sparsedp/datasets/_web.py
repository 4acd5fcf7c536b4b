"""How a web server is asked: what urllib does by itself, but without its readings that have no end."""

from __future__ import annotations

import errno
import os
import socket
import ssl
import string
from contextlib import suppress
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
from typing import IO, Any
from urllib import request
from urllib.parse import quote, urljoin, urlsplit

from sparsedp.datasets._download import is_web_address
from sparsedp.errors import BadFile

MOST_HOPS = 5


class Web:
    """Asks for one address. Made anew each time: it knows the proxies of this moment, and `cut` is for good."""

    def __init__(self) -> None:
        self._connections: list[_Plain | _Secure] = []
        self._over = False
        self._opener = request.OpenerDirector()
        # Neither files nor FTP.
        for handler in (
            request.ProxyHandler(),
            _Http(self),
            _Https(self),
            _Redirects(),
            request.HTTPDefaultErrorHandler(),
            request.HTTPErrorProcessor(),
            request.UnknownHandler(),
        ):
            self._opener.add_handler(handler)

    def ask(self, asked: request.Request, *, timeout: float) -> HTTPResponse:
        """The answer, once its head is there; `timeout`: seconds of silence after which it is given up."""
        answer: HTTPResponse = self._opener.open(asked, timeout=timeout)
        return answer

    def cut(self) -> None:
        """End every connection, whatever it is waiting for in whichever thread, and let none begin."""
        self._over = True
        for connection in self._connections:
            for line in (connection.sock, connection.line):
                with suppress(OSError, AttributeError):
                    line.shutdown(socket.SHUT_RDWR)

    def began(self, connection: _Plain | _Secure) -> None:
        """Every connection says so before it connects."""
        if self._over:
            raise TimeoutError
        self._connections.append(connection)


class _Plain(HTTPConnection):
    line: Any = None
    """The socket, which urllib takes out of the connection before the answer's body is read."""

    def connect(self) -> None:
        super().connect()
        self.line = self.sock


class _Secure(HTTPSConnection):
    line: Any = None

    def connect(self) -> None:
        super().connect()
        self.line = self.sock


class _SecureLine(ssl.SSLSocket):
    """Closes itself where it broke before its handshake: Python leaves such a socket to the garbage collector."""

    def getpeername(self) -> Any:
        try:
            return super().getpeername()
        except OSError:
            self.close()
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)) from None


def secure_context() -> ssl.SSLContext:
    """What urllib makes by itself, but for the kind of its sockets."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    context.sslsocket_class = _SecureLine
    return context


class _Http(request.HTTPHandler):
    def __init__(self, web: Web) -> None:
        super().__init__()
        self._web = web

    def http_open(self, req: request.Request) -> HTTPResponse:
        def connection(host: str, /, **settings: Any) -> _Plain:
            made = _Plain(host, **settings)
            self._web.began(made)
            return made

        return self.do_open(connection, req)


class _Https(request.HTTPSHandler):
    def __init__(self, web: Web) -> None:
        super().__init__()
        self._web = web

    def https_open(self, req: request.Request) -> HTTPResponse:
        def connection(host: str, /, **settings: Any) -> _Secure:
            made = _Secure(host, context=secure_context(), **settings)
            self._web.began(made)
            return made

        return self.do_open(connection, req)


class _Redirects(request.BaseHandler):
    """Follows a few times, to web addresses alone, and never reads what comes along: urllib reads all of it."""

    def __init__(self) -> None:
        self._hops = 0

    def http_error_302(
        self, req: request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> HTTPResponse:
        fp.close()
        here, there = req.full_url, headers.get("location")
        self._hops += 1
        if self._hops > MOST_HOPS:
            raise BadFile(f"{here} redirects again and again; check the address.")
        try:
            # The library has read the header as Latin-1.
            place = urljoin(here, quote(there or "", safe=string.punctuation, encoding="iso-8859-1"))
            scheme = urlsplit(place).scheme
        except ValueError:
            there = None
        if not there or (scheme in ("http", "https") and not is_web_address(place)):
            raise BadFile(f"{here} redirects to an address that cannot be used (the answer was {code}); check it.")
        if scheme not in ("http", "https"):
            raise BadFile(f"{here} redirects to something that is not http or https, so it is not followed; check it.")
        # Of the headers only this one: a proxy's password is among them, and the next host may be asked without it.
        kept = {name: value for name, value in req.headers.items() if name.lower() == "user-agent"}
        next_one = request.Request(place, headers=kept, unverifiable=True)  # noqa: S310
        answer: HTTPResponse = self.parent.open(next_one, timeout=req.timeout)
        return answer

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302
