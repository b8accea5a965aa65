"""Results of cells whose use of their limits is known, made by the code that makes results."""

from collections.abc import Sequence
from typing import Any

from support.matrices import EBS

from matrix.answer import bottleneck
from matrix.answer.results import cell_result
from matrix.samples import cloudwatch
from matrix.samples.file import SampleFile
from matrix.storages.metrics import Metric

Document = dict[str, Any]

START = 1_763_683_200.0  # a full hour
MIB = 2.0**20
INSTANCE_LIMITS = {
    "ebs_iops": {"baseline": 6_000.0, "maximum": 40_000.0},
    "ebs_bytes_per_s": {"baseline": 118.75e6, "maximum": 1_250e6},
    "network_bytes_per_s": {"baseline": 195.25e6, "maximum": 1_562.5e6},
}


def cell(storage: Document = EBS, points: tuple[Document, ...] = ({},), count: int = 2) -> Document:
    """A planned cell of a fio workload with a point for each of `points`."""
    ids = [f"p{number:02d}" for number in range(1, len(points) + 1)]
    return {
        "id": "c", "file_system": "fs", "storage": storage, "workload": {"type": "fio"},
        "fleet": {"instanceType": "m6i.large", "count": count}, "expected_s": 60.0,
        "points": [{"id": id_, "params": params} for id_, params in zip(ids, points, strict=True)],
        "steps": [{"point": id_, "repetition": 1} for id_ in ids],
    }  # fmt: skip


def measured(planned: Document, *used: Document, calibration: Sequence[Document] = (), **more: Any) -> Document:
    """The result of a cell of which each instance took `used` at each point, for a minute each."""
    files = [
        SampleFile.model_validate(
            {
                "run": "r", "cell": "c", "instance": {"id": f"i-{number}", "type": "m6i.large"},
                "host": {"cpus": 2}, "calibration": list(calibration),
                "samples": [sample(point["id"], index, **use) for index, (point, use) in
                            enumerate(zip(planned["points"], used, strict=True))],
            }
        )
        for number in range(planned["fleet"]["count"])
    ]  # fmt: skip
    made = cell_result(planned, files, error=None, actual_s=60.0, launched=planned["fleet"]["count"])
    return made | {"instance_limits": INSTANCE_LIMITS} | more


def sample(point: str, index: int, *, iops: float = 100.0, workers: int = 4, **counters: Any) -> Document:
    """A minute of fio; counters are per second, `metrics`, `seconds` and `at` (seconds after the start) aside."""
    seconds = counters.pop("seconds", 60.0)
    begun = START + counters.pop("at", index * 60)
    metrics = {"iops": iops, **counters.pop("metrics", {})}
    return {
        "point": point, "repetition": 1, "step": index, "metrics": metrics, "workers": workers,
        "started_at": begun, "ended_at": begun + seconds,
        "counters": {"cpu_s": 0.0} | {name: value * seconds for name, value in counters.items()},
    }  # fmt: skip


def watched(metrics: dict[str, list[float]], *, read_after_s: float = 3600.0, **resource: str) -> Document:
    """What CloudWatch answers: minute values from the start of the cell on."""
    about = {"type": "x", "volume_type": None, "instance_type": "m6i.large", "instances": [], "of": 0, "volumes": {},
             "file_systems": []}  # fmt: skip
    answers = []
    for name, values in metrics.items():
        namespace, _, metric = name.partition(" ")
        query = cloudwatch.Query("q", Metric(namespace, metric, "Sum", ""), resource or {"VolumeId": "vol-1"})
        answers.append((query, [(START + 60 * minute, value) for minute, value in enumerate(values)]))
    ended = START + 60 * max(map(len, metrics.values()), default=1)
    return cloudwatch.document(about, (START, ended), answers, read_at=ended + read_after_s)


def received(gbit_per_s: float) -> Document:
    """Traffic of an instance that mostly reads."""
    return {"network_received_bytes": gbit_per_s * 125e6, "network_sent_bytes": 1e6}


def found(result: Document, environment: str = "aws") -> Document:
    """The bottleneck."""
    return bottleneck.find(result, environment)


def rate(use: Document) -> tuple[float, float, str]:
    """How much of which limit was used, in its unit, to three digits."""
    return float(f"{use['used']:.3g}"), float(f"{use['limit']:.4g}"), use["unit"]
