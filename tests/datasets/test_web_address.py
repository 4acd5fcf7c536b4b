"""What is taken for an address on the web."""

import pytest

from sparsedp.datasets._download import check_address
from sparsedp.errors import InvalidInput


@pytest.mark.parametrize(
    "address",
    [
        "",
        "data",
        "file:///data",
        "ftp://host/data",
        "http://",
        "https://me:secret@host/data",
        "http://[half/data",
        "http://host:port/data",
        "http://host/a b",
        "http://host/\n",
        "http://höst/",
        "http://a..b",
        "http://.",
        "http://.host/data",
        f"http://{'a' * 70}.org/data",
    ],
)
def test_what_is_no_web_address_is_refused_unquoted(address: str) -> None:
    with pytest.raises(InvalidInput, match="SPARSEDP_DATA_URL is no web address; give one such as") as error:
        check_address("SPARSEDP_DATA_URL", address)
    assert "secret" not in str(error.value)


def test_an_address_ends_in_a_slash() -> None:
    assert check_address("source", "http://host/data") == check_address("source", "http://host/data/")
    assert check_address("source", "https://host:8443") == "https://host:8443/"


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:80/", "http://[::1]:80/", "http://host.example./", "http://a_b/"]
)
def test_hosts_that_can_exist(address: str) -> None:
    assert check_address("source", address) == address
