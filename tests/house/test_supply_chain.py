"""What others wrote and we run: each package is pinned with its hash, looked up among known weaknesses, and listed."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.programs import tools as programs
from tools import audit

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent


def locked(file):
    """The packages of a lock file with their hashes, as name==version."""
    entries = re.split(r"\n(?=\S)", (ROOT / file).read_text().replace("\\\n", ""))
    return {entry.split()[0]: re.findall(r"--hash=(sha256:[0-9a-f]{64})\b", entry) for entry in entries}


@pytest.mark.parametrize(
    "file", sorted({*audit.LOCKED, *(f"requirements/{name}.txt" for name in ("run", "bootstrap", "deploy"))})
)
def test_each_package_is_pinned_with_its_hashes(file):
    assert [package for package, hashes in locked(file).items() if "==" not in package or not hashes] == []


def test_the_lock_file_of_the_layer_holds_what_is_asked_for():
    asked = re.findall(r"^([a-z][\w.-]*==[\w.]+)", (ROOT / "dependencies/requirements.in").read_text(), re.MULTILINE)

    assert asked
    assert set(asked) <= locked("dependencies/requirements.txt").keys(), "run: make lock"


def test_functions_run_with_the_boto3_that_is_tested():
    """Locally they import that of the environment, whose lock files are the other two."""
    clients = ("boto3", "botocore", "s3transfer", "jmespath", "urllib3", "python-dateutil", "six")
    layer, run, dev = (
        {package for package in locked(file) if package.partition("==")[0] in clients}
        for file in ("dependencies/requirements.txt", "requirements/run.txt", "requirements/dev.txt")
    )

    assert len(layer) == len(clients)
    assert layer == run == dev


@pytest.mark.slow
def test_sam_build_refuses_a_package_that_is_not_the_one_that_was_pinned(tmp_path):
    lock = tmp_path / "dependencies" / "requirements.txt"
    lock.parent.mkdir()
    # One small package is refused as all of them would be, and is sooner here.
    [package] = re.findall(
        r"^annotated-types==.*?(?=\n\S)", (ROOT / "dependencies/requirements.txt").read_text(), re.M | re.S
    )
    lock.write_text(re.sub(r"sha256:[0-9a-f]{8}", "sha256:" + "0" * 8, package))
    shutil.copy(ROOT / "template.yaml", tmp_path)
    (tmp_path / "tmp").mkdir()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    environment = os.environ | {
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(tmp_path / "tmp"),
        "__SAM_CLI_APP_DIR": str(tmp_path / "sam"), "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip

    built = subprocess.run(
        [PROGRAMS / "sam", "build", "DependenciesLayer", "--parameter-overrides", f"FunctionRuntime={version}"],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip

    assert built.returncode != 0
    assert "DO NOT MATCH THE HASHES" in built.stderr


def test_the_lock_file_of_the_agents_client_holds_what_is_asked_for_and_nothing_beside():
    asked = re.findall(r"^([a-z][\w.-]*==[\w.]+)", (ROOT / "agent_client/requirements.in").read_text(), re.MULTILINE)

    assert set(asked) == locked("agent_client/requirements.txt").keys(), "run: make lock"


def test_no_list_that_is_audited_has_two_versions_of_a_package():
    lists = audit.pinned((ROOT / file).read_text() for file in audit.LOCKED)

    assert all(len({package.partition("==")[0] for package in packages}) == len(packages) for packages in lists)
    assert {package for packages in lists for package in packages} == set().union(*map(locked, audit.LOCKED))


WEAK = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}
GOOD = {"name": "b", "version": "1", "vulns": []}
UNREACHED = {"name": "urllib3", "version": "2.6.3", "vulns": [
    {"id": "GHSA-1", "aliases": ["CVE-2026-44431"], "fix_versions": ["2.7.0"]},
]}  # fmt: skip
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "complaint", "words", "fails"),
    [
        ([WEAK, GOOD], "Found 1 known vulnerability", "a 1: PYSEC-1, mended in 1.1", True),
        ([GOOD, UNKNOWN], "", "1 packages have no known weakness; not found there: c", False),
        ([UNKNOWN], "", "not audited: the advisory database knows none of the 1", False),
        ([UNREACHED, GOOD], "", "2 packages have no known weakness", False),
        ([UNREACHED | {"version": "2.6.2"}], "", "urllib3 2.6.2: GHSA-1, mended in 2.7.0", True),
        (None, "requests.exceptions.ConnectionError: no route", "not audited: requests.exceptions", False),
        (None, "ERROR: numpy has duplicate requirements", "not audited: ERROR: numpy", True),
        (None, "", "not audited: no answer", True),
    ],
)
def test_a_known_weakness_fails_and_a_missing_network_is_said(packages, complaint, words, fails):
    verdict = audit.verdict("" if packages is None else json.dumps({"dependencies": packages}), complaint)

    assert words in verdict.words
    assert verdict.fails is fails


class Advisories(BaseHTTPRequestHandler):
    """OSV as it answers for one weak version of one package."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        day, package = "2014-05-19T14:55:00Z", {"name": "jinja2", "ecosystem": "PyPI"}
        ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.7.2"}]}]
        weakness = {"id": "PYSEC-2014-8", "aliases": [], "summary": "x", "published": day, "modified": day,
                    "affected": [{"package": package, "ranges": ranges, "versions": ["2.4.1"]}]}  # fmt: skip
        body = json.dumps({"vulns": [weakness]} if asked == {"package": package, "version": "2.4.1"} else {}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.mark.slow
def test_a_weak_pin_is_found_and_named_by_the_database_that_can_be_reached(monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Advisories) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        reached = (*audit.OSV, "--osv-url", f"http://127.0.0.1:{server.server_port}/v1/query")
        monkeypatch.setattr(audit, "PYPI", (*audit.OSV, "--osv-url", "http://127.0.0.1:1/"))
        monkeypatch.setattr(audit, "OSV", reached)

        weak, good = audit.audit(["jinja2==2.4.1", "numpy==2.2.6"]), audit.audit(["numpy==2.2.6"])
        server.shutdown()

    assert weak.fails
    assert "jinja2 2.4.1: PYSEC-2014-8, mended in 2.7.2" in weak.words
    assert good == ("1 packages have no known weakness", False, True)


@pytest.mark.slow
def test_the_bill_of_materials_lists_each_package_with_its_hashes(tmp_path):
    file = tmp_path / "sbom.cdx.json"
    listed = subprocess.run(["make", "--dry-run", "sbom"], cwd=ROOT, capture_output=True, text=True).stdout
    [command] = [line for line in listed.splitlines() if line.endswith("dist/sbom.cdx.json requirements/run.txt")]

    subprocess.run(command.lstrip("@").replace("dist/sbom.cdx.json", str(file)).split(), cwd=ROOT, check=True)

    bill = json.loads(file.read_text())
    hashes = {
        f"{part['name']}=={part['version']}": [
            f"sha256:{digest['content']}" for source in part["externalReferences"] for digest in source["hashes"]
        ]
        for part in bill["components"]
    }
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "storage-matrix"
    assert hashes == locked("requirements/run.txt")


@pytest.mark.parametrize("page", [".github/workflows/ci.yml", "docs/ci.md"])
def test_each_action_is_a_commit_and_each_container_a_digest(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    actions = re.findall(r"uses: (\S+)", text)

    assert actions
    assert [action for action in actions if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []
    containers = re.findall(r"^ +container: (\S+)", text, re.MULTILINE)
    assert [image for image in containers if not re.fullmatch(r"[\w./:-]+@sha256:[0-9a-f]{64}", image)] == []


def signed(folder, key):
    """Write a package, its signature by a key of the test's, and that key; the key's fingerprint."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--yes", "--armor", "--passphrase", ""]
    gpg += ["--pinentry-mode", "loopback"]
    subprocess.run([*gpg, "--quick-generate-key", key, "ed25519", "sign", "never"], check=True)
    listed = subprocess.run([*gpg, "--list-keys", "--with-colons"], check=True, capture_output=True, text=True).stdout
    (folder / "package").write_text("a package")
    subprocess.run([*gpg, "-o", str(folder / "asc"), "--detach-sign", str(folder / "package")], check=True)
    subprocess.run([*gpg, "-o", str(folder / "KEYS"), "--export"], check=True)
    return re.search(r"^fpr:+([0-9A-F]{40}):", listed, re.MULTILINE)[1]


CURL = """for last; do :; done
case "$last" in *.asc) from=asc ;; *KEYS) from=KEYS ;; *) from=package ;; esac
cp "FOLDER/$from" "$(basename "$last")"
"""


@pytest.mark.skipif(not shutil.which("gpg"), reason="needs gpg")
@pytest.mark.parametrize("case", ["ours", "another's key", "another package"])
def test_mountpoint_is_installed_only_with_the_signature_of_its_makers(tmp_path, case):
    fingerprint = signed(tmp_path, "someone@example.com")
    script = programs.INSTALL_MOUNT_S3
    if case != "another's key":
        script = script.replace("8AEFE705EBE329C0948C75A66F1C3B3AEF4B030B", fingerprint)
    if case == "another package":
        (tmp_path / "package").write_text("another package")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {
        "curl": CURL.replace("FOLDER", str(tmp_path)), "apt-get": f'echo "$*" >> "{tmp_path}/installed"\n',
    }.items():  # fmt: skip
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)

    ended = subprocess.run(
        ["bash", "-euc", script], env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip

    assert (".deb" in (tmp_path / "installed").read_text()) == (case == "ours"), ended.stderr
    assert (ended.returncode == 0) == (case == "ours")


def test_what_an_instance_builds_is_a_commit():
    assert re.search(r"git fetch .* [0-9a-f]{40}$", programs.BUILD_EFS_UTILS, re.MULTILINE)
    assert "--branch" not in programs.BUILD_EFS_UTILS
