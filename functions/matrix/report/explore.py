"""All runs as one page: each cell over time, its significant changes, and the differences in its provenance."""

from collections.abc import Iterator, Sequence

from matrix.answer.history import MIN_RUNS, KeptRun, Track, describe_change, history
from matrix.report import shell
from matrix.report.charts.chart import Chart, Series
from matrix.report.charts.labels import lower
from matrix.report.facets import Facets, Marks
from matrix.report.html import Markup, tag
from matrix.report.html_table import html_table
from matrix.tables.table import Table, TableCell, TableColumn, TableRow, row
from matrix.terms.metrics import metric_title
from matrix.terms.quantities import ABSENT, instant, quantity

# Charts beyond these are in the table only: a page of all runs must stay small.
MAX_CHARTS = 120


def render_explore(runs: Sequence[KeptRun]) -> str:
    """Return the page of all runs, which come in the order of their time."""
    tracks = history(runs)
    facets = Facets.of(
        [track.storage for track in tracks],
        [(track.workload, track.point) for track in tracks],
        [track.fleet for track in tracks],
    )
    followed = [track for track in tracks if len(track.measured) > 1]
    # Changed tracks come first.
    followed.sort(key=lambda track: (not track.changes, -max((change.run for change in track.changes), default=0)))
    charts = [_chart(runs, facets, track, index) for index, track in enumerate(followed[:MAX_CHARTS], start=1)]
    over_time = [("tracks", "Each cell over time")] if charts else []
    names = [("changes", "What changed"), *over_time, ("tables", "All cells"), ("runs", "Runs")]
    main = tag(
        "main",
        _changes(runs, facets, tracks, followed),
        shell.contents(names),
        *([tag("section", tag("h2", "Each cell over time"), tag("div", *map(shell.figure, charts), class_="pairs"),
               id="tracks")] if charts else []),
        tag("section", tag("h2", "All cells"), _latest(runs, facets, tracks), id="tables"),
        tag("section", tag("h2", "Runs"), _runs(runs), id="runs"),
    )  # fmt: skip
    begun = [at for run in runs if (at := run.summary.get("started_at")) is not None]
    known = [("Runs", str(len(runs))), ("Cells and points", str(len(tracks)))]
    known += [("From", instant(min(begun))), ("To", instant(max(begun)))] if begun else []
    header = tag("header", tag("p", "Storage Matrix", class_="kicker"), tag("h1", "All runs"), shell.facts(known))
    return shell.whole("All runs", [header, main], charts=charts, facets=facets)


def _marks(facets: Facets, track: Track) -> Marks:
    return facets.marks(storage=track.storage, workload=track.workload, label=track.point, fleet=track.fleet)


def _name(track: Track) -> str:
    return ", ".join(filter(None, (track.workload, track.storage, track.fleet, track.point)))


def _changes(runs: Sequence[KeptRun], facets: Facets, tracks: Sequence[Track], followed: Sequence[Track]) -> Markup:
    rows: list[TableRow] = []
    changes = [(change, track) for track in tracks for change in track.changes]
    for change, track in sorted(changes, key=lambda pair: -pair[0].run):
        differing = "; ".join(describe_change(each) for each in change.changed) or "no recorded difference"
        rows.append(row((runs[change.run].name, _name(track), change.words, differing), track))
    if not rows:
        words = _nothing_shown(followed) if followed else "No cell was measured twice yet."
        return tag("section", tag("h2", "What changed"), _panel(words), id="changes")  # fmt: skip
    slower = sum(change.verdict == "slower" for change, _ in changes)
    headline = f"{slower} became slower, {len(changes) - slower} faster, by more than chance explains."
    heads = map(TableColumn, ("Run", "Cell and point", "Beside the runs before", "What was different"))
    built = Table("Changes, newest first", list(heads), rows)
    listed = html_table(built, class_="prose", marks=lambda track: _marks(facets, track))
    return tag("section", tag("h2", "What changed"), _panel(headline), listed, id="changes")  # fmt: skip


def _nothing_shown(followed: Sequence[Track]) -> str:
    """Write how many had no verdict: too few measurements do not show that a figure stayed the same."""
    undecided = sum(track.undecided > 0 for track in followed)
    if not undecided:
        return "No cell changed by more than chance explains."
    return f"No change is shown, but {undecided} of {len(followed)} cells and points cannot be judged."


def _panel(headline: str) -> Markup:
    how = (
        f"From {MIN_RUNS} runs of a cell in one environment on, each is tested against the scatter of all runs"
        " before it, and all for a trend, corrected for the number of tests. Of fewer, each is compared with the one"
        " before by "
    )
    rest = ", in which another hour or host may be the difference; with less than three repetitions it cannot tell."
    words = tag("p", how, tag("code", "matrix compare"), rest, class_="quiet")
    return tag("div", tag("p", headline, class_="headline"), words, class_="rankings")


