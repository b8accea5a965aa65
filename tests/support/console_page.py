"""The console in a browser: open, wait, screenshot. Its policy forbids evaluated conditions, so tests use locators."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, expect

PATIENCE_MS = 60_000


@dataclass
class Opened:
    """A page, and its errors and warnings."""

    page: Page
    faults: list[str]

    def go(self, fragment: str) -> None:
        """Show another fragment, as by a link."""
        self.page.evaluate("fragment => { location.hash = fragment; }", fragment)


def _is_fault(message: ConsoleMessage) -> bool:
    """Return whether a message is a fault; the command may end while its page is open."""
    return message.type in ("error", "warning") and "net::ERR_CONNECTION_REFUSED" not in message.text


@contextmanager
def opened(browser: Browser, address: str, **options: Any) -> Iterator[Opened]:
    """The console in a separate context; errors of its scripts and violations of its policy fail the test."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if _is_fault(message) else None)
    own = address.split("#", maxsplit=1)[0]
    mine = (own, f"blob:{own}")  # the file that the page offers for saving
    page.on("request", lambda request: None if request.url.startswith(mine) else faults.append(request.url))
    page.goto(address)
    yield Opened(page, faults)
    context.close()
    assert faults == []
