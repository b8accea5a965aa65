"""Each storage over the size of the fleet, with the law that was fitted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from matrix.answer.decision.candidates import AS_GOOD
from matrix.answer.scaling.fitting import LEAST_SIZES, Scaling, analyse, crossover, knee
from matrix.answer.scaling.series import Series as Measured
from matrix.report.charts.chart import Chart, Series
from matrix.report.charts.labels import percentile_words, slug
from matrix.report.charts.marks import is_wide
from matrix.report.view import Entry, View
from matrix.terms.figures import quantity

# More labels would lie on each other.
MOST_LABELLED = 2
Interval = tuple[float | None, float | None]


def scaling(view: View) -> Iterator[Chart]:
    """Each storage over fleet sizes, with what was fitted where four sizes carry a fit."""
    for (workload, label, name), entries in view.by("workload", "label", "name").items():
        by_storage: dict[str, list[Entry]] = {}
        left_out = [entry for entry in entries if entry.cell.get("suspect")]
        for entry in sorted((one for one in entries if one not in left_out), key=lambda one: one.instances):
            by_storage.setdefault(entry.storage, []).append(entry)
        curves = {storage: of for storage, of in by_storage.items() if len({one.instances for one in of}) > 1}
        if not curves:
            continue
        sizes = sorted({entry.instances for of in curves.values() for entry in of})
        series = [one for of in curves.values() for one in _scaling_series(view, of)]
        fitted = {storage: found for storage, of in curves.items() if (found := _fit(of)) is not None}
        series += [_fit_series(curves[storage], found) for storage, found in fitted.items()]
        crossed = [one for pair in combinations(fitted, 2) for one in _crossings(pair, fitted, curves)]
        series += [mark if len(crossed) <= MOST_LABELLED else replace(mark, labels=None) for mark, _ in crossed]
        notes = [f"left out: {one.storage} at {one.instances} instances: {one.cell['suspect']}." for one in left_out]
        notes += [
            f"{storage}: {knee(found)['meaning']} ({found.chosen.curve.model})." for storage, found in fitted.items()
        ]
        first = entries[0]
        yield Chart(
            id=f"scaling-{slug(f'{workload}-{label}')}",
            title=f"{workload}{f', {label}' if label else ''}: {name} of each instance over the size of the fleet",
            reads="Solid: median with its 95 % interval. Dashed: the slow end, which 90 % of the samples reach."
            + (" The law that predicts best can be shown too." if fitted else "")
            + (" Hollow: from there on another storage is ahead, by the two laws." if crossed else ""),
            notes=[*notes, *(told for _, told in crossed)],
            x_title="instances that work at the same time",
            y_title=first.title,
            series=series,
            heads=("Storage", "Instances", "P50", "P50, 95 % low", "P50, 95 % high", "Slow end"),
            rows=[
                (one.storage, one.instances, one.metric.get("p50"), *one.interval(), view.slow_end(one).get("value"))
                for of in curves.values()
                for one in of
            ],
            is_x_log=sizes[-1] / sizes[0] >= 10,  # noqa: PLR2004 - a decade
            is_y_log=is_wide([one.metric.get("p50") for of in curves.values() for one in of]),
            is_from_zero=True,
            limit=view.limit(first),
            is_in_seconds=first.unit == "s",
            ticks=tuple(float(size) for size in sizes),
        )


def _scaling_series(view: View, of: Sequence[Entry]) -> Iterator[Series]:
    first, sizes = of[0], [one.instances for one in of]
    yield Series(
        first.storage,
        sizes,
        [one.metric.get("p50") for one in of],
        "line",
        first.style,
        low=[one.interval()[0] for one in of],
        high=[one.interval()[1] for one in of],
        hover=[f"{one.storage}, {one.fleet}<br>{percentile_words(view, one)}" for one in of],
    )
    slow = [view.slow_end(one).get("value") for one in of]
    if any(value is not None for value in slow):
        words = [
            f"{one.storage}, {one.fleet}<br>slow end {quantity(v, one.unit)}" for one, v in zip(of, slow, strict=True)
        ]
        yield Series(
            f"{first.storage}, slow end", sizes, slow, "line", first.style, first.storage, hover=words, is_dashed=True,
            width=1,
        )  # fmt: skip


def _fit(of: Sequence[Entry]) -> Scaling | None:
    """The law that predicts the medians of a storage best; None below four sizes."""
    known = [(one.instances, float(one.metric["p50"])) for one in of if one.metric.get("p50")]
    known = [(n, value) for n, value in known if value > 0]
    if len({n for n, _ in known}) < LEAST_SIZES:
        return None
    sizes, values = zip(*known, strict=True)
    return analyse(Measured(sizes, values, of[0].higher_is_better, per_instance=True))


def _fit_series(of: Sequence[Entry], found: Scaling) -> Series:
    storage, sizes = of[0].storage, found.series.n
    x = np.geomspace(min(sizes), max(sizes), 40).tolist()
    y = [found.value(found.chosen.curve, n) for n in x]
    name = f"{storage}, fit {found.chosen.curve.model}"
    return Series(name, x, y, "line", of[0].style, f"{storage}, fit", is_hollow=True, is_off=True, width=1)


def _crossings(
    pair: tuple[str, str], fitted: Mapping[str, Scaling], curves: Mapping[str, Sequence[Entry]]
) -> Iterator[tuple[Series, str]]:
    """Where the better of two storages changes: a mark in the chart, and a sentence that says how sure it is."""
    one, other = (fitted[name] for name in pair)
    n = crossover(one, other)["n"]
    if n is None:
        return
    # Which of them is ahead from there on: the better value at the crossing itself.
    values = [law.value(law.chosen.curve, n) for law in (one, other)]
    is_first = (values[0] > values[1]) == one.series.higher_is_better
    ahead, behind = pair if is_first else pair[::-1]
    if not _is_worth_telling(curves[ahead], curves[behind], n):
        return
    told = f"{ahead} overtakes {behind} at {n} instances, by the two laws"
    shown = [size for size in _told_apart(curves[ahead], curves[behind]) if size >= n]
    sure = f"; the 95 % intervals show it at {shown[-1]}" if shown else "; no 95 % intervals show it at a measured size"
    mark = Series(
        f"{ahead} overtakes {behind}", [n], [values[0] if is_first else values[1]], "dots", curves[ahead][0].style,
        group="crossover", hover=[f"{told}{sure}"], labels=[f"from {n}"], is_hollow=True,
    )  # fmt: skip
    yield mark, f"{told}{sure}."


def _is_worth_telling(ahead: Sequence[Entry], behind: Sequence[Entry], n: int) -> bool:
    """Whether the one ahead is so by more than nothing at a measured size; two that run side by side cross often."""
    medians = {entry.instances: entry.metric.get("p50") for entry in behind}
    pairs = [(one.metric.get("p50"), medians.get(one.instances)) for one in ahead if one.instances >= n]
    ratios = [float(mine) / float(theirs) for mine, theirs in pairs if mine and theirs]
    if ahead[0].higher_is_better:
        return any(ratio > 1 + AS_GOOD for ratio in ratios)
    return any(ratio < 1 - AS_GOOD for ratio in ratios)


def _told_apart(ahead: Sequence[Entry], behind: Sequence[Entry]) -> list[int]:
    """The sizes at which the interval of the one lies wholly on the better side of the other's."""
    others = {entry.instances: entry.interval() for entry in behind}
    return [
        entry.instances
        for entry in ahead
        if entry.instances in others
        and _is_apart(entry.interval(), others[entry.instances], is_higher=entry.higher_is_better)
    ]


def _is_apart(one: Interval, other: Interval, *, is_higher: bool) -> bool:
    worst, best = (one[0], other[1]) if is_higher else (other[0], one[1])
    return worst is not None and best is not None and worst > best
