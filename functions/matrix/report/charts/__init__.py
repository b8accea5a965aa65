"""Every chart of a report, from the view of a run; a chart without figures is left out."""

from dataclasses import dataclass, replace
from itertools import count

from matrix.report.charts.chart import Chart
from matrix.report.charts.cost import costs
from matrix.report.charts.latency import latencies
from matrix.report.charts.medians import scaling, sweeps
from matrix.report.charts.over_time import left_out, over_time
from matrix.report.charts.watched import note, watched
from matrix.report.view import View
from matrix.terms.sentences import EMULATED


@dataclass(frozen=True)
class Section:
    """Charts that answer one question."""

    id: str
    title: str
    charts: list[Chart]
    note: str = ""


def sections(view: View, *, is_page: bool = True) -> list[Section]:
    """Return the charts of a run; for a page at most as many as it has room for."""
    made = [
        Section("cost", "Cost against speed", list(costs(view))),
        Section("scaling", "Scaling", list(scaling(view))),
        Section("sweeps", "Sweeps: threads, block sizes and the like", list(sweeps(view))),
        Section("latency", "Latency distributions", list(latencies(view))),
        Section(
            "timeline",
            "Over time",
            [*watched(view, is_page=is_page), *over_time(view, is_page=is_page)],
            " ".join(filter(None, [note(view, is_page=is_page), left_out(view) if is_page else ""])),
        ),
    ]
    seen: set[str] = set()
    kept = [
        replace(section, charts=[_named(_marked(chart, view), seen) for chart in section.charts if chart.has_points])
        for section in made
    ]
    return [section for section in kept if section.charts]


def _named(chart: Chart, seen: set[str]) -> Chart:
    """Number charts with equal ids, such as parts and long titles: the script finds their figures by id."""
    ids = (f"{chart.id}-{number}" if number > 1 else chart.id for number in count(1))
    own = next(name for name in ids if name not in seen)
    seen.add(own)
    return replace(chart, id=own) if own != chart.id else chart


def _marked(chart: Chart, view: View) -> Chart:
    """Mark an emulated chart in its own title, since a picture is shown without the page's note."""
    is_emulated = view.summary.get("environment") == EMULATED
    return replace(chart, title=f"Emulated: {chart.title}") if is_emulated else chart
