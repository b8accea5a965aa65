"""The examples of storages and workloads in docs/."""

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"


def example_of(page: str, kind: str) -> dict[str, Any]:
    """Return the first example of a type, a part of a matrix; `page` is "storages.md" or "workloads.md"."""
    _, found, section = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## `{kind}`\n")
    assert found, f"docs/{page} has no section ## `{kind}`"
    example = re.search(r"```json\n(.*?)```", section, re.DOTALL)
    assert example
    part: dict[str, Any] = json.loads("{" + example[1] + "}")
    return part
