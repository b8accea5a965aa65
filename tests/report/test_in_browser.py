"""The report in a real browser, headless Chromium: charts are drawn, nothing complains, tables need no script."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from matrix.published import yocto_run
from matrix.report import render
from tests.unit.runs_for_reports import build_run

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    "--disable-dev-shm-usage",
    *("--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND"),
    *("--enable-logging=stderr", "--virtual-time-budget=30000"),
)

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)")


def browse(page: Path, profile: Path, *more: str) -> tuple[str, list[str]]:
    """Open a page and return what it became and what its console said."""
    done = subprocess.run(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", *more, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.stdout, re.findall(r"CONSOLE.*", done.stderr)


@pytest.fixture(scope="module", params=["measured", "published"])
def page(request, tmp_path_factory):
    """The page of a measured run, and of the published builds, with the names of its charts."""
    if request.param == "published":
        text = render(yocto_run("published-yocto"))
    else:
        sizes = {1: 3000.0, 2: 3100.0, 4: 3300.0, 8: 3900.0}
        summary, results, planned = build_run({"ebs": sizes, "efs": sizes}, spread=0.05)
        text = render(summary, results=results, plan=planned, objective={"metric": "duration_s", "atMost": 3500})
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path, re.findall(r'class="chart" id="([^"]+)"', text)


def test_every_chart_is_drawn_without_complaint(page, tmp_path):
    path, charts = page

    # A window as high as the page: charts are drawn when they come into sight.
    dom, console = browse(path, tmp_path, "--window-size=1280,20000")

    assert console == []
    drawn = set(
        re.findall(r'id="([^"]+)"[^>]*class="[^"]*js-plotly-plot|class="chart js-plotly-plot"[^>]*id="([^"]+)"', dom)
    )
    assert {one or other for one, other in drawn} == set(charts)
    assert dom.count('class="main-svg"') >= len(charts)
    assert 'class="point"' in dom


def test_legends_are_buttons_and_tables_can_be_copied(page, tmp_path):
    dom, _ = browse(page[0], tmp_path, "--window-size=1280,20000")

    assert re.search(r'<div class="legend"[^>]*><button type="button" aria-pressed="true">', dom)
    assert 'class="copy"' in dom


def test_nothing_complains_on_a_phone_and_in_the_dark(page, tmp_path):
    _, narrow = browse(page[0], tmp_path / "a", "--window-size=390,844")
    _, dark = browse(page[0], tmp_path / "b", "--blink-settings=preferredColorScheme=0", "--window-size=1280,9000")

    assert (narrow, dark) == ([], [])


# Without scripts Chromium dumps nothing, so a second page has the first in a frame that may not run any, and reads it.
AROUND = """<!DOCTYPE html><title>around</title><pre id="read"></pre><script>
const frame = document.createElement("iframe");
frame.sandbox = "allow-same-origin";
frame.onload = () => {
  const page = frame.contentDocument;
  const shown = [...page.querySelectorAll("td[data-value]")].filter((one) => one.checkVisibility());
  const boxes = [...page.querySelectorAll(".chart")].filter((one) => one.checkVisibility());
  const told = [...page.querySelectorAll("noscript")].filter((one) => one.checkVisibility()).length;
  document.getElementById("read").textContent = [shown.length, boxes.length, told, page.body.innerText].join("|");
};
frame.srcdoc = PAGE;
document.body.append(frame);
</script>"""


def test_without_scripts_all_figures_are_there_and_the_charts_say_so(page, tmp_path):
    path, charts = page
    around = tmp_path / "around.html"
    around.write_text(AROUND.replace("PAGE", json.dumps(path.read_text()).replace("<", "\\u003c")))

    dom, _ = browse(around, tmp_path / "profile")
    [read] = re.findall(r'<pre id="read">(.*?)</pre>', dom, re.DOTALL)
    figures, boxes, told, text = read.split("|", 3)

    assert int(figures) > 20
    assert (int(boxes), int(told)) == (0, len(charts))
    assert "Answer" in text
    assert "The chart needs JavaScript; its figures are in the tables." in text


def test_it_prints_all_of_it(page, tmp_path):
    pdf = tmp_path / "report.pdf"

    subprocess.run(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={pdf}", page[0].as_uri()],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip

    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf.stat().st_size > 100_000
