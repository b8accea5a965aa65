"""Ask the Python Packaging Authority's advisory database for known weaknesses of every package that we pin.

Fails where one is known. Where the database cannot be reached, or knows none of the packages (as behind a mirror), it
says so and does not fail: `make lint` works without a network, and CI has one.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import NamedTemporaryFile

LOCKED = ("requirements/dev.txt", "dependencies/requirements.txt", "dependencies/report/requirements.txt")
LONGEST_S = 180
NO_NETWORK = "requests.exceptions."


def pinned(texts: Iterable[str]) -> list[list[str]]:
    """Return all packages of lock files as name==version, in lists without two versions of one name.

    pip-audit refuses a list with two; ours have them, since each Python version that Lambda has needs its own numpy.
    """
    rounds: list[dict[str, str]] = []
    pins = {pin for text in texts for pin in re.findall(r"^([\w.-]+)==([^ ;]+)", text, re.MULTILINE)}
    for name, version in sorted(pins):
        free = next((versions for versions in rounds if name not in versions), None)
        if free is None:
            rounds.append(free := {})
        free[name] = version
    return [[f"{name}=={version}" for name, version in versions.items()] for versions in rounds]


def verdict(answer: str, complaint: str) -> tuple[str, bool]:
    """Return what pip-audit's answer (JSON) and complaint (stderr) mean, in words, and whether the check fails."""
    try:
        packages = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = (complaint.strip().splitlines() or ["no answer"])[-1][:500]
        return f"Packages were not audited: {reason}", not reason.startswith(NO_NETWORK)
    weak = [
        f"{package['name']} {package['version']}: {weakness['id']}, mended in "
        f"{', '.join(weakness['fix_versions']) or 'no version yet'}"
        for package in packages
        for weakness in package.get("vulns", [])
    ]
    if weak:
        return "\n".join(["Known weaknesses of pinned packages; pin a mended version, then `make lock`:", *weak]), True
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    audited = len(packages) - len(unknown)
    if not audited:
        return f"Packages were not audited: the advisory database knows none of the {len(packages)} from here", False
    beside = f"; not found there: {', '.join(unknown)}" if unknown else ""
    return f"{audited} packages have no known weakness{beside}", False


def audit(packages: list[str]) -> tuple[str, bool]:
    """Ask for these packages; return what came out in words, and whether that fails the check."""
    program = Path(sys.executable).with_name("pip-audit")
    options = ["--disable-pip", "--no-deps", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    with NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(packages))
        file.flush()
        try:
            audited = subprocess.run(  # noqa: S603 - our own environment's program
                [program, *options, "--requirement", file.name],
                capture_output=True, text=True, timeout=LONGEST_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"Packages were not audited: no answer within {LONGEST_S} s", False
    return verdict(audited.stdout, audited.stderr)


if __name__ == "__main__":
    rounds = pinned(Path(file).read_text(encoding="utf-8") for file in LOCKED)
    with ThreadPoolExecutor() as pool:
        verdicts = list(pool.map(audit, rounds))
    print(*(words for words, _ in verdicts), sep="\n", file=sys.stderr)
    sys.exit(any(fails for _, fails in verdicts))
