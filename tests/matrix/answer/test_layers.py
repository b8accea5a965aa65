"""What layers saw of each other's work: samples and metrics of which it is known how much a cache took."""

from typing import Any

import pytest

from matrix.answer import layers
from matrix.answer.bottleneck import refreshed
from matrix.samples import cloudwatch
from matrix.samples.file import SampleFile, by_point
from matrix.samples.moved import by_minute
from matrix.storages.metrics import Metric
from matrix.storages.models import metrics_of
from matrix.tables.layers_table import is_far

START = 1_763_683_200.0  # a full minute
MIB = 2**20


def sample(point: str, begun: float, ended: float, **more: Any) -> dict[str, Any]:
    """One step from `begun` to `ended`, in seconds since START."""
    taken = {"point": point, "repetition": 1, "step": round(begun), "metrics": {"mb_per_s": 1.0}}
    return taken | {"started_at": START + begun, "ended_at": START + ended} | more


def instance(*samples: dict[str, Any], number: int = 0, kind: str = "nfs") -> SampleFile:
    """What one instance has uploaded."""
    return SampleFile.model_validate(
        {"run": "r", "cell": "c", "instance": {"id": f"i-{number}", "type": "m6i.large"}, "mount": {"kind": kind},
         "samples": samples}
    )  # fmt: skip


def of_point(*files: SampleFile, params: dict[str, Any] | None = None) -> dict[tuple[str, str, str, str], float]:
    """The ratios of p01 by (way, counts, above, below)."""
    found = layers.of_samples(params or {}, by_point(files).get("p01", []))
    return {(one["way"], one["counts"], one["above"], one["below"]): one["ratio"] for one in found}


def test_a_page_cache_that_answered_nine_of_ten_reads_is_seen():
    counted = {"nfs_read_bytes": 10 * MIB, "nfs_write_bytes": 0, "nfs_read_operations": 10, "nfs_write_operations": 0}

    found = of_point(instance(sample("p01", 0, 10, work={"read_bytes": 100 * MIB}, counters=counted)))

    assert found == {("read", "bytes", "programs", "mount"): pytest.approx(0.1)}


def test_small_records_in_large_pages_are_sixteen_times_what_was_asked_for():
    work = {"read_bytes": 4 * MIB, "records": 8_192}
    counted = {"disk_read_bytes": 64 * MIB, "disk_read_operations": 8_192, "disk_write_bytes": 0}
    counted |= {"volume_read_bytes": 64 * MIB, "volume_read_operations": 2_048}

    found = of_point(instance(sample("p01", 0, 10, work=work, counters=counted), kind="ebs"))

    assert found == {
        ("read", "bytes", "programs", "mount"): pytest.approx(16.0),
        ("read", "bytes", "mount", "volume"): pytest.approx(1.0),
        ("read", "operations", "mount", "volume"): pytest.approx(0.25),
    }


def test_a_ratio_is_of_all_samples_and_of_no_other_points():
    wrote = [
        sample(point, at, at + 1, work={"bytes": 10 * MIB}, counters={"disk_write_bytes": seen * MIB})
        for at, point, seen in ((0, "p01", 10), (2, "p01", 40), (4, "p02", 990))
    ]

    found = of_point(instance(*wrote, kind="ebs"), instance(*wrote, number=1, kind="ebs"))

    assert found == {("write", "bytes", "programs", "mount"): pytest.approx(2.5)}


@pytest.mark.parametrize(
    ("kind", "params", "mib"),
    [
        # A folder of this machine shares its disk with every other program.
        ("directory", {}, 100),
        # fio's ramp is in the kernel's counters and not in its own.
        ("ebs", {"options": {"ramp_time": 10}}, 100),
        # A few access times are not reads.
        ("ebs", {}, 0.5),
    ],
)
def test_what_is_not_comparable_is_not_compared(kind, params, mib):
    counted = {"disk_write_bytes": 300 * MIB, "nfs_write_bytes": 300 * MIB}
    file = instance(sample("p01", 0, 10, work={"write_bytes": mib * MIB}, counters=counted), kind=kind)

    assert of_point(file, params=params) == {}


