"""The texts that a summary becomes: durations as published, one row per point, nothing dropped, nothing broken out."""

import csv
import io

import pytest

from matrix.input.storage_names import brief_names
from matrix.report import csv_rows, markdown
from matrix.terms import figures, names, quantities


def summary(**changes):
    """One measured build cell of 10 instances with the published percentiles, and one failed touch cell."""
    build = {
        "id": "ebs-gp3.build.m6i.4xlarge-x10",
        "file_system": "ebs-gp3",
        "storage": {"type": "ebs", "volumeType": "gp3", "sizeGiB": 200, "iops": 3000},
        "workload": {"type": "build"},
        "fleet": {"instanceType": "m6i.4xlarge", "count": 10},
        "state": "measured",
        "error": None,
        "points": [
            {
                "id": "p01",
                "params": {"jobs": 16},
                "label": "jobs 16",
                "metrics": {
                    "duration_s": {
                        **{"unit": "s", "higher_is_better": False, "primary": True, "n": 9, "expected_n": 10},
                        **{"p0": 5862, "p50": 5975, "p75": 5988, "p90": 6077, "p98": None, "p100": 6368, "mean": 6001},
                    }
                },
            }
        ],
    }
    touch = {
        "id": "efs.touch.m6i.4xlarge-x1",
        "storage": {"type": "efs", "performanceMode": "generalPurpose", "throughputMode": "elastic"},
        "workload": {"type": "touch"},
        "fleet": {"instanceType": "m6i.4xlarge", "count": 1},
        "state": "failed",
        "error": {"name": "ToolMissing", "message": "parallel is missing | install\nit"},
        "points": [],
    }
    document = {"run": "r1", "name": "builds", "environment": "aws", "status": "partly failed"}
    return {**document, "started_at": 0, "finished_at": 60, "cells": [build, touch], "warnings": [], **changes}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (5862, "97m 42s"),
        (6362, "106m 02s"),
        (3600, "60m 00s"),
        (60, "1m 00s"),
        (59.96, "1m 00s"),
        (59.94, "59.9s"),
        (12.545, "12.5s"),
        (0.648, "0.648s"),
        (0.00124, "0.00124s"),
        (0, "0s"),
    ],
)
def test_durations_read_as_published(seconds, text):
    assert quantities.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(7, "7s"), (125, "2m 05s"), (3599, "59m 59s"), (3599.9, "1h 00m"), (161_380, "44h 50m")]
)
def test_estimates_are_no_more_exact_than_they_are_long(seconds, text):
    assert quantities.rough_duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(4425.4, "4,425 files/s"), (305, "305 files/s"), (86.6, "86.6 files/s"), (1.578, "1.58 files/s"), (None, "–")],
)
def test_rates_carry_their_unit(value, text):
    assert quantities.quantity(value, "files/s") == text


def test_a_figure_that_is_not_a_number_is_a_dash():
    assert quantities.quantity(float("nan"), "s") == "–"


def test_markdown_has_one_row_per_point_with_published_durations():
    lines = markdown.to_markdown(summary()).splitlines()
    [at] = [number for number, line in enumerate(lines) if "EBS" in line]
    heads, row = ([cell.strip() for cell in lines[number].split("|")] for number in (at - 2, at))
    expected = {
        "Storage": "EBS gp3", "Instances": "10 × m6i.4xlarge", "Point": "jobs 16", "P0": "97m 42s", "P50": "99m 35s",
        "P75": "99m 48s", "P90": "101m 17s", "P100": "106m 08s", "n": "**9/10**",
    }  # fmt: skip
    assert expected.items() <= dict(zip(heads, row, strict=True)).items()


def test_csv_keeps_failed_cells_and_plain_numbers():
    rows = list(csv.DictReader(io.StringIO(csv_rows.to_csv(summary()))))

    assert [(row["cell"], row["metric"], row["p0"], row["p98"], row["n"], row["expected_n"]) for row in rows] == [
        ("ebs-gp3.build.m6i.4xlarge-x10", "duration_s", "5862", "", "9", "10"),
        ("efs.touch.m6i.4xlarge-x1", "", "", "", "", ""),
    ]
    assert rows[1]["error"].startswith("ToolMissing")


def test_points_are_named_by_what_differs_and_by_what_a_reader_looks_for():
    touch = {"files": 1024, "tool": "engine", "directories": "own"}
    points = [{"id": "p01", "params": {**touch, "threads": 1}}, {"id": "p02", "params": {**touch, "threads": 32}}]

    assert names.point_labels(points) == {"p01": "directories own, threads 1", "p02": "directories own, threads 32"}


