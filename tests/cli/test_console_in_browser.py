"""The console in headless Chromium, over a recorded run, a large one and a hostile one."""

import json
import re
import struct
from contextlib import contextmanager
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect
from support import browser
from support.browser import CHROMIUM, serious_findings
from support.console_page import opened
from support.console_source import NoStop, PlayedRun, recorded, serving
from support.console_synthetic import INSTANCES, LargeRun
from support.console_synthetic import RUN as LARGE
from support.disturbance import attempts

from cli.console.stopping import AsCtrlC

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)"),
]
RUN = "red2"
GOOD, BAD = "efs-elastic.touch.m6i.large-x2", "efs-elastic.touch.m6i.large-x5"
VIEWS = {"matrix": ".heat", "graph": ".graph svg a", "fleet": ".fleet-view h2"}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """The machine's own Chromium."""
    with browser.chromium(tmp_path_factory.mktemp("home")) as running:
        yield running


@contextmanager
def served(source, run, stop=None):
    """The address of a console."""
    with serving(source, run, stop or NoStop()) as console:
        yield f"http://127.0.0.1:{console.admission.port}/#token={console.admission.token}"


@pytest.fixture(scope="module")
def address():
    """A console of a run in which one cell was measured at the third attempt and one failed."""
    with served(PlayedRun(recorded("failed_and_retried")), RUN) as at:
        yield at


def test_a_failing_cell_is_red_in_matrix_graph_and_state(chromium, address):
    with opened(chromium, address) as console:
        page = console.page
        failed = page.locator("td.failed")
        expect(failed).to_contain_text("✕ failed")
        expect(failed).to_contain_text("QuotaExceeded: 5 × m6i.large refused")
        red = failed.evaluate("cell => getComputedStyle(cell).borderTopColor")
        failed.locator("a").click()
        page.get_by_role("link", name="Show in graph").click()
        state = page.locator("a.state.caught")
        expect(state).to_have_attribute("aria-label", "Launch fleet: caught")
        assert state.locator("rect").evaluate("box => getComputedStyle(box).stroke") == red
        expect(page.locator(".edge.caught.taken title")).to_have_text(
            "Launch fleet → Stop fleet: taken once, after an error"
        )
        state.click()
        expect(page.locator(".failure").first).to_contain_text("failed: QuotaExceeded")
        expect(page.locator(".failure").first).to_contain_text("VcpuLimitExceeded")
        expect(page.locator(".failure b")).to_have_text("✕ failed: QuotaExceeded")
        assert page.locator(".panel dd.bad").first.evaluate("words => getComputedStyle(words).color") == red


def test_an_address_shows_the_same_again_after_a_reload_and_carries_no_token(chromium, address):
    with opened(chromium, f"{address}&view=graph&cell={GOOD}&state=Poll fleet") as console:
        page = console.page
        expect(page.locator(".panel h2")).to_contain_text("Poll fleet")
        assert "token" not in page.url
        page.reload()
        expect(page.locator(".panel h2")).to_contain_text("Poll fleet")
        expect(page.locator(".choosers select").nth(1)).to_have_value(GOOD)
        page.locator(".choosers select").nth(1).select_option(BAD)
        expect(page.locator(".panel dl")).to_contain_text("not entered")
        page.go_back()
        expect(page.locator(".choosers select").nth(1)).to_have_value(GOOD)


def test_everything_can_be_done_with_the_keyboard(chromium, address):
    with opened(chromium, address) as console:
        page = console.page
        expect(page.locator(".heat")).to_be_visible()
        reached = []
        for _ in range(15):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("() => document.activeElement.textContent.trim().slice(0, 30)"))
        assert reached[0] == "Skip to the content"
        assert {"Matrix", "Graph", "Fleet"} <= set(reached)
        assert "State" not in reached
        assert any("failed" in words for words in reached)
        page.get_by_role("link", name="Graph", exact=True).focus()
        page.keyboard.press("Enter")
        state = page.get_by_role("link", name="Plan matrix: done")
        state.focus()
        assert float(state.locator("rect").evaluate("box => parseFloat(getComputedStyle(box).strokeWidth)")) >= 3
        page.keyboard.press("Enter")
        expect(page.locator(".panel h2")).to_contain_text("Plan matrix")
        expect(state).to_be_focused()