# --- by CloudWatch ----------------------------------------------------------------------------------------------------


def moved(way: str, begun: float, ended: float, mib: float, *, point: str = "p01", **more: Any) -> dict[str, Any]:
    """A step whose mount moved so much."""
    return sample(point, begun, ended, counters={f"nfs_{way}_bytes": mib * MIB}, **more)


def result(files: list[SampleFile], kind: str, metrics: dict[str, list[float | None]], **more: Any) -> dict[str, Any]:
    """A result with metrics by minute from START on; None is a minute that has not arrived."""
    volumes = {f"vol-{file.instance.id}": file.instance.id for file in files} if kind == "ebs" else {}
    about = cloudwatch.resources({"type": kind}, "m6i.large", [file.instance.id for file in files], volumes, ["fs-1"])
    answers = []
    for name, values in metrics.items():
        namespace, _, metric = name.removesuffix("/SampleCount").partition(" ")
        asked = Metric(namespace, metric, "SampleCount" if name.endswith("/SampleCount") else "Sum", "")
        minutes = [(START + 60 * at, value) for at, value in enumerate(values) if value is not None]
        answers += [(cloudwatch.Query("q", asked, {"id": name}), minutes) for name in volumes or ["fs-1"]]
    span = (START, START + 60 * max(map(len, metrics.values())))
    kept = cloudwatch.document(about, span, answers, read_at=span[1] + 3600)
    kept["moved"] = by_minute(files, {file.instance.id for file in files})
    return {"cloudwatch": kept, "instances": {"expected": len(files), "launched": len(files)}} | more


def seen(*arguments: Any, **more: Any) -> dict[str, dict[tuple[str, str, str], float]]:
    """The ratios of each point by (way, counts, below)."""
    found = layers.of_server(result(*arguments, **more))
    return {
        point: {(one["way"], one["counts"], one["below"]): pytest.approx(one["ratio"]) for one in of_point_}
        for point, of_point_ in found.items()
    }


def test_an_efs_that_saw_as_much_as_its_clients_wrote_is_close_to_one_though_the_minutes_are_cut():
    # 90 s of 2 MiB/s from the middle of the first minute on, by each of two instances.
    files = [instance(moved("write", 30, 120, 180), number=number) for number in (0, 1)]

    found = seen(files, "efs", {"AWS/EFS DataWriteIOBytes": [120.0 * MIB, 240.0 * MIB]})

    assert found == {"p01": {("write", "bytes", "EFS"): 1.0}}


def test_operations_of_efs_are_the_count_of_its_samples():
    counted = {"nfs_read_bytes": 60 * MIB, "nfs_read_operations": 600}
    files = [instance(sample("p01", 0, 60, counters=counted))]
    metrics = {"AWS/EFS DataReadIOBytes": [60.0 * MIB], "AWS/EFS DataReadIOBytes/SampleCount": [1_200.0]}

    assert seen(files, "efs", metrics) == {"p01": {("read", "bytes", "EFS"): 1.0, ("read", "operations", "EFS"): 2.0}}


def test_reads_of_s3_files_are_a_fifth_of_a_write_as_it_allows_five_times_as_many():
    used = {f"nfs_{way}_operations_per_s": rate for way, rate in (("read", 40.0), ("other", 10.0), ("write", 7.0))}

    assert metrics_of("s3-files").operations_of({}, used) == 7 + 50 / 5
    assert metrics_of("s3-files").operations_of({}, {}) is None


def test_what_the_servers_cache_answered_its_disks_did_not_see():
    files = [instance(moved("read", 0, 60, 600))]
    metrics = {"AWS/FSx DataReadBytes": [600.0 * MIB], "AWS/FSx DiskReadBytes": [60.0 * MIB]}

    assert seen(files, "fsx-openzfs", metrics) == {
        "p01": {("read", "bytes", "FSx server"): 1.0, ("read", "bytes", "FSx disks"): 0.1}
    }


