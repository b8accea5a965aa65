"""What the tests of pages rely on: axe-core finds what people cannot use, and says where."""

import pytest
from support import browser
from support.browser import CHROMIUM, serious_findings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)"),
]
HEAD = "<!doctype html><html lang=en><title>page</title><main><h1>page</h1>"


def test_grey_on_white_and_a_button_without_a_name_are_found(tmp_path):
    with browser.chromium(tmp_path) as chromium:
        page = chromium.new_page()
        page.set_content(
            f"{HEAD}<p id=pale style='color:#bbb;background:#fff'>pale</p><button id=mute></button></main>"
        )
        assert serious_findings(page) == ["button-name (critical): #mute", "color-contrast (serious): #pale"]

        page.set_content(f"{HEAD}<p>dark</p><button>named</button></main>")
        assert serious_findings(page) == []
