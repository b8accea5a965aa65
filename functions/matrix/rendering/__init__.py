"""A run as text, for machines and people. Pure: takes the summary document (summary.json), returns text.

The functions and the command line share it.
"""

from matrix.rendering.csv_rows import to_csv
from matrix.rendering.figures import (
    ABSENT,
    INTERVAL_HEAD,
    NOT_CARRIED_NOTE,
    PERCENTILES,
    duration,
    figure,
    instant,
    interval,
    number,
    quantity,
    rough_duration,
    sample_count,
)
from matrix.rendering.markdown import to_markdown
from matrix.rendering.names import (
    direction,
    fleet_label,
    fleet_words,
    placement_words,
    point_labels,
    primary_metric,
    reading_order,
    storage_label,
    told_label,
)
from matrix.rendering.sentences import (
    ENVIRONMENT_NOTES,
    LOCAL_NOTE,
    all_warnings,
    decision_sentences,
    error_text,
    gone_text,
    receipt_sentence,
    told_warnings,
    warning_text,
)

__all__ = [
    "ABSENT",
    "ENVIRONMENT_NOTES",
    "INTERVAL_HEAD",
    "LOCAL_NOTE",
    "NOT_CARRIED_NOTE",
    "PERCENTILES",
    "all_warnings",
    "decision_sentences",
    "direction",
    "duration",
    "error_text",
    "figure",
    "fleet_label",
    "fleet_words",
    "gone_text",
    "instant",
    "interval",
    "number",
    "placement_words",
    "point_labels",
    "primary_metric",
    "quantity",
    "reading_order",
    "receipt_sentence",
    "rough_duration",
    "sample_count",
    "storage_label",
    "to_csv",
    "to_markdown",
    "told_label",
    "told_warnings",
    "warning_text",
]
