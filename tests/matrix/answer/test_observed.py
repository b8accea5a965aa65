"""A storage that exists, of which the truth is known: what it did and what it costs."""

import pytest

from matrix.answer.observed.asking import DAY_S, EFS, FSX, MAX_DAYS, VOLUME, Subject, Window, queries, window
from matrix.answer.observed.document import NothingObserved, document
from matrix.price.book import published_prices

NOW = 1_800_000_000.0
DAY = window(1, NOW, 0.0)
MIB = 2**20
GP3 = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 100, "iops": 3_000, "throughputMiBps": 125}


def observed(subject, span, **series):
    """Answer each metric that is named with its value in each period; the statistic may follow its name after __."""
    book = published_prices().for_region("us-east-1")
    answers = []
    for query in queries(subject, span.period_s):
        metric = query.metric
        values = series.get(f"{metric.name}__{metric.statistic}", series.get(metric.name, []))
        at = (span.begun + number * span.period_s for number in range(span.periods))
        answers.append((query, [(time, value) for time, value in zip(at, values, strict=False) if value is not None]))
    return document(subject, span, answers, book)


def volume(storage=GP3, **changes):
    return Subject("vol-1", VOLUME, storage, "EBS", **{"gib": 100.0, "created_at": 0.0, **changes})


def metric(shown, name):
    [described] = [metric for metric in shown["metrics"] if metric["name"] == name]
    return described


def at_the_limit(span, share=0.05):
    """A volume that moves 125 MiB/s in blocks of 128 KiB for a share of the time, and a tenth of it else."""
    busy = round(share * span.periods)
    mibps = [125.0] * busy + [12.5] * (span.periods - busy)
    return {
        "VolumeWriteBytes": [rate * MIB * span.period_s * 0.8 for rate in mibps],
        "VolumeReadBytes": [rate * MIB * span.period_s * 0.2 for rate in mibps],
        "VolumeWriteOps": [rate * 8 * span.period_s for rate in mibps],
        "VolumeReadOps": [0.0] * span.periods,
        "VolumeTotalWriteTime": [rate * 8 * span.period_s * 0.002 for rate in mibps],
    }


def test_a_volume_at_its_limit_for_a_twentieth_of_the_time_is_shown_so():
    span = window(2, NOW, 0.0)

    shown = observed(volume(), span, **at_the_limit(span))

    throughput = metric(shown, "Throughput")
    figures = [throughput[name] for name in ("p50", "p90", "p99", "worst", "limit", "hours_at_limit")]
    assert figures == pytest.approx([12.5, 12.5, 125.0, 125.0, 125.0, 0.05 * 48])
    assert metric(shown, "IOPS")["worst"] == pytest.approx(1_000)
    assert metric(shown, "Time of an operation")["p50"] == pytest.approx(2.0)
    assert any("was at a limit (Throughput)" in warning for warning in shown["warnings"])
    # 0.05 x 125 + 0.95 x 12.5 = 18.125 MiB/s, a fifth of it read, over 730 hours.
    assert shown["read_gib_month"] == pytest.approx(18.125 * 0.2 * 730 * 3_600 / 1_024)
    assert shown["usd_month"]["expected"] == pytest.approx(100 * 0.08)


def test_a_gp3_costs_what_it_has_beyond_what_is_included():
    shown = observed(volume(GP3 | {"iops": 4_000, "throughputMiBps": 200}), DAY, VolumeReadOps=[1.0])

    # prices.json: 0.08 a GiB, 0.005 an IOPS above 3,000, 0.04 a MiB/s above 125
    assert shown["usd_month"]["expected"] == pytest.approx(100 * 0.08 + 1_000 * 0.005 + 75 * 0.04)


def test_elastic_efs_costs_its_traffic_and_what_it_keeps():
    kept = {"type": "efs", "performanceMode": "generalPurpose", "throughputMode": "elastic", "deployment": "regional"}
    moved = {name: [0.0] * DAY.periods for name in ("MetadataReadIOBytes", "MetadataWriteIOBytes")}
    moved |= {"DataReadIOBytes__Sum": [20.0 * MIB * 60] * DAY.periods, "DataReadIOBytes__SampleCount": [1_200.0]}
    moved |= {"DataWriteIOBytes__Sum": [10.0 * MIB * 60] * DAY.periods, "DataWriteIOBytes__SampleCount": [1_200.0]}
    moved |= {"TotalIOBytes__Sum": [30.0 * MIB * 60] * DAY.periods, "TotalIOBytes__SampleCount": [60.0 * 50]}
    moved |= {"MeteredIOBytes": [50.0 * MIB * 60] * DAY.periods, "PermittedThroughput": [100.0 * MIB] * DAY.periods}

    shown = observed(Subject("fs-1", EFS, kept, "EFS", 500.0, 0.0), DAY, **moved)

    month_gib = 730 * 3_600 / 1_024
    # prices.json: 0.30 a GiB kept, 0.03 a GiB read, 0.06 a GiB written
    due = 500 * 0.30 + 20 * month_gib * 0.03 + 10 * month_gib * 0.06
    assert shown["usd_month"]["expected"] == pytest.approx(due)
    assert metric(shown, "Permitted throughput used")["worst"] == pytest.approx(50.0)