def test_a_fio_point_is_named_by_its_options_and_a_dd_point_by_its_block_size():
    fio = {"id": "p01", "params": {"options": {"rw": "randwrite", "bs": "4k", "runtime": 10, "iodepth": 16}}}
    dd = {"id": "p01", "params": {"data_bytes": 2147483648, "block_bytes": 1572864, "sync": "end", "threads": None}}

    assert names.point_labels([fio]) == {"p01": "rw randwrite, bs 4k, iodepth 16"}
    assert names.describe_workload({"type": "fio", "device": True}) == "fio on the raw device"
    assert names.point_labels([dd]) == {"p01": "block 1536 KiB, synced at the end"}


def test_a_parameter_of_a_damaged_document_gets_a_label():
    points = [{"id": "p01", "params": {"threads": {"a": 1}}}, {"id": "p02", "params": {"threads": [2]}}]

    assert names.point_labels(points) == {"p01": "threads {'a': 1}", "p02": "threads [2]"}


def test_workloads_of_one_kind_are_told_apart_by_the_names_that_their_user_gave_them():
    read, large = {"rw": "randread", "size": "1g"}, {"rw": "randread", "size": "2g"}
    workloads = [
        ({"type": "fio", "name": "data", **read}, [{"id": "p01", "params": {"options": read}}]),
        ({"type": "fio", "name": "log", **large}, [{"id": "p01", "params": {"options": large}}]),
        ({"type": "touch", "name": "files"}, [{"id": "p01", "params": {"threads": 1}}]),
    ]

    names.tell_apart(workloads)

    assert [names.point_labels(points)["p01"] for _, points in workloads] == [
        "data, rw randread, size 1g", "log, rw randread, size 2g", "threads 1",
    ]  # fmt: skip
    called = names.workload_names([workload for workload, _ in workloads])
    assert list(called.values()) == ["fio data", "fio log", "touch"]


def test_a_label_says_what_makes_a_figure_less_than_what_the_storage_always_does():
    paid = [
        {"of": "instance network", "counts": "bytes/s", "rate": 500e6, "sustained": 195.25e6, "lasts_s": 1_346.0},
        {"of": "FSx disk throughput", "counts": "bytes/s", "rate": 500e6, "sustained": 64e6, "lasts_s": None},
    ]
    cell = {"bottleneck": {"on_credits": {"p01": paid}, "server_cache": {"p01": 97.4}}}
    point = {"id": "p01", "tool_ceiling": {"is_bound": True}}

    assert names.marked_label("threads 4", point, cell) == (
        "threads 4 [tool-bound] [on credits, then 64.0 MB/s (FSx disk)] [97 % from server cache]"
    )
    assert names.marked_label("threads 4", {"id": "p02"}, cell) == "threads 4"


@pytest.mark.parametrize(
    ("ratio", "server", "words"),
    [
        (0.12, None, "bs 4k [88 % from the instance's cache]"),
        (0.12, 60.0, "bs 4k [88 % from the instance's cache] [60 % from server cache]"),
        (1.0, 97.4, "bs 4k [97 % from server cache]"),
        (1.0, 2.0, "bs 4k [cold]"),
        # Of EBS and EFS nobody tells what is cached behind the mount.
        (16.0, None, "bs 4k [cold instance]"),
        (None, None, "bs 4k"),
    ],
)
def test_a_label_of_reads_says_how_cold_they_were(ratio, server, words):
    point = {"id": "p01"} | ({"read_bytes": {"asked": 50.0, "mounted": 50.0 * ratio}} if ratio else {})
    cell = {"bottleneck": {"server_cache": {} if server is None else {"p01": server}}}

    assert names.marked_label("bs 4k", point, cell) == words


def test_cells_are_read_storage_by_storage_with_growing_fleets():
    ran = [("efs", 10), ("ebs", 4), ("efs", 2), ("ebs", 1)]
    cells = [{"id": f"{system}{count}", "file_system": system, "fleet": {"count": count}} for system, count in ran]

    assert [cell["id"] for cell in names.reading_order(cells)] == ["efs2", "efs10", "ebs1", "ebs4"]


