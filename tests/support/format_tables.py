"""Write the parts of pages that repeat the registries: fields, metrics, lists of storages, workloads and matrices.

`make schema` runs it. It replaces the tables below headings of docs/matrix-format.md and the text between the markers
`<!-- by make schema: NAME -->` and `<!-- end -->` of all pages, and leaves all other text unchanged. The description of
a storage or a workload is the title of its page.
"""

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from matrix.check.schema import matrix_schema
from matrix.input import workloads
from matrix.input.fleet import FleetAxis
from matrix.input.image import Image
from matrix.input.matrix import Agreed, Inclusion, Matrix, Objective, Selector
from matrix.terms.metrics import METRICS
from storages.contracts.model import Storage
from storages.models import MODELS as STORAGES

ROOT = Path(__file__).parents[2]
FORMAT = ROOT / "docs/matrix-format.md"
# The pages with such text.
PAGES = [FORMAT, *(ROOT / name for name in ("README.md", "docs/README.md", "docs/matrices.md", "docs/performance.md"))]
MARKERS = re.compile(r"(?P<begin><!-- by make schema: (?P<name>\w+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)
MODELS: dict[str, type[BaseModel]] = {
    "## The matrix": Matrix,
    "### `agreed`": Agreed,
    "### `objective`": Objective,
    "### `image`": Image,
    "### `exclude`": Selector,
    "### `include`": Inclusion,
    "## Fleets": FleetAxis,
}
FIELDS = "| field | default | example | meaning |\n|---|---|---|---|\n"
METRIC = "| metric | unit | better | meaning | workloads |\n|---|---|---|---|---|\n"
LEVELS = re.compile(r"(?P<head>[a-z_]+_p)50(?P<unit>_u?s)")


def written(page: Path) -> str:
    """Return the text that one of PAGES must have."""
    text = page.read_text(encoding="utf-8")
    lists = LISTS[page.relative_to(ROOT).as_posix()]
    text = MARKERS.sub(lambda found: found["begin"] + lists[found["name"]]() + found["end"], text)
    return with_fields(text) if page == FORMAT else text


def with_fields(text: str) -> str:
    """Return docs/matrix-format.md with the tables of the current models; a table comes first below its heading."""
    for heading, model in MODELS.items():
        text = _replaced(text, heading, FIELDS, FIELDS + "".join(_field_rows(model)))
    return _replaced(text, "### Metrics", METRIC, METRIC + "".join(metric_rows()))


def _replaced(text: str, heading: str, head: str, table: str) -> str:
    before, found, below = text.partition(f"\n{heading}\n")
    above, began, rest = below.partition(head)
    if not found or not began:
        raise ValueError(f"docs/matrix-format.md has no table {head.splitlines()[0]} below {heading}")
    after = rest[rest.index("\n\n") + 1 :] if "\n\n" in rest else ""
    return before + found + above + table + after


def _field_rows(model: type[BaseModel]) -> Iterator[str]:
    schema = matrix_schema()
    described = schema if model is Matrix else schema["$defs"][model.__name__]
    for name, field in model.model_fields.items():
        key = field.alias or name
        text = _linked(" ".join(described["properties"][key]["description"].split()))
        example = _code(field.examples[0]) + " " if field.examples else ""
        yield f"| `{key}` | {_default(field)} | {example}| {text} |\n"


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, list):  # stored as a list, written as one value
        value = value[0] if value else None
    return "–" if value is None else _code(value)


def _code(value: object) -> str:
    return f"`{json.dumps(value)}`"


def _linked(text: str) -> str:
    """Turn `docs/company.md#tags`, the form for readers of the schema, into a link of the page."""
    return re.sub(r"docs/([a-z-]+\.md)(#[a-z-]+)?", lambda found: f"[{found[1]}]({found[1]}{found[2] or ''})", text)


def metric_rows() -> Iterator[str]:
    """Yield a row for each metric; P50, P90 and P99 of one quantity share a row."""
    written = set()
    for name, metric in METRICS.items():
        levels = LEVELS.fullmatch(name)
        same = [f"{levels['head']}{level}{levels['unit']}" for level in (90, 99, 100)] if levels else []
        names = [name, *(other for other in same if other in METRICS)]
        if name in written:
            continue
        written.update(names)
        meaning = metric.meaning.replace("median", f"{_levels(names)} of the", 1) if levels else metric.meaning
        better = "higher" if metric.higher_is_better else "lower"
        shown = ", ".join(f"`{each}`" for each in names)
        yield f"| {shown} | {metric.unit} | {better} | {meaning} | {_workloads(names)} |\n"


