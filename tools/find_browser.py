"""Find a Chromium for the tests of the report, or get one: `python tools/find_browser.py .venv/browser-path`.

A Chromium or Chrome on the machine is taken as it is (SPARSEDP_CHROMIUM names another); else Playwright downloads its
own into the virtual environment, where `make clean` removes it. Debian's package, which changes the machine itself, is
installed only if that was asked for, by `make browser` or SPARSEDP_INSTALL_BROWSER=1, or is answered with yes in a
terminal. The path goes into the named file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WELL_KNOWN = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
NOTHING = (
    "The tests of the report need a Chromium: there is none on this machine, and Playwright could not download one "
    "that runs. Type `make browser`, which installs Debian's package by apt-get, or install Chromium yourself, or name "
    "one with SPARSEDP_CHROMIUM=/path/to/chromium; then run this again."
)
FAILED = (
    "The tests of the report need a Chromium, and none could be installed, neither by apt-get (as root, or with sudo "
    "without a password) nor by Playwright: install one, or name one with SPARSEDP_CHROMIUM=/path/to/chromium."
)


def main() -> None:
    """Write the path of a browser that runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="where to write the browser's path")
    target = parser.parse_args().file
    allowed = os.environ.get("SPARSEDP_INSTALL_BROWSER") == "1"
    browser = on_this_machine() or (from_debian() if allowed else None) or from_playwright()
    if browser is None and not allowed and (allowed := agreed()):
        browser = from_debian()
    if browser is None:
        sys.exit(FAILED if allowed else NOTHING)
    target.write_text(f"{browser}\n")
    print(f"The report is tested in {browser}.")


def agreed() -> bool:
    """Whether somebody sits at the terminal and wants Debian's package."""
    if not (sys.stdin.isatty() and sys.stdout.isatty() and installer()):
        return False
    question = "No Chromium for the tests of the report. Install Debian's on this machine, by apt-get? [y/N] "
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def on_this_machine() -> str | None:
    """The one that was named, or the first of the usual ones that starts."""
    named = os.environ.get("SPARSEDP_CHROMIUM")
    candidates = [named] if named else [*map(shutil.which, NAMES), *WELL_KNOWN]
    return next((path for path in candidates if path and runs(path)), None)


def installer() -> list[str] | None:
    """`apt-get` with the rights to install, where it has them without a password."""
    apt, sudo = shutil.which("apt-get"), shutil.which("sudo")
    if apt is None:
        return None
    if os.geteuid() == 0:
        return [apt]
    return [sudo, "-n", apt] if sudo and done([sudo, "-n", "true"]) else None


def from_debian() -> str | None:
    """Debian's own package, for the whole machine."""
    apt = installer()
    if apt is None:
        return None
    print("Installing Debian's package chromium on this machine, by apt-get.", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = [*apt, "install", "--yes", "--no-install-recommends", "chromium"]
    # A fresh machine has no list of packages yet.
    if not done(install, quiet) and not (done([*apt, "update"], quiet) and done(install, quiet)):
        return None
    return on_this_machine()


def from_playwright() -> str | None:
    """Playwright's own build, in the virtual environment unless PLAYWRIGHT_BROWSERS_PATH names another place."""
    place = os.environ.setdefault("PLAYWRIGHT_BROWSERS_PATH", str(Path(sys.prefix) / "browsers"))
    print(f"No Chromium on this machine: Playwright downloads its own into {place}.", flush=True)
    if not done([sys.executable, "-m", "playwright", "install", "chromium"]):
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if runs(path) else None


def runs(path: str) -> bool:
    """Whether it is a browser that starts: a stub that only tells where to get one does not count."""
    return Path(path).is_file() and done([path, "--version"])


def done(command: list[str], environment: dict[str, str] | None = None) -> bool:
    """Whether a command was carried out."""
    try:
        finished = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False, timeout=900)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return finished.returncode == 0


if __name__ == "__main__":
    main()
