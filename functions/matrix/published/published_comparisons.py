"""Published figures beside those of a run, and objections to some of the comparisons."""

from collections.abc import Iterator
from typing import TypeAlias, cast

from matrix.input.storage_names import storage_label
from matrix.plan import placing
from matrix.published.conditions import Cell, differences
from matrix.published.figures import PLACEMENTS, TUTORIAL, TUTORIAL_PERMITTED_MB_PER_S, Figure, figures, sources
from matrix.terms.documents.compared import PublishedComparison
from matrix.terms.documents.parts import Params, Part, Point
from matrix.terms.documents.result import PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.names import point_labels

# Planned or measured.
AnyPoint: TypeAlias = Point | PointResult


def compared_rows(summary: SummaryDocument) -> list[PublishedComparison]:
    """Return each figure of a run that has a published counterpart, with their ratio and every objection to it.

    Published figures have none: the counterparts of such a run would be itself.
    """
    known = [] if summary.get("environment") == "published" else list(figures())
    rows: list[PublishedComparison] = []
    for cell in summary.get("cells", []):
        points = cell.get("points") or []
        labels = point_labels(points)
        for point in points:
            rows += [
                _row(summary, cell, point, labels[point["id"]], figure)
                for figure in known
                if figure.metric in (point.get("metrics") or {}) and is_counterpart(cell, point, figure)
            ]
    return rows


def is_counterpart(cell: Cell, point: AnyPoint, figure: Figure) -> bool:
    """Return whether a cell's point, planned or measured, repeats the measurement of a published figure."""
    return (
        cell["workload"]["type"] == figure.workload
        and cell["fleet"].get("count") == figure.instances
        and not (figure.is_of_instance and cell["fleet"].get("instanceType") != figure.instance_type)
        and _holds(figure.storage, cell["storage"])
        and _holds(figure.params, point["params"])
    )


def is_asked_for(cell: Cell, point: AnyPoint, figure: Figure) -> bool:
    """Return whether a counterpart matches all conditions of a row without a figure in its source."""
    return not list(_caveats(cell, {**cell["storage"], **cell["workload"], **point["params"]}, figure))


def _holds(wanted: Params, present: Params) -> bool:
    """Whether every wanted value is present, also below `options`; `4k` and `4K` are the same size."""
    return all(
        _holds(value, present.get(name) or {}) if isinstance(value, dict) else _same(value, present.get(name))
        for name, value in wanted.items()
    )


def _same(wanted: object, present: object) -> bool:
    return str(wanted).lower() == str(present).lower()


def _row(
    summary: SummaryDocument,
    cell: ResultDocument,
    point: PointResult,
    label: str,
    figure: Figure,
) -> PublishedComparison:
    metric = point["metrics"][figure.metric]
    ours = cast("float | None", metric.get(figure.percentile))
    against = list(objections(summary.get("environment"), cell, point, figure))
    published = figure.value
    return {
        "cell": cell["id"],
        "storage": storage_label(cell["storage"]),
        "instances": figure.instances,
        "point": label,
        "metric": figure.metric,
        "unit": metric["unit"],
        "percentile": figure.percentile,
        "ours": ours,
        "published": published,
        "date": figure.date,
        "ratio": ours / published if ours is not None and published else None,
        "comparable": not against,
        "why_not": against,
        "differs": list(differences(cell, figure)),
        "source": sources()[figure.source]["source"],
    }


ENVIRONMENTS = {
    "local": "measured on this machine's disk, not on AWS",
    "local-vm": "measured in emulated machines, not on AWS",
    "emulated": "emulated on this machine, no storage was measured",
    "imported": "imported from files, so how it was measured is not known",
}


def objections(environment: str | None, cell: Cell, point: AnyPoint, figure: Figure) -> Iterator[str]:
    """Yield the reasons why a figure measured in this environment does not compare with the published one."""
    if environment in ENVIRONMENTS:
        yield ENVIRONMENTS[environment]
    if figure.wrong:
        yield f"doubtful there: {figure.wrong}"
    if figure.unlike:
        yield figure.unlike
    instance_type = cell["fleet"].get("instanceType")
    if figure.instance_type is None:
        yield "the source does not tell the instance type"
    elif instance_type != figure.instance_type:
        yield f"on {instance_type}, published on {figure.instance_type}"
    if figure.source == TUTORIAL and figure.storage == {"type": "efs"}:
        yield from _throughput_objections(cell["storage"])
    known = {**cell["storage"], **cell["workload"], **point["params"]}
    yield from _caveats(cell, known, figure)


def _throughput_objections(storage: Part) -> Iterator[str]:
    """Yield why a run's EFS may differ from the tutorial's, which has a permitted throughput and no mode."""
    mode = storage.get("throughputMode", "elastic")
    provisioned_mb_per_s = storage.get("provisionedThroughputMiBps", 0) * 2**20 / 1e6
    if mode == "bursting" or (mode == "provisioned" and provisioned_mb_per_s <= TUTORIAL_PERMITTED_MB_PER_S):
        yield f"published on a file system that may move more than {TUTORIAL_PERMITTED_MB_PER_S} MB/s"


def _caveats(cell: Cell, known: Params, figure: Figure) -> Iterator[str]:
    for name, value in figure.caveats.items():
        if name == "placement":
            if _in_zones(placing.resolved(cell["fleet"].get("placement"), cell["storage"])) != PLACEMENTS[value]:
                yield f"published with instances in {value}"
        elif not _same(value, known.get(name)):
            yield f"{name} {known.get(name)}, published with {value}"


def _in_zones(placement: str | list[float]) -> str | list[float]:
    """Return a placement with its shares as parts of 1."""
    return placement if isinstance(placement, str) else [share / sum(placement) for share in placement]
