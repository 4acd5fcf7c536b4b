"""How a browser is found for these tests."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "tools" / "find_browser.py"


@pytest.fixture
def finder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("find_browser", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def program(path: Path, exit_code: int) -> str:
    path.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    path.chmod(0o755)
    return str(path)


def test_the_one_that_is_named_comes_first(finder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = program(tmp_path / "mine", 0)
    monkeypatch.setenv("SPARSEDP_CHROMIUM", named)
    assert finder.on_this_machine() == named


def test_one_that_does_not_start_does_not_count(
    finder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARSEDP_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(finder, "WELL_KNOWN", ())
    program(tmp_path / "chromium", 1)
    assert finder.on_this_machine() is None
    works = program(tmp_path / "google-chrome", 0)
    assert finder.on_this_machine() == works


def test_debian_s_package_is_the_second_way(
    finder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARSEDP_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(finder, "NAMES", ("a-chromium",))
    monkeypatch.setattr(finder, "WELL_KNOWN", ())
    monkeypatch.setattr(finder.os, "geteuid", lambda: 0)
    installer = tmp_path / "apt-get"
    installer.write_text(
        f'#!/bin/sh\n[ "$1" = install ] && printf "#!/bin/sh\\n" > {tmp_path}/a-chromium '
        f"&& chmod 755 {tmp_path}/a-chromium\n"
    )
    installer.chmod(0o755)
    assert finder.from_debian() == str(tmp_path / "a-chromium")


def test_without_any_a_sentence_says_what_to_do(
    finder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for way in ("on_this_machine", "from_debian", "from_playwright"):
        monkeypatch.setattr(finder, way, lambda: None)
    monkeypatch.setattr(sys, "argv", ["find_browser.py", str(tmp_path / "path")])
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        finder.main()
    assert not (tmp_path / "path").exists()
