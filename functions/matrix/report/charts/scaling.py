"""Each storage over the size of the fleet, with the law that was fitted."""

from collections.abc import Iterator, Sequence

import numpy as np

from matrix.rendering import quantity
from matrix.report.chart import Chart, Series
from matrix.report.charts.marks import is_wide
from matrix.report.charts.words import percentile_words, slug
from matrix.report.view import Entry, View
from matrix.scaling import LEAST_SIZES, analyse, knee
from matrix.series import Series as Measured


def scaling(view: View) -> Iterator[Chart]:
    """Each storage over fleet sizes, with what was fitted where four sizes carry a fit."""
    for (workload, label, name), entries in view.by("workload", "label", "name").items():
        by_storage: dict[str, list[Entry]] = {}
        for entry in sorted(entries, key=lambda one: one.instances):
            by_storage.setdefault(entry.storage, []).append(entry)
        curves = {storage: of for storage, of in by_storage.items() if len({one.instances for one in of}) > 1}
        if not curves:
            continue
        sizes = sorted({entry.instances for of in curves.values() for entry in of})
        series = [one for of in curves.values() for one in _scaling_series(view, of)]
        fits = [told for storage, of in curves.items() for told in _fit(storage, of, series)]
        first = entries[0]
        yield Chart(
            id=f"scaling-{slug(f'{workload}-{label}')}",
            title=f"{workload}{f', {label}' if label else ''}: {name} of each instance over the size of the fleet",
            reads="Solid: median with its 95 % interval. Dashed: the slow end, which 90 % of the samples reach."
            + (" The law that predicts best can be shown too." if fits else ""),
            notes=fits,
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


def _fit(storage: str, of: Sequence[Entry], series: list[Series]) -> Iterator[str]:
    """Add the fitted curve to the series and say where its knee is; nothing below four sizes."""
    known = [(one.instances, float(one.metric["p50"])) for one in of if one.metric.get("p50")]
    known = [(n, value) for n, value in known if value > 0]
    if len({n for n, _ in known}) < LEAST_SIZES:
        return
    sizes, values = zip(*known, strict=True)
    found = analyse(Measured(sizes, values, of[0].higher_is_better, per_instance=True))
    x = np.geomspace(min(sizes), max(sizes), 40).tolist()
    y = [found.value(found.chosen.curve, n) for n in x]
    name = f"{storage}, fit {found.chosen.curve.model}"
    series.append(Series(name, x, y, "line", of[0].style, f"{storage}, fit", is_hollow=True, is_off=True, width=1))
    yield f"{storage}: {knee(found)['meaning']} ({found.chosen.curve.model})."
