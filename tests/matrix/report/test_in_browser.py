"""The report in a real browser, headless Chromium: what its script adds works, and charts and tables need no script."""

import csv
import re
import time
from xml.etree import ElementTree

import pytest
from support import browser
from support.browser import CHROMIUM, serious_findings
from support.disturbance import attempts
from support.runs_for_reports import build_run, built_page, cell_of, swept_page

from matrix.published.runs import published_run
from matrix.report import heat_map, html, page, ranking
from matrix.report.page import render
from matrix.samples import cloudwatch
from matrix.storages.metrics import Metric

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
        text = render(published_run("yocto", "published-yocto"))
    else:
        sizes = {1: 3000.0, 2: 3100.0, 4: 3300.0, 8: 3900.0}
        summary, results, planned = build_run({"ebs": sizes, "efs": sizes}, spread=0.05)
        results[cell_of(planned, "efs", 8)["id"]]["cloudwatch"] = watched_efs()
        text = render(summary, results=results, plan=planned, objective={"metric": "duration_s", "atMost": 3500})
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path, re.findall(r'<figure id="([^"]+)"', text)


def watched_efs():
    """What CloudWatch counted of the bytes and connections of a file system, over two hours."""
    file_system = {"FileSystemId": "fs-1"}
    answers = [
        (
            cloudwatch.Query(name, Metric("AWS/EFS", name, "Sum", unit), file_system),
            [(10_020.0 + 60 * minute, float(minute % 9 * scale)) for minute in range(120)],
        )
        for name, unit, scale in (
            ("DataReadIOBytes", "bytes", 6e8),
            ("DataWriteIOBytes", "bytes", 1e8),
            ("PermittedThroughput", "bytes/s", 1e8),
            ("ClientConnections", "connections", 1),
        )
    ]
    about = {"instances": ["i-1"], "of": 8}
    return cloudwatch.document(about, (10_000.0, 20_000.0), answers, read_at=99_999.0)


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
        # What the script makes to be saved has an address, and is not a request to anybody.
        page.on(
            "request",
            lambda request: None if request.url.startswith((report[0].as_uri(), "blob:")) else said.append(request.url),
        )
        page.goto(report[0].as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert said == []


def unfold(page):
    """Open all that is folded away."""
    page.evaluate("for (const block of document.querySelectorAll('details')) block.open = true")


def test_a_legend_is_a_button_that_hides_its_curve_and_a_key_presses_it(opened):
    page = opened()
    figure = page.locator(".drawn").first
    button, marks = figure.locator(".legend button").first, figure.locator(".plot use:visible")
    before = marks.count()

    button.focus()
    page.keyboard.press("Enter")

    assert button.get_attribute("aria-pressed") == "false"
    assert 0 < marks.count() < before


def test_the_pointer_and_the_arrow_keys_show_the_exact_figures_of_a_point(opened):
    page = opened()
    figure = page.locator(".drawn[id^=scaling]")
    point, mark = figure.locator(".point span"), figure.locator(".plot use").nth(1)
    assert not point.is_visible()

    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    point.wait_for()
    # Another curve may have its point nearer to the middle of the mark.
    assert re.search(r"^P0 \d+m \d\ds", point.inner_text(), re.MULTILINE)

    figure.locator(".chart").focus()
    page.keyboard.press("ArrowRight")

    storage = figure.locator(".legend button").first.inner_text()
    assert point.inner_text().splitlines()[0] == storage


def test_a_chart_is_saved_as_svg_and_as_its_exact_points(opened):
    page = opened()
    figure = page.locator(".drawn[id^=scaling]")
    with page.expect_download() as drawn:
        figure.get_by_role("button", name=re.compile("as SVG$")).click()
    with page.expect_download() as points:
        figure.get_by_role("button", name=re.compile("points of")).click()

    image = ElementTree.parse(drawn.value.path())
    [head, *rows] = csv.reader(points.value.path().read_text(encoding="utf-8").splitlines())

    assert drawn.value.suggested_filename == f"{figure.get_attribute('id')}.svg"
    words = ["".join(text.itertext()) for text in image.iter("{http://www.w3.org/2000/svg}text")]
    assert {figure.locator("h3").inner_text().removesuffix("#"), "EFS bursting"} <= set(words)
    assert head[:3] == ["series", "instances that work at the same time", "duration_s (s)"]
    assert next(float(row[1]) for row in rows if row[0] == "EBS gp3") == 1.0


def test_a_table_is_sorted_by_its_heads_with_what_is_not_known_last(opened):
    page = opened()
    table = page.locator("#tables .many").first
    head = table.locator("th", has_text="P50").first
    column = "(table, at) => [...table.tBodies[0].rows].map((row) => Number(row.cells[at].dataset.value))"
    at = head.evaluate("cell => cell.cellIndex")

    head.get_by_role("button").click()
    rising = table.evaluate(column, at)
    head.get_by_role("button").click()
    falling = table.evaluate(column, at)

    assert rising == sorted(rising) == falling[::-1]
    assert head.get_attribute("aria-sort") == "descending"


def test_a_cell_of_the_matrix_leads_to_its_comparison(opened):
    page = opened()
    assert not page.locator("#ranking-1 .bars").is_visible()

    page.locator('#matrix a[href="#ranking-1"]').first.click()

    page.locator("#ranking-1 .bars").wait_for(state="visible")


def test_a_matrix_of_many_columns_takes_the_window_and_can_be_turned(chromium, tmp_path, monkeypatch):
    monkeypatch.setattr(heat_map, "PAPER_COLUMNS", 3)
    sizes = {count: 3000.0 + count for count in range(1, 14)}
    path = tmp_path / "report.html"
    path.write_text(built_page({"ebs": sizes, "efs": sizes}, spread=0.05), encoding="utf-8")
    for width, is_turned in ((1440, "false"), (390, "true")):
        page = chromium.new_page(viewport={"width": width, "height": 900})
        page.goto(path.as_uri())
        frame = page.locator("#matrix > .table")
        assert frame.evaluate("each => each.clientWidth") > min(width, 1280) - 80
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        frame.evaluate("each => { each.scrollLeft = 300; }")
        name = frame.locator("tbody th").first
        assert name.bounding_box()["x"] == pytest.approx(frame.bounding_box()["x"], abs=5)

        button = page.get_by_role("button", name="Swap axes")
        assert button.get_attribute("aria-pressed") == is_turned
        if is_turned == "false":
            button.click()
        assert frame.locator("tbody tr").count() == len(sizes)
        assert frame.locator("thead th").count() == 3
        # Paper has room for any number of rows.
        button.click()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert frame.locator("tbody tr").count() == len(sizes)
        page.emulate_media(media="print")
        assert not page.get_by_text("Paper has no room").is_visible()
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert frame.locator("tbody tr").count() == 2
        button.click()
        page.reload()
        assert frame.locator("tbody tr").count() == len(sizes)
        button.click()
        assert frame.locator("tbody tr").count() == 2
        page.reload()
        assert frame.locator("tbody tr").count() == 2
        if width == 390:
            # What is beyond the edge is counted, and no more once the end is in sight.
            frame.evaluate("each => { each.scrollLeft = 0; }")
            more = page.locator("#matrix").get_by_role("button", name="more columns")
            more.wait_for(state="visible")
            assert 9 <= int(more.inner_text().split()[0]) < len(sizes)
            frame.evaluate("each => { each.scrollLeft = each.scrollWidth; }")
            more.wait_for(state="hidden")
            # Nor where a choice leaves less than the page is wide.
            frame.evaluate("each => { each.scrollLeft = 0; }")
            more.wait_for(state="visible")
            page.get_by_text("Filter by storage").click()
            page.get_by_role("group", name="Show only these: fleet").get_by_role("button").first.click()
            assert frame.evaluate("each => each.scrollWidth <= each.clientWidth + 4")
            more.wait_for(state="hidden")
        page.close()


def test_chips_choose_for_the_whole_page_and_the_address_keeps_it(opened, report):
    page = opened()
    page.get_by_text("Filter by storage").click()
    fleets = page.get_by_role("group", name="Show only these: fleet").get_by_role("button")
    last = fleets.last.inner_text()
    curves = page.locator(".drawn[id^=scaling] .plot [data-group]:visible")
    before = curves.count(), page.locator("#matrix td:visible").count()

    fleets.last.click()
    page.get_by_role("button", name="EBS gp3", exact=True).first.click()

    after = curves.count(), page.locator("#matrix td:visible").count()
    assert before[0] > after[0] > 0
    assert before[1] > after[1] == 1
    assert page.locator(".ranking.seen .where").inner_text().endswith(last)
    # The answer is that of all storages, of which the heading reminds.
    assert page.locator(".ranking.seen tbody tr:visible").count() > 1
    assert page.locator("h1").inner_text().endswith("(of all storages)")
    assert page.locator("#tables .many").first.locator("tbody tr:visible").count() == 1
    assert "Only EBS gp3" in page.locator(".shown").inner_text()

    page.locator("nav a", has_text="Figures").click()
    assert page.locator("#tables h2").bounding_box()["y"] < 40
    address = page.url
    again = opened()
    again.goto("about:blank")
    again.goto(address)

    assert "storage=EBS+gp3" in address
    assert again.locator(".chips").evaluate("chips => chips.open")
    assert again.locator("#tables .many").first.locator("tbody tr:visible").count() == 1
    assert again.locator("#tables h2").bounding_box()["y"] < 40


def test_buttons_pick_a_comparison_by_keyboard_and_the_title_and_the_cost_follow(opened):
    page = opened()
    fleets = page.get_by_role("group", name="Fleet").get_by_role("button")
    before = page.locator("h1").inner_text()
    assert page.locator(".ranking:visible").count() == 1
    load = page.get_by_label("a day")
    if is_priced := load.is_visible():
        load.fill("200")

    fleets.first.focus()
    page.keyboard.press("Enter")

    panel = page.locator(".ranking:visible")
    assert panel.get_attribute("id") == "ranking-1"
    assert panel.locator(".where").inner_text().endswith(fleets.first.get_attribute("aria-label"))
    assert fleets.first.get_attribute("aria-pressed") == "true"
    assert before != page.locator("h1").inner_text() == panel.locator(".headline").text_content()
    # The storage of a comparison without a winner has no cost.
    assert is_priced == page.locator("h1").inner_text().startswith("E")
    if is_priced:
        usd = 30 * 200 * float(panel.get_attribute("data-usd"))
        size = panel.get_attribute("data-instances")
        assert f"builds a day, {size} at once: ${usd:,.0f} a month" in page.locator(".load").inner_text()
    # The address keeps the choice.
    again = opened()
    again.goto("about:blank")
    again.goto(page.url)
    assert again.locator(".ranking:visible").get_attribute("id") == "ranking-1"


def test_without_a_script_all_comparisons_stand_below_the_first(opened):
    page = opened(java_script_enabled=False)
    panels = page.locator(".ranking")

    tops = [panel.bounding_box()["y"] for panel in panels.all()]

    assert panels.count() > 3
    assert page.locator(".ranking:visible").count() == panels.count()
    assert page.locator(".ranking.first").bounding_box()["y"] == min(tops)


def test_a_table_is_copied_with_its_exact_values(opened):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    unfold(page)
    table = page.locator("#tables .table", has=page.locator("td[data-value]")).first
    exact = table.locator("td[data-value]").first.get_attribute("data-value")

    table.locator("xpath=preceding-sibling::div[@class='tools'][1]").get_by_text("Copy").click()
    rows = [row.split("\t") for row in page.evaluate("navigator.clipboard.readText()").splitlines()]

    assert len(rows) == table.locator("tr").count()
    assert any(exact in row for row in rows)


@pytest.mark.parametrize("look", [{}, {"viewport": PHONE, "color_scheme": "dark"}])
def test_a_phone_and_the_dark_show_it_whole_and_to_people_who_see_less(opened, look):
    page = opened(**look)
    unfold(page)

    assert serious_findings(page) == []

    # Wide tables scroll inside their own frames; the page itself never does.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_all_charts_and_figures_are_there(opened, report):
    page = opened(java_script_enabled=False)

    assert page.locator("td[data-value]:visible").count() > 20
    assert page.locator(".plot").count() == len(report[1]) > 1
    assert page.locator(".plot use:visible").count() > len(report[1])
    assert page.locator(".drawn").first.locator(".legend").inner_text() != ""
    assert page.locator("button").count() == 0
    # Figures of others created no resources.
    if page.locator("#receipt-section").count():
        assert "There is no receipt." in page.inner_text("#receipt-drawn")
        assert "The clean-up after a run completes the receipt" in page.inner_text("#receipt-section")


def test_it_prints_all_charts_in_colours_for_paper_and_no_buttons(opened):
    page = opened(color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert page.locator(".plot:visible").count() == page.locator(".plot").count()
    assert page.locator(".tools:visible").count() == 0
    assert page.locator(".plot text").first.evaluate("text => getComputedStyle(text).fill") == "rgb(22, 25, 29)"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_what_a_very_large_page_has_zipped_is_there_once_it_is_wanted(chromium, tmp_path, monkeypatch):
    # Given a page that zips all that it can
    for module, name in ((html, "VERY_LONG"), (page, "MAX_OPEN"), (ranking, "MAX_OPEN"), (ranking, "MAX_PACKED")):
        monkeypatch.setattr(module, name, 0)
    sizes = {1: 3000.0, 2: 3100.0, 4: 3300.0}
    path = tmp_path / "report.html"
    path.write_text(built_page({"ebs": sizes, "efs": sizes}, spread=0.05), encoding="utf-8")
    context = chromium.new_context(viewport=SCREEN)
    shown, problems = context.new_page(), []
    shown.on("pageerror", lambda error: problems.append(str(error)))
    shown.goto(path.as_uri())
    shown.locator("html.scripted").wait_for()
    assert shown.locator(".plot").count() == 0

    # A fold is opened, an address leads into one, and paper has all charts.
    shown.locator("#scaling summary").first.click()
    shown.locator("#scaling .plot").first.wait_for()
    assert shown.locator("#scaling .drawn .tools button").count() == 3
    assert shown.get_by_text("This browser cannot show").count() == 0
    chart = shown.locator("#scaling .drawn").first.get_attribute("id")
    again = context.new_page()
    again.goto(f"{path.as_uri()}#{chart}")
    again.locator(f"#{chart} .plot").wait_for(state="visible")
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.locator(".plot:visible").count() > 1

    # Without a script each block says where else its figures are, and the main table is whole.
    unscripted = chromium.new_context(viewport=SCREEN, java_script_enabled=False).new_page()
    unscripted.goto(path.as_uri())
    unscripted.locator("#scaling summary").first.click()
    unscripted.locator("#scaling details[open] .quiet").first.wait_for()
    assert "in the table All figures" in unscripted.locator("#scaling details").first.inner_text()
    assert unscripted.locator("#tables table").first.is_visible()
    # A browser that cannot unzip has the rest of the page.
    old = context.new_page()
    old.add_init_script("delete self.DecompressionStream")
    old.on("pageerror", lambda error: problems.append(str(error)))
    old.goto(path.as_uri())
    old.locator("html.scripted").wait_for()
    old.locator("#tables table").first.wait_for(state="visible")
    old.locator("#scaling summary").first.click()
    old.locator("#scaling details[open] .quiet").first.wait_for()
    assert "in the table All figures" in old.locator("#scaling details").first.inner_text()
    assert problems == []
    for each in (context, unscripted.context):
        each.close()


def with_fleets(sizes):
    """A page of two storages whose fleet of one instance stands there for each of so many."""
    summary, results, planned = build_run({"ebs": {1: 3000.0}, "efs": {1: 3500.0}})
    cells, copies = [], {}
    for cell in summary["cells"]:
        for count in range(1, sizes + 1):
            fleet = {"instanceType": f"m6i.{count}xlarge", "count": 1}
            name = f"{cell['id']}-{count}"
            cells.append({**cell, "id": name, "fleet": fleet})
            copies[name] = {**results[cell["id"]], "id": name, "fleet": fleet}
    return render({**summary, "cells": cells}, results=copies, plan=planned)


def test_a_page_of_two_hundred_cells_is_below_five_megabytes_and_opens_within_two_seconds(chromium, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(with_fleets(100), encoding="utf-8")
    assert path.stat().st_size < 5_000_000
    for attempt in attempts():
        with attempt:
            page = chromium.new_page(viewport=SCREEN)
            began = time.monotonic()
            page.goto(path.as_uri())
            page.locator(".ranking.seen").wait_for()
            took = time.monotonic() - began
            page.close()
            assert took < 2


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
