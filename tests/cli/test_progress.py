"""How far a run is: read from rows, drawn to fit a terminal, told in lines where there is none."""

import dataclasses
import io
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console
from support.cli_documents import CELLS, cell_row, plan_document, progress_rows

from cli.follow import following, live_view, progress
from cli.follow.progress import CellProgress, Measured
from cli.target.service import Execution

RUNNING = Execution("r", "RUNNING", started_at=990)


def draw(moment, width, height=40, now=1060, environment="local"):
    """Draw a moment on a terminal of this size."""
    console = Console(file=io.StringIO(), width=width, height=height, markup=False, highlight=False)
    console.print(live_view.render(moment, console, now, environment))
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize(
    ("found", "plan", "states"),
    [
        (list(reversed(progress_rows())), plan_document(), ["measured", "running"]),
        ([], plan_document(), ["planned", "planned"]),
        (progress_rows(), None, ["measured", "running"]),
    ],
    ids=["rows and plan", "no rows yet", "no plan yet"],
)
def test_rows_become_cells_in_the_order_of_the_plan(found, plan, states):
    moment = progress.read(found, plan, RUNNING)

    assert [cell.id for cell in moment.cells] == list(CELLS)
    assert [cell.state for cell in moment.cells] == states


def test_the_overall_share_counts_cells_by_their_expected_time_and_is_whole_only_at_the_end():
    moment = progress.read(progress_rows(), plan_document(), RUNNING)
    failed = Execution("r", "FAILED", started_at=0, ended_at=10)

    # The first cell, 60 of 120 s, is done; of the second 15 of its 60 s have passed at 1065.
    assert moment.fraction(1065) == (60 + 15) / 120
    assert CellProgress("c", "f", "running", started_at=0, expected_s=10).fraction(1000) == 0.95
    assert progress.read([cell_row("c", "running", started_at=0)], None, failed).fraction(10) == 0


def test_time_left_is_known_from_the_first_step_on_and_the_last_phase_is_named():
    run = Execution("r", "RUNNING", started_at=0)
    # Locally a step takes far less than its plan on AWS.
    one = CellProgress("a", "f", "running", started_at=0, expected_s=10_000, step=1, steps=4)
    other, ended = CellProgress("b", "f", expected_s=10_000), CellProgress("c", "f", "measured", 0, 9, expected_s=1)

    assert progress.RunProgress(run, (one, other)).left_s(10) == pytest.approx(70)
    assert progress.RunProgress(run, (dataclasses.replace(one, step=0), other)).left_s(10) is None
    # A cell taken over from an earlier run says nothing about the time of others.
    taken = CellProgress("d", "f", "measured", expected_s=10_000)
    assert progress.RunProgress(run, (taken, one, other)).left_s(10) == pytest.approx(70)
    # 6 of 10 s were its start, which its other steps do not repeat: 10 of 22 s of one cell in two are over.
    late = dataclasses.replace(one, measuring_since=6)
    assert progress.RunProgress(run, (late, other)).left_s(10) == pytest.approx(2 * 22 - 10)
    # The run itself takes time before its first cell, which no cell repeats.
    assert progress.RunProgress(Execution("r", "RUNNING", started_at=-100), (one, other)).left_s(10) == pytest.approx(
        70
    )
    assert progress.describe_time(progress.RunProgress(run, (ended,)), 10) == "10s, deleting and analysing"


def test_the_current_step_counts_from_one_and_names_its_point():
    moment = progress.read(progress_rows(), plan_document(), RUNNING)

    assert moment.cells[1].describe_step() == "2 of 4, threads 4"
    assert [replace(moment.cells[1], step=step).describe_points() for step in (0, 1, 4)] == [
        "",
        "1 of 2 points",
        "2 of 2 points",
    ]
    assert moment.cells[1].describe_instance() == "4: 3 ready, 1 running"


def test_the_view_fits_80_columns_with_all_it_has_to_say():
    lines = draw(progress.read(progress_rows(), plan_document(), RUNNING), 80)

    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    for word in (
        "1 of 2 cells measured",
        "touch, 4 × m6i.large: step 2 of 4, threads 4",
        "1m 10s, about",
        " left",
        "not AWS",
    ):
        assert word in text


