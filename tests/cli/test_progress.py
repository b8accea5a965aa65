"""How far a run is: read from rows, drawn to fit a terminal, told in lines where there is none."""

import io

from rich.console import Console
from support.cli_documents import CELLS, cell_row, plan_document, progress_rows

from cli.follow import live_view, progress
from cli.follow.progress import CellProgress
from cli.target.service import Execution

RUNNING = Execution("r", "RUNNING", started_at=990)


def draw(moment, width, height=40, now=1060):
    """Draw a moment on a terminal of this size."""
    console = Console(file=io.StringIO(), width=width, height=height, markup=False, highlight=False)
    console.print(live_view.render(moment, console, now, "local"))
    return console.file.getvalue().splitlines()


def test_rows_become_cells_in_the_order_of_the_plan():
    moment = progress.read(list(reversed(progress_rows())), plan_document(), RUNNING)

    assert [cell.id for cell in moment.cells] == list(CELLS)
    assert [cell.state for cell in moment.cells] == ["measured", "running"]
    assert moment.expected_s == 120


def test_a_cell_without_a_row_is_planned():
    moment = progress.read([], plan_document(), RUNNING)

    assert {cell.state for cell in moment.cells} == {"planned"}
    assert moment.cells[1].step_words() == "4 steps"


def test_a_run_is_read_without_its_plan():
    assert [cell.id for cell in progress.read(progress_rows(), None, RUNNING).cells] == list(CELLS)


def test_the_overall_share_weighs_cells_by_their_expected_time():
    moment = progress.read(progress_rows(), plan_document(), RUNNING)

    # The first cell, 60 of 120 s, is done; of the second 15 of its 60 s have passed at 1065.
    assert moment.fraction(1065) == (60 + 15) / 120


def test_a_cell_that_takes_longer_than_expected_is_not_shown_as_done():
    cell = CellProgress("c", "f", "running", started_at=0, expected_s=10)

    assert cell.fraction(1000) == 0.95


def test_the_current_step_counts_from_one_and_names_its_point():
    moment = progress.read(progress_rows(), plan_document(), RUNNING)

    assert moment.cells[1].step_words() == "2/4 p02"
    assert moment.cells[1].instance_words() == "4: 3 ready, 1 running"


def test_the_view_fits_80_columns_with_all_it_has_to_say():
    lines = draw(progress.read(progress_rows(), plan_document(), RUNNING), 80)

    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    for word in ("1 of 2 cells measured", "touch.m6i.large-x4", "measuring", "2/4 p02", "10s / 1m 00s", "not AWS"):
        assert word in text


def test_a_long_list_of_cells_shows_those_under_way_and_counts_the_others():
    many = [cell_row(f"c{number:02d}", "planned") for number in range(30)] + [cell_row("busy", "running")]
    lines = draw(progress.read(many, None, RUNNING), 100, height=20)

    assert len(lines) <= 20
    assert any("busy" in line for line in lines)
    assert any("and 22 more: 22 planned" in line for line in lines)


def test_the_view_says_in_a_line_why_a_cell_failed():
    error = {"name": "InstanceDied", "message": "c: i-1 ended " + "x" * 200}
    lines = draw(progress.read([cell_row("c", "failed", error=error)], None, RUNNING), 80)

    assert lines[-1].startswith("c: InstanceDied: i-1 ended x")
    assert lines[-1].rstrip().endswith("…")


def test_an_ended_run_that_measured_nothing_is_not_shown_as_done():
    failed = Execution("r", "FAILED", started_at=0, ended_at=10)

    assert progress.read([cell_row("c", "running", started_at=0)], None, failed).fraction(10) == 0


def test_long_names_are_shortened_in_the_middle():
    assert live_view.shorten("efs-elastic.touch.m6i.4xlarge-x10", 16) == "efs-ela…arge-x10"


def test_only_changes_become_lines():
    before = progress.read(progress_rows(second="waiting"), plan_document(), RUNNING)
    after = progress.read(progress_rows(), plan_document(), RUNNING)

    assert progress.changes(before, after) == [
        f"cell {CELLS[1]}: running, step 2/4 p02; instances 4: 3 ready, 1 running"
    ]
    assert progress.changes(after, after) == []


def test_a_failed_cell_says_why():
    error = {"name": "InstanceDied", "message": "i-1 ended"}
    after = progress.read([cell_row("c", "failed", error=error)], None, RUNNING)

    assert progress.changes(None, after) == ["cell c: failed; InstanceDied: i-1 ended"]
