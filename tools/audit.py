"""Check all pinned packages for known vulnerabilities: the Python Packaging Authority's database, else OSV.

Fails if there is one. If neither database can be reached or knows any of the packages (as behind a mirror), it reports
that and does not fail: `make lint` works without a network, and CI has one.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

LOCKED = ("requirements/dev.txt", "dependencies/requirements.txt", "agent_client/requirements.txt")
LONGEST_S = 180
# Vulnerabilities that are not reachable here, by package and any of their names. urllib3 2.6.3 is the last version for
# Python 3.9, so the agent has it; 2.7 fixes both. botocore (httpsession.py) disables urllib3's redirects (Retry(False))
# and decoding of responses (decode_content=False).
UNREACHED = {
    "urllib3 2.6.3": {
        "CVE-2026-44431": "headers that a redirect hands on",
        "CVE-2026-44432": "answers that swell while they are decoded",
    },
}
NO_NETWORK = "requests.exceptions."
PYPI: Sequence[str] = ("--vulnerability-service", "pypi")
OSV: Sequence[str] = ("--vulnerability-service", "osv")


class Verdict(NamedTuple):
    """The result of an audit in words; whether the check fails, and whether anything was audited."""

    words: str
    fails: bool
    is_audited: bool


def pinned(texts: Iterable[str]) -> list[list[str]]:
    """Return all packages of lock files as name==version, in lists without two versions of one name.

    pip-audit refuses a list with two versions; the project's lock files have some, because each Python version of
    Lambda needs its own numpy.
    """
    rounds: list[dict[str, str]] = []
    pins = {pin for text in texts for pin in re.findall(r"^([\w.-]+)==([^ ;]+)", text, re.MULTILINE)}
    for name, version in sorted(pins):
        free = next((versions for versions in rounds if name not in versions), None)
        if free is None:
            rounds.append(free := {})
        free[name] = version
    return [[f"{name}=={version}" for name, version in versions.items()] for versions in rounds]


def verdict(answer: str, complaint: str) -> Verdict:
    """Return the result from pip-audit's answer (JSON) and complaint (stderr)."""
    try:
        packages = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = (complaint.strip().splitlines() or ["no answer"])[-1][:500]
        return Verdict(f"Packages were not audited: {reason}", not reason.startswith(NO_NETWORK), False)
    weak = [
        f"{package['name']} {package['version']}: {weakness['id']}, mended in "
        f"{', '.join(weakness['fix_versions']) or 'no version yet'}"
        for package in packages
        for weakness in package.get("vulns", [])
        if not is_unreached(package, weakness)
    ]
    if weak:
        heading = "Known weaknesses of pinned packages; pin a mended version, then `make lock`:"
        return Verdict("\n".join([heading, *weak]), True, True)
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    audited = len(packages) - len(unknown)
    if not audited:
        words = f"Packages were not audited: the advisory database knows none of the {len(packages)} from here"
        return Verdict(words, False, False)
    beside = f"; not found there: {', '.join(unknown)}" if unknown else ""
    return Verdict(f"{audited} packages have no known weakness{beside}", False, True)


def is_unreached(package: dict[str, Any], weakness: dict[str, Any]) -> bool:
    """Return whether a vulnerability is accepted in this version."""
    accepted = UNREACHED.get(f"{package['name']} {package['version']}", {})
    return not accepted.keys().isdisjoint({weakness["id"], *weakness.get("aliases", [])})


def audit(packages: list[str]) -> Verdict:
    """Audit these packages, with a second database if the first gives no answer."""
    first = ask(packages, PYPI)
    if first.is_audited or first.fails:
        return first
    second = ask(packages, OSV)
    return second if second.is_audited else first._replace(words=f"{first.words}; OSV does not answer either")


def ask(packages: list[str], database: Sequence[str]) -> Verdict:
    """Audit these packages with one database; `database` are pip-audit's options that choose it."""
    program = Path(sys.executable).with_name("pip-audit")
    options = ["--disable-pip", "--no-deps", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    with NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(packages))
        file.flush()
        try:
            audited = subprocess.run(  # noqa: S603 - our own environment's program
                [program, *options, *database, "--requirement", file.name],
                capture_output=True, text=True, timeout=LONGEST_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Verdict(f"Packages were not audited: no answer within {LONGEST_S} s", False, False)
    return verdict(audited.stdout, audited.stderr)


if __name__ == "__main__":
    rounds = pinned(Path(file).read_text(encoding="utf-8") for file in LOCKED)
    with ThreadPoolExecutor() as pool:
        verdicts = list(pool.map(audit, rounds))
    print(*(each.words for each in verdicts), sep="\n", file=sys.stderr)
    sys.exit(any(each.fails for each in verdicts))
