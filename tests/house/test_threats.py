"""docs/threats.md: each threat names tests that show what holds it off, and they exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = [
    line for line in (ROOT / "docs" / "threats.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| Who | Tries")
]  # fmt: skip


def test_each_threat_names_tests_that_exist():
    missing = []
    for row in ROWS:
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row.rsplit("|", 2)[1])
        missing += [] if named else [f"no test: {row}"]
        for file, function in named:
            path = ROOT / file
            if not path.is_file() or (function and f"def {function}(" not in path.read_text()):
                missing.append(f"{file}::{function}")

    assert missing == []


def test_everybody_who_could_attack_has_a_row():
    attackers = " ".join(row.split("|")[1] for row in ROWS).lower()

    for who in ("author of a matrix", "instance", "another stack", "another user", "page", "results file", "package"):
        assert who in attackers
