"""The lock is of what pyproject.toml declares: `make test` runs with versions that a user may have."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCK = (ROOT / "requirements" / "test.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKED_EXTRAS = ("accounting", "opendp", "plot", "demo", "test", "develop")
DECLARED = [
    Requirement(each)
    for group in (PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in LOCKED_EXTRAS))
    for each in group
    if not each.startswith("sparsedp[")
]


def locked() -> dict[str, list[Requirement]]:
    """By name; there are several of a name where versions differ by Python's."""
    found: dict[str, list[Requirement]] = {}
    for line in re.findall(r"^[A-Za-z0-9].*==.*$", LOCK, re.MULTILINE):
        requirement = Requirement(line.removesuffix("\\"))
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.mark.parametrize("declared", DECLARED, ids=str)
def test_what_is_declared_is_locked_within_its_bounds(declared: Requirement) -> None:
    for each in locked()[canonicalize_name(declared.name)]:
        (pin,) = each.specifier
        assert pin.version in declared.specifier, f"the lock has {each}: run `make lock`"


@pytest.mark.parametrize("declared", DECLARED, ids=str)
def test_what_is_declared_has_a_bound_that_can_be_tested(declared: Requirement) -> None:
    """`make test-lowest` takes the lowest version that is allowed; without a bound that would be the first ever."""
    assert {each.operator for each in declared.specifier} & {">=", "=="}


def test_every_package_is_pinned_and_hashed_and_no_place_is_named() -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == sum(map(len, locked().values())) > 50
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", entry, re.MULTILINE), entry.splitlines()[0]
    assert not re.search(r"://|@|index|find-links", LOCK)
