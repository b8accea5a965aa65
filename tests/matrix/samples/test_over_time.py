"""What instances counted over time, added up over their fleet: nothing is lost, and nothing counted twice."""

from itertools import pairwise

import pytest
from support.runs_for_reports import build_run

from matrix.answer.results import without_samples
from matrix.report.charts import sections
from matrix.report.charts.over_time import MAX_CELLS, MIN_POINTS
from matrix.report.page import view_of
from matrix.samples.file import SampleFile
from matrix.samples.over_time import MAX_STRETCHES, STRETCHES_OF_A_CELL, StepCurve, Sums


def file(instance, *spans, boot_id=None):
    """Samples of one instance, a repetition for each span of seconds."""
    samples = [
        {"point": "p01", "repetition": number, "step": number, "metrics": {"duration_s": end - start},
         "started_at": start, "ended_at": end}
        for number, (start, end) in enumerate(spans, start=1)
    ]  # fmt: skip
    return SampleFile.model_validate(
        {"run": "r", "cell": "c", "instance": {"id": instance, "type": "m6i.large"}, "host": {"boot_id": boot_id},
         "samples": samples}
    )  # fmt: skip


def curve(begun_at, seconds, operations=None, **counted):
    """What one instance counted in one step."""
    done = operations and {"seconds": seconds, "done": operations}
    return StepCurve.model_validate(
        {"begun_at": begun_at, "seconds": seconds, "counted": counted, "operations": done}
    )  # fmt: skip


def total(step, rates):
    """All that was counted, by its rates."""
    return sum(rate * (end - start) for rate, (start, end) in zip(rates, pairwise([0, *step["seconds"]]), strict=True))


def test_two_instances_that_begin_apart_are_added_where_they_work():
    sums = Sums([file("i-1", (100, 104)), file("i-2", (102, 106))])
    of_each = {"disk_write_bytes": [0, 1e6, 2e6, 3e6, 4e6], "disk_write_operations": [0, 10, 20, 30, 40]}

    sums.add("i-1", {"p01-r1": curve(100, [0, 1, 2, 3, 4], **of_each)})
    sums.add("i-2", {"p01-r1": curve(102, [0, 1, 2, 3, 4], [0, 5, 5, 5, 25], **of_each)})

    [step] = sums.of_points()["p01"]
    assert step["seconds"] == [1, 2, 3, 4, 5, 6]
    assert step["instances"] == 2
    assert step["mb_per_s"] == {"written to the disk": [1, 1, 2, 2, 1, 1]}
    assert step["operations_per_s"] == {"operations": [0, 0, 5, 0, 0, 20],
                                        "writes of the disk": [10, 10, 20, 20, 10, 10]}  # fmt: skip


def test_processes_of_one_machine_count_the_same_bytes_once_and_each_its_own_operations():
    files = [file("i-1", (0, 2), boot_id="a"), file("i-2", (0, 2), boot_id="a"), file("i-3", (0, 2), boot_id="b")]
    sums = Sums(files)

    for each in files:
        seen = curve(0, [0, 1, 2], [0, 7, 14], network_sent_bytes=[0, 6e6, 12e6])
        sums.add(each.instance.id, {"p01-r1": seen})

    [step] = sums.of_points()["p01"]
    assert step["mb_per_s"] == {"sent over the network": [12, 12]}
    assert step["operations_per_s"] == {"operations": [21, 21]}


