"""Every published row is measured again by a matrix of events/published/, or has a reason; the incomparable say so."""

from functools import cache
from pathlib import Path

import pytest

from matrix.answer.decision import decide
from matrix.published.figures import figures, rows_of, sources
from matrix.published.published_comparisons import compared_rows, is_counterpart
from matrix.published.runs import published_run, published_runs
from matrix.report.markdown import to_markdown
from matrix.report.page import render
from tools.published_rows import plans_of, rows

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def plans():
    return plans_of(REPOSITORY / "events/published")


@pytest.fixture(scope="module")
def all_rows(plans):
    return list(rows(plans))


def run_of(plan, environment="aws", instance_type=None):
    """A run of a plan in which every figure that a source tells came out as 1."""
    metrics = {figure.metric for figure in figures()}
    told = {name: {"unit": "", "primary": True, "p0": 1.0, "p50": 1.0} for name in metrics}
    cells = [
        cell
        | {"points": [{**point, "metrics": told} for point in cell["points"]]}
        | ({"fleet": cell["fleet"] | {"instanceType": instance_type}} if instance_type else {})
        for cell in plan["cells"]
    ]
    return {"run": "r", "environment": environment, "cells": cells}


@pytest.fixture(scope="module")
def told_of(plans):
    """What is said beside a source's figures of runs of all matrices that measure them again."""

    @cache
    def told(**ways):
        return [row for plan in plans.values() for row in compared_rows(run_of(plan, **ways))]

    return lambda source, **ways: [row for row in told(**ways) if row["source"] == sources()[source]["source"]]


@pytest.mark.parametrize("environment", ["local", "local-vm", "emulated", "imported"])
def test_no_local_figure_is_held_against_a_published_one(plans, environment):
    told = compared_rows(run_of(plans["ebs-fio"], environment=environment))

    assert told
    assert not any(row["comparable"] for row in told)


@pytest.mark.parametrize(
    ("source", "is_reported"),
    [
        *((source, True) for source in sources() if source != "read-throughput"),
        ("read-throughput", False),
    ],
)
def test_another_instance_type_or_an_untold_one_is_said(told_of, source, is_reported):
    reason = "on x2gd.metal, published on " if is_reported else "the source does not tell the instance type"

    told = told_of(source, instance_type="x2gd.metal")

    # Figures of the instance itself have no counterpart on another one.
    assert told
    assert all(any(said.startswith(reason) for said in row["why_not"]) for row in told)


def test_figures_that_a_source_got_wrong_are_shown_and_marked(told_of):
    wrong = {
        source: {row["published"] for row in told_of(source) if any("doubtful there" in why for why in row["why_not"])}
        for source in sources()
    }

    assert wrong == {
        "yocto-builds": {5880, 7077, 7661, 8267, 8597, 8721},
        # More than the volume can; and a server on the machine of its client.
        "read-throughput": {190, 35, 80, 24},
        "ebs-fio": set(),
        "efs-tutorial": set(),
        "efs-zero-byte": set(),
        # A copying slip of one row or the other, and a row that breaks its own trend.
        "fsx-lustre-epam": {2399.167, 5641.258},
        **{source: set() for source in ("mountpoint-s3", "ebs-amd", "s3-clients", "efs-mdtest", "efs-workshop")},
    }


@pytest.mark.parametrize(
    "source", ["yocto-builds", "efs-tutorial", "ebs-fio", "ebs-amd", "s3-clients", "efs-zero-byte", "efs-workshop"]
)
def test_what_is_measured_as_the_source_did_compares(all_rows, source):
    measured = [row for row in all_rows if row.source == source and row.matrix]

    against = {why for row in measured for why in row.against}
    assert all(
        "by its figures these are two file systems" in why or why.startswith("doubtful there") for why in against
    )


def test_files_are_not_held_against_the_raw_device_of_the_source(all_rows):
    [row] = [
        row
        for row in all_rows
        if row.source == "ebs-fio" and row.label == "volume gp3_throughput_1000, block kib 4, threads 16"
    ]
    on_device = {"rw": "randwrite", "iodepth": 16, "numjobs": 16, "direct": 1, "bs": "4k"}
    figure = next(figure for figure in figures() if figure.source == "ebs-fio")
    storage = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 201, "iops": 4000, "throughputMiBps": 1000}
    cell = {"storage": storage, "workload": {"type": "fio"}, "fleet": {"instanceType": "r5b.large", "count": 1}}

    assert ".fio-device.r5b.large-x1 p01" in row.point
    assert is_counterpart(cell, {"params": {"device": True, "options": on_device}}, figure)
    assert not is_counterpart(cell, {"params": {"options": on_device}}, figure)


def test_a_published_run_names_what_was_measured_there_and_not_what_repeats_it():
    run = published_run("fsx-lustre-epam", "p")
    cells = {cell["id"]: cell for cell in run["cells"]}
    storages = [cell["storage"] for cell in run["cells"] if cell["storage"]["type"] in ("efs", "fsx-lustre")]

    assert {"type": "efs", "throughputMode": "bursting"} in storages
    assert not any("provisionedThroughputMiBps" in storage for storage in storages)
    # One wrong row is set aside, and the 12 others of its storage are not.
    doubtful = {name: cell for name, cell in cells.items() if cell["suspect"]}
    assert sorted(len(cell["points"]) for cell in doubtful.values()) == [1, 1, 1]
    assert all(name.endswith("-doubtful") for name in doubtful)
    assert sorted(len(cell["points"]) for name, cell in cells.items() if name not in doubtful) == [12, 12, 12, 13]


@pytest.mark.parametrize(
    ("run", "compared"),
    [
        ("ebs-fio", {f"rw randwrite, iodepth 16, numjobs 16, bs {size}k": 4 for size in (4, 64, 256)}),
        ("efs-zero-byte", {"threads 1, directories shared, tool touch": 2}),
        ("read-throughput", {"access sequential, threads 1": 3}),
    ],
)
def test_the_storages_of_a_source_are_compared(run, compared):
    questions = decide(published_run(run, "p"))["questions"]

    found = {question["label"]: len(question["candidates"]) for question in questions}
    assert found | compared == found


def test_a_file_server_at_the_clients_own_machine_is_listed_and_ranked_before_nobody():
    of_servers = [
        (candidate["value"], candidate["lost"] is not None)
        for question in decide(published_run("read-throughput", "p"))["questions"]
        for candidate in question["candidates"]
        if candidate["storage"] == "File server"
    ]

    assert sorted(of_servers) == [(24.0, True), (80.0, True)]


def test_each_published_benchmark_becomes_a_run_that_renders():
    for name, run in published_runs().items():
        run["decision"] = decide(run)
        assert f"Run `{name}`" in to_markdown(run)
        assert "</html>" in render(run)
        # All of its figures are in its report's table.
        shown = [metric for cell in run["cells"] for point in cell["points"] for metric in point["metrics"].values()]
        assert len(shown) == len(
            {
                (figure.row, figure.metric)
                for figure in figures()
                # The latter measures again, by a command, a row that is shown as a read.
                if is_of(run, figure) and figure.percentile == "p50" and figure.metric != "read_mb_per_s"
            }
        )


def is_of(run, figure):
    """Whether a figure is of the source and edition that a run is made of."""
    row = rows_of(figure.source)[figure.row][0]
    return run["run"] == f"published-{row.texts.get('run', figure.source)}"
