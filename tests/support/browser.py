"""The machine's own Chromium, headless."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)


@contextmanager
def chromium(home: Path, *options: str) -> Iterator[Browser]:
    """A browser whose home is not the user's; its sandbox and large shared memory are missing in containers."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-dev-shm-usage", *options],
            timeout=120_000,
            env={**os.environ, "HOME": str(home)},
        )
        yield browser
        browser.close()


def serious_findings(page: Page) -> list[str]:
    """The findings of axe-core that keep people from using a page: the rule, and the elements that violate it."""
    # Not among axe's usual rules: speech control needs the visible words of a button or link in its name.
    options = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
    violations = Axe().run(page, options=options).response["violations"]
    return [
        f"{violation['id']} ({violation['impact']}): {', '.join(str(node['target'][0]) for node in violation['nodes'])}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]
