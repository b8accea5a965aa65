"""The report in a real browser, headless Chromium: charts are drawn, nothing complains, tables need no script."""

import re

import pytest
from support import browser
from support.browser import CHROMIUM
from support.runs_for_reports import build_run, swept_page

from matrix.published.yocto_run import yocto_run
from matrix.report.page import render

SCREEN = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """The machine's own Chromium."""
    with browser.chromium(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module", params=["measured", "published"])
def report(request, tmp_path_factory):
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


@pytest.fixture
def opened(chromium, report):
    """Open the report; at the end of the test nothing may have been said on the console or asked of the network."""
    contexts, said = [], []

    def open_report(**options):
        context = chromium.new_context(**{"viewport": SCREEN, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url != report[0].as_uri() else None)
        page.goto(report[0].as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert said == []


def draw_all(page, charts):
    """Unfold everything and scroll to each chart, for they are drawn when they come into sight."""
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    for name in charts:
        page.locator(f'[id="{name}"]').scroll_into_view_if_needed()
        page.locator(f'[id="{name}"] .main-svg').first.wait_for()


def test_every_chart_is_drawn(opened, report):
    page = opened()
    draw_all(page, report[1])

    assert page.locator(".js-plotly-plot").count() == len(report[1]) > 2
    assert page.locator(".js-plotly-plot .point").count() > len(report[1])


def test_a_legend_is_a_button_that_hides_its_curve_and_a_key_presses_it(opened, report):
    page = opened()
    draw_all(page, report[1])
    button = page.locator('.legend button[aria-pressed="true"]').first
    box = page.locator(".js-plotly-plot", has=page.locator(".point")).first
    name, before = button.inner_text(), box.locator(".point").count()

    button.focus()
    page.keyboard.press("Enter")
    pressed = page.locator(".legend button", has_text=name).first

    assert pressed.get_attribute("aria-pressed") == "false"
    page.wait_for_function("([box, before]) => box.querySelectorAll('.point').length < before",
                           arg=[box.element_handle(), before])  # fmt: skip


def test_a_cell_of_the_matrix_leads_to_its_comparison_and_unfolds_it(opened):
    page = opened()
    assert not page.locator("#comparison-2 table").is_visible()

    page.locator('#matrix a[href="#comparison-2"]').first.click()

    page.locator("#comparison-2 table").wait_for(state="visible")


def test_a_table_is_copied_with_its_exact_values(opened):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    table = page.locator(".table", has=page.locator("td[data-value]")).first
    exact = table.locator("td[data-value]").first.get_attribute("data-value")

    table.locator("xpath=preceding-sibling::button[@class='copy'][1]").click()
    rows = [row.split("\t") for row in page.evaluate("navigator.clipboard.readText()").splitlines()]

    assert len(rows) == table.locator("tr").count()
    assert any(exact in row for row in rows)


@pytest.mark.parametrize(
    "look", [{"viewport": PHONE}, {"color_scheme": "dark"}, {"viewport": PHONE, "color_scheme": "dark"}]
)
def test_a_phone_and_the_dark_show_it_whole(opened, report, look):
    page = opened(**look)
    draw_all(page, report[1])

    # Wide tables scroll inside their own frames; the page itself never does.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_all_figures_stand_side_by_side_on_a_laptop(opened):
    page = opened(viewport={"width": 1100, "height": 800})
    frames = page.locator("#tables > .table")

    assert frames.count() >= 1
    for frame in frames.all():
        assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_without_scripts_all_figures_are_there_and_the_charts_say_so(opened, report):
    page = opened(java_script_enabled=False)
    visible = [one for one in page.locator("figure noscript").all() if one.is_visible()]

    assert page.locator("td[data-value]:visible").count() > 20
    assert page.locator(".chart:visible").count() == 0
    assert len(visible) == len(report[1])
    assert "The chart needs JavaScript; its figures are in the tables." in page.inner_text("body")
    assert "There is no receipt." in page.inner_text("#receipt-drawn")
    assert "the sweep after a run completes the receipt" in page.inner_text("#receipt-section")


def test_it_prints_all_of_it(opened, report):
    page = opened()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert page.locator(".js-plotly-plot").count() == len(report[1])
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_receipt_is_drawn_from_what_the_sweep_put_into_the_page(chromium, tmp_path):
    at_end, swept, _ = swept_page()
    sections = []
    for name, text in (("end", at_end), ("swept", swept)):
        path = tmp_path / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        page = chromium.new_page()
        page.goto(path.as_uri())
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        sections.append(page.inner_text("#receipt-drawn"))
        exact = page.locator("#receipt-drawn td[data-value]").first.get_attribute("data-value")
        page.close()

    assert "Still there: instance <i-1>." in sections[0]
    assert "the sweep after the run found nothing more" in sections[1]
    assert "till there" not in sections[1]
    assert "<i-1>" in sections[1]
    assert float(exact) > 0
