"""Which tools a plan needs, and which of them this machine lacks: said before a local run, not discovered in it."""

import shutil
import subprocess
from collections.abc import Callable
from typing import Any

PACKAGES = {
    "fio": "apt install fio  (dnf install fio, brew install fio)",
    "parallel": "apt install parallel  (dnf install parallel, brew install parallel)",
}


def needed(plan: dict[str, Any]) -> dict[str, list[str]]:
    """Return the tools that a plan's points name, each with the cells that need it."""
    cells: dict[str, list[str]] = {}
    for cell in plan["cells"]:
        for tool in sorted(_tools(cell)):
            cells.setdefault(tool, []).append(cell["id"])
    return cells


def _tools(cell: dict[str, Any]) -> set[str]:
    if cell["workload"].get("type") == "fio":
        return {"fio"}
    named = {point.get("params", {}).get("tool") for point in cell["points"]}
    return {tool for tool in named if tool in PACKAGES}


def missing(plan: dict[str, Any], has: Callable[[str], bool] | None = None) -> list[str]:
    """Return a sentence for each tool that is needed and not here."""
    look_up = has or is_here
    return [
        f"{tool} is not installed: {len(cells)} of {len(plan['cells'])} cells will fail. Install it: {PACKAGES[tool]}"
        for tool, cells in needed(plan).items()
        if not look_up(tool)
    ]


def is_here(tool: str) -> bool:
    """Whether a tool is on PATH; `parallel` must be GNU's, moreutils has another one of that name."""
    path = shutil.which(tool)
    if path is None or tool != "parallel":
        return path is not None
    asked = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    return "GNU parallel" in asked.stdout
