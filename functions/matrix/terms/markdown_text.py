"""Texts of a run inside a Markdown document: a text of somebody else shows no picture, link or button there."""

import re
from collections.abc import Iterable
from itertools import cycle

# What begins code, emphasis, a link, a picture or a column. An underscore within a word begins nothing.
SPECIAL = re.compile(r"[\\|`*\[\]~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# Our sentences have code too; what is within code is only a text.
CODE = re.compile(r"(`[^`]+`)")
# GitHub makes links of bare addresses too.
ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def inline(text: object) -> str:
    """Keep a text inside its cell: no line ends, and nothing that Markdown would take for more than a text."""
    parts = CODE.split(_flat(text))
    return "".join(
        code(part[1:-1]) if is_code else _escaped(part) for part, is_code in zip(parts, cycle((False, True)))
    )


def _escaped(text: str) -> str:
    return ADDRESS.sub(r"\\\g<0>", SPECIAL.sub(r"\\\g<0>", text)).replace("<", "&lt;")


def code(text: object) -> str:
    """Return a text as code, in a table too; a backtick would end it."""
    escaped = _flat(text).replace("`", "'").replace("|", "\\|")
    return f"`{escaped}`"


def table_line(values: Iterable[str]) -> str:
    return f"| {' | '.join(values)} |"


def _flat(text: object) -> str:
    return " ".join(str(text).split())
