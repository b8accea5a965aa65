"""HTML from untrusted text: only this module writes tags, and it escapes every value between them."""

import base64
import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from matrix.terms.embedded import element, embedded, safe_json


@dataclass(slots=True)
class Markup:
    """Text that is HTML already."""

    text: str


# Elements of SVG that have no text; a page has thousands of them.
CHILDLESS = frozenset({"path", "use", "rect", "line"})
_SPECIAL = re.compile("[&<>\"']")
# Folded blocks longer than this, in letters, become elements only when they are opened. In a page of 200 cells these
# are five of six elements, which took most of the browser's time to open it.
LONG = 100_000
# A page of 200 cells had 13 MB of charts and their data; a shorter block than this is not zipped.
VERY_LONG = 250_000
ZIPPED_START = '<script type="application/gzip"'


def tag(name: str, *children: object, **attributes: str | None) -> Markup:
    """Return an element; `class_` and `for_` lose their underscore, other underscores become hyphens."""
    # A page has hundreds of thousands of elements: the code for each is written for speed, here and in `join`.
    written = ""
    for key, value in attributes.items():
        if value is not None:
            written += f' {_attribute(key)}="{escaped(value)}"'
    if name in CHILDLESS and not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{join(children).text}</{name}>")


def join(children: Iterable[object]) -> Markup:
    """Concatenate children; everything but Markup is escaped."""
    return Markup("".join([child.text if isinstance(child, Markup) else escaped(str(child)) for child in children]))


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def escaped(text: str) -> str:
    return escape(text) if _SPECIAL.search(text) else text


def details(summary: str, *children: object, is_open: bool = False, elsewhere: str = "") -> Markup:
    """Return a block that is folded below its summary until the reader opens it.

    `elsewhere` names another place of its figures: a very long block is then zipped, which only scripts can unpack.
    """
    inner = join(children)
    if elsewhere and not is_open and len(inner.text) > VERY_LONG:
        inner = zipped(inner, elsewhere)
    elif not is_open and len(inner.text) > LONG:
        inner = packed(inner)
    return tag("details", tag("summary", summary), inner, open="" if is_open else None)


def packed(inner: Markup) -> Markup:
    """Return elements that the page's script unpacks once they are needed; a browser without scripts has them at once.

    To a browser that runs scripts the inside of `noscript` is one text, which costs it nothing.
    """
    return Markup(f"<noscript>{_unpacked(inner)}</noscript>")


def zipped(inner: Markup, elsewhere: str) -> Markup:
    """Return elements as gzip in Base64, a tenth of their size; a browser without scripts shows `elsewhere`."""
    return Markup(f"{_gzip(_unpacked(inner))}<noscript>{tag('p', elsewhere, class_='quiet').text}</noscript>")


def _unpacked(inner: Markup) -> str:
    # The first end tag would end the outer element, and the script would not find zipped data within it when the page
    # opens. Texts of users cannot be such tags, because they are escaped.
    if ZIPPED_START in inner.text:
        raise ValueError("what is zipped cannot be packed again")
    return inner.text.replace("<noscript>", "").replace("</noscript>", "")


def _gzip(text: str, id_: str = "") -> str:
    # Without a timestamp, so that the same page has the same bytes.
    coded = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    named = f' id="{id_}"' if id_ else ""
    return f"{ZIPPED_START}{named}>{coded}</script>"


def large_data(document: Mapping[str, Any], id_: str) -> Markup:
    """Return JSON as `data` does, zipped if it is very long."""
    text = safe_json(document)
    return Markup(_gzip(text, id_) if len(text) > VERY_LONG else element(text, id_))


def data(document: Mapping[str, Any] | Sequence[Any], id_: str) -> Markup:
    """Return JSON that a script can read and that cannot end its own element."""
    return Markup(embedded(document, id_))
