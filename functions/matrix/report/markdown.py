"""A run as Markdown: the tables of the published benchmarks, for pull requests and terminals."""

from collections.abc import Mapping
from typing import Any

from matrix.input.storage_names import storage_label
from matrix.report import highest_rates
from matrix.terms.ceilings import PROVISIONAL, bottlenecks, why_not
from matrix.terms.directories import TITLE, shared_directories
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import (
    ABSENT,
    INTERVAL_HEAD,
    NOT_CARRIED_NOTE,
    PERCENTILES,
    figure,
    instant,
    interval,
    number,
    sample_count,
)
from matrix.terms.layers import far_layers, layer_sentence
from matrix.terms.metrics import metric_title
from matrix.terms.names import (
    direction,
    fleet_words,
    launch_words,
    marked_label,
    point_labels,
    primary_metric,
    reading_order,
    workload_words,
)
from matrix.terms.sentences import (
    ENVIRONMENT_NOTES,
    decision_sentences,
    error_text,
    gone_text,
    grouped_warnings,
    receipt_sentence,
)

# A fleet of 200 instances with two volumes each lists 600 resources; receipt.json has them all.
MOST_RECEIPT_ROWS = 50
# A sweep of 30 points through a cache has 30 such sentences.
MOST_LAYERS = 10


def to_markdown(summary: SummaryDocument) -> str:
    """Render the run as Markdown: a table per workload and primary metric, then failed cells and warnings."""
    blocks = [_markdown_head(summary)]
    blocks += [_markdown_table(title, rows) for title, rows in _groups(summary).items()]
    ends = (
        _highest_rates(summary),
        _ceilings(summary),
        _directories(summary),
        _layers(summary),
        _markdown_failed(summary),
        _markdown_resumed(summary),
        _markdown_warnings(summary),
        _markdown_receipt(summary),
    )
    blocks += [block for block in ends if block]
    return "\n\n".join(blocks) + "\n"


def _markdown_head(summary: SummaryDocument) -> str:
    lines = [
        f"# {_inline(summary.get('name') or summary.get('run', 'run'))}",
        "",
        f"Run `{summary.get('run', ABSENT)}`, {_inline(summary.get('status', ABSENT))}, environment "
        f"{_inline(summary.get('environment', ABSENT))}, {instant(summary.get('started_at'))} to "
        f"{instant(summary.get('finished_at'))}.",
    ]
    if note := ENVIRONMENT_NOTES.get(str(summary.get("environment"))):
        lines += ["", f"**{note}**"]
    for sentence in decision_sentences(summary):
        lines += ["", _inline(sentence)]
    return "\n".join(lines)


def _groups(summary: SummaryDocument) -> dict[str, list[list[str]]]:
    """Collect one row per cell and point below the title of its workload and metric."""
    groups: dict[str, list[list[str]]] = {}
    for cell in reading_order(summary.get("cells", [])):
        labels = point_labels(cell.get("points") or [])
        for point in cell.get("points") or []:
            named = primary_metric(point)
            if named is None:
                continue
            name, metric = named
            workload = workload_words(cell.get("workload") or {})
            title = f"{workload}: {metric_title(name, workload)} ({direction(metric)})"
            groups.setdefault(title, []).append(
                _markdown_row(cell, marked_label(labels[point["id"]], point, cell), metric)
            )
    return groups


def _markdown_row(cell: Mapping[str, Any], label: str, metric: Mapping[str, Any]) -> list[str]:
    return [
        storage_label(cell.get("storage") or {}),
        ", ".join(filter(None, [fleet_words(cell.get("fleet") or {}), launch_words(cell)])),
        label,
        *(figure(metric, percentile) for percentile in PERCENTILES),
        interval(metric),
        sample_count(metric),
    ]


def _markdown_table(title: str, rows: list[list[str]]) -> str:
    heads = ["Storage", "Instances", "Point", *(name.upper() for name in PERCENTILES), INTERVAL_HEAD, "n/expected"]
    rules = ["---", "---", "---", *("---:" for _ in PERCENTILES), "---:", "---:"]
    table = [heads, rules, *([_inline(value) for value in row] for row in rows)]
    if all(row[-2] == ABSENT for row in rows):
        table = [[*line[:-2], line[-1]] for line in table]
    lines = [_markdown_line(line) for line in table]
    note = ["", NOT_CARRIED_NOTE] if any(value.startswith("≥") for row in rows for value in row) else []
    return "\n".join([f"## {_inline(title)}", "", *lines, *note])


def _markdown_line(values: Any) -> str:
    return f"| {' | '.join(values)} |"


def _highest_rates(summary: SummaryDocument) -> str:
    """List the highest rates up to which a limit of latency was kept."""
    rows = [_markdown_line(map(_inline, row)) for row in highest_rates.rows(summary.get("cells", []))]
    if not rows:
        return ""
    heads = [_markdown_line(highest_rates.HEADS), _markdown_line(["---"] * len(highest_rates.HEADS))]
    return "\n".join([f"## {highest_rates.TITLE}", "", *heads, *rows])


