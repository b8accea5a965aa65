"""What others wrote and we run: packages are pinned with their hashes, programs with a commit or a signature."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.programs import tools as programs

ROOT = Path(__file__).parents[2]
LOCKED = [*ROOT.glob("requirements/*.txt"), *ROOT.glob("*/requirements.txt")]


def locked(file):
    """The packages of a lock file with their hashes, as name==version."""
    entries = re.split(r"\n(?=\S)", file.read_text().replace("\\\n", ""))
    return {entry.split()[0]: re.findall(r"--hash=(sha256:[0-9a-f]{64})\b", entry) for entry in entries}


@pytest.mark.parametrize("file", LOCKED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_package_is_pinned_with_its_hashes(file):
    assert [package for package, hashes in locked(file).items() if "==" not in package or not hashes] == []


def test_functions_run_with_the_boto3_that_is_tested():
    """Locally they import that of the environment, whose lock files are the other two."""
    clients = ("boto3", "botocore", "s3transfer", "jmespath", "urllib3", "python-dateutil", "six")
    layer, run, dev = (
        {package for package in locked(ROOT / file) if package.partition("==")[0] in clients}
        for file in ("dependencies/requirements.txt", "requirements/run.txt", "requirements/dev.txt")
    )

    assert len(layer) == len(clients)
    assert layer == run == dev


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
