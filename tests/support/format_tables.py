"""Write the tables of docs/matrix-format.md: fields from the models of the input, metrics from matrix.terms.metrics.

`make schema` runs it. It replaces the tables below the headings of the page and leaves all other text as it is.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from matrix.check.schema import matrix_schema
from matrix.input import workloads
from matrix.input.fleet import FleetAxis
from matrix.input.image import Image
from matrix.input.matrix import Agreed, Inclusion, Matrix, Objective, Selector
from matrix.terms.metrics import METRICS

PAGE = Path(__file__).parents[2] / "docs/matrix-format.md"
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


def page(text: str) -> str:
    """Return the page with the tables of today's models; a table stands first below its heading."""
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
    if isinstance(value, list):  # held as a list, written as one value
        value = value[0] if value else None
    return "–" if value is None else _code(value)


def _code(value: object) -> str:
    return f"`{json.dumps(value)}`"


def _linked(text: str) -> str:
    """Turn `docs/company.md#tags`, which the schema's readers see, into a link of the page."""
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


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
