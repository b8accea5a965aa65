"""The console answers its own page, with its token, and nobody else; what it serves runs no script of others."""

import http.client
import json
import re
from types import SimpleNamespace

import pytest
from support.console_source import NoStop, PlayedRun, recorded, serving

from cli.console import opening as doorway
from cli.console.server import PAGES

RUN = "red2"


@pytest.fixture(scope="module")
def served():
    """A console of a recorded run, and how to ask it."""
    stop, played = NoStop(), PlayedRun(recorded("failed_and_retried"))
    with serving(played, RUN, stop) as console:
        host, bearer = f"127.0.0.1:{console.admission.port}", f"Bearer {console.admission.token}"

        def ask(path, method="GET", body=None, **headers):
            connection = http.client.HTTPConnection(host, timeout=30)
            named = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
            connection.request(method, path, body=body, headers={"Host": host, **named})
            answer = connection.getresponse()
            return SimpleNamespace(status=answer.status, headers=answer.headers, body=answer.read())

        own = {"Origin": f"http://{host}", "Authorization": bearer}
        yield SimpleNamespace(ask=ask, own=own, bearer=bearer, stop=stop, console=console, played=played)


def test_the_page_with_its_token_sees_the_run(served):
    answer = served.ask(f"/api/view?run={RUN}&view=matrix", Authorization=served.bearer)

    assert answer.status == 200
    assert json.loads(answer.body)["header"]["run"] == RUN


@pytest.mark.parametrize("said", [None, "Bearer ", "Bearer wrong", "Basic wrong"])
def test_without_the_token_nothing_is_told_of_any_run(served, said):
    for path in (
        "/api/runs",
        f"/api/view?run={RUN}",
        f"/api/definition?run={RUN}",
        "/api/instance-log",
        "/api/nothing",
    ):
        answer = served.ask(path, Authorization=said)
        assert answer.status == 403
        assert RUN not in answer.body.decode()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost.evil.example", ""])
def test_a_name_that_was_rebound_to_this_machine_is_refused(served, host):
    for path in ("/", "/main.js", f"/api/view?run={RUN}"):
        assert served.ask(path, Host=host, Authorization=served.bearer).status == 403


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
     {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}],
)  # fmt: skip
def test_a_page_of_another_origin_is_refused_though_it_knew_the_token(served, headers):
    assert served.ask(f"/api/view?run={RUN}", Authorization=served.bearer, **headers).status == 403
    assert served.ask("/", **headers).status == 403


def test_a_link_from_elsewhere_opens_the_page_which_tells_nothing_without_the_token(served):
    visit = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}

    assert served.ask("/", **visit).status == 200
    assert served.ask("/api/runs", **visit).status == 403
    assert served.ask("/", **{**visit, "Sec_Fetch_Dest": "iframe"}).status == 403


def test_a_page_of_the_owner_alone_leads_to_the_console_until_it_ends(tmp_path):
    page = tmp_path / "console.html"
    page.symlink_to(tmp_path / "other")

    doorway.lead_to(page, "http://127.0.0.1:1/#token=a")

    assert not (tmp_path / "other").exists()
    assert page.stat().st_mode & 0o777 == 0o600
    assert 'url=http://127.0.0.1:1/#token=a"' in page.read_text()
    doorway.close(page, "http://127.0.0.1:2/#token=b")
    assert "token=a" in page.read_text()
    doorway.close(page, "http://127.0.0.1:1/#token=a")
    assert "token" not in page.read_text()
    assert "matrix watch RUN --web" in page.read_text()


def test_no_answer_lets_another_origin_read_it(served):
    answer = served.ask("/api/runs", **served.own)

    assert answer.status == 200
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert served.ask("/api/runs", "OPTIONS", Origin="https://evil.example").status == 501


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "own"}, {"Authorization": "own"}, {"Origin": "https://evil.example", "Authorization": "own"}],
)
def test_a_run_is_stopped_only_by_the_page_with_its_token(served, headers):
    said = {name: served.own[name] if value == "own" else value for name, value in headers.items()}

    assert served.ask("/api/stop", "POST", json.dumps({"run": RUN}), **said).status == 403
    assert served.stop.runs == []


def test_the_page_with_its_token_stops_a_run(served):
    answer = served.ask("/api/stop", "POST", json.dumps({"run": RUN}), **served.own)

    assert (answer.status, json.loads(answer.body)["state"]) == (200, "stopping")
    assert served.stop.runs == [RUN]
    served.stop.runs.clear()


def test_a_page_loads_and_runs_nothing_but_the_consoles_own_files(served):
    answer = served.ask("/")
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))

    assert answer.status == 200
    assert policy["default-src"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src", "frame-src")} == {"'self'"}
    assert policy["require-trusted-types-for"] == "'script'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    page = answer.body.decode()
    assert re.findall(r"<script(?![^>]*src=)|<style| on\w+=| style=|https?://", page) == []


def test_no_script_of_the_console_makes_markup_of_a_text_or_asks_another_server():
    for path in PAGES.glob("*.js"):
        source = path.read_text()
        assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", source) == []
        assert [address for address in re.findall(r"https?://[^\"`\s]+", source) if "www.w3.org" not in address] == []


@pytest.mark.parametrize(
    "path", ["/../admission.py", "/..%2fadmission.py", "/dagre/../../server.py", "//etc/passwd", "/dagre"]
)
def test_only_the_pages_own_files_are_served(served, path):
    assert served.ask(path).status == 404


def test_a_name_that_no_run_can_have_is_looked_for_nowhere(served):
    before = len(served.played.asked)

    for run in ("", "../other", "a/b", "x" * 81):
        assert served.ask(f"/api/view?run={run}", Authorization=served.bearer).status == 404
    assert len(served.played.asked) == before
    answer = served.ask("/api/view?run=no-such", Authorization=served.bearer)
    assert (answer.status, json.loads(answer.body)) == (200, {"waiting": "no run no-such"})


def test_a_report_is_shown_by_its_own_address_and_in_a_box_without_an_origin(served):
    served.played.record["documents"]["report.html"] = ["<p>report"]
    address = f"/report/{served.console.admission.report_key(RUN)}/{RUN}"

    answer = served.ask(address)

    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert "sandbox" in policy
    assert "allow-same-origin" not in policy
    assert served.ask(f"/report/{'0' * 64}/{RUN}").status == 403
    assert served.ask(address.replace(RUN, "other")).status == 403
    assert served.ask(address, Sec_Fetch_Site="cross-site").status == 403


def test_what_is_not_an_order_is_refused(served):
    assert served.ask("/api/stop", "POST", "[" * 5000, **served.own).status in (403, 404, 502)
    assert served.ask("/api/stop", "POST", "x" * 20_000, **served.own).status == 403
    assert served.ask("/api/stop", "POST", "[]", **served.own).status == 403
    assert served.ask("/api/other", "POST", "{}", **served.own).status == 404