def test_of_many_storages_those_under_way_have_room_and_the_others_are_counted():
    planned = [cell_row(f"c{number:02d}", "planned") | {"file_system": f"f{number}"} for number in range(30)]
    ended = [cell_row(f"e{state}", state) | {"file_system": "ended"} for state in ("measured", "failed")]
    busy = cell_row("busy", "running") | {"file_system": "a-storage-with-a-name-that-is-longer-than-its-column"}

    lines = draw(progress.read([*ended, *planned, busy], None, RUNNING), 80, height=20)
    [of_ended] = [line for line in draw(progress.read(ended, None, RUNNING), 80) if line.startswith("ended")]

    assert len(lines) <= 20
    [of_busy] = [line for line in lines if "busy" in line]
    assert of_busy.startswith("a-storage")
    assert "…" in of_busy[:40]
    assert not any(line.startswith("ended") for line in lines)
    assert lines[-1].split()[-2:] == ["more", "storages"]
    assert "1 failed" in of_ended


def test_the_plan_tells_the_time_of_aws_and_a_local_run_what_it_would_cost_there():
    moment = replace(progress.read([], plan_document(), RUNNING), cost="$0.500 so far")

    local, aws = ("\n".join(draw(moment, 120, environment=place)) for place in ("local", "aws"))

    assert "1m 10s of about 2m 00s  $0.500 so far" in aws
    assert "$0 here (on AWS $0.500 so far)" in local
    assert "2m 00s" not in local


def point(**metrics):
    return {
        "metrics": {name: {"primary": name == "iops", "unit": "IOPS", **metric} for name, metric in metrics.items()}
    }


def test_what_a_cell_has_measured_is_the_span_of_its_points_and_the_fewest_values():
    points = [
        point(duration_s={"p50": 5.0, "n": 4, "expected_n": 4}, iops={"p50": 3000.0, "n": 4, "expected_n": 4}),
        point(duration_s={"p50": 5.0, "n": 4, "expected_n": 4}, iops={"p50": 850.0, "n": 3, "expected_n": 4}),
    ]

    assert Measured.of(points) == Measured("850 – 3,000 IOPS", "3/4")
    assert Measured.of(points[:1]) == Measured("3,000 IOPS", "4/4")
    assert Measured.of([]) is None


def test_a_measured_cell_shows_its_figures_while_the_run_goes_on():
    known = {CELLS[0]: Measured("850 – 3,000 IOPS", "3/4")}
    before = progress.read(progress_rows(), plan_document(), RUNNING)
    moment = progress.read(progress_rows(), plan_document(), RUNNING, known)

    [line] = [line for line in draw(moment, 120) if line.startswith("ebs-gp3")]
    assert "touch, 4 × m6i.large: step 2 of 4, threads 4" in line
    assert "P50 850 – 3,000 IOPS, n 3/4" in line
    assert progress.changes(None, moment)[1] == (
        f"cell {CELLS[0]}: measured, P50 850 – 3,000 IOPS, n 3/4 of each point"
    )
    assert progress.changes(before, moment) == []


def test_the_figures_of_a_measured_cell_are_asked_for_once():
    asked, plan = [], plan_document()
    service = SimpleNamespace(
        execution=lambda _: RUNNING,
        progress_rows=lambda _: progress_rows(),
        point_rows=lambda _, cell: asked.append(cell) or [point(iops={"p50": 7.0, "n": 1, "expected_n": 1})],
    )
    known = {}

    moments = [following.look(service, "r", plan, known) for _ in range(2)]

    assert asked == [CELLS[0]]
    assert list(moments[0].names) == [system["id"] for system in plan["file_systems"]]
    assert [moment.cells[0].measured for moment in moments] == [Measured("7.00 IOPS", "1/1")] * 2


@pytest.mark.parametrize("was_running", [True, False])
def test_a_cell_that_ends_with_its_run_has_figures_if_the_run_was_followed(was_running):
    service = SimpleNamespace(
        execution=lambda _: replace(RUNNING, status="SUCCEEDED", ended_at=RUNNING.started_at + 9),
        progress_rows=lambda _: progress_rows(),
        point_rows=lambda *_: [point(iops={"p50": 7.0, "n": 1, "expected_n": 1})],
    )

    moment = following.look(service, "r", plan_document(), {}, was_running=was_running)

    assert moment.cells[0].measured == (Measured("7.00 IOPS", "1/1") if was_running else None)


@pytest.mark.parametrize(("verbose", "states"), [(False, ["measured"]), (True, ["waiting", "running", "measured"])])
def test_a_log_has_a_line_for_each_ended_cell_and_for_each_change_only_when_verbose(verbose, states):
    console = Console(file=io.StringIO(), width=200, markup=False, highlight=False)
    shown = following.PlainLines(console, verbose=verbose)

    for state in ("waiting", "running", "measured"):
        shown.show(progress.read(progress_rows(second=state), plan_document(), RUNNING))

    assert re.findall(rf"cell {CELLS[1]}: (\w+)", console.file.getvalue()) == states
