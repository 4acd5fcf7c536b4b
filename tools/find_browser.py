"""Find a Chromium for the tests of the report, or get one: `python tools/find_browser.py .venv/browser-path`.

A Chromium or Chrome on the machine is taken as it is (SPARSEDP_CHROMIUM names another); else Debian's package is
installed where that may be done without asking; else Playwright downloads its own. The path goes into the named file.
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
    "No browser for the tests of the report: install Chromium (Debian: `apt-get install chromium`), or name one with "
    "SPARSEDP_CHROMIUM=/path/to/chromium, and run this again."
)


def main() -> None:
    """Write the path of a browser that runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="where to write the browser's path")
    target = parser.parse_args().file
    browser = on_this_machine() or from_debian() or from_playwright()
    if browser is None:
        sys.exit(NOTHING)
    target.write_text(f"{browser}\n")
    print(f"The report is tested in {browser}.")


def on_this_machine() -> str | None:
    """The one that was named, or the first of the usual ones that starts."""
    named = os.environ.get("SPARSEDP_CHROMIUM")
    candidates = [named] if named else [*map(shutil.which, NAMES), *WELL_KNOWN]
    return next((path for path in candidates if path and runs(path)), None)


def from_debian() -> str | None:
    """Debian's own package, where it may be installed without a password."""
    installer = shutil.which("apt-get")
    if installer is None:
        return None
    sudo = shutil.which("sudo")
    rights = [] if os.geteuid() == 0 else [sudo, "-n"] if sudo and done([sudo, "-n", "true"]) else None
    if rights is None:
        return None
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = [*rights, installer, "install", "--yes", "--no-install-recommends", "chromium"]
    # A fresh machine has no list of packages yet.
    if not done(install, quiet) and not (done([*rights, installer, "update"], quiet) and done(install, quiet)):
        return None
    return on_this_machine()


def from_playwright() -> str | None:
    """Playwright's own build."""
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
