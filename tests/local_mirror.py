"""A web server on this machine in place of the authors' repository, with small files whose checksums fit."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sparsedp.datasets import paper_files

FILES = {"social_network": b"1\n1\n2\n", "search_logs": b"0\n5\n0\n", "nettrace": b"30\n2\n0\n"}

Answer = bytes | Callable[[BaseHTTPRequestHandler], None]
"""The content of a file, or what the server does instead of sending one."""


class Mirror(ThreadingHTTPServer):
    """Knows what it was asked for, and what to answer; anything else is not found."""

    daemon_threads = True
    answers: Mapping[str, Answer]
    asked: list[str]
    over: threading.Event

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answering(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path)
        if answer is None:
            self.send_error(404)
        elif callable(answer):
            answer(self)
        else:
            send(self, answer)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


def send(handler: BaseHTTPRequestHandler, content: bytes, *, announced: int | None = None) -> None:
    """An answer with this content; `announced` bytes are promised, if not as many as there are."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content) if announced is None else announced))
    handler.end_headers()
    handler.wfile.write(content)


@contextmanager
def serving(answers: Mapping[str, Answer]) -> Iterator[Mirror]:
    """Run a server that answers so until the block is left."""
    server = Mirror(("127.0.0.1", 0), _Answering)
    server.answers, server.asked, server.over = answers, [], threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class Drip:
    """A server that answers each request with `start`, then with `piece` again and again until nobody listens."""

    def __init__(self, start: bytes, piece: bytes) -> None:
        self._start, self._piece = start, piece
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.over = threading.Event()
        self.left = threading.Event()
        """The one who asked has closed the connection."""

    def run(self) -> None:
        with suppress(OSError):
            connection, _ = self._listening.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(self._start)
                try:
                    while not self.over.wait(0.01):
                        connection.sendall(self._piece)
                except OSError:
                    self.left.set()

    def close(self) -> None:
        self.over.set()
        self._listening.close()


@contextmanager
def dripping(start: bytes, piece: bytes) -> Iterator[Drip]:
    """Run such a server until the block is left."""
    server = Drip(start, piece)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


@contextmanager
def mirrored(monkeypatch: pytest.MonkeyPatch, folder: os.PathLike[str]) -> Iterator[Mirror]:
    """The small files behind SPARSEDP_DATA_URL, and `folder` as the one that they are fetched to."""
    small_files(monkeypatch)
    with serving({f"/{name}.txt": content for name, content in FILES.items()}) as server:
        monkeypatch.setenv("SPARSEDP_DATA", os.fspath(folder))
        monkeypatch.setenv("SPARSEDP_DATA_URL", server.address)
        yield server


def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the small files for the right ones, and ask no proxy for them."""
    for name, content in FILES.items():
        monkeypatch.setitem(paper_files.DIGESTS, name, hashlib.sha256(content).hexdigest())
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
