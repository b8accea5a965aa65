"""What CloudWatch counted of a storage, as charts: what is drawn, beside which limits, and where it is silent."""

from dataclasses import replace

import pytest
from support.runs_for_reports import built_view

from matrix.report.charts.watched import Cell, in_charts, note, watched
from matrix.samples import cloudwatch
from matrix.storages.metrics import Metric

BEGUN = 10_020.0
BYTES, COUNT = ("Sum", "bytes"), ("SampleCount", "operations")


@pytest.fixture
def view():
    """Builds on EBS and EFS, on fleets of 1 and 200."""
    sizes = {1: 3000.0, 200: 3600.0}
    return built_view({"ebs": sizes, "efs": sizes}, spread=0.0, repetitions=1)


def entry_of(view, kind, count):
    """The point of the cell with this storage and fleet."""
    return next(each for each in view.entries if (each.cell["storage"]["type"], each.instances) == (kind, count))


def counted(metrics, *, namespace="AWS/EFS", asked=1, of=1, resources=1, unasked=None, **more):
    """What is kept with a cell of which each metric (statistic, unit, values of the minutes) was counted."""
    answers = []
    for name, (statistic, unit, *values) in metrics.items():
        metric = Metric(namespace, name.partition("/")[0], statistic, unit)
        points = [(BEGUN + 60 * minute, value) for minute, value in enumerate(values) if value is not None]
        answers += [(cloudwatch.Query(name, metric, {"id": str(number)}), points) for number in range(resources)]
    about = {"instances": [f"i-{number}" for number in range(asked)], "of": of}
    return cloudwatch.document(about, (BEGUN, BEGUN + 60_000), answers, read_at=99_999.0, unasked=unasked) | more


def charts_of(view, entry, kept, most=99):
    """The charts of a cell, by what they are about."""
    view.results[entry.cell["id"]]["cloudwatch"] = kept
    return {chart.id.rpartition("-")[2]: chart for chart in in_charts(view, Cell(entry, 1, 0, kept, BEGUN, most))}


def lines(chart):
    """The places of each line of a chart."""
    return {line.name: list(zip(line.x, line.y, strict=True)) for line in chart.series}


def test_throughput_operations_and_utilisation_of_a_build_stand_with_their_limits(view):
    metrics = {
        "DataReadIOBytes": (*BYTES, 6e9, 3e9), "DataWriteIOBytes": (*BYTES, 0.0, 0.0),
        "MetadataIOBytes": (*BYTES, 6e8, 6e8),
        "DataReadIOBytes/count": (*COUNT, 60_000, 6_000), "MetadataIOBytes/count": (*COUNT, 120_000, 120_000),
        "MeteredIOBytes": (*BYTES, 2.6e9, 1.6e9), "PermittedThroughput": ("Minimum", "bytes/s", 105e6, 105e6),
        "PercentIOLimit": ("Maximum", "%", 40.0, 90.0), "BurstCreditBalance": ("Minimum", "bytes", 2.0**41, 2.0**40),
    }  # fmt: skip
    charts = charts_of(view, entry_of(view, "efs", 200), counted(metrics, asked=20, of=200))

    assert list(charts) == ["throughput", "operations", "utilisation"]
    # A file system is everybody's, so what it counted is whole though 20 of 200 instances were asked for.
    assert charts["throughput"].title == "build on 200 × m6i.large, EFS bursting: throughput by CloudWatch"
    assert lines(charts["throughput"]) == {
        "all": [(0.0, 110.0), (60.0, 60.0), (120.0, 60.0)],
        "read": [(0.0, 100.0), (60.0, 50.0), (120.0, 50.0)],
        "metadata": [(0.0, 10.0), (120.0, 10.0)],  # nothing was written
    }
    assert charts["throughput"].limit == (104.8576, "throughput of the file system, of writes: 105 MB/s")
    assert lines(charts["operations"]) == {
        "all": [(0.0, 3000.0), (60.0, 2100.0), (120.0, 2100.0)],
        "reads": [(0.0, 1000.0), (60.0, 100.0), (120.0, 100.0)],
        "metadata": [(0.0, 2000.0), (120.0, 2000.0)],
    }
    assert lines(charts["utilisation"]) == {
        "PercentIOLimit": [(0.0, 40.0), (60.0, 90.0), (120.0, 90.0)],
        "metered of permitted throughput": [(0.0, 41.27), (60.0, 25.4), (120.0, 25.4)],
    }
    assert charts["utilisation"].limit == (100.0, "all of it")