def _levels(names: list[str]) -> str:
    """Return the percentiles in names of metrics, such as `P50, P90, P99`."""
    return ", ".join(f"P{name.rpartition('_p')[2].partition('_')[0]}" for name in names)


def _workloads(names: list[str]) -> str:
    """Return the workloads that have one of these metrics, with the percentiles if a workload lacks some of them."""
    if names == ["duration_s"]:
        return "all"
    shown = []
    for workload, model in workloads.MODELS.items():
        own = [name for name in names if name in model.yields]
        if own:
            shown.append(f"`{workload}`" + (f" ({_levels(own)})" if own != names else ""))
    return ", ".join(shown) or "imported fio files"


def title_of(kind: str, name: str) -> str:
    """Return the description of a storage or a workload from its page's title; `kind` is "storages" or "workloads".

    Raises AssertionError if the page is missing or has another beginning.
    """
    page = ROOT / "docs" / kind / f"{name}.md"
    assert page.is_file(), f"write {page.relative_to(ROOT)}, which begins with a line: # `{name}`: what it is"
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    start, _, words = first.partition(": ")
    assert start == f"# `{name}`", f"begin {page.relative_to(ROOT)} with a line: # `{name}`: what it is"
    return words


def storages_table() -> str:
    """Return the table of all storages."""
    rows = (
        f"| [`{name}`](storages/{name}.md) | {title_of('storages', name)} | {'yes' if model.is_shared else 'no'} |\n"
        for name, model in STORAGES.items()
    )
    return "| type | what it is | shared by the fleet |\n|---|---|---|\n" + "".join(rows)


def workloads_table() -> str:
    """Return the table of all workloads."""
    rows = (f"| [`{name}`](workloads/{name}.md) | {title_of('workloads', name)} |\n" for name in workloads.MODELS)
    return "| type | what it measures |\n|---|---|\n" + "".join(rows)


def pages_of_types() -> str:
    """Return the list items of docs/README.md with the pages of all storages and workloads."""
    kinds: dict[str, Iterable[str]] = {"storages": STORAGES, "workloads": workloads.MODELS}
    return "".join(
        _wrapped(f"- **{kind.capitalize()}**: {', '.join(f'[{name}]({kind}/{name}.md)' for name in names)}.", "  ")
        for kind, names in kinds.items()
    )


def workloads_sentence() -> str:
    """Return README's sentence on all workloads."""
    named = ", ".join(f"[{name}](docs/workloads/{name}.md)" for name in workloads.MODELS)
    return _wrapped(f"All workloads, and [what each measures](docs/matrix-format.md#workloads): {named}.")


def _wrapped(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(text, 160, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def creation_table() -> str:
    """Return the table of the storages' creation and deletion times."""

    def row(name: str, model: type[Storage]) -> str:
        why = "" if model.create_and_delete_s else ": it exists" if model.is_shared else ": with the instances"
        usual, most = _time(model.create_and_delete_s), _time(model.create_and_delete_most_s)
        return f"| `{name}` | {usual}{why} | {most} |\n"

    head = "| storage | creating and deleting, as plans expect it | at most |\n|---|---|---|\n"
    return head + "".join(row(name, model) for name, model in STORAGES.items())


def _time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 600 else f"{seconds / 60:g} min"


def matrices_table(folder: Path = ROOT / "events") -> str:
    """Return a table of the matrices for this machine that docs/matrices.md does not describe otherwise."""
    said = MARKERS.sub("", (ROOT / "docs/matrices.md").read_text(encoding="utf-8"))
    unsaid = [path for path in sorted(folder.glob("local-*.json")) if f"`{path.name}`" not in said]
    if not unsaid:
        return ""
    head = "Others for this machine, which repeat nothing published:\n\n| file | storages | workloads | fleets of |\n"
    return f"\n{head}|---|---|---|---|\n" + "".join(map(_matrix_row, unsaid))


def _matrix_row(path: Path) -> str:
    matrix = json.loads(path.read_text(encoding="utf-8"))
    kinds = ([each["type"] for each in matrix[axis]] for axis in ("storage", "workload"))
    swept = [each["count"] if isinstance(each["count"], list) else [each["count"]] for each in matrix["fleet"]]
    counts = [str(count) for counts in swept for count in counts]
    return f"| `{path.name}` | {' | '.join(', '.join(dict.fromkeys(each)) for each in (*kinds, counts))} |\n"


# The text between the markers of each page.
LISTS: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {"workloads": workloads_sentence},
    "docs/README.md": {"pages": pages_of_types},
    "docs/matrices.md": {"matrices": matrices_table},
    "docs/matrix-format.md": {"storages": storages_table, "workloads": workloads_table},
    "docs/performance.md": {"creation": creation_table},
}


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(written(each), encoding="utf-8")
