"""Settings shared by the whole suite: examples and noise are the same in every run, so that a failure can be repeated.

`pytest --fresh-noise` draws the noise from the system instead, as a release does: run some times, that shows which
tests pass by luck.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from repeatable_noise import noise_from

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fresh-noise", action="store_true", help="draw the noise of tests from the system")


@pytest.fixture(autouse=True)
def repeatable_noise(request: pytest.FixtureRequest) -> Iterator[None]:
    """The system's source gives keys that follow from the test's name; other processes have the true ones."""
    if request.config.getoption("--fresh-noise"):
        yield
        return
    with noise_from(request.node.nodeid):
        yield
