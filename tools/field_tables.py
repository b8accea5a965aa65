"""Write the tables of fields in the pages of docs/ from docs/matrix.schema.json (`make schema`).

A table stands between `<!-- fields: MODEL -->` and `<!-- end -->`, and a new page gets one by these two lines. MODEL is
a definition of the schema, or `Matrix` for the schema itself. `type` and `name`, which all storages and workloads have,
are left out of their tables. The rest of a page is left as it is.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
TABLE = re.compile(r"(<!-- fields: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = "| field | default | values, or an example | meaning |\n|---|---|---|---|\n"
COMMON = {"type", "name"}


def main() -> None:
    """Write the tables of all pages."""
    schema = json.loads((DOCS / "matrix.schema.json").read_text(encoding="utf-8"))
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        written = TABLE.sub(lambda found: found[1] + HEAD + "".join(_rows(schema, found[2])) + found[3], text)
        if written != text:
            page.write_text(written, encoding="utf-8")


def _rows(schema: dict[str, Any], model: str) -> Iterator[str]:
    described = schema if model == "Matrix" else schema["$defs"][model]
    left_out = COMMON if model.endswith(("Storage", "Workload")) else set()
    for name, field in described["properties"].items():
        if name not in left_out:
            default = "required" if name in described.get("required", ()) else _default(field.get("default"))
            shown = ", ".join(map(_code, _values(field) or field.get("examples", [])[:1]))
            yield f"| `{name}` | {default} | {shown} | {_meaning(field['description'])} |\n"


def _values(field: dict[str, Any]) -> list[object]:
    """Return the values that a field may have, if they are listed: of the field, or of one value of its sweep."""
    for kind in (field, *field.get("anyOf", ())):
        values = kind.get("enum") or kind.get("items", {}).get("enum")
        if values:
            return list(values)
    return []


def _default(value: object) -> str:
    """Return a default as a matrix would have it: a sweep of one value, and a map of one size, are that value."""
    match value:
        case None | []:
            return "–"
        case [single] | {"1": single}:
            return _code(single)
        case _:
            return _code(value)


def _code(value: object) -> str:
    return f"`{json.dumps(value)}`"


def _meaning(description: str) -> str:
    """Return a description on one line, with `docs/company.md#tags` as a link of a page in docs/."""
    return re.sub(r"docs/([a-z-]+\.md)(#[a-z-]+)?", r"[\1](\1\2)", " ".join(description.split()))


if __name__ == "__main__":
    main()
