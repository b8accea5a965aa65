"""Each storage over the size of the fleet, with the law that was fitted."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from matrix.answer.scaling.fitting import Scaling, analyse, crossover, knee
from matrix.answer.scaling.series import Series as Measured
from matrix.report.charts.chart import Chart, Series, is_wide
from matrix.report.charts.labels import describe_interval, describe_percentile, lower, median_heads, point_title, slug
from matrix.report.view import Entry, View
from matrix.terms.grouping import grouped
from matrix.terms.objectives import BEST_VALUE_WITHIN
from matrix.terms.quantities import quantity

# A law of two parameters is drawn where two sizes more than it needs have tested it.
MIN_SIZES = 4
# Meaning of the fitted laws, by their names in `matrix.answer.scaling.fitting`.
LAWS = {
    "constant": "its time is constant",
    "amdahl": "its time grows linearly",
    "power": "its time grows with a power of the fleet",
    "capacity": "full speed, then a shared limit",
    "usl": "the Universal Scalability Law",
}
Interval = tuple[float | None, float | None]


def scaling(view: View) -> Iterator[Chart]:
    """Yield a chart for each point: each storage over fleet sizes, with a fitted law from four sizes on."""
    for (workload, label, _), entries in view.by("workload", "label", "name").items():
        if curves := _curves(entries):
            yield _chart(view, f"{workload}-{label}", point_title(workload, label), entries, curves)


def _curves(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return the points of each storage that was measured with fleets of several sizes, by rising size."""
    by_storage = grouped(
        (entry.storage, entry) for entry in sorted(entries, key=lambda entry: entry.instances) if not entry.left_out
    )
    return {storage: curve for storage, curve in by_storage.items() if len({each.instances for each in curve}) > 1}


def _chart(view: View, place: str, work: str, entries: Sequence[Entry], curves: Mapping[str, Sequence[Entry]]) -> Chart:
    first, left_out = entries[0], [entry for entry in entries if entry.left_out]
    drawn = [entry for curve in curves.values() for entry in curve]
    tail = view.tail_name(drawn)
    fitted = {storage: law for storage, curve in curves.items() if (law := _fit(curve)) is not None}
    crossed = [crossing for pair in combinations(fitted, 2) for crossing in _crossings(pair, fitted, curves)]
    notes = [f"left out: {entry.storage} at {entry.instances} instances: {entry.left_out}." for entry in left_out]
    notes += [f"{storage}: {knee(law)['meaning']} ({LAWS[law.chosen.model]})." for storage, law in fitted.items()]
    return Chart(
        id=f"scaling-{slug(place)}",
        title=f"{work}: {lower(first.quantity)} of each instance over the size of a fleet",
        reads=f"Solid: median{describe_interval(drawn)}."
        + (f" Dashed: {tail}, where there are enough samples." if tail else "")
        + (" A hollow mark without a line: known to be wrong, left out." if left_out else "")
        + (" The best law can be shown too." if fitted else "")
        + (" Hollow, a crossover: here its storage gets ahead of another by the fitted laws." if crossed else ""),
        notes=[*notes, *(sentence for _, sentence in crossed)],
        x_title="instances that work at the same time",
        y_title=first.title,
        series=[
            *(line for curve in curves.values() for line in _scaling_series(view, curve)),
            *(_fit_series(view, curves[storage], law) for storage, law in fitted.items()),
            *(mark for mark, _ in crossed),
            *(_left_out_series(view, entry) for entry in left_out if entry.storage in curves),
        ],
        heads=("Storage", "Instances", *median_heads(first), f"{tail} ({first.unit})"),
        rows=[
            (entry.storage, entry.instances, entry.metric.get("p50"), *entry.interval(), view.tail(entry))
            for entry in drawn
        ],
        is_y_log=is_wide([entry.metric.get("p50") for entry in drawn]),
        is_from_zero=True,
        limit=view.limit(first),
        is_in_seconds=first.unit == "s",
        ticks=tuple(float(size) for size in sorted({entry.instances for entry in drawn})),
        metric=f"{first.name} ({first.unit})",
        of=view.facets.marks(workload=first.workload, label=first.label),
    )


def _scaling_series(view: View, entries: Sequence[Entry]) -> Iterator[Series]:
    first, sizes = entries[0], [entry.instances for entry in entries]
    of = view.facets.marks(storage=first.storage)
    yield Series(
        first.storage,
        sizes,
        [entry.metric.get("p50") for entry in entries],
        "line",
        first.style,
        low=[entry.interval()[0] for entry in entries],
        high=[entry.interval()[1] for entry in entries],
        hover=[f"{entry.fleet}<br>{describe_percentile(view, entry)}" for entry in entries],
        of=of,
    )
    slow = [view.tail(entry) for entry in entries]
    if any(value is not None for value in slow):
        words = [f"{entry.fleet}<br>{quantity(v, entry.unit)}" for entry, v in zip(entries, slow, strict=True)]
        yield Series(
            f"{first.storage}, {view.tail_name(entries)}", sizes, slow, "line", first.style, first.storage, hover=words,
            is_dashed=True, width=1, of=of,
        )  # fmt: skip


