"""Traffic of a layer as a share of the layer above: below 1 a cache answers, above 1 traffic is amplified.

The layers are program, mount, volume or server, and the server's disks. Agents count both sides of programs and mounts
for each step. CloudWatch counts servers per minute; a minute counts for a point if the point caused most of the
instances' traffic in it.
"""

from collections.abc import Sequence

from matrix.samples import cloudwatch
from matrix.samples.file import FileSample, Sample
from matrix.samples.moved import BETWEEN, by_mount
from matrix.storages.metrics import LayerPair
from matrix.storages.models import metrics_of
from matrix.terms.documents.parts import Params
from matrix.terms.documents.result import Layer, ResultDocument
from matrix.terms.documents.watched import CloudWatchMetrics, MovedByMinute
from matrix.terms.grouping import grouped

# Below this much a count is of journals, access times and the like.
LEAST = {"bytes": 2.0**20, "operations": 256.0}
# A point with less than this share of a minute's bytes cannot be separated from its neighbours.
MOSTLY = 0.8
# Names of the bytes written that programs report, among the figures of their work.
WRITTEN = ("bytes", "write_bytes")


def of_samples(params: Params, samples: Sequence[FileSample]) -> list[Layer]:
    """Return the ratios mount / programs and volumes / mount at one point.

    Each is a ratio of sums over all samples that have both counts. fio excludes its ramp from its own counts, but the
    kernel does not, so programs are left out if there is a ramp.
    """
    counted = [(sample, by_mount(file, sample.counters)) for file, sample in samples]
    mounts = [(sample, moved) for sample, moved in counted if moved]
    has_ramp = bool((params.get("options") or {}).get("ramp_time"))
    layers: list[Layer | None] = []
    for way in ("read", "write"):
        if not has_ramp:
            asked = [(_asked(sample, way), moved.get(f"{way}_bytes")) for sample, moved in mounts]
            layers.append(_layer(way, "bytes", "programs", "mount", asked))
        for counts in LEAST:
            name = f"{way}_{counts}"
            passed = [(moved.get(name), sample.counters.get(f"volume_{name}")) for sample, moved in mounts]
            layers.append(_layer(way, counts, "mount", "volume", passed))
    return [layer for layer in layers if layer]


def of_server(result: ResultDocument) -> dict[str, list[Layer]]:
    """Return the ratios server / mounts and disks / server, by point.

    A point is missing if it shared its minutes with others, if a minute's value has not arrived, if it moved almost
    nothing, or if some instances have no counts.
    """
    kept = result.get("cloudwatch")
    moved = kept.get("moved") if kept else None
    launched = result["instances"]["launched"] if "instances" in result else None
    if not kept or not moved or (launched or 0) > kept["resources"]["of"]:
        return {}
    return grouped(
        (point, layer)
        for pair in metrics_of(kept["resources"]["type"]).layers
        for point in moved["points"]
        if point != BETWEEN and (layer := _seen_by_server(kept, moved, pair, point))
    )


def _seen_by_server(kept: CloudWatchMetrics, moved: MovedByMinute, pair: LayerPair, point: str) -> Layer | None:
    name = f"{pair.way}_{pair.counts}"
    mine = moved["points"][point].get(name) or []
    minutes = [index for index, amount in enumerate(mine) if amount > 0]
    times = [moved["at"][index] for index in minutes]
    own = sum(mine[index] for index in minutes)
    everybodys = sum(ways[name][index] for ways in moved["points"].values() if name in ways for index in minutes)
    seen = _sum(kept, pair.metric, pair.statistic, times)
    if own < LEAST[pair.counts] or own < MOSTLY * everybodys or seen is None:
        return None
    asked = _sum(kept, pair.above_metric, None, times) if pair.above_metric else everybodys
    return _layer(pair.way, pair.counts, pair.above, pair.below, [(asked, seen)])


def _sum(kept: CloudWatchMetrics, metric: str, statistic: str | None, times: Sequence[float]) -> float | None:
    """Sum a metric over these minutes and all resources; None if a resource lacks a minute, as that is not zero."""
    values = [dict(series) for series in cloudwatch.values(kept, metric, statistic)]
    about = kept["resources"]
    has_volumes = metrics_of(about["type"]).has_volumes
    count = len(about["volumes"] if has_volumes else about.get("file_systems", ()))
    if len(values) < max(1, count) or any(at not in of_resource for of_resource in values for at in times):
        return None
    return sum(of_resource[at] for of_resource in values for at in times)


def _asked(sample: Sample, way: str) -> float | None:
    names = WRITTEN if way == "write" else ("read_bytes",)
    return sum(sample.work[name] for name in names if name in sample.work) or None


def _layer(
    way: str, counts: str, above: str, below: str, pairs: Sequence[tuple[float | None, float | None]]
) -> Layer | None:
    known = [(asked, seen) for asked, seen in pairs if asked is not None and seen is not None]
    asked, seen = sum(pair[0] for pair in known), sum(pair[1] for pair in known)
    if asked < LEAST[counts]:
        return None
    return {
        "way": way, "counts": counts, "above": above, "below": below, "asked": asked, "seen": seen,
        "ratio": seen / asked,
    }  # fmt: skip
