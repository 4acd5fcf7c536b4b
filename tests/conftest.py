"""Settings shared by the whole suite: examples and noise are the same in every run, so that a failure can be repeated.

`pytest --fresh-noise` draws the noise from the system instead, as a release does: run some times, that shows which
tests pass by luck.
"""

import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings

import repeatable_noise
from repeatable_noise import no_noise, noise_from, the_systems_noise

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


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is drawn but by a test, by a fixture, or under a name: not when a module is imported."""
    repeatable_noise.fresh = config.getoption("--fresh-noise")
    refusing = ExitStack()
    refusing.enter_context(no_noise())
    config.add_cleanup(refusing.close)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test's noise follows from its name."""
    itself = item.get_closest_marker("systems_noise")
    with the_systems_noise() if itself else noise_from(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """The noise of a fixture that tests share follows from the fixture's name, not from the test that came first."""
    if fixturedef.scope == "function":
        return (yield)
    which = getattr(request, "param_index", 0)
    with noise_from(f"{request.node.nodeid}::{fixturedef.argname}[{which}]"):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def signals_reach_what_tests_start() -> Iterator[None]:
    """Under `nohup`, or behind a script's `&`, signals are ignored, and whatever is started would ignore them too.

    What is caught is the default again in another program, so these are caught: the run itself goes on.
    """
    replaced = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            caught = signal.default_int_handler if number == signal.SIGINT else lambda *_: None
            replaced[number] = signal.signal(number, caught)
    yield
    for number, before in replaced.items():
        signal.signal(number, before)
