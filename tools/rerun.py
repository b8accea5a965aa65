"""Run the failed tests of an ended test run once more, each alone: a busy machine must not turn a good change red.

    .venv/bin/python tools/rerun.py OUTPUT DISTURBED

OUTPUT is the output of the run, DISTURBED a list of the tests that passed only now. Both are kept for the whole CI run:
together its targets may have MOST such tests. Fix the listed tests, because they depend on the machine's load.

Ends with 0 if all of them pass. Ends with 1, and runs nothing, if a second run could hide a failure: after more than
MOST failures, or if the run ended before its last test.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

MOST = 3
# pytest keeps the failed tests of its last run here, also those that ran in other processes (pytest-xdist).
FAILED = Path(".pytest_cache/v/cache/lastfailed")
CLOSING = re.compile(r"^=*\s*((?:\d+ \w+(?:, )?)+) in [\d.]+s", re.MULTILINE)
# "!!! Interrupted: ... !!!", "!!! stopping after 1 failures !!!", and the trace of pytest's own failure.
STOPPED = re.compile(r"^(!!!+ |INTERNALERROR>)", re.MULTILINE)


def counts(output: str) -> dict[str, int]:
    """Return the counts of the last closing line of pytest by their words: {"failed": 1, "passed": 414}."""
    closing = CLOSING.findall(output)
    if not closing or STOPPED.search(output):
        return {}
    return {word.rstrip("s"): int(count) for count, word in re.findall(r"(\d+) (\w+)", closing[-1])}


def passes_alone(test: str) -> bool:
    """Run one test in a process of its own, and show what it prints."""
    print(f"ci: once more, alone: {test}", flush=True)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", test]
    return subprocess.run(command, check=False).returncode == 0  # noqa: S603 - our own environment's pytest


def main(output: Path, disturbed: Path) -> int:
    """Return the exit code."""
    ended = counts(output.read_text(encoding="utf-8", errors="replace"))
    failed = sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []
    before = disturbed.read_text().splitlines() if disturbed.exists() else []
    if not failed or len(failed) != ended.get("failed", 0) + ended.get("error", 0):
        print("ci: no test runs once more: the run did not end with failed tests alone")
        return 1
    if len(failed) + len(before) > MOST:
        print(f"ci: no test runs once more: {len(failed) + len(before)} failed, and at most {MOST} may be disturbed")
        return 1
    if not all(passes_alone(test) for test in failed):
        return 1
    disturbed.write_text("".join(f"{test}\n" for test in before + failed))
    print(f"{ended.get('passed', 0) + len(failed)} passed, 0 failed, {ended.get('skipped', 0)} skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
