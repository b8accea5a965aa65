"""The table of several comparisons, which terminal and Markdown draw."""

import pytest
from support.runs_for_reports import TWO_STORAGES, build_run

from matrix.answer.decision import decide
from matrix.tables.best_table import best_table, largest


def decided(objective=None):
    summary, results, _ = build_run(TWO_STORAGES)
    return summary | {"decision": decide(summary, results=results, objective=objective)}


def best(summary, questions, **options):
    return best_table(summary, summary["decision"], questions, lambda each: each["storage"], **options)


def test_what_all_comparisons_share_stands_in_the_title_with_how_many_are_shown():
    summary = decided()
    [one, _] = questions = summary["decision"]["questions"]

    assert best(summary, questions).title == "build, jobs 4"
    assert best(summary, [one], of=2).title == "build, jobs 4, 1 × m6i.large (1 of 2)"


def test_figures_stand_at_the_right_though_a_column_before_them_is_left_out():
    table = best(decided(), decided()["decision"]["questions"]).shown()

    figures = [column.head for column in table.columns if column.kind == "figure"]
    assert figures == [head for head in ("Figure", "Interval", "$/build") if head in figures]
    assert {"Figure", "$/build"} <= {*figures}


def test_where_nothing_meets_the_objective_none_is_named():
    summary = decided(objective={"metric": "duration_s", "atMost": 10.0})

    table = best(summary, summary["decision"]["questions"])

    assert [*table.texts("Cheapest that meets it")] == [("none",), ("none",)]


@pytest.mark.parametrize("objective", [None, {"metric": "duration_s", "atMost": 1e6}])
def test_the_head_claims_the_best_only_where_a_comparison_shows_it(objective):
    def head(*states):
        summary = decided(objective)
        questions = [
            question | {"state": state}
            for question, state in zip(summary["decision"]["questions"], states, strict=True)
        ]
        return best(summary, questions).columns[1].head

    untested, claimed = head("open", "not-tested"), head("shown", "shown")

    assert head("open", "shown") == claimed != untested == head("open", "open")
    assert claimed == head("expected", "shown")


def test_of_many_comparisons_those_with_the_most_instances_are_shown():
    questions = decided()["decision"]["questions"]

    assert [each["instances"] for each in largest(questions, 1)] == [10]
