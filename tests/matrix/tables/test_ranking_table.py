"""The table of one comparison, which terminal, Markdown and page draw."""

from support.runs_for_reports import build_run

from matrix.answer.decision import decide
from matrix.report.markdown import to_markdown
from matrix.report.page import render
from matrix.tables.ranking_table import ranking_table

FILLING = {"seconds": 100.0, "instances": 2, "builds": 4, "usd": 4.0, "basis": "a plan"}


def compared(seconds, **changes):
    """A run of one comparison of two storages, each `seconds` for a build; and that comparison."""
    summary, results, _ = build_run({kind: {4: took} for kind, took in seconds.items()}, **changes)
    summary["decision"] = decide(summary, results=results)
    [question] = summary["decision"]["questions"]
    return summary, question


def ranked(summary, question):
    return ranking_table(summary, summary["decision"], question, lambda each: each["storage"])


def leave_out(candidate):
    candidate |= {"lost": {"code": "left-out", "reason": "its disk was full"}, "verdict": {"code": "lost"}}


def heads(table):
    return [column.head for column in table.shown().columns]


def test_a_storage_has_its_figure_cost_and_bottleneck():
    summary, question = compared({"ebs": 3000.0, "efs": 3900.0})

    table = ranked(summary, question)

    assert [*table.texts("Storage", "P50", "USD per build", "Bottleneck")] == [
        ("★ EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s)", "50m 13s", "0.105", "client CPU"),
        ("EFS bursting", "64m 59s", "0.112", "client CPU"),
    ]


def test_what_is_left_out_has_no_row_and_decides_the_format_of_figures_all_the_same():
    summary, question = compared({"ebs": 50.0, "efs": 90.0})
    leave_out(next(each for each in question["candidates"] if each["storage"].startswith("EFS")))

    table = ranked(summary, question)

    # Without what is left out most durations are below a minute, and seconds would stand in the head.
    assert (len(table.rows), heads(table)[1]) == (1, "P50")
    assert "| P50 |" in to_markdown(summary)
    assert ">P50 (s)<" not in render(summary).partition('id="answer"')[2].partition("</section>")[0]


def test_a_difference_that_leaves_the_choice_open_is_marked_at_the_figure():
    summary, question = compared({"ebs": 3000.0, "efs": 3010.0}, spread=0.05)

    [*_, (figure,)] = ranked(summary, question).texts("P50")

    assert figure.endswith(" open")


def test_the_cost_of_filling_a_cache_is_added_for_one_build_and_for_ten():
    summary, question = compared({"ebs": 3000.0, "efs": 3900.0})
    for candidate in question["candidates"]:
        assumed = {"is_assumed": True} if candidate["storage"].startswith("EFS") else {}
        candidate["cost"] |= {"usd": 1.5, "filling": FILLING | assumed}

    table = ranked(summary, question)

    # 4 dollars for four builds at once are one for each.
    costs = ("USD per build", "With cache fill", "Fill over 10 builds")
    assert [*table.texts(*costs)] == [("1.50", "2.50", "1.60"), ("1.50", "2.50 assumed", "1.60 assumed")]
    assert [cell.value for cell in table.rows[0].cells if cell.text in ("1.50", "2.50", "1.60")] == [1.5, 2.5, 1.6]
