"""JSON inside an HTML page, for its own script."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def embedded(document: Mapping[str, Any] | Sequence[Any], id_: str) -> str:
    """Return an element with JSON that a script can read and that cannot end its own element."""
    return element(safe_json(document), id_)


def safe_json(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return JSON without a character that could end an element or begin one."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def element(json_text: str, id_: str) -> str:
    """Return the script element for a text of `safe_json`."""
    return f"{_start(id_)}{json_text}</script>"


def with_embedded(page: str, id_: str, document: Mapping[str, Any]) -> str:
    """Return a page with another document in one of its elements; a page without that element is unchanged."""
    before, start, rest = page.partition(_start(id_))
    # The JSON of `embedded` cannot hold `</script>`, so the first one ends the element.
    return before + embedded(document, id_) + rest.partition("</script>")[2] if start else page


def _start(id_: str) -> str:
    return f'<script type="application/json" id="{escape(id_)}">'
