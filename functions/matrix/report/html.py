"""HTML made of text that nobody trusts: everything is escaped here, nowhere else is a tag written around a value."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from matrix.terms.figures import ABSENT, number


@dataclass(frozen=True)
class Markup:
    """Text that is HTML already."""

    text: str


@dataclass(frozen=True)
class Figure:
    """A figure as it is read, and as it is: what is copied and compared is the latter."""

    text: str
    value: float | int | None


def tag(name: str, *children: object, **attributes: str | None) -> Markup:
    """Return an element; `class_` and `for_` lose their underscore, other underscores become hyphens."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{join(children).text}</{name}>")


def join(children: Iterable[object]) -> Markup:
    """Put children one after the other; whatever is no markup is escaped."""
    return Markup("".join(one.text if isinstance(one, Markup) else escape(str(one)) for one in children))


def figure_of(value: object) -> Figure | str:
    """A number as a figure, anything else as text; what does not exist is a dash."""
    if value is None:
        return ABSENT
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return Figure(
        f"{value:,}" if isinstance(value, int) else number(value) if value >= 0 else f"−{number(-value)}", value
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str, class_: str | None = None) -> Markup:
    """Return a table that can be scrolled by keyboard; figures stand to the right, with their whole value beside."""
    head = tag("thead", tag("tr", *(tag("th", one, scope="col") for one in heads)))
    body = tag("tbody", *(tag("tr", *(_cell(one, index == 0) for index, one in enumerate(row))) for row in rows))
    built = tag("table", tag("caption", caption), head, body, class_=class_)
    return tag("div", built, class_="table", tabindex="0", role="region", aria_label=caption)


def _cell(value: object, is_first: bool) -> Markup:
    if isinstance(value, Figure):
        raw = None if value.value is None else repr(value.value)
        return tag("td", value.text, class_="figure", data_value=raw)
    if isinstance(value, Markup):
        return tag("td", value)
    if value == ABSENT:
        return tag("td", value, class_="figure")
    return tag("th", value, scope="row") if is_first else tag("td", value)


def details(summary: str, *children: object, is_open: bool = False) -> Markup:
    """Return what can be opened."""
    inner = [tag("summary", summary), *children]
    return tag("details", *inner, open="" if is_open else None)


def data(document: Mapping[str, Any] | Sequence[Any], id_: str) -> Markup:
    """Return JSON that a script can read and that cannot end the element it stands in."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(f'<script type="application/json" id="{escape(id_)}">{safe}</script>')
