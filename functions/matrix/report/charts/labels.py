"""Texts that charts of several families share."""

from collections.abc import Sequence

from matrix.report.charts.chart import MAX_BEYOND
from matrix.report.view import Entry, View
from matrix.terms.figures import figure, interval
from matrix.terms.quantities import ABSENT, quantity


def describe_percentile(view: View, entry: Entry) -> str:
    """Write the tooltip of a point: its percentiles, its interval and n."""
    metric = entry.metric
    figures = [f"{name.upper()} {figure(metric, name)}" for name in ("p0", "p50", "p75", "p90", "p98", "p100")]
    slow = view.tail_percentile(entry)
    if slow and entry.higher_is_better and (tail := view.tail(entry)) is not None:
        figures.append(f"P{slow.level:g} {quantity(tail, entry.unit)}")
    middle, n = interval(metric), metric.get("n")
    figures += [f"P50, 95 %: {middle}"] if middle != ABSENT else []
    wrong = [f"left out: {entry.left_out}"] if entry.left_out else []
    return "<br>".join([*figures, *([f"n {n}"] if n else []), *wrong])


def describe_interval(entries: Sequence[Entry]) -> str:
    """Write which of some medians have an interval, as the end of a sentence about them."""
    known = [entry.interval()[0] is not None for entry in entries]
    if not any(known):
        return " (no interval is known)"
    greatest = max((float(entry.metric.get("p50") or 0.0) for entry in entries), default=0.0)
    is_cut = any((entry.interval()[1] or 0.0) > MAX_BEYOND * greatest for entry in entries)
    words = ", with its 95 % interval" if all(known) else ", with its 95 % interval where there is one"
    return f"{words} (a line without an end goes on)" if is_cut else words


def point_title(workload: str, label: str) -> str:
    """Name a point in a title: `yocto, core-image-sato-sdk`."""
    return f"{workload}, {label}" if label else workload


def lower(title: str) -> str:
    """Write a title within a sentence; names such as `I/O rate` stay as they are."""
    return title if title[1:2] in "/" or title[:2].isupper() else title[0].lower() + title[1:]


def slug(text: str) -> str:
    """Write a title as an id."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())[:80]
