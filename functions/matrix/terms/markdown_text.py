"""Texts of a run inside a Markdown document."""

from collections.abc import Iterable


def inline(text: object) -> str:
    """Keep a text inside its cell: no line ends, and nothing that Markdown would take for a column or for HTML."""
    flat = " ".join(str(text).split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def table_line(values: Iterable[str]) -> str:
    return f"| {' | '.join(values)} |"
