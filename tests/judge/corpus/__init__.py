"""What AWS refuses, each entry with the page that says so: resources, whole templates, calls and definitions."""

from pathlib import Path
from typing import Any

import pytest
import yaml


def cases(kind: str) -> list[Any]:
    """Return the entries of a file of this folder as parameters of a test, by what is wrong with them."""
    entries = yaml.load((Path(__file__).parent / f"{kind}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    return [pytest.param(_in_full(entry), id=entry["wrong"]) for entry in entries]


def _in_full(node: Any) -> Any:
    """Return an entry with its long texts and lists."""
    match node:
        case {"repeat": [text, times]}:
            return text * times
        case {"list": [value, times]}:
            return [_in_full(value) for _ in range(times)]
        case {"numbered": [name, value, times]}:
            return {f"{name}{number}": _in_full(value) for number in range(times)}
        case dict():
            return {name: _in_full(child) for name, child in node.items()}
        case list():
            return [_in_full(child) for child in node]
    return node