@pytest.mark.parametrize(("bytes_each", "billed_each"), [(100.0, 4_096.0), (5_120.0, 5_120.0)])
def test_metadata_of_elastic_efs_cost_as_4_kib_each_at_least(bytes_each, billed_each):
    """EFS guide, metered sizes; of the metric's sum AWS does not say whether it has the least sizes in it."""
    kept = {"type": "efs", "performanceMode": "generalPurpose", "throughputMode": "elastic", "deployment": "regional"}
    moved = {"TotalIOBytes__Sum": [1.0] * DAY.periods, "TotalIOBytes__SampleCount": [1.0] * DAY.periods}
    for way in ("Read", "Write"):
        moved[f"Metadata{way}IOBytes__Sum"] = [60e6 * bytes_each] * DAY.periods
        moved[f"Metadata{way}IOBytes__SampleCount"] = [60e6] * DAY.periods

    shown = observed(Subject("fs-1", EFS, kept, "EFS", 0.0, 0.0), DAY, **moved)

    assert shown["usd_month"]["expected"] == pytest.approx(730 * 3_600e6 * billed_each / 2**30 * (0.03 + 0.06))


@pytest.mark.parametrize(
    ("days", "period_s"), [(1, 60), (14, 60), (15, 300), (62, 300), (63, 3_600), (MAX_DAYS, 3_600)]
)
def test_the_period_is_the_shortest_that_cloudwatch_still_has(days, period_s):
    span = window(days, NOW + 17, 0.0)

    assert span.period_s == period_s
    assert NOW + 17 - span.begun < {60: 15, 300: 63, 3_600: 455}[period_s] * DAY_S
    assert (span.begun % period_s, span.ended % period_s) == (0, 0)


def test_a_young_volume_is_observed_since_it_exists():
    span = window(14, NOW, NOW - 3_600)

    shown = observed(volume(), span, VolumeReadBytes=[10.0 * MIB * 60] * span.periods)

    assert span.periods == 60
    assert shown["read_gib_month"] == pytest.approx(10 * 730 * 3_600 / 1_024)


def test_a_balance_is_worst_where_it_is_lowest():
    gp2 = {"type": "ebs", "volumeType": "gp2", "sizeGiB": 100}
    percent = [0.0] * 72 + [80.0] * (DAY.periods - 72)

    shown = observed(volume(gp2), DAY, VolumeReadOps=[1.0] * DAY.periods, BurstBalance=percent)

    balance = metric(shown, "Burst balance")
    assert (balance["p50"], balance["p99"], balance["worst"]) == (80.0, 0.0, 0.0)
    assert balance["hours_at_limit"] == pytest.approx(72 / 60)


def test_aws_itself_says_how_long_a_limit_was_exceeded():
    attached = volume(instances=("i-1",))

    shown = observed(attached, DAY, VolumeReadOps=[1.0] * DAY.periods, VolumeIOPSExceededCheck=[1.0] * 30 + [0.0] * 100)

    assert metric(shown, "IOPS limit exceeded")["hours_at_limit"] == pytest.approx(0.5)


def test_a_part_without_values_is_said_and_counts_as_no_traffic():
    shown = observed(volume(), DAY, VolumeReadBytes=[10.0 * MIB * 60] * (DAY.periods // 2))

    assert metric(shown, "Throughput")["covered"] == pytest.approx(0.5)
    assert shown["read_gib_month"] == pytest.approx(5 * 730 * 3_600 / 1_024)
    assert any("50 % of the window" in warning for warning in shown["warnings"])


def test_fsx_is_judged_by_what_aws_says_was_used_of_it():
    storage = {"type": "fsx-openzfs", "storageCapacityGiB": 256, "throughputCapacityMBps": 64}
    series = {
        "DataReadBytes": [10.0 * MIB * 60] * DAY.periods,
        "NetworkThroughputUtilization": [99.0] * 60 + [5.0] * 60,
    }

    shown = observed(Subject("fs-2", FSX, storage, "FSx", 256.0, 0.0), DAY, **series)

    assert metric(shown, "Network used")["hours_at_limit"] == pytest.approx(1.0)


def test_operations_that_were_not_counted_are_named():
    shown = observed(volume(), DAY, VolumeReadBytes=[10.0 * MIB * 60] * DAY.periods)

    assert "no operations were counted" in shown["warnings"]


def test_nothing_counted_is_no_answer():
    with pytest.raises(NothingObserved):
        observed(volume(), Window(NOW - 600, NOW, 60))
