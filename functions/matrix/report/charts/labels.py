"""Texts that charts of several families share."""

from matrix.report.view import Entry, View
from matrix.terms.figures import ABSENT, figure, interval, quantity


def percentile_words(view: View, entry: Entry) -> str:
    """Write what a point shows under the pointer: its percentiles, its interval and n."""
    metric = dict(entry.metric)
    figures = [f"{name.upper()} {figure(metric, name)}" for name in ("p0", "p50", "p75", "p90", "p98", "p100")]
    slow = view.slow_end(entry)
    level = slow.get("level")
    if slow and entry.higher_is_better:
        figures.append(f"P{level:g} {quantity(slow['value'], entry.unit)}")
    middle, n = interval(metric), metric.get("n")
    figures += [f"P50, 95 %: {middle}"] if middle != ABSENT else []
    return "<br>".join([*figures, *([f"n {n}"] if n else [])])


def slug(text: str) -> str:
    """Write a title as an id."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())[:80]
