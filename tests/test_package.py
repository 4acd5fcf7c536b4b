"""The package as a whole: its public names, how light it is to import, and that every mechanism has its proof."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sparsedp as sdp
from sparsedp import errors, streams
from sparsedp.axes import AXES

ROOT = Path(__file__).parent.parent
SOURCE = Path(sdp.__file__).parent


def test_every_public_name_is_there_and_explained() -> None:
    for name in sdp.__all__:
        thing = getattr(sdp, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__doc__, f"{name} has no docstring"
    with pytest.raises(AttributeError):
        sdp.Axis  # type: ignore[attr-defined]  # noqa: B018


def test_every_mechanism_stream_and_axis_is_public() -> None:
    classes = [kind for kind in vars(streams).values() if inspect.isclass(kind) and issubclass(kind, sdp.Stream)]
    for kind in (*sdp.MECHANISMS.values(), *classes, *AXES.values()):
        assert inspect.isclass(kind)
        named = f"name {kind.__name__} in __init__.pyi, and it is sparsedp.{kind.__name__}"
        assert getattr(sdp, kind.__name__, None) is kind, named


def test_every_error_is_public_and_in_the_tree() -> None:
    for name, thing in inspect.getmembers(errors, inspect.isclass):
        if thing.__module__ == errors.__name__:
            assert issubclass(thing, sdp.SparsedpError)
            assert name in sdp.__all__
            assert name in (errors.__doc__ or "")


@pytest.mark.parametrize("name", sdp.MECHANISMS)
def test_every_mechanism_has_its_proof_beside_it(name: str) -> None:
    mechanism = sdp.MECHANISMS[name]
    document = Path(inspect.getfile(mechanism)).with_suffix(".md")
    assert document.is_file()
    text = document.read_text()
    assert "**Claim" in text
    assert "**Proof" in text
    assert f"mechanisms/{document.name}" in (mechanism.__doc__ or "")


STREAMS = [sdp.ContinualAdaptive, sdp.ContinualCompressive, sdp.ContinualCounter, sdp.ContinualDifference]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_every_stream_names_its_proof(stream: type) -> None:
    (named,) = set(re.findall(r"streams/\w+\.md", stream.__doc__ or ""))
    text = (Path(inspect.getfile(stream)).parent.parent / named).read_text()
    assert "**Claim" in text
    assert "**Proof" in text


def test_importing_is_light() -> None:
    """Heavy parts are loaded when they are first used, not by the import."""
    # numba itself loads the bare scipy package; its parts are what costs time.
    heavy = (
        "scipy.fft",
        "scipy.special",
        "scipy.sparse",
        "scipy.stats",
        "pyarrow",
        "pywt",
        "mpmath",
        "opendp",
        "pandas",
        "polars",
        "duckdb",
        "dp_accounting",
        "matplotlib",
        "typer",
        "rich",
    )
    code = f"import sys, sparsedp; print([name for name in {heavy!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_privacy_arguments_are_keyword_only() -> None:
    for mechanism in sdp.MECHANISMS.values():
        for method in (mechanism.release, mechanism.measure, mechanism.perturb):
            parameters = inspect.signature(method).parameters
            for name in ("epsilon", "rho", "delta", "contribution", "neighbours", "ledger", "sampler", "source"):
                assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY


def test_files_are_one_chapter_each() -> None:
    for path in SOURCE.rglob("*.py"):
        lines = len(path.read_text().splitlines())
        assert lines <= 500, f"{path.relative_to(SOURCE)} has {lines} lines: two chapters?"


def test_the_version_is_in_the_changelog() -> None:
    assert re.search(rf"^## \[{re.escape(sdp.__version__)}\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
