"""A variable is called what it holds: `cell`, `tags`, `problem`, and not `one` or `found`, which fit anything."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAY_NOTHING = {"one", "found", "told", "said", "given"}


def _names(file: Path) -> Iterator[str]:
    """Yield each name that a variable, a parameter, an attribute or a keyword has, as often as it is written."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name


def _counts() -> Counter[str]:
    counts: Counter[str] = Counter()
    for house, depth in (("functions", 3), ("cli", 2)):
        for file in (ROOT / house).rglob("*.py"):
            package = "/".join(file.relative_to(ROOT).parent.parts[:depth])
            counts[package] += sum(name in SAY_NOTHING for name in _names(file))
    return counts


def test_no_package_has_a_name_that_says_nothing():
    assert {package: n for package, n in _counts().items() if n} == {}