def _chart(runs: Sequence[KeptRun], facets: Facets, track: Track, number: int) -> Chart:
    x = [float(each.run) for each in track.measured]
    low, high = [each.low for each in track.measured], [each.high for each in track.measured]
    words = [
        f"{runs[each.run].name}<br>{instant(runs[each.run].summary.get('started_at'))}<br>"
        f"P50 {quantity(each.p50, track.unit)}, n {ABSENT if each.n is None else each.n}"
        for each in track.measured
    ]
    y = [each.p50 for each in track.measured]
    series = [Series("P50", x, y, "line", low=low, high=high, hover=words)]
    if sum(end is not None for end in low) > 1:
        series.append(Series("95 % interval", x, y, "band", low=low, high=high, group="P50"))
    series += _change_marks(track)
    if track.published is not None:
        series.append(Series("published", [x[0], x[-1]], [track.published] * 2, "limit", 6,
                             hover=[quantity(track.published, track.unit)] * 2, is_off=bool(track.objections))
                      )  # fmt: skip
    title = metric_title(track.metric, track.workload)
    objections = f"The published figure does not compare: {'; '.join(track.objections)}." if track.objections else ""
    return Chart(
        id=f"track-{number}",
        title=f"{_name(track)}: {lower(title)}",
        reads=f"{track.environment}; {'higher' if track.higher_is_better else 'lower'} is better."
        + (
            " Diamond: slower, square: faster than the runs before, by more than chance explains."
            if track.changes
            else ""
        ),
        x_title="run",
        y_title=f"{title} ({track.unit})",
        series=series,
        notes=[f"{runs[change.run].name}: {change.words}." for change in track.changes]
        + ([objections] if objections else []),
        heads=("Run", f"P50 ({track.unit})", "95 % low", "95 % high", "n"),
        rows=[(runs[each.run].name, each.p50, each.low, each.high, each.n) for each in track.measured],
        is_from_zero=True,
        is_in_seconds=track.unit == "s",
        ticks=tuple(x),
        tick_names={place: _day(runs[int(place)]) for place in x},
        metric=f"{track.metric} ({track.unit})",
        of=_marks(facets, track),
    )


def _change_marks(track: Track) -> Iterator[Series]:
    medians = {each.run: each.p50 for each in track.measured}
    for verdict, style in (("slower", 1), ("faster", 2)):
        mine = [change for change in track.changes if change.verdict == verdict]
        if mine:
            words = ["<br>".join([change.words, *map(describe_change, change.changed)]) for change in mine]
            yield Series(verdict, [float(change.run) for change in mine], [medians[change.run] for change in mine],
                         "dots", style, hover=words)  # fmt: skip


def _day(run: KeptRun) -> str:
    begun = run.summary.get("started_at")
    return instant(begun)[5:10] if begun is not None else run.environment


def _latest(runs: Sequence[KeptRun], facets: Facets, tracks: Sequence[Track]) -> Markup:
    # Measured figures come before published ones.
    shown = sorted(tracks, key=lambda track: track.environment == "published")
    heads = (
        "Storage",
        "Fleet",
        "Point",
        "Environment",
        "Metric",
        "Runs",
        "Changes",
        "Latest P50",
        "In",
        "Published P50",
    )
    rows = [row(_of_track(runs, track), track) for track in shown]
    built = Table("The latest figure of each cell and point", list(map(TableColumn, heads)), rows)
    return html_table(built, class_="many", marks=lambda track: _marks(facets, track))


def _of_track(runs: Sequence[KeptRun], track: Track) -> tuple[object, ...]:
    last = track.measured[-1]
    published = None if track.environment == "published" else track.published
    return (
        track.storage,
        track.fleet,
        f"{track.workload}, {track.point}",
        track.environment,
        metric_title(track.metric, track.workload),
        len(track.measured),
        len(track.changes) or None,
        TableCell(quantity(last.p50, track.unit), last.p50),
        runs[last.run].name,
        TableCell(quantity(published, track.unit), published) if published else None,
    )


def _runs(runs: Sequence[KeptRun]) -> Markup:
    rows = [
        (run.name, instant(run.summary.get("started_at")), run.environment, run.summary.get("status", ABSENT),
         len(run.summary.get("cells", [])))
        for run in reversed(runs)
    ]  # fmt: skip
    return html_table(Table.of("Runs, newest first", ("Run", "Begun", "Environment", "State", "Cells"), rows))
