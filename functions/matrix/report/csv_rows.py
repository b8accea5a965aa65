"""A run as CSV: one row per cell, point and metric."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from matrix.input.storage_names import cell_names
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import PERCENTILES, SLOW_OF_RATES
from matrix.terms.layers import is_far, layer_sentence, layers_of
from matrix.terms.names import marks, point_labels
from matrix.terms.open_loop import HIGHEST_RATE
from matrix.terms.printable import csv_text
from matrix.terms.sentences import error_text

CSV_COLUMNS = (
    *("run", "environment", "cell", "state", "file_system", "storage", "instance_type", "instances"),
    *("launches", "point", "label", "params", "metric", "unit", "higher_is_better", "primary", "n", "expected_n"),
    *PERCENTILES,
    *("mean", "independent_n", "not_carried", "p50_low", "p50_high", "tool_share", "error", "bottleneck", "marks"),
    *("layers", "between_layers"),
    *("judged_samples", "steady_samples", "steady_from_s", "steady_ratio", "too_short_samples", "too_noisy_samples"),
    # Last, so that programs that read columns by their place still read the others.
    *SLOW_OF_RATES,
)


def to_csv(summary: SummaryDocument) -> str:
    """Render the run as CSV: one row per cell, point and metric; a cell that has none keeps a row with its error."""
    return csv_text(CSV_COLUMNS, _rows(summary))


def _rows(summary: SummaryDocument) -> Iterator[dict[str, Any]]:
    names = cell_names(summary.get("cells", []))
    for cell in summary.get("cells", []):
        rows = [*_csv_metrics(cell), *_csv_highest_rates(cell)] or [{}]
        yield from ({**_csv_cell(summary, cell), "storage": names[cell["id"]], **row} for row in rows)


def _csv_cell(summary: SummaryDocument, cell: Mapping[str, Any]) -> dict[str, Any]:
    fleet = cell.get("fleet") or {}
    return {
        "run": summary.get("run"),
        "environment": summary.get("environment"),
        "cell": cell.get("id"),
        "state": cell.get("state"),
        "file_system": cell.get("file_system"),
        "instance_type": fleet.get("instanceType"),
        "instances": fleet.get("count"),
        "launches": sum(launch["state"] == "measured" for launch in cell.get("launches") or []) or None,
        "error": error_text(cell.get("error")),
    }


def _csv_metrics(cell: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    labels = point_labels(cell.get("points") or [])
    for point in cell.get("points") or []:
        for name, metric in (point.get("metrics") or {}).items():
            yield {
                "point": point.get("id"),
                "label": labels[point["id"]],
                "bottleneck": ((cell.get("bottleneck") or {}).get("points") or {}).get(point.get("id")),
                "params": json.dumps(point.get("params") or {}, sort_keys=True),
                "metric": name,
                **{key: metric.get(key) for key in ("unit", "higher_is_better", "primary", "n", "expected_n", "mean")},
                **{percentile: metric.get(percentile) for percentile in (*PERCENTILES, *SLOW_OF_RATES)},
                **_csv_sureness(metric),
                "marks": "; ".join(marks(point, cell)),
                **_csv_layers(point, cell),
                **_csv_steadiness(point.get("steadiness") or {}),
                "tool_share": (point.get("tool_ceiling") or {}).get("share"),
            }


def _csv_highest_rates(cell: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row per sweep of rates with a limit, at the point that kept it."""
    for sweep in cell.get("highest_rates") or []:
        metric = sweep["metric"]
        yield {
            "point": sweep["held"],
            "params": json.dumps({**sweep["params"], "p99_at_most_ms": sweep["p99_at_most_ms"]}, sort_keys=True),
            "metric": HIGHEST_RATE,
            **{key: metric.get(key) for key in ("unit", "higher_is_better", "primary", "n", "expected_n", "mean")},
            **{percentile: metric.get(percentile) for percentile in (*PERCENTILES, *SLOW_OF_RATES)},
            **_csv_sureness(metric),
        }


def _csv_layers(point: Mapping[str, Any], cell: Mapping[str, Any]) -> dict[str, str]:
    """Each ratio of two layers as JSON, and the reasons of those that are far from 1 in words."""
    layers = layers_of(point, cell)
    ratios = {
        f"{layer['way']} {layer['counts']}, {layer['above']} to {layer['below']}": layer["ratio"] for layer in layers
    }
    return {
        "layers": json.dumps(ratios) if ratios else "",
        "between_layers": "; ".join(layer_sentence(layer) for layer in layers if is_far(layer)),
    }


def _csv_steadiness(steadiness: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "judged_samples": steadiness.get("judged"),
        "steady_samples": steadiness.get("steady"),
        "steady_from_s": steadiness.get("from_s"),
        "steady_ratio": steadiness.get("ratio"),
        "too_short_samples": steadiness.get("too_short"),
        "too_noisy_samples": steadiness.get("too_noisy"),
    }


def _csv_sureness(metric: Mapping[str, Any]) -> dict[str, Any]:
    median = (metric.get("intervals") or {}).get("p50") or {}
    carried = metric.get("carried") or {}
    return {
        "independent_n": metric.get("independent_n"),
        "not_carried": " ".join(name for name, is_enough in carried.items() if not is_enough),
        "p50_low": median.get("low"),
        "p50_high": median.get("high"),
    }