def test_fsx_has_the_utilisations_that_its_verdict_reads(view):
    entry = entry_of(view, "efs", 1)
    storage = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
    fsx = replace(entry, cell={**entry.cell, "storage": storage})
    metrics = {
        "DataReadOperations": ("Sum", "operations", 60_000), "MetadataOperations": ("Sum", "operations", 6_000),
        "FileServerDiskThroughputUtilization": ("Maximum", "%", 70.0),
        "FileServerDiskThroughputBalance": ("Minimum", "%", 90.0), "ClientConnections": ("Maximum", "connections", 1.0),
    }  # fmt: skip
    # Of two file systems the fuller is drawn, and their operations add up.
    for resources in (1, 2):
        charts = charts_of(view, fsx, counted(metrics, namespace="AWS/FSx", resources=resources))

        assert list(charts) == ["operations", "utilisation"]
        assert {name: places[0][1] for name, places in lines(charts["operations"]).items()} == {
            "all": resources * 1100.0, "reads": resources * 1000.0, "metadata": resources * 100.0,
        }  # fmt: skip
        assert lines(charts["utilisation"]) == {"FileServerDiskThroughputUtilization": [(0.0, 70.0), (60.0, 70.0)]}


def test_what_several_file_systems_of_a_storage_moved_and_were_allowed_adds_up(view):
    metrics = {
        "DataReadIOBytes": (*BYTES, 6e9), "MeteredIOBytes": (*BYTES, 3e9),
        "PermittedThroughput": ("Minimum", "bytes/s", 1e8), "PercentIOLimit": ("Maximum", "%", 40.0),
    }  # fmt: skip
    charts = charts_of(view, entry_of(view, "efs", 200), counted(metrics, resources=2))

    assert lines(charts["throughput"])["read"][0] == (0.0, 200.0)
    assert {name: places[0][1] for name, places in lines(charts["utilisation"]).items()} == {
        "PercentIOLimit": 40.0, "metered of permitted throughput": 50.0,
    }  # fmt: skip


def test_volumes_have_no_charts_of_cloudwatch(view):
    entry = entry_of(view, "ebs", 1)
    view.results[entry.cell["id"]]["cloudwatch"] = counted({"VolumeWriteBytes": (*BYTES, 3e9)}, namespace="AWS/EBS")

    assert list(watched(view)) == []


def test_a_missing_minute_is_a_gap_and_many_minutes_become_few_by_their_mean(view):
    entry = entry_of(view, "efs", 1)
    gap = counted({"DataReadIOBytes": (*BYTES, 6e9, 6e9, None, 12e9)})

    # 100 MB/s up to the gap, which is neither zero nor joined.
    assert lines(charts_of(view, entry, gap)["throughput"])["read"] == [
        (0.0, 100.0), (120.0, 100.0), (120.0, None), (180.0, 200.0), (240.0, 200.0),
    ]  # fmt: skip

    long = counted({"DataReadIOBytes": (*BYTES, 6e9, 12e9, 6e9, 12e9), "PercentIOLimit": ("Maximum", "%", 1, 9, 2, 3)})
    charts = charts_of(view, entry, long, most=2)

    assert lines(charts["throughput"])["read"] == [(0.0, 150.0), (240.0, 150.0)]
    assert lines(charts["utilisation"])["PercentIOLimit"] == [(0.0, 9.0), (120.0, 3.0), (240.0, 3.0)]
    assert charts["throughput"].reads.startswith("In steps of 2 min.")


def test_each_launch_is_drawn_from_what_was_counted_during_it(view):
    entry = entry_of(view, "efs", 1)
    name = entry.cell["id"]
    view.plan["cells"] += [{"id": f"{name}.l{launch}", "joined": name, "launch": launch} for launch in (1, 2)]
    for launch in (1, 2):
        kept = counted({"DataReadIOBytes": (*BYTES, launch * 6e9)})
        view.results[f"{name}.l{launch}"] = {"cloudwatch": kept}
    samples = {**entry.samples, "launch": [1], "started_at": [BEGUN]}
    later = {**entry.samples, "launch": [2], "started_at": [BEGUN + 60]}
    view.entries[:] = [replace(entry, point={**entry.point, "samples": each}) for each in (samples, later)]

    first, second = watched(view)

    assert (lines(first)["read"][0], lines(second)["read"][0]) == ((0.0, 100.0), (-60.0, 200.0))
    assert "EFS bursting, launch 1:" in first.title
    assert "EFS bursting, launch 2:" in second.title


def test_a_cloudwatch_that_was_not_asked_is_told_with_the_reason(view):
    view.summary["environment"] = "aws"
    for result in view.results.values():
        result["cloudwatch"] = counted({}, unasked="AccessDenied")

    # Two of the four cells are on volumes, which have no charts of CloudWatch.
    assert note(view) == "No data points of file systems in CloudWatch: 2 of 2 cells. It was not asked: AccessDenied."
