"""How a browser is found for these tests."""

import importlib.util
import io
import os
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


@pytest.fixture
def bare_machine(finder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Debian as root, without browser or a download of Playwright's; `apt-get` brings one and notes its calls."""
    for name in ("SPARSEDP_CHROMIUM", "SPARSEDP_INSTALL_BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(finder, "NAMES", ("a-chromium",))
    monkeypatch.setattr(finder, "WELL_KNOWN", ())
    monkeypatch.setattr(finder, "from_playwright", lambda: None)
    monkeypatch.setattr(finder.os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys, "argv", ["find_browser.py", str(tmp_path / "path")])
    installer = tmp_path / "apt-get"
    installer.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n[ "$1" = install ] '
        f'&& printf "#!/bin/sh\\n" > {tmp_path}/a-chromium && chmod 755 {tmp_path}/a-chromium\n'
    )
    installer.chmod(0o755)
    return tmp_path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_installed_on_the_machine_unasked(finder: ModuleType, bare_machine: Path) -> None:
    with pytest.raises(SystemExit, match="Type `make browser`, which installs Debian's package by apt-get"):
        finder.main()
    assert not (bare_machine / "calls").exists()
    assert not (bare_machine / "path").exists()


def test_debian_s_package_is_installed_when_that_is_asked_for(
    finder: ModuleType, bare_machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPARSEDP_INSTALL_BROWSER", "1")
    finder.main()
    assert (bare_machine / "calls").read_text() == "install --yes --no-install-recommends chromium\n"
    assert (bare_machine / "path").read_text() == f"{bare_machine}/a-chromium\n"
    assert capsys.readouterr().out.startswith("Installing Debian's package chromium on this machine, by apt-get.\n")


@pytest.mark.parametrize(("answer", "installs"), [("y\n", True), ("\n", False), ("n\n", False), ("", False)])
def test_in_a_terminal_it_is_asked_first(
    finder: ModuleType, bare_machine: Path, monkeypatch: pytest.MonkeyPatch, answer: str, installs: bool
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stdout", screen)
    if installs:
        finder.main()
    else:
        with pytest.raises(SystemExit, match="Type `make browser`"):
            finder.main()
    assert "Install Debian's on this machine, by apt-get? [y/N]" in screen.getvalue()
    assert (bare_machine / "calls").exists() == installs
    assert (bare_machine / "path").exists() == installs


def test_playwright_s_own_goes_into_the_virtual_environment(
    finder: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(finder, "done", lambda _: False)
    # Set, then unset, so that what the script puts there is taken away at the end of the test.
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", "")
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH")
    assert finder.from_playwright() is None
    assert os.environ["PLAYWRIGHT_BROWSERS_PATH"] == str(Path(sys.prefix) / "browsers")
    assert str(Path(sys.prefix) / "browsers") in capsys.readouterr().out


def test_when_no_way_works_a_sentence_says_so(
    finder: ModuleType, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARSEDP_INSTALL_BROWSER", "1")
    program(bare_machine / "apt-get", 1)
    with pytest.raises(SystemExit, match="none could be installed"):
        finder.main()
    assert not (bare_machine / "path").exists()
