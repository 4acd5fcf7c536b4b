"""Files from the web: in full or not at all, and every way it can fail has its own sentence."""

import socket
from http.server import BaseHTTPRequestHandler

import pytest

from local_mirror import Answer, Mirror, send, serving, small_files
from sparsedp.datasets._download import download
from sparsedp.errors import BadFile


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    small_files(monkeypatch)


def heard(answer: Answer, *, most: int = 100, timeout: float = 5) -> str:
    """What is said when the server does this."""
    with serving({"/file": answer}) as mirror, pytest.raises(BadFile) as error:
        download(f"{mirror.address}/file", most=most, timeout=timeout)
    said = str(error.value)
    assert said.endswith(".")
    assert "\n" not in said
    return said


def test_what_is_there_is_read_in_full() -> None:
    content = bytes(range(256)) * 1000
    with serving({"/file": content, "/empty": b""}) as mirror:
        assert download(f"{mirror.address}/file", most=len(content), timeout=5) == content
        assert download(f"{mirror.address}/empty", most=0, timeout=5) == b""


@pytest.mark.parametrize(
    ("code", "says"),
    [(404, "There is no http://"), (403, "may not be read (the answer was 403)"), (503, "was 503); try again later")],
)
def test_an_answer_that_is_no_file(code: int, says: str) -> None:
    assert says in heard(lambda handler: handler.send_error(code))


def test_too_large_by_announcement_is_not_even_read() -> None:
    assert "larger than 100 bytes" in heard(lambda handler: send(handler, b"", announced=101))


def test_too_large_without_announcement_is_not_read_on() -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"more" * 1000)
        except OSError:
            pass

    assert "larger than 100 bytes" in heard(endless)


def test_cut_short() -> None:
    assert "was cut short" in heard(lambda handler: send(handler, b"half", announced=8))


def test_cut_short_between_pieces() -> None:
    def broken(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf")

    assert "broke it off" in heard(broken)


def test_no_http_at_all() -> None:
    def other(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")

    assert "could be understood" in heard(other)


def test_silence_is_not_waited_out() -> None:
    def silent(handler: BaseHTTPRequestHandler) -> None:
        assert isinstance(handler.server, Mirror)
        handler.server.over.wait()

    with serving({"/file": silent}) as mirror:
        with pytest.raises(BadFile, match=r"did not answer in 0\.05 s; try again"):
            download(f"{mirror.address}/file", most=100, timeout=0.05)
        mirror.over.set()


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(BadFile, match=rf"Could not reach 127.0.0.1:{port} \(Connection refused\); try again"):
        download(f"http://127.0.0.1:{port}/file", most=100, timeout=5)


def test_no_such_host_says_what_the_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(BadFile, match=r"Could not reach data.invalid \(Name or service not known\)"):
        download("https://data.invalid/file", most=100, timeout=5)


@pytest.mark.parametrize("proxy", ["http://a..b:3", "http:/proxy", "http://proxy:port", f"http://{'a' * 70}:3"])
def test_a_proxy_whose_address_cannot_be_used(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(
        BadFile, match=r"Could not ask data\.invalid: .* or that of the proxy .*; check both\.$"
    ) as error:
        download("http://data.invalid/file", most=100, timeout=5)
    assert proxy not in str(error.value)


def test_the_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"http://data.invalid/file": b"through the proxy"}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        assert download("http://data.invalid/file", most=100, timeout=5) == b"through the proxy"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with serving({"/file": b"past it"}) as mirror:
            assert download(f"{mirror.address}/file", most=100, timeout=5) == b"past it"
    assert proxy.asked == ["http://data.invalid/file"]
