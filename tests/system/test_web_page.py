"""A web page that the user of a local cloud has open: it must not run a command on their machine, nor read a result."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import browser
from support.browser import CHROMIUM
from support.raw_requests import address_of
from support.runs import Cloud, matrix

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)")

REBOUND = "rebound.example"
# What a page can send: with CORS, which needs leave for its headers; without it, which needs none but shows no answer.
# The cloud once took any key, so the page makes one up.
SCRIPT = """
async ({endpoint, machine, input, bucket, functions}) => {
  const authorization = service => "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/" + service +
    "/aws4_request, SignedHeaders=host, Signature=" + "0".repeat(64);
  const answers = {};
  const attempt = async (name, url, options) => {
    try {
      const answer = await fetch(url, options);
      answers[name] = {status: answer.status, type: answer.type, text: await answer.text()};
    } catch (error) { answers[name] = {error: String(error)}; }
    return answers[name];
  };
  const call = (name, action, body, mode) => attempt(name, endpoint + "/", {
    method: "POST", mode, body: JSON.stringify(body),
    headers: {"X-Amz-Target": "AWSStepFunctions." + action, "Content-Type": "application/x-amz-json-1.0",
              "Authorization": authorization("states")}});
  await attempt("own page", "/ok", {});
  await call("list", "ListStateMachines", {}, "cors");
  await call("start", "StartExecution", {stateMachineArn: machine, name: "by-a-page", input}, "cors");
  await call("start unread", "StartExecution", {stateMachineArn: machine, name: "by-a-page-2", input}, "no-cors");
  await attempt("functions", endpoint + functions, {headers: {"Authorization": authorization("lambda")}});
  await attempt("reset", endpoint + "/moto-api/reset", {method: "POST", mode: "no-cors"});
  await attempt("dashboard", endpoint + "/moto-api/data.json", {});
  const form = new FormData();
  form.append("key", "by-a-page");
  form.append("file", new Blob(["x"]), "x");
  await attempt("upload", endpoint + "/" + bucket, {method: "POST", mode: "no-cors", body: form});
  await attempt("object", endpoint + "/" + bucket, {});
  return answers;
}
"""


class Pages(http.server.BaseHTTPRequestHandler):
    """Somebody's web site."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>harmless</title>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of a page of another origin than the cloud's."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser for which the attacker's name leads to this machine, as after DNS rebinding.

    Newer ones ask their user before a page reaches this machine; here as if the user had allowed it, or had another.
    """
    rebinding = f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"
    allowing = "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"
    with browser.chromium(tmp_path_factory.mktemp("home"), rebinding, allowing) as running:
        yield running


def attack(page: Any, cloud: Cloud, endpoint: str, canary: Path) -> dict[str, dict[str, Any]]:
    """What the page got for each of its attempts."""
    commands = matrix(workload=[{"type": "build", "build": f"touch {canary}", "jobs": [1]}])
    return page.evaluate(SCRIPT, {
        "endpoint": endpoint, "machine": cloud.output("StateMachineArn"), "input": json.dumps(commands),
        "bucket": cloud.output("BucketName"), "functions": "/2015-03-31/functions/",
    })  # fmt: skip


def assert_nothing_happened(cloud: Cloud, canary: Path) -> None:
    """No execution was started, no object written, nothing reset, no command run."""
    executions = cloud.client("stepfunctions").list_executions(stateMachineArn=cloud.output("StateMachineArn"))
    assert [entry["name"] for entry in executions["executions"] if entry["name"].startswith("by-a-page")] == []
    objects = cloud.client("s3").list_objects_v2(Bucket=cloud.output("BucketName"), Prefix="by-a-page")
    assert objects["KeyCount"] == 0
    assert not canary.exists()


def test_a_page_of_another_origin_lists_nothing_and_starts_nothing(cloud, chromium, site, tmp_path):
    page = chromium.new_page()
    page.goto(site)

    answers = attack(page, cloud, cloud.description["endpoint"], tmp_path / "canary")

    assert answers.pop("own page")["status"] == 200
    shown = {name: answer for name, answer in answers.items() if answer.get("text")}
    assert shown == {}
    assert_nothing_happened(cloud, tmp_path / "canary")


def test_a_page_whose_name_was_rebound_to_this_machine_is_refused(cloud, chromium, tmp_path):
    """Its requests are of the same origin, so no rule of the browser holds them; its own document is played."""
    address = f"http://{REBOUND}:{address_of(cloud.description).rpartition(':')[2]}"
    page = chromium.new_page()
    page.route(f"{address}/ok", lambda route: route.fulfill(body="<title>harmless</title>", content_type="text/html"))
    page.goto(f"{address}/ok")

    answers = attack(page, cloud, address, tmp_path / "canary")

    assert answers.pop("own page")["status"] == 200
    assert {name: answer.get("status", answer.get("error")) for name, answer in answers.items()} == dict.fromkeys(
        answers, 403
    )
    assert {f"This is not {address.removeprefix('http://')}, " in answer["text"] for answer in answers.values()} == {
        True
    }
    assert_nothing_happened(cloud, tmp_path / "canary")
