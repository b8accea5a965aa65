"""The end of a run: verdict, comparisons, caveats, next commands."""

import io
import re

import pytest
from rich.console import Console
from support.runs_for_reports import build_run

from cli.tables import verdict_table
from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.tables.run_tables import quoted_answer

FIVE_SIZES = {
    "ebs": {3: 3000.0, 200: 3050.0},
    "efs": {3: 3990.0, 10: 3000.0, 50: 4300.0, 100: 4000.0, 200: 5000.0},
}


def run_of(seconds, objective=None, **how):
    """A summary with its decision."""
    summary, results, planned = build_run(seconds, **how)
    summary["decision"] = decide(summary, results=results, objective=objective, bill=Bill.of(planned, None))
    return summary


def shown(summary, width=80, flag="", *, is_terminal=False):
    """What is printed of a summary, by lines."""
    console = Console(file=io.StringIO(), width=width, force_terminal=is_terminal, no_color=True)
    verdict_table.show(console, summary, flag=flag)
    return console.file.getvalue().splitlines()


def test_scripts_can_quote_the_sentence_and_the_dollars_that_the_terminal_shows():
    for seconds, winner in (
        (FIVE_SIZES, "EBS gp3"),
        ({"ebs": {50: 3000.0}}, "EBS gp3"),
        ({"ebs": {2: 3000.0}, "efs": {2: 3040.0}}, None),  # not replicated
    ):
        summary = run_of(seconds)
        answer = quoted_answer(summary, summary["decision"])

        assert answer["headline"] == shown(summary, 200)[1]
        assert answer["storage"] == winner
        if winner:
            assert f"${answer['cost']['usd']:.3g} per {answer['cost']['per']}" in answer["headline"]
        else:
            assert (answer["figure"], answer["cost"]) == (None, None)

    nothing = run_of({"ebs": {1: None}})
    assert quoted_answer(nothing, nothing["decision"])["headline"].startswith("Nothing was measured")


def test_of_many_comparisons_each_has_its_best_value_and_how_far_the_next_is_behind():
    lines = shown(run_of(FIVE_SIZES), 160)

    # EBS was not measured at 50 and 100, where EFS is slower than EBS is at 3 and at 200.
    assert lines[1].startswith(
        "EBS gp3 on 200 × m6i.large: P90 51m 36s, $0.109 per build, 1.63 times as fast as EFS bursting"
    )
    assert lines[2] == (
        "Best value at 3 and 200 instances: EBS gp3. "
        "Expected fastest, not measured: EBS gp3 at 50 and 100 instances. Nothing to compare at 10 instances."
    )
    # What all have in common stands once, in the title.
    assert lines[3] == "build, jobs 4"
    [largest] = [line for line in lines if line.startswith("200 × m6i.large")]
    assert "★ EBS gp3" in largest
    # 5,000 s beside 3,050 s, with noise that depends on the order of the cells.
    assert re.search(r"EFS bursting, 1\.6\d times as slow, 1\.\d+ times the cost$", largest.rstrip())
    [ten] = [line for line in lines if line.startswith("10 × m6i.large")]
    assert ten.rstrip().endswith("nothing to compare")


@pytest.mark.parametrize("sizes", [[4], [4, 10]])
def test_a_run_of_this_machine_recommends_nothing_and_has_no_prices(sizes):
    seconds = {"ebs": dict.fromkeys(sizes, 3000.0), "efs": dict.fromkeys(sizes, 2000.0)}
    lines = shown(run_of(seconds, environment="local"), flag="--local")

    text = "\n".join(lines)
    count = 2 * len(sizes)
    assert lines[0] == f"✓ {count} of {count} cells measured · local disk, not AWS: no storage is recommended"
    assert not any(mark in text for mark in ("★", "USD", "$", "cheapest"))
    # A run that is kept here is found without an option.
    assert lines[-2:] == ["Next:", "  matrix report r1 --open"]


def test_cells_that_failed_alike_are_one_line_with_their_cause_and_the_next_command_is_their_log():
    partly = run_of({"ebs": {1: 3000.0, 50: 3000.0}, "efs": {1: 3500.0}})
    whole = run_of({"ebs": {1: 3000.0, 50: 3000.0}})
    for cell in whole["cells"]:
        cell |= {"state": "failed", "error": {"name": "InstanceFailed", "message": "ToolFailed: `x` ended with 1"}}
    whole["status"] = "failed"
    whole["decision"] = decide(whole)

    lines = shown(partly, 200, "--stack mine")
    assert lines[0] == "✗ 3 of 4 cells measured · partly failed"
    [failed] = [line for line in lines if "cells failed" in line]
    assert failed == "1 of 4 cells failed (EFS bursting, build, 50 × m6i.large): FleetFailed: nobody came"
    assert lines[-1] == "  matrix run --resume r1 --stack mine"
    lines = shown(whole, 200)
    count = len(whole["cells"])
    assert f"All {count} cells failed for the same reason: ToolFailed: `x` ended with 1" in lines
    assert lines[-1] == f"  matrix logs r1 {whole['cells'][0]['id']}"


def test_what_may_still_cost_money_is_named():
    summary = run_of({"ebs": {50: 3000.0}})
    summary["left_behind"] = [{"kind": "instance", "id": "i-1"}]

    assert "still there: instance i-1" in shown(summary)


def test_where_the_figures_do_not_tell_nothing_is_marked_to_be_taken():
    close, told = run_of({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, repetitions=1), run_of(FIVE_SIZES)

    assert "★" not in "\n".join(shown(close, 120))
    assert [line for line in shown(told, 120) if "★" in line and "open" in line] == []