def test_what_was_written_before_a_step_is_not_an_amplification_of_it():
    # 300 MiB of preparation lie in the minute of a step that writes 30 MiB: nobody can tell them apart.
    written = {"since": START, "counters": {"nfs_write_bytes": 300.0 * MIB}}
    shared = instance(moved("write", 50, 60, 30, between=written))
    alone = instance(moved("write", 70, 100, 30, between=written | {"since": START}))

    assert seen([shared], "efs", {"AWS/EFS DataWriteIOBytes": [330.0 * MIB]}) == {}
    # Half a minute later it has a minute that is mostly its own: a seventh of the preparation lies in it.
    own = 30 + 300 / 7
    assert seen([alone], "efs", {"AWS/EFS DataWriteIOBytes": [300.0 * MIB, own * MIB]}) == {}
    quiet = instance(moved("write", 70, 100, 30, between={"since": START + 65, "counters": {"nfs_write_bytes": MIB}}))
    assert seen([quiet], "efs", {"AWS/EFS DataWriteIOBytes": [300.0 * MIB, 93.0 * MIB]}) == {
        "p01": {("write", "bytes", "EFS"): 3.0}
    }


def test_points_that_share_a_minute_are_not_told_apart():
    files = [instance(moved("read", 0, 30, 50), moved("read", 30, 60, 50, point="p02"))]

    assert seen(files, "efs", {"AWS/EFS DataReadIOBytes": [100.0 * MIB]}) == {}


def test_a_minute_that_has_not_arrived_and_a_volume_that_does_not_tell_are_no_cache():
    files = [instance(sample("p01", 0, 120, counters={"disk_read_bytes": 120.0 * MIB}), number=n, kind="ebs")
             for n in (0, 1)]  # fmt: skip
    metric = "AWS/EBS VolumeReadBytes"

    assert seen(files, "ebs", {metric: [60.0 * MIB] * 2}) == {"p01": {("read", "bytes", "volume in CloudWatch"): 1.0}}
    assert seen(files, "ebs", {metric: [60.0 * MIB, None]}) == {}
    lacking = result(files, "ebs", {metric: [60.0 * MIB] * 2})
    lacking["cloudwatch"]["series"].pop()
    assert layers.of_server(lacking) == {}


def test_metrics_that_arrive_later_are_held_against_what_the_mounts_had_moved():
    files = [instance(moved("read", 0, 60, 600))]
    made = result(files, "efs", {"AWS/EFS DataReadIOBytes": [None]})
    late = result(files, "efs", {"AWS/EFS DataReadIOBytes": [60.0 * MIB]})["cloudwatch"]
    late.pop("moved")

    again = refreshed(made | {"storage": {"type": "efs"}, "points": []}, "aws", lambda *_: late)

    assert [layer["ratio"] for layer in again["server_layers"]["p01"]] == [pytest.approx(0.1)]
    assert again["cloudwatch"]["moved"] == made["cloudwatch"]["moved"]


def test_an_instance_that_claims_a_hundred_years_costs_no_time_and_is_left_out():
    file = instance(moved("read", 0, 60, 600, between={"since": 0.0, "counters": {"nfs_read_bytes": 1.0}}))

    assert by_minute([file], {"i-0"}) == {"at": [], "points": {}}


@pytest.mark.parametrize(("ratio", "is_marked"), [(0.1, True), (3.2, True), (0.25, True), (1.01, False)])
def test_a_ratio_far_from_one_is_marked(ratio, is_marked):
    about = {"way": "read", "counts": "bytes", "above": "FSx server", "below": "FSx disks"}

    assert is_far(about | {"asked": 1.0, "seen": ratio, "ratio": ratio}) == is_marked