def _fit(entries: Sequence[Entry]) -> Scaling | None:
    """The law that fits the medians of a storage best; None below four sizes."""
    known = [entry for entry in entries if (entry.metric.get("p50") or 0) > 0]
    if len({entry.instances for entry in known}) < MIN_SIZES:
        return None
    low, high = zip(*map(_noise, known), strict=True)
    sizes, values = zip(*((entry.instances, float(entry.metric["p50"])) for entry in known), strict=True)
    return analyse(Measured(sizes, values, entries[0].higher_is_better, (), per_instance=True, low=low, high=high))


def _noise(entry: Entry) -> Interval:
    """The interval of a median, from its samples; none if an end has no information."""
    low, high = entry.interval()
    return (low, high) if low is not None and high is not None and low > 0 else (None, None)


def _left_out_series(view: View, entry: Entry) -> Series:
    words = [f"{entry.fleet}<br>{describe_percentile(view, entry)}"]
    return Series(f"{entry.storage}, left out", [entry.instances], [entry.metric.get("p50")], "dots", entry.style,
                  group=entry.storage, hover=words, is_hollow=True, of=view.marks(entry))  # fmt: skip


def _fit_series(view: View, entries: Sequence[Entry], law: Scaling) -> Series:
    storage, sizes = entries[0].storage, law.series.n
    x = np.geomspace(min(sizes), max(sizes), 40).tolist()
    y = [law.value(law.chosen, n) for n in x]
    name = f"{storage}, fit {law.chosen.model}"
    return Series(name, x, y, "line", entries[0].style, "fitted laws", is_hollow=True, is_off=True, width=1,
                  of=view.facets.marks(storage=storage))  # fmt: skip


def _crossings(
    pair: tuple[str, str], fitted: Mapping[str, Scaling], curves: Mapping[str, Sequence[Entry]]
) -> Iterator[tuple[Series, str]]:
    """Yield the crossover of two storages: a mark in the chart and a sentence with its uncertainty."""
    first, other = (fitted[name] for name in pair)
    n = crossover(first, other)["n"]
    if n is None:
        return
    # The storage with the better value at the crossing is ahead from there on.
    values = [law.value(law.chosen, n) for law in (first, other)]
    is_first = (values[0] > values[1]) == first.series.higher_is_better
    ahead, behind = pair if is_first else pair[::-1]
    if not _is_worth_telling(curves[ahead], curves[behind], n):
        return
    sentence = f"By the two fitted laws {ahead} is ahead of {behind} from {n} instances on"
    shown = [size for size in _proven_sizes(curves[ahead], curves[behind]) if size >= n]
    if shown:
        sure = f"; the 95 % intervals of the medians show it at {shown[-1]}"
    elif any(entry.interval() != (None, None) for entry in (*curves[ahead], *curves[behind])):
        sure = "; the 95 % intervals of the medians show it at no measured size"
    else:
        sure = "; no interval is known that could show it"
    mark = Series(
        f"{ahead} overtakes {behind}", [n], [values[0] if is_first else values[1]], "dots", curves[ahead][0].style,
        group="crossover", hover=[f"{sentence}{sure}"], is_hollow=True,
    )  # fmt: skip
    yield mark, f"{sentence}{sure}."


def _is_worth_telling(ahead: Sequence[Entry], behind: Sequence[Entry], n: int) -> bool:
    """Whether the storage is measurably ahead at some size; two that are nearly equal cross often."""
    medians = {entry.instances: entry.metric.get("p50") for entry in behind}
    pairs = [(entry.metric.get("p50"), medians.get(entry.instances)) for entry in ahead if entry.instances >= n]
    ratios = [float(mine) / float(theirs) for mine, theirs in pairs if mine and theirs]
    if ahead[0].higher_is_better:
        return any(ratio > 1 + BEST_VALUE_WITHIN for ratio in ratios)
    return any(ratio < 1 - BEST_VALUE_WITHIN for ratio in ratios)


def _proven_sizes(ahead: Sequence[Entry], behind: Sequence[Entry]) -> list[int]:
    """Return the sizes at which the whole interval of the storage ahead is better than the other's."""
    others = {entry.instances: entry.interval() for entry in behind}
    return [
        entry.instances
        for entry in ahead
        if entry.instances in others
        and _is_apart(entry.interval(), others[entry.instances], is_higher=entry.higher_is_better)
    ]


def _is_apart(first: Interval, other: Interval, *, is_higher: bool) -> bool:
    worst, best = (first[0], other[1]) if is_higher else (other[0], first[1])
    return worst is not None and best is not None and worst > best
