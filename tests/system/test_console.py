"""`--web` over whole runs on the local cloud, in headless Chromium: watched from plan to report, and stopped."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect
from support import browser
from support.browser import CHROMIUM, serious_findings
from support.console_page import opened
from support.runs import EBS, EFS, Cloud, matrix

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)"),
]
# For people who look at what the tests saw.
PICTURES = os.environ.get("CONSOLE_PICTURES", "")
PATIENCE_MS = 200_000
TOUCH = {"type": "touch", "files": 200, "threads": [1, 4], "directories": "own"}
FAILING = {"type": "build", "name": "failing", "build": "exit 1", "expectedSeconds": 1}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """The machine's own Chromium."""
    with browser.chromium(tmp_path_factory.mktemp("home")) as running:
        yield running


class Command:
    """`matrix run FILE --local --web`, and the address that it prints."""

    def __init__(self, cloud: Cloud, folder: Path, document: dict, name: str) -> None:
        file = folder / "matrix.json"
        file.write_text(json.dumps(document))
        arguments = ["run", str(file), "--local", "--web", "--name", name]
        self.process = subprocess.Popen(
            [str(Path(sys.executable).with_name("matrix")), *arguments],
            env={**os.environ, "MATRIX_WORKDIR": str(cloud.folder), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
        )  # fmt: skip
        self.printed = ""
        self.wait_for("#token=")
        self.address = re.findall(r"http://127\.0\.0\.1:\d+/#token=\S+", self.printed)[0]

    def wait_for(self, words: str) -> None:
        """Read what it prints until these words come."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed += line
            if words in line:
                return
        raise AssertionError(f"it ended without {words!r}: {self.printed}")

    def end(self, *, by: signal.Signals | None = None) -> int:
        """Its exit code; its output is in `printed`."""
        if by is not None:
            self.process.send_signal(by)
        rest, _ = self.process.communicate(timeout=120)
        self.printed += rest
        return self.process.returncode


@contextmanager
def started(cloud: Cloud, folder: Path, document: dict, name: str) -> Iterator[Command]:
    command = Command(cloud, folder, document, name)
    try:
        yield command
    finally:
        if command.process.poll() is None:
            command.process.kill()
            command.process.communicate()


def picture(page, name):
    """Keep what is seen."""
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))


def test_a_run_is_watched_from_its_plan_to_its_report(cloud, chromium, tmp_path):
    """Creates are measured on two storages, builds fail."""
    fleets = [{"instanceType": "m6i.large", "count": 2}]
    asked = matrix(storage=[EFS, EBS], workload=[TOUCH, FAILING], fleet=fleets, repetitions=2, budgetUsd=5)

    with started(cloud, tmp_path, asked, "watched") as command, opened(chromium, command.address) as console:
        page = console.page
        # The page in the working folder leads there, too.
        led = chromium.new_page()
        led.goto((cloud.folder / "console.html").as_uri())
        expect(led.locator("#run")).to_have_text("watched", timeout=PATIENCE_MS)
        led.close()
        expect(page.locator("td.planned, td.going").first).to_be_visible(timeout=PATIENCE_MS)
        picture(page, "1-planned")
        expect(page.locator("td.going").first).to_be_visible(timeout=PATIENCE_MS)
        picture(page, "2-going")
        page.get_by_role("link", name="Graph", exact=True).click()
        expect(page.get_by_role("link", name=re.compile("^(Wait for|Poll) fleet: "))).to_have_count(2)
        expect(page.locator("a.state.running").first).to_be_visible()
        picture(page, "3-graph")
        page.get_by_role("link", name="Fleet", exact=True).click()
        expect(page.locator(".square").first).to_be_visible()
        picture(page, "4-fleet")
        page.get_by_role("link", name="Matrix", exact=True).click()
        expect(page.locator("td.failed").first).to_be_visible(timeout=PATIENCE_MS)
        picture(page, "5-failed")
        expect(page.locator("#facts")).to_contain_text("failed", timeout=PATIENCE_MS)
        expect(page.get_by_role("link", name="Report")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.locator("#end")).to_contain_text("all gone", timeout=PATIENCE_MS)
        expect(page.locator("td.best")).to_have_count(2)
        picture(page, "6-end")
        assert serious_findings(page) == []
        page.get_by_role("link", name="Report").click()
        expect(page.frame_locator("iframe").get_by_role("heading", level=1)).to_be_visible()
        picture(page, "7-report")
        command.wait_for("The console stays while its page is open")
        code = command.end(by=signal.SIGINT)

    assert code == 1, command.printed
    assert "Next:" in command.printed
    assert "No console runs now" in (cloud.folder / "console.html").read_text()


def test_stop_in_the_browser_is_ctrl_c_and_leaves_nothing(cloud, chromium, tmp_path):
    asked = matrix(storage=[EFS], workload=[{**TOUCH, "files": 20_000}], repetitions=5, budgetUsd=5)

    with started(cloud, tmp_path, asked, "stopped-there") as command, opened(chromium, command.address) as console:
        page = console.page
        expect(page.locator("td.going b")).to_contain_text(re.compile("step|starting"), timeout=PATIENCE_MS)
        page.get_by_role("button", name="Stop …").click()
        page.get_by_role("button", name="Stop and delete").click()
        expect(page.locator("#facts")).to_contain_text("■ stopped", timeout=PATIENCE_MS)
        expect(page.locator("#end")).to_contain_text("all gone", timeout=PATIENCE_MS)
        expect(page.locator("#end")).to_contain_text("matrix run --resume stopped-there", timeout=PATIENCE_MS)
        expect(page.locator("td.going")).to_have_count(0)
        picture(page, "stopped")
        console.go("view=graph")
        expect(page.locator("a.state.stopped").first).to_be_visible()
        command.wait_for("The console stays while its page is open")
        code = command.end(by=signal.SIGINT)

    assert code == 3, command.printed
    assert "run stopped-there interrupted" in command.printed
    receipt = json.loads((cloud.folder / "runs" / "stopped-there" / "receipt.json").read_text())
    assert receipt["is_complete"]
    assert receipt["totals"]["resources"] == receipt["totals"]["gone"] > 0
    ec2 = cloud.client("ec2")
    alive = [{"Name": "instance-state-name", "Values": ["pending", "running"]},
             {"Name": "tag:storage-matrix:run", "Values": ["stopped-there"]}]  # fmt: skip
    assert ec2.describe_instances(Filters=alive)["Reservations"] == []