@pytest.mark.parametrize("look", [{"color_scheme": "light"}, {"viewport": PHONE, "color_scheme": "dark"}], ids=str)
def test_nobody_is_kept_out_by_colours_names_order_or_width(chromium, address, look):
    with opened(chromium, address, **look) as console:
        for view, there in VIEWS.items():
            console.go(f"view={view}&cell={GOOD}&state=Launch fleet")
            expect(console.page.locator(there).first).to_be_visible()
            assert serious_findings(console.page) == [], view
            wide = console.page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= console.page.viewport_size["width"], view


def test_stop_asks_first_and_escape_is_no(chromium):
    played = PlayedRun(recorded("failed_and_retried"))
    played.until = played.record["execution"]["ended_at"] - 10
    with served(played, RUN) as at, opened(chromium, at) as console:
        page = console.page
        page.get_by_role("button", name="Stop …").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        expect(page.get_by_role("button", name="Keep running")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.get_by_role("button", name="Stop …").click()
        page.get_by_role("button", name="Stop and delete").click()
        expect(page.locator("#facts")).to_contain_text("◑ stopping")
        expect(page.get_by_role("button", name="Stop …")).to_be_hidden()


def large():
    """A run of 100 cells of 200 instances."""
    return LargeRun(recorded("failed_and_retried")["definition"])


HOSTILE = "<img src=x onerror=alert(1)><script>document.title='taken'</script>\"'&amp;"


def _hostile(value):
    """Every reason that a function or an instance gives, made hostile."""
    if isinstance(value, dict):
        return {key: _said(key, inner) for key, inner in value.items()}
    return [_hostile(each) for each in value] if isinstance(value, list) else value


def _said(key, value):
    is_reason = key in ("error", "cause", "message") and isinstance(value, str)
    return f"{value} {HOSTILE}" if is_reason else _hostile(value)


def _with(text):
    """What a state took or gave, with a hostile text in it."""
    return json.dumps({**json.loads(text), "said": HOSTILE}) if text.startswith("{") else text


def test_hostile_texts_stay_texts(chromium):
    record = _hostile(recorded("failed_and_retried"))
    record["documents"]["plan.json"]["cells"][0]["storage"]["name"] = HOSTILE
    record["documents"]["plan.json"]["file_systems"][0]["storage"]["name"] = HOSTILE
    record["rows"] = json.loads(json.dumps(record["rows"]).replace("QuotaExceeded", json.dumps(HOSTILE)[1:-1]))
    for events in record["histories"].values():
        for event in events:
            for details in (value for name, value in event.items() if name.endswith("EventDetails")):
                details |= {name: _with(details[name]) for name in ("input", "output") if name in details}
    for name in record["documents"]:
        if name.endswith("log.gz"):
            record["documents"][name] = [HOSTILE]

    with served(PlayedRun(record), RUN) as at, opened(chromium, at) as console:
        page = console.page
        expect(page.locator("td.failed, td.alone").first).to_be_visible()
        expect(page.locator("tbody th")).to_contain_text("<img src=x onerror=alert(1)>")
        console.go(f"view=graph&cell={GOOD}&state=Launch fleet")
        expect(page.locator(".failure").first).to_contain_text(HOSTILE)
        expect(page.locator(".panel pre").last).to_contain_text("onerror=alert(1)")
        console.go("view=graph&state=Plan matrix")
        expect(page.locator(".graph svg a").first).to_be_visible()
        console.go(f"view=fleet&cell={GOOD}")
        page.get_by_role("button", name="Read its log").click()
        expect(page.locator("pre")).to_have_text(HOSTILE)
        assert page.locator("img, main script").count() == 0
        assert "taken" not in page.title()


def test_a_hundred_cells_of_two_hundred_instances_are_drawn_within_a_tenth_of_a_second(chromium):
    run = large()
    with served(run, LARGE) as at, opened(chromium, at) as console:
        page = console.page
        expect(page.locator(".heat tbody tr")).to_have_count(10)
        expect(page.locator(".square")).to_have_count(INSTANCES)
        for view, there in {"matrix": ".heat", "fleet": ".strip", "graph": ".graph svg a.running"}.items():
            console.go(f"view={view}&cell={run.at}&state=Poll fleet")
            expect(page.locator(there).first).to_be_visible()
            for attempt in attempts():
                with attempt:
                    page.evaluate("() => { window.frames_ms.length = 0; }")
                    looks = run.looks
                    for _ in range(200):
                        if run.looks >= looks + 2 and page.evaluate("() => window.frames_ms.length") >= 2:
                            break
                        page.wait_for_timeout(100)
                    frames_ms = page.evaluate("() => window.frames_ms")
                    assert len(frames_ms) >= 2
                    assert max(frames_ms) < 100, view
        polls = page.locator("a[data-key='state Poll fleet']")
        expect(polls).to_have_attribute("aria-label", re.compile(r"^Poll fleet: done, ×2200, .+ ago$"))


def test_charts_are_saved_as_numbers_drawing_and_picture(chromium):
    run = large()
    with served(run, LARGE) as at, opened(chromium, at) as console:
        page = console.page
        console.go(f"view=fleet&cell={run.at}")
        expect(page.locator(".strip").nth(2)).to_be_visible()
        saved = {}
        for kind in ("CSV", "SVG", "PNG"):
            with page.expect_download() as download:
                page.get_by_role("button", name=f"{kind}: save Finished steps").click()
            saved[kind] = download.value.path().read_bytes()

    drawn = ElementTree.fromstring(saved["SVG"])
    words = ["".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert words[0] == "Finished steps"
    assert words[-1].startswith(LARGE)
    [mark, *_] = [each for each in drawn.iter() if each.get("class") == "median"]
    assert mark.get("stroke").startswith("rgb(")
    assert saved["CSV"].splitlines()[0].startswith(b'"step","least (')
    assert len(saved["CSV"].splitlines()) > 1
    assert saved["PNG"][:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", saved["PNG"][16:24]) == (2 * int(drawn.get("width")), 2 * int(drawn.get("height")))


def stopped_run():
    """A run of which a cell was measured and another was cut short by the button, with what its command said."""
    record = recorded("failed_and_retried")
    record["execution"] |= {"status": "ABORTED", "error": "Interrupted", "cause": ""}
    for row in record["rows"]:
        if row.get("cell", {}).get("S") == BAD and "state" in row:
            row["state"] = {"S": "running"}
            row.pop("error", None)
        if row["SK"]["S"].startswith("FS#"):
            row["state"] = {"S": "measuring"}
    return PlayedRun(record)


def test_on_a_phone_a_stopped_run_is_stopped_everywhere_and_the_command_to_go_on_can_be_copied(chromium):
    stop = AsCtrlC(RUN, NoStop(), ["deleted: instance i-1, volume vol-2"], has_ended=True, is_asked=True)
    look = {"viewport": PHONE, "permissions": ["clipboard-read", "clipboard-write"]}
    with served(stopped_run(), RUN, stop) as at, opened(chromium, at, **look) as console:
        page = console.page
        expect(page.locator("#facts")).to_contain_text("■ stopped")
        expect(page.locator(".heat td.stopped b")).to_have_text("■ stopped")
        expect(page.locator(".heat thead th small")).to_have_text("■ stopped")
        expect(page.locator("#end")).to_contain_text("deleted: instance i-1, volume vol-2")
        assert page.locator(".going").count() == 0
        assert "running" not in page.locator("body").inner_text().replace("▶ running", "")
        assert "so far" not in page.locator("body").inner_text()
        page.get_by_role("button", name="Copy command").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == f"matrix run --resume {RUN} --local"
        page.get_by_text("Receipt", exact=True).click()
        expect(page.locator("#end")).to_contain_text("9 resources were created, all gone")
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_a_fleet_that_runs_is_drawn_by_the_second_with_axes_from_zero(chromium):
    run = large()
    with served(run, LARGE) as at, opened(chromium, at) as console:
        page = console.page
        for view in ("matrix", "fleet"):
            console.go(f"view={view}&cell={run.at}")
            chart = page.locator(".live svg").first
            expect(chart).to_be_visible()
            expect(chart.locator(".tick").first).to_have_text("0")
            expect(chart.locator(".tick").last).to_contain_text("MB/s")
            expect(chart.locator("path.written")).to_have_attribute("d", re.compile("^M.+L"))
            expect(page.locator(".live")).to_contain_text("50 of 200 instances")
        expect(page.locator("td.going .now")).to_have_count(0)  # the matrix is not shown
        expect(page.locator(".strip .name").first).to_contain_text("threads")
        console.go("view=matrix")
        expect(page.locator("td.going .now").first).to_contain_text("now (50 of 200 instances)")