def sure(**changes):
    """A metric with an interval and percentiles that its fleet cannot carry."""
    return {
        **{"unit": "s", "n": 12, "expected_n": 12, "p50": 100.0, "p75": 110.0, "p90": 120.0, "p98": 130.0},
        "carried": {"p50": True, "p75": False, "p90": False, "p98": False},
        "at_least": {"p75": 95.0, "p90": 115.0, "p98": None},
        "intervals": {"p50": {"low": 90.0, "high": 111.0}},
        **changes,
    }


def test_a_percentile_that_is_not_carried_is_a_bound_or_a_dash():
    shown = {name: figures.figure(sure(), name) for name in ("p50", "p75", "p90", "p98")}

    # That P75 is at least 95 is not news beside a median of 100.
    assert shown == {"p50": "1m 40s", "p75": "–", "p90": "≥ 1m 55s", "p98": "–"}


def test_the_slow_end_of_a_rate_is_bounded_from_above():
    rate = {
        **sure(unit="MB/s", p25=90.0, p10=80.0, p2=70.0),
        "carried": {"p25": True, "p10": False, "p2": False},
        "at_most": {"p10": 85.0, "p2": 101.0},
    }

    shown = {name: figures.figure(rate, name) for name in ("p25", "p10", "p2")}

    # That P2 is at most 101 is not news beside a median of 100.
    assert shown == {"p25": "90.0 MB/s", "p10": "≤ 85.0 MB/s", "p2": "–"}
    # Nor is P10 at most 95 beside a P25 of 90, or P90 at least 115 beside a P75 of 120.
    assert figures.figure(rate | {"at_most": {"p10": 95.0}}, "p10") == "–"
    known = sure(p75=120.0) | {"carried": {"p75": True, "p90": False}, "at_least": {"p90": 115.0}}
    assert figures.figure(known, "p90") == "–"


def test_a_table_of_rates_ends_with_their_slow_end_and_an_older_one_stays_as_it_was():
    rate = {"p0": 1.0, "p10": 2.0, "p50": 3.0}

    assert figures.percentiles_of([sure(), rate]) == ("p100", "p50", "p25", "p10", "p2", "p0")
    assert figures.percentiles_of([sure()]) == ("p0", "p50", "p75", "p90", "p98", "p100")


def test_a_median_is_written_though_nothing_is_known_of_its_interval():
    metric = sure(carried={"p50": False}, intervals={})

    assert figures.figure(metric, "p50") == "1m 40s"
    assert figures.interval(metric) == "–"


def test_intervals_have_their_column_and_bounds_their_note():
    document = summary()
    document["cells"][0]["points"][0]["metrics"]["duration_s"] |= sure(primary=True)
    text = markdown.to_markdown(document)

    assert "P50, 95 % interval" in text
    assert "| 1m 30s – 1m 51s | 12/12 |" in text
    assert figures.NOT_CARRIED_NOTE in text
    assert "P50, 95 % interval" not in markdown.to_markdown(summary())


def test_names_of_emulated_storages_say_that_they_are_not_of_aws_also_where_their_user_named_them():
    played = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 20, "emulated": True}
    own = {"type": "efs", "name": "mine", "emulated": {"times": 2}}

    assert brief_names([("a", played), ("b", own)]) == {
        "a": "EBS gp3 (emulated, not AWS)",
        "b": "mine (emulated, not AWS)",
    }


def test_a_latency_beyond_the_bins_of_fio_is_a_lower_bound_and_no_figure():
    assert quantities.quantity(17_112_760.32, "µs") == "≥ 17,000,000 µs"
    assert quantities.Column.of([17_112_760.32], "µs").write(17_112_760.32) == "≥ 17,000,000"
    assert quantities.quantity(30_000_000.0, "µs") == "30,000,000 µs"
    assert quantities.quantity(17_112_760.32, "files/s") != "≥ 17,000,000 files/s"


def test_a_latency_has_no_more_digits_than_its_bin_knows():
    metric = {"unit": "µs", "p50": 1_692.4, "intervals": {"p50": {"low": 12_345.6, "high": 17_098.0}}}

    assert quantities.quantity(17_098_765.4, "µs") == "17,100,000 µs"
    assert quantities.quantity(0.123456, "µs") == "0.123 µs"
    assert figures.figure(metric, "p50") == "1,690 µs"
    assert figures.interval(metric) == "12,300 – 17,100 µs"
    assert quantities.Column.of([1_692.4], "µs").write(1_692.4) == "1,690"
    # Counts are exact: files over seconds are not kept in bins.
    assert quantities.quantity(4_425.2, "files/s") == "4,425 files/s"
