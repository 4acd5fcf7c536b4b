"""A page in a browser that remembers everything that went wrong, and everything it asked of the network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import ConsoleMessage, Dialog, FloatRect, Page, Request


class WatchedPage:
    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.path = page, path
        self.troubles: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.troubles.append(f"page error: {error}"))
        page.on("request", self._request)
        page.on("dialog", self._dialog)
        page.goto(path.as_uri())

    def _console(self, message: ConsoleMessage) -> None:
        self.troubles.append(f"console {message.type}: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if request.url not in (self.path.as_uri(), "data:,") and not request.url.startswith("blob:file:"):
            self.troubles.append(f"request of {request.url}")

    def count(self, selector: str) -> int:
        return self.page.locator(selector).count()

    def text(self, selector: str) -> str:
        return (self.page.locator(selector).text_content() or "").strip()

    def box(self, selector: str) -> FloatRect:
        found = self.page.locator(selector).first.bounding_box()
        assert found is not None, f"{selector} is not drawn"
        return found

    def press(self, *keys: str) -> str:
        """Press keys in the chart; what the live region says then."""
        self.page.focus("#chart")
        for key in keys:
            self.page.keyboard.press(key)
        return self.text("#readout")

    def overflow(self) -> int:
        """How many pixels the page is wider than its window."""
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.page.evaluate(wide))

    def style(self, selector: str, name: str) -> str:
        return str(self.page.evaluate("([s, n]) => getComputedStyle(document.querySelector(s))[n]", [selector, name]))

    def accessible(self) -> list[dict[str, Any]]:
        """Chromium's accessibility tree: the role, name and properties of everything that is not ignored."""
        session = self.page.context.new_cdp_session(self.page)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        return [
            {
                "role": node["role"]["value"],
                "name": node.get("name", {}).get("value", ""),
                **{each["name"]: each["value"].get("value") for each in node.get("properties", [])},
            }
            for node in nodes
            if not node["ignored"]
        ]


Opener = Callable[..., WatchedPage]
"""What the fixture `opened` is: `opened(release, width=…, scheme=…, title=…)`."""
