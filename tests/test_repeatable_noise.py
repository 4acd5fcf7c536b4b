"""No test of the suite depends on luck: what is drawn follows from names, and nothing is drawn outside of tests."""

import re
import subprocess
import sys
from pathlib import Path
from shutil import copy

import pytest

from repeatable_noise import DrawnOutsideATest, made_once, no_noise, noise_from, the_systems_noise
from sparsedp.noise.source import SystemSource, fresh_word

TESTS = Path(__file__).parent
SHARING = """
import pytest
from repeatable_noise import noise_from
from sparsedp.noise.source import fresh_word

with noise_from(__name__):
    IMPORTED = fresh_word()

@pytest.fixture(scope="module", params=[1, 2])
def shared(request):
    return fresh_word()

@pytest.mark.parametrize("case", ["first", "second"])
def test_draws(case, shared):
    print(f"<{case} {IMPORTED} {shared} {fresh_word()}>")
"""
DRAWING = "from sparsedp.noise.source import fresh_word\nSEED = fresh_word()\ndef test_nothing(): pass\n"


def run_suite(folder: Path, module: str, *options: str) -> str:
    """What pytest says of a module that has the suite's settings."""
    for needed in ("conftest.py", "repeatable_noise.py"):
        copy(TESTS / needed, folder)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = -p no:cacheprovider\n")
    (folder / "test_planted.py").write_text(module)
    run = subprocess.run([sys.executable, "-m", "pytest", "-s", *options], cwd=folder, capture_output=True, text=True)
    return run.stdout


def words(said: str) -> list[tuple[str, ...]]:
    return re.findall(r"<(\w+) (\d+) (\d+) (\d+)>", said)


def test_what_is_drawn_follows_from_names(tmp_path: Path) -> None:
    everything = words(run_suite(tmp_path, SHARING))
    assert [case for case, *_ in everything] == ["first", "second"] * 2
    assert len({drawn for *_, drawn in everything}) == 4
    assert len({shared for *_, shared, _ in everything}) == 2
    alone = words(run_suite(tmp_path, SHARING, "-k", "second"))
    assert alone == everything[1::2]
    fresh = words(run_suite(tmp_path, SHARING, "--fresh-noise"))
    for place in (1, 2, 3):
        assert not {line[place] for line in fresh} & {line[place] for line in everything}


@pytest.mark.parametrize("options", [(), ("--fresh-noise",)], ids=" ".join)
def test_a_draw_at_import_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    said = run_suite(tmp_path, DRAWING, *options)
    assert "while a module was imported" in said
    assert "passed" not in said


def test_chance_is_named_the_systems_or_refused() -> None:
    with noise_from("a name"):
        first, second = fresh_word(), fresh_word()
        with noise_from("another"):
            assert fresh_word() != first
        with the_systems_noise():
            assert fresh_word() not in {first, second}
        with no_noise(), pytest.raises(DrawnOutsideATest, match="give `Compressive` a seed"):
            SystemSource().key()
    with noise_from("a name"):
        assert [fresh_word(), fresh_word()] == [first, second]


def test_what_tests_share_is_made_once_and_the_same_for_all() -> None:
    def shared() -> int:
        return fresh_word()

    made = []
    for test in ("one", "another"):
        asked = made_once(shared)
        with noise_from(test):
            made += [asked(), asked()]
    assert len(set(made)) == 1