def test_a_step_of_hours_has_few_stretches_and_all_of_its_bytes():
    end_s = 3 * 3600
    sums = Sums([file("i-1", (50, 50 + end_s))])
    seconds = [min(32.0 * number, end_s) for number in range(end_s // 32 + 2)]

    sums.add("i-1", {"p01-r1": curve(50, seconds, disk_read_bytes=[at * at for at in seconds])})

    [step] = sums.of_points()["p01"]
    [rates] = step["mb_per_s"].values()
    assert len(rates) == len(step["seconds"]) == MAX_STRETCHES
    assert total(step, rates) == pytest.approx(end_s**2 / 1e6, rel=1e-3)


def test_a_cell_of_many_steps_has_fewer_stretches_of_each():
    spans = [(1000 * number, 1000 * number + 500) for number in range(60)]
    sums = Sums([file("i-1", *spans)])
    sums.add("i-1", {
        f"p01-r{number}": curve(start, [0, 500], disk_read_bytes=[0, 1e9])
        for number, (start, _) in enumerate(spans, start=1)
    })  # fmt: skip

    steps = sums.of_points()["p01"]
    assert [step["repetition"] for step in steps] == list(range(1, 61))
    assert sum(len(step["seconds"]) for step in steps) == STRETCHES_OF_A_CELL


def test_a_step_counts_once_and_only_if_its_instance_has_a_sample_of_it():
    sums = Sums([file("i-1", (0, 2))])
    seen = curve(0, [0, 2], disk_read_bytes=[0, 2e6])

    sums.add("i-1", {"p01-r1": seen, "p01-r2": seen})
    sums.add("i-1", {"p01-r1": seen})
    sums.add("i-2", {"p01-r1": seen})

    assert [(step["instances"], step["mb_per_s"]) for step in sums.of_points()["p01"]] == [
        (1, {"read from the disk": [1, 1]})
    ]


def test_a_step_in_which_nothing_moved_is_none():
    sums = Sums([file("i-1", (0, 5))])
    sums.add("i-1", {"p01-r1": curve(0, [0, 5], disk_read_bytes=[3, 3])})

    assert sums.of_points() == {}


def moved(repetition, seconds, **rates):
    """A step as a result has it."""
    return {"repetition": repetition, "instances": 1, "seconds": seconds, "operations_per_s": {},
            "mb_per_s": {name.replace("_", " "): values for name, values in rates.items()}}  # fmt: skip


def drawn(results_of, over_time, *, is_page=True):
    """The charts of a run whose every point has these steps."""
    summary, results, planned = results_of
    for result in results.values():
        for point in result["points"]:
            point["over_time"] = over_time
    made = sections(view_of(summary, results=results, plan=planned), is_page=is_page)
    charts_made = [chart for section in made for chart in section.charts if chart.id.startswith("second")]
    return charts_made, " ".join(section.note for section in made)


def test_the_report_draws_what_moved_and_leaves_out_what_is_noise_beside_it():
    run = build_run({"efs": {1: 600.0}}, repetitions=2)
    steps = [moved(1, [1, 2, 3.5], sent=[120, 7, 7], received=[0.5, 0.5, 0.5]), moved(2, [1, 2], sent=[5, 6]),
             moved(3, [1, 2], sent=[0.01, 0.02])]  # fmt: skip

    [chart], note = drawn(run, steps)

    assert [(list(one.x), list(one.y)) for one in chart.series] == [
        ([0, 1, 2, 3.5], [120, 7, 7, 7]), ([0, 1, 2], [5, 6, 6]),
    ]  # fmt: skip
    assert [row[4:6] for row in chart.rows] == [("sent", "39.3 MB/s"), ("sent", "5.50 MB/s")]
    assert "by the second" not in note
    [point] = next(iter(run[1].values()))["points"]
    assert "over_time" not in without_samples(point)


def test_a_page_of_many_cells_draws_the_largest_fleets_with_few_points_and_all_of_them_goes_to_files():
    fleets = dict.fromkeys(range(1, MAX_CELLS + 11), 600.0)
    run = build_run({"efs": fleets}, repetitions=1)
    seconds = [float(second) for second in range(1, MAX_STRETCHES + 1)]
    steps = [moved(number, seconds, sent=[9.0] * 100 + [1.0] * 100) for number in range(1, 16)]

    page, note = drawn(run, steps)
    files, _ = drawn(run, steps, is_page=False)

    assert len(page) == MAX_CELLS
    assert "24 of 34 cells" in note
    assert "34 ×" in " ".join(chart.title for chart in page)
    lines = [series for chart in page for series in chart.series]
    assert len(lines) == 14 * MAX_CELLS
    assert {len(series.x) for series in lines} == {MIN_POINTS + 1}
    assert {len(chart.rows) for chart in page} == {14}
    assert page[0].notes == [
        "Of 1 of 11 instances at least.",
        "14 of 15 lines, those of the first repetitions; result.json of each cell has all.",
    ]
    # Neighbours are averaged: what both halves moved is still there.
    assert sum(lines[0].y[:-1]) * 5 == pytest.approx(1000)
    assert (len(files), {len(series.x) for chart in files for series in chart.series}) == (34, {MAX_STRETCHES + 1})
