"""Servers that always send a little more: given up after a while, wherever in the answer they do it."""

import gc
import select
import socket
import struct
import threading

import pytest

from local_mirror import dripping, small_files
from sparsedp.datasets import _download as module
from sparsedp.datasets._download import download
from sparsedp.datasets._web import secure_context
from sparsedp.errors import BadFile


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    small_files(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE", 0.01)


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"HTTP/1.1 ", b"2"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: a\r\n"),
    ],
    ids=["status", "header", "continue", "body", "chunk", "trailer"],
)
def test_a_drip_is_not_waited_out(start: bytes, piece: bytes) -> None:
    """The connection is cut as well, so that nothing goes on behind the caller's back."""
    with dripping(start, piece) as server:
        with pytest.raises(BadFile, match=r"/file came too slowly; try again, and check the network"):
            download(f"{server.address}/file", most=1 << 20, timeout=20)
        assert server.left.wait(10)


def test_neither_is_a_proxys(monkeypatch: pytest.MonkeyPatch) -> None:
    with dripping(b"HTTP/1.1 200 OK\r\nX: ", b"a") as proxy:
        monkeypatch.setenv("https_proxy", proxy.address)
        with pytest.raises(BadFile, match="came too slowly"):
            download("https://data.invalid/file", most=100, timeout=20)
        assert proxy.left.wait(10)
        _no_line_is_left_open()


def test_a_line_that_broke_before_its_handshake_is_closed() -> None:
    """As a proxy breaks it after it has promised a tunnel, or we do, who have waited long enough."""
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_connection(listening.getsockname()) as line:
        theirs, _ = listening.accept()
        with theirs:
            theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets
        select.select([line], [], [], 10)
        with pytest.raises(ConnectionResetError):
            secure_context().wrap_socket(line, server_hostname="data.invalid")
        _no_line_is_left_open()


def _no_line_is_left_open() -> None:
    """Whoever downloads closes its sockets: the garbage collector complains of those that it finds, here and now."""
    for thread in threading.enumerate():
        if thread.name == "sparsedp download":
            thread.join(10)
    gc.collect()
