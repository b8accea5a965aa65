"""A run's figures as OpenMetrics text, which Prometheus, its Pushgateway and node_exporter's textfile collector read.

https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
"""

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

from matrix.answer.rows import Row
from matrix.terms.figures import PERCENTILES, SLOW_OF_RATES
from matrix.terms.metrics import metric_title

PREFIX = "storage_matrix_"
LABELS = {
    "run": "run", "matrix": "run_name", "environment": "environment", "region": "aws_region",
    "storage": "storage_label", "workload": "workload_type", "name": "workload_name", "instance_type": "instance_type",
    "instances": "instance_count", "point": "point_label",
}  # fmt: skip


def to_open_metrics(rows: Iterable[Row]) -> str:
    """Return rows of a run as gauges, one for each metric, with a sample for each percentile of each point.

    Samples have no time: the scraper gives them that of the scrape.
    """
    by_metric = itemgetter("metric")
    lines = []
    for metric, measured in groupby(sorted((row for row in rows if "metric" in row), key=by_metric), by_metric):
        lines.append(f"# TYPE {PREFIX}{metric} gauge")
        lines.append(f"# HELP {PREFIX}{metric} {_escaped(metric_title(metric))}")
        for row in measured:
            labels = {label: row[column] for label, column in LABELS.items() if column in row}
            for percentile in (*PERCENTILES, *SLOW_OF_RATES):
                if percentile in row:
                    pairs = {**labels, "percentile": percentile.removeprefix("p")}.items()
                    text = ",".join(f'{label}="{_escaped(value)}"' for label, value in pairs)
                    lines.append(f"{PREFIX}{metric}{{{text}}} {row[percentile]!r}")
    return "\n".join([*lines, "# EOF", ""])


def _escaped(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