def _ceilings(summary: SummaryDocument) -> str:
    """Name the bottleneck of each cell, with its evidence and what to do next."""
    rows = [
        _markdown_line(
            [
                f"`{cell['id']}`",
                *(_inline(bottleneck[name]) for name in ("name", "evidence", "next")),
                _inline(why_not(bottleneck)),
            ]
        )
        for cell, bottleneck in bottlenecks(summary)
    ]
    if not rows:
        return ""
    heads = ["Cell", "Ceiling", "Evidence", "What to do next", "Used of the others"]
    is_late = any(bottleneck["is_provisional"] for _, bottleneck in bottlenecks(summary))
    table = [_markdown_line(heads), _markdown_line(["---"] * len(heads)), *rows]
    return "\n".join(["## Which ceiling was hit", "", *table, *(["", f"{PROVISIONAL}."] if is_late else [])])


def _directories(summary: SummaryDocument) -> str:
    """Say what one directory for all workers costs, where both was measured."""
    lines = [f"- `{each.cell}`: {_inline(each.sentence)}" for each in shared_directories(summary)]
    return "\n".join([f"## {TITLE}", "", *lines]) if lines else ""


def _layers(summary: SummaryDocument) -> str:
    """Say where a cache or an amplification lies between programs and storage, the largest first."""
    far = far_layers(summary)
    lines = [
        f"- `{cell}`, {_inline(label)}: {_inline(layer_sentence(layer))}" for cell, label, layer in far[:MOST_LAYERS]
    ]
    more = [f"- and {len(far) - MOST_LAYERS} more, in the report"] if len(far) > MOST_LAYERS else []
    return "\n".join(["## What each layer saw of the work", "", *lines, *more]) if lines else ""


def _markdown_failed(summary: SummaryDocument) -> str:
    failed = [cell for cell in summary.get("cells", []) if cell.get("state") != "measured"]
    if not failed:
        return ""
    rows = [_markdown_line([f"`{cell['id']}`", _inline(error_text(cell.get("error")) or ABSENT)]) for cell in failed]
    return "\n".join(["## Cells without a result", "", "| Cell | Why |", "| --- | --- |", *rows])


def _markdown_warnings(summary: SummaryDocument) -> str:
    warnings = [f"- {_inline(warning)}" for warning in grouped_warnings(summary)]
    return "\n".join(["## Warnings", "", *warnings]) if warnings else ""


def _markdown_resumed(summary: SummaryDocument) -> str:
    """Say which results are an earlier run's, and where earlier runs have left samples of cells measured again."""
    rows = [
        _markdown_line([f"`{cell['id']}`", f"result of run `{cell['taken_from']['run']}`"])
        for cell in summary.get("cells", [])
        if cell.get("taken_from")
    ]
    rows += [
        _markdown_line(
            [
                f"`{cell['id']}`",
                f"{attempt['instances']} instances uploaded samples to `{attempt['prefix']}`; not used here",
            ]
        )
        for cell in summary.get("cells", [])
        for attempt in cell.get("attempts") or []
    ]
    return "\n".join(["## From earlier runs", "", "| Cell | What |", "| --- | --- |", *rows]) if rows else ""


def _markdown_receipt(summary: SummaryDocument) -> str:
    """List what the run created, when it was gone and who said so: first what is still there, then by cost."""
    receipt = summary.get("receipt")
    if not receipt:
        return ""
    shown = sorted(
        receipt["resources"], key=lambda resource: (resource["gone_at"] is not None, -(resource["cost_usd"] or 0.0))
    )
    rows = [_markdown_line(_receipt_row(resource)) for resource in shown[:MOST_RECEIPT_ROWS]]
    unshown = len(shown) - len(rows)
    notes = [f"{unshown} more are in `receipt.json`."] if unshown else []
    notes += [f"Could not be asked: {_inline(reason)}." for reason in receipt["unasked"]]
    heads = ["Resource", "Id", "For", "Created", "Gone", "Seen by", "Hours", "USD"]
    rules = [*("---" for _ in heads[:-2]), "---:", "---:"]
    table = [_markdown_line(heads), _markdown_line(rules), *rows] if rows else []
    return "\n".join(
        ["## Receipt", "", receipt_sentence(receipt), "", *table, *(["", *notes] if notes else [])]
    ).rstrip()


def _receipt_row(resource: Mapping[str, Any]) -> list[str]:
    return [
        resource["kind"],
        f"`{resource['id']}`",
        _inline(resource["cell"] or resource["file_system"] or ABSENT),
        instant(resource["created_at"]),
        f"**{gone_text(resource)}**" if resource["gone_at"] is None else gone_text(resource),
        _inline(resource["verified"] or ABSENT),
        number(resource["hours"]),
        ABSENT if resource["cost_usd"] is None else f"{resource['cost_usd']:.4f}",
    ]


def _inline(text: object) -> str:
    """Keep a text inside its cell: no line ends, and nothing that Markdown would take for a column or for HTML."""
    flat = " ".join(str(text).split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
