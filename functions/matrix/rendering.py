"""Render a run's summary as text: the Markdown table of the published benchmarks, and CSV.

Pure: takes the summary document (summary.json), returns text. The Lambda "Analyse run" and the command line share it.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

Summary = dict[str, Any]

PERCENTILES = ("p0", "p50", "p75", "p90", "p98", "p100")
ABSENT = "–"
# What a cell's analysis says of one of its points, and the share in it that says how bad it is.
POINT_WARNING = re.compile(r"[^:]+: p[0-9]+, \w+: (?P<text>.*)")
SHARE = re.compile(r"([0-9]+) %")
INTERVAL_HEAD = "P50 with 95 % confidence"

# Parameters that name a point even when they are the same in all points of a cell.
HEADLINE_PARAMS = frozenset(
    {"rw", "bs", "iodepth", "numjobs", "access", "threads", "directories", "block_bytes", "sync", "jobs"}
)

NOT_CARRIED_NOTE = (
    "≥: too few independent values for this percentile. It lies above the figure with 97.5 % confidence; how far, more "
    "instances would tell. –: not even that it lies above the median."
)
LOCAL_NOTE = "Measured on this machine's disk by the local cloud: these figures say nothing about AWS."
VM_NOTE = (
    "Measured in emulated machines by the local cloud: it proves the way, these figures say nothing about any storage."
)
EMULATED_NOTE = (
    "Emulated: this machine played the storages as provisioned, so that the analysis can be held to a known truth. "
    "Nothing was measured of any storage, and these figures compare with no measured ones."
)
ENVIRONMENT_NOTES = {"local": LOCAL_NOTE, "local-vm": VM_NOTE, "emulated": EMULATED_NOTE}

# A fleet of 200 has 400 volumes; all of them are in receipt.json.
MOST_RECEIPT_ROWS = 50

CSV_COLUMNS = (
    *("run", "environment", "cell", "state", "file_system", "storage", "instance_type", "instances"),
    *("point", "label", "params", "metric", "unit", "higher_is_better", "primary", "n", "expected_n"),
    *PERCENTILES,
    *("mean", "independent_n", "not_carried", "p50_low", "p50_high", "error"),
)


# --- values -----------------------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """Write a duration as the published tables do (`97m 42s`); below a minute with three digits (`0.648s`, `12.5s`)."""
    if seconds >= 59.95:  # noqa: PLR2004 - what three digits would round up to 60.0s
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}m {rest:02d}s"
    return f"{number(seconds)}s"


def rough_duration(seconds: float) -> str:
    """Write a duration to the second, for clocks and estimates: `7s`, `2m 05s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


def number(value: float) -> str:
    """Write a figure with three digits, or all its whole ones: `4,425`, `305`, `86.6`, `1.58`, `0.0124`."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return ABSENT
    decimals = 2 - math.floor(math.log10(abs(value)))
    if decimals <= 0:
        return f"{value:,.0f}"
    return f"{value:.{min(decimals, 6)}f}"


def quantity(value: float | None, unit: str) -> str:
    """Write a figure with its unit; a figure that does not exist is a dash, never a zero."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return duration(value) if unit == "s" else f"{number(value)} {unit}"


def figure(metric: dict[str, Any], percentile: str) -> str:
    """Write a percentile of a metric; one that so few values cannot carry as `≥ 6,073`, or as a dash.

    P50 is always written, as the middle of whatever there is; without an interval it claims no more.
    """
    unit = metric.get("unit", "")
    if percentile == "p50" or (metric.get("carried") or {}).get(percentile, True):
        return quantity(metric.get(percentile), unit)
    least = (metric.get("at_least") or {}).get(percentile)
    median = metric.get("p50")
    # That P75 is at least what the median is anyway need not be said.
    if least is None or median is None or least <= median:
        return ABSENT
    return f"≥ {quantity(least, unit)}"


def interval(metric: dict[str, Any], name: str = "p50") -> str:
    """Write the 95 % interval of a percentile: `290 – 320 files/s`; a dash where there is none."""
    found = (metric.get("intervals") or {}).get(name)
    if not found:
        return ABSENT
    if metric.get("unit") == "s":
        return f"{duration(found['low'])} – {duration(found['high'])}"
    return f"{number(found['low'])} – {quantity(found['high'], metric.get('unit', ''))}"


def instant(epoch: float | None) -> str:
    """Write a time in UTC to the second."""
    return ABSENT if epoch is None else datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


# --- names ------------------------------------------------------------------------------------------------------------


def storage_label(storage: dict[str, Any]) -> str:
    """Name a storage as the published tables do: `EFS (performance mode generalPurpose; throughput mode elastic)`."""
    words = {"ebs": _ebs_words, "efs": _efs_words, "fsx-openzfs": _fsx_words}
    names = {"ebs": "EBS", "efs": "EFS", "fsx-openzfs": "FSx for OpenZFS", "instance-store": "Instance store"}
    kind = str(storage.get("type", "storage"))
    describe = words.get(kind, _any_words)
    known = {field: value for field, value in storage.items() if field != "emulated"}
    details = ["EMULATED"] * bool(storage.get("emulated")) + [word for word in describe(known) if word]
    name = names.get(kind, kind)
    return f"{name} ({'; '.join(details)})" if details else name


def _with_unit(storage: dict[str, Any], field: str, unit: str) -> str:
    return f"{storage[field]} {unit}" if storage.get(field) is not None else ""


def _ebs_words(storage: dict[str, Any]) -> list[str]:
    return [
        str(storage.get("volumeType") or ""),
        _with_unit(storage, "sizeGiB", "GiB"),
        _with_unit(storage, "iops", "IOPS"),
        _with_unit(storage, "throughputMiBps", "MiB/s"),
        f"RAID-0 of {storage['raid0']}" if storage.get("raid0") else "",
    ]


def _efs_words(storage: dict[str, Any]) -> list[str]:
    throughput = [storage.get("throughputMode"), _with_unit(storage, "provisionedThroughputMiBps", "MiB/s")]
    return [
        f"performance mode {storage['performanceMode']}" if storage.get("performanceMode") else "",
        f"throughput mode {' '.join(word for word in throughput if word)}" if any(throughput) else "",
        "One Zone" if storage.get("deployment") == "oneZone" else "",
    ]


def _fsx_words(storage: dict[str, Any]) -> list[str]:
    return [
        str(storage.get("deploymentType") or ""),
        _with_unit(storage, "storageCapacityGiB", "GiB"),
        _with_unit(storage, "throughputCapacityMBps", "MB/s"),
        _with_unit(storage, "iops", "IOPS"),
        str(storage["compression"]) if storage.get("compression") not in (None, "NONE") else "",
        f"NFS {storage['nfsVersion']}" if storage.get("nfsVersion") not in (None, "4.1") else "",
        _with_unit(storage, "nconnect", "connections"),
        f"instances in {storage['placement']}" if storage.get("placement") else "",
    ]


def _any_words(storage: dict[str, Any]) -> list[str]:
    return [f"{field} {value}" for field, value in storage.items() if field != "type" and value is not None]


def point_labels(points: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Name the points of a cell, by id: by what a reader looks for and by whatever differs between them."""
    params = {point["id"]: _flat(point.get("params") or {}) for point in points}
    names = list(dict.fromkeys(name for values in params.values() for name in values))
    varying = {name for name in names if len({values.get(name) for values in params.values()}) > 1}
    telling = [name for name in names if name in varying or name in HEADLINE_PARAMS]
    labels = {point["id"]: str(point["label"]) for point in points if point.get("label")}
    return {point: labels.get(point) or _label(values, telling) or point for point, values in params.items()}


def _flat(params: dict[str, Any]) -> dict[str, Any]:
    """Lift fio's options beside the other parameters; leave out what was not set."""
    options = params.get("options")
    flat = {**params, **(options if isinstance(options, dict) else {})}
    return {name: value for name, value in flat.items() if name != "options" and value is not None}


def _label(params: dict[str, Any], names: Sequence[str]) -> str:
    return ", ".join(_param_words(name, params[name]) for name in names if name in params)


def _param_words(name: str, value: Any) -> str:
    if name.endswith("_bytes") and isinstance(value, int):
        return f"{name.removesuffix('_bytes')} {binary_size(value)}"
    return f"{name.replace('_', ' ')} {value}"


def binary_size(count: int) -> str:
    """Write a number of bytes in the largest binary unit that divides it: `1 MiB`, `1536 KiB`."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count and count % 1024**power == 0:
            return f"{count // 1024**power} {unit}"
    return f"{count} B"


def fleet_label(fleet: dict[str, Any]) -> str:
    """Name a fleet: `10 × m6i.4xlarge`."""
    return f"{fleet.get('count', ABSENT)} × {fleet.get('instanceType', ABSENT)}"


def primary_metric(point: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Find the metric that a point is judged by."""
    metrics: dict[str, dict[str, Any]] = point.get("metrics") or {}
    for name, metric in metrics.items():
        if metric.get("primary"):
            return name, metric
    return next(iter(metrics.items()), None)


def direction(metric: dict[str, Any]) -> str:
    """Say which end of the percentiles is the bad one: of a rate P0 is the slowest, of a duration P100."""
    if metric.get("higher_is_better"):
        return "higher is better, P0 is the slowest"
    return "lower is better, P100 is the slowest"


def error_text(error: dict[str, Any] | None) -> str:
    """Write an error as `Name: message`."""
    if not error:
        return ""
    return ": ".join(str(error[key]) for key in ("name", "message") if error.get(key))


# --- Markdown ---------------------------------------------------------------------------------------------------------


def to_markdown(summary: Summary) -> str:
    """Render the run as Markdown: a table per workload and primary metric, then failed cells and warnings."""
    blocks = [_markdown_head(summary)]
    blocks += [_markdown_table(title, rows) for title, rows in _groups(summary).items()]
    ends = (
        _markdown_failed(summary),
        _markdown_resumed(summary),
        _markdown_warnings(summary),
        _markdown_receipt(summary),
    )
    blocks += [block for block in ends if block]
    return "\n\n".join(blocks) + "\n"


def _markdown_head(summary: Summary) -> str:
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


def decision_sentences(summary: Summary) -> list[str]:
    """Return the answer of a run in words; nothing for summaries of before there were answers."""
    return list((summary.get("decision") or {}).get("sentences") or [])


def reading_order(cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Order cells as one reads them, storage by storage with growing fleets: they ran in a random order."""
    storages = list(dict.fromkeys(cell.get("file_system") for cell in cells))

    def place(cell: dict[str, Any]) -> tuple[int, str, float]:
        fleet = cell.get("fleet") or {}
        return storages.index(cell.get("file_system")), str(fleet.get("instanceType")), float(fleet.get("count") or 0)

    return sorted(cells, key=place)


def _groups(summary: Summary) -> dict[str, list[list[str]]]:
    """Collect one row per cell and point below the title of its workload and metric."""
    groups: dict[str, list[list[str]]] = {}
    for cell in reading_order(summary.get("cells", [])):
        labels = point_labels(cell.get("points") or [])
        for point in cell.get("points") or []:
            found = primary_metric(point)
            if found is None:
                continue
            name, metric = found
            workload = (cell.get("workload") or {}).get("type", "workload")
            title = f"{workload}: {name} ({direction(metric)})"
            groups.setdefault(title, []).append(_markdown_row(cell, labels[point["id"]], metric))
    return groups


def _markdown_row(cell: dict[str, Any], label: str, metric: dict[str, Any]) -> list[str]:
    return [
        storage_label(cell.get("storage") or {}),
        fleet_label(cell.get("fleet") or {}),
        label,
        *(figure(metric, percentile) for percentile in PERCENTILES),
        interval(metric),
        sample_count(metric),
    ]


def sample_count(metric: dict[str, Any]) -> str:
    """Write how many values there are of how many expected: `29/30`; what a source does not tell is a dash."""
    n, expected = metric.get("n"), metric.get("expected_n")
    return f"{ABSENT if n is None else n}/{ABSENT if expected is None else expected}"


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


def _markdown_failed(summary: Summary) -> str:
    failed = [cell for cell in summary.get("cells", []) if cell.get("state") != "measured"]
    if not failed:
        return ""
    rows = [_markdown_line([f"`{cell['id']}`", _inline(error_text(cell.get("error")) or ABSENT)]) for cell in failed]
    return "\n".join(["## Cells without a result", "", "| Cell | Why |", "| --- | --- |", *rows])


def _markdown_warnings(summary: Summary) -> str:
    warnings = [f"- {_inline(warning)}" for warning in told_warnings(summary)]
    return "\n".join(["## Warnings", "", *warnings]) if warnings else ""


def _markdown_resumed(summary: Summary) -> str:
    """Say which results are an earlier run's, and where earlier runs have left samples of cells measured again."""
    rows = [
        _markdown_line([f"`{cell['id']}`", f"result of run `{cell['taken_from']['run']}`"])
        for cell in summary.get("cells", [])
        if cell.get("taken_from")
    ]
    rows += [
        _markdown_line(
            [f"`{cell['id']}`", f"{one['instances']} instances uploaded samples to `{one['prefix']}`; not used here"]
        )
        for cell in summary.get("cells", [])
        for one in cell.get("attempts") or []
    ]
    return "\n".join(["## From earlier runs", "", "| Cell | What |", "| --- | --- |", *rows]) if rows else ""


def _markdown_receipt(summary: Summary) -> str:
    """List what the run created, when it was gone and who said so: first what is still there, then by cost."""
    receipt = summary.get("receipt")
    if not receipt:
        return ""
    shown = sorted(receipt["resources"], key=lambda one: (one["gone_at"] is not None, -(one["cost_usd"] or 0.0)))
    rows = [_markdown_line(_receipt_row(one)) for one in shown[:MOST_RECEIPT_ROWS]]
    unshown = len(shown) - len(rows)
    notes = [f"{unshown} more are in `receipt.json`."] if unshown else []
    notes += [f"Could not be asked: {_inline(reason)}." for reason in receipt["unasked"]]
    heads = ["Resource", "Id", "For", "Created", "Gone", "Seen by", "Hours", "USD"]
    rules = [*("---" for _ in heads[:-2]), "---:", "---:"]
    table = [_markdown_line(heads), _markdown_line(rules), *rows] if rows else []
    return "\n".join(
        ["## Receipt", "", receipt_sentence(receipt), "", *table, *(["", *notes] if notes else [])]
    ).rstrip()


def _receipt_row(one: dict[str, Any]) -> list[str]:
    return [
        one["kind"],
        f"`{one['id']}`",
        _inline(one["cell"] or one["file_system"] or ABSENT),
        instant(one["created_at"]),
        "**still there**" if one["gone_at"] is None else instant(one["gone_at"]),
        _inline(one["verified"] or ABSENT),
        number(one["hours"]),
        ABSENT if one["cost_usd"] is None else f"{one['cost_usd']:.4f}",
    ]


def receipt_sentence(receipt: dict[str, Any]) -> str:
    """Say what a run created, whether all of it is gone, and what it cost by the price book."""
    totals, sweep = receipt["totals"], receipt["sweep"]
    if receipt["is_complete"]:
        state = "all gone, and the sweep after the run found nothing more"
    elif sweep:
        state = f"{totals['gone']} gone; the sweep at {instant(sweep['at'])} left {sweep['remaining']}"
    else:
        state = f"{totals['gone']} gone; the sweep after the run completes this"
    cost = f"{totals['resources_usd']:.4f} USD by the hour and {totals['metered_usd']:.4f} USD by use"
    return f"{totals['resources']} resources were created, {state}. By the price book they cost {cost}."


def all_warnings(summary: Summary) -> list[str]:
    """List what a reader must know: of the run, of each cell, and what may still be there and cost money."""
    lines = [
        f"still there: {left.get('kind', 'resource')} {left.get('id', left)}"
        for left in summary.get("left_behind") or []
    ]
    lines += [warning_text(warning) for warning in summary.get("warnings") or []]
    for cell in summary.get("cells", []):
        lines += [f"{cell['id']}: {warning_text(warning)}" for warning in cell.get("warnings") or []]
    return lines


def told_warnings(summary: Summary) -> list[str]:
    """List the same with one line for what is odd in the same way at several points: how many, and the worst of them.

    A run of 200 points would bury the one warning that matters below 200 that are alike; each is in the report.
    """
    alike: dict[str, list[tuple[float, str]]] = {}
    for line in all_warnings(summary):
        found = POINT_WARNING.fullmatch(line)
        kind = SHARE.sub("", found["text"]) if found else line
        sizes = [float(one) for one in SHARE.findall(line)]
        alike.setdefault(kind, []).append((max(sizes, default=0.0), line))
    return [_of_several(lines) if len(lines) > 1 else lines[0][1] for lines in alike.values()]


def _of_several(lines: list[tuple[float, str]]) -> str:
    cells = len({line.partition(": ")[0] for _, line in lines})
    where = f"{cells} cells" if cells > 1 else "one cell"
    return f"{len(lines)} points of {where}, the worst is {max(lines)[1]}"


def warning_text(warning: str | dict[str, Any]) -> str:
    """Write a warning, which is a sentence or a document with path, value and message, as one line."""
    if isinstance(warning, str):
        return warning
    where = warning.get("path") or warning.get("cell")
    message = str(warning.get("message", warning))
    return f"{where}: {message}" if where else message


def _inline(text: object) -> str:
    """Keep a text inside its cell: no line ends, and nothing that Markdown would take for a column or for HTML."""
    flat = " ".join(str(text).split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


# --- CSV --------------------------------------------------------------------------------------------------------------


def to_csv(summary: Summary) -> str:
    """Render the run as CSV: one row per cell, point and metric; a cell that has none keeps a row with its error."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for cell in summary.get("cells", []):
        rows = list(_csv_metrics(cell)) or [{}]
        writer.writerows({**_csv_cell(summary, cell), **row} for row in rows)
    return text.getvalue()


def _csv_cell(summary: Summary, cell: dict[str, Any]) -> dict[str, Any]:
    fleet = cell.get("fleet") or {}
    return {
        "run": summary.get("run"),
        "environment": summary.get("environment"),
        "cell": cell.get("id"),
        "state": cell.get("state"),
        "file_system": cell.get("file_system"),
        "storage": storage_label(cell.get("storage") or {}),
        "instance_type": fleet.get("instanceType"),
        "instances": fleet.get("count"),
        "error": error_text(cell.get("error")),
    }


def _csv_metrics(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    labels = point_labels(cell.get("points") or [])
    for point in cell.get("points") or []:
        for name, metric in (point.get("metrics") or {}).items():
            yield {
                "point": point.get("id"),
                "label": labels[point["id"]],
                "params": json.dumps(point.get("params") or {}, sort_keys=True),
                "metric": name,
                **{key: metric.get(key) for key in ("unit", "higher_is_better", "primary", "n", "expected_n", "mean")},
                **{percentile: metric.get(percentile) for percentile in PERCENTILES},
                **_csv_sureness(metric),
            }


def _csv_sureness(metric: dict[str, Any]) -> dict[str, Any]:
    median = (metric.get("intervals") or {}).get("p50") or {}
    carried = metric.get("carried") or {}
    return {
        "independent_n": metric.get("independent_n"),
        "not_carried": " ".join(name for name, is_carried in carried.items() if not is_carried),
        "p50_low": median.get("low"),
        "p50_high": median.get("high"),
    }
