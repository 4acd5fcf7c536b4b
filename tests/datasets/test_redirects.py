"""A file that has moved: followed a few times, on the web alone, and what comes along is not read."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest

from local_mirror import Mirror, serving, small_files
from sparsedp.datasets._download import download
from sparsedp.datasets._web import MOST_HOPS
from sparsedp.errors import BadFile


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    small_files(monkeypatch)


def moved(place: str | None, code: int = 302) -> Callable[[BaseHTTPRequestHandler], None]:
    def elsewhere(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        if place is not None:
            handler.send_header("Location", place)
        handler.end_headers()

    return elsewhere


def refused(place: str | None) -> str:
    """What is said when a file has moved there."""
    with serving({"/file": moved(place)}) as mirror, pytest.raises(BadFile) as error:
        download(f"{mirror.address}/file", most=100, timeout=5)
    said = str(error.value)
    assert said.startswith(f"{mirror.address}/file redirects to")
    assert said.endswith(".")
    assert "\n" not in said
    return said


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("place", ["/there", "there", "http://127.0.0.1:{port}/there"])
def test_it_follows_to_where_a_file_has_moved(code: int, place: str) -> None:
    with serving({"/there": b"found"}) as mirror:
        mirror.answers = {**mirror.answers, "/file": moved(place.format(port=mirror.server_port), code)}
        assert download(f"{mirror.address}/file", most=100, timeout=5) == b"found"


def test_what_comes_along_is_not_read() -> None:
    """It never ends; whoever waits for its end gives up and has no file."""

    def elsewhere(handler: BaseHTTPRequestHandler) -> None:
        assert isinstance(handler.server, Mirror)
        moved("/there")(handler)
        handler.wfile.write(b"more")
        handler.server.over.wait()

    with serving({"/file": elsewhere, "/there": b"found"}) as mirror:
        assert download(f"{mirror.address}/file", most=100, timeout=2) == b"found"


@pytest.mark.parametrize("place", ["ftp://127.0.0.1/file", "file:///etc/hostname", "data:,found"])
def test_it_follows_to_no_other_kind_of_place(place: str) -> None:
    assert "something that is not http or https, so it is not followed" in refused(place)


@pytest.mark.parametrize("place", [None, "", "http://[bad/", "http://a..b/", "http://me:secret@127.0.0.1/", "//:80/"])
def test_places_that_are_none(place: str | None) -> None:
    said = refused(place)
    assert "an address that cannot be used (the answer was 302)" in said
    assert "secret" not in said


def test_a_few_times_and_no_more() -> None:
    hops = {f"/{hop}": moved(f"/{hop + 1}") for hop in range(MOST_HOPS)}
    with serving({**hops, f"/{MOST_HOPS}": b"found", "/round": moved("/round")}) as mirror:
        assert download(f"{mirror.address}/0", most=100, timeout=5) == b"found"
        mirror.asked.clear()
        with pytest.raises(BadFile, match="/round redirects again and again; check the address"):
            download(f"{mirror.address}/round", most=100, timeout=5)
        assert len(mirror.asked) == MOST_HOPS + 1


def test_a_proxys_password_goes_to_the_proxy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str | None] = []

    def asked(handler: BaseHTTPRequestHandler) -> None:
        told.append(handler.headers["Proxy-Authorization"])
        moved(f"{mirror.address}/there")(handler)

    def there(handler: BaseHTTPRequestHandler) -> None:
        told.append(handler.headers["Proxy-Authorization"])
        handler.send_response(200)
        handler.end_headers()

    with serving({"/there": there}) as mirror, serving({"http://data.invalid/file": asked}) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{proxy.server_port}")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        download("http://data.invalid/file", most=100, timeout=5)
    assert told == ["Basic bWU6c2VjcmV0", None]
