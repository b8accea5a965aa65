"""What a report shows first: one comparison in a line, a number and ranked bars; and what its chips choose."""

import re
from html import unescape

import pytest
from support.runs_for_reports import TWO_STORAGES, build_run, built_page, built_view

from matrix.answer.decision import decide
from matrix.published.runs import published_run
from matrix.report import heat_map
from matrix.report.page import render, view_of
from matrix.report.ranking import rankings
from matrix.text.headlines import headline


def words(markup):
    """The text of some HTML, blanks between its elements."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def panels(view):
    """The text of each comparison's panel."""
    return [words(f"<{panel}") for panel in rankings(view).text.split("<article")[1:]]


EXPECTED = {"ebs": {3: 3000.0, 12: 3000.0}, "efs": dict.fromkeys((3, 6, 12), 4000.0)}


@pytest.fixture(scope="module")
def published():
    return view_of(published_run("yocto", "published-yocto"))


def test_the_panels_name_who_was_not_there_and_where_it_would_be_first(published):
    for view, sizes in ((built_view(EXPECTED), {6}), (published, set())):
        expected = {
            question["instances"]
            for question in view.decision["questions"]
            for absent in heat_map.absences(view, question)
            if absent.is_ahead
        }
        assert expected == sizes


def test_the_panel_of_a_size_says_who_is_expected_fastest_though_not_measured_there():
    summary, results, planned = build_run(EXPECTED)
    summary["cells"] = [cell for cell in summary["cells"] if cell["state"] == "measured"]
    view = view_of(summary, results=results, plan=planned)

    [panel] = [panel for panel in panels(view) if "Not measured here: EBS gp3" in panel]

    assert "Expected fastest on 6 × m6i.large, but not measured: EBS gp3" in panel
    assert 'class="absent expected' in heat_map.heat_map(view).text


def test_storages_that_chance_may_order_are_not_called_fastest():
    [panel] = panels(built_view({"ebs": {2: 3300.0}, "efs": {2: 3000.0}}, spread=0.05))

    assert "No winner on 2 × m6i.large: EFS bursting (49m 41s) and EBS gp3 (56m 48s) cannot be told apart" in panel
    assert "Open: EFS bursting and EBS gp3 cannot be told apart: " in panel
    assert re.search(r"EBS gp3 [\d hms]+ open", panel)
    assert "fastest" not in panel


def test_where_storages_did_different_work_no_output_names_a_winner():
    summary, results, planned = build_run(TWO_STORAGES)
    decided = decide(summary, results=results)
    for question in decided["questions"]:
        question["candidates"][0]["counts_in_memory"] = True
    page = render(summary | {"decision": decided}, results=results, plan=planned)

    assert "<h1>No winner on 10 × m6i.large: the storages did different work</h1>" in page
    assert headline(decided, str).startswith("No winner in either comparison: the storages did different work.")
    assert "○ ahead" in page
    assert "○ fastest" not in page
    # An older run recommended one of them.
    assert any(question["recommended"] for question in decided["questions"])
    assert "★" not in page


def test_a_storage_alone_wins_nothing_and_an_objective_that_nobody_meets_takes_none():
    [alone] = panels(built_view({"ebs": {1: 3000.0}}))
    too_slow = built_view(TWO_STORAGES, objective={"metric": "duration_s", "atMost": 10})

    assert "Only EBS gp3 was measured on 1 × m6i.large: P50 50m 12s" in alone
    assert all("No storage reaches P90 of build time at most 10.0s on" in panel for panel in panels(too_slow))


def test_no_metric_is_called_by_its_machine_name_where_people_read_and_files_keep_it():
    objective = {"metric": "duration_s", "atMost": 3500}
    text = built_page(TWO_STORAGES, objective=objective)
    island = re.search(r'id="charts">(.*?)</script>', text, re.DOTALL)[1]

    body = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.DOTALL)
    assert "duration_s" not in words(body)
    # A copy of a table and a file of a chart's points have exact values, and the metric's own name above them.
    assert 'data-value="duration_s p50 (s)"' in body
    assert '"duration_s (s)"' in island


def test_a_run_of_this_machine_says_so_once_and_has_no_prices():
    summary, results, planned = build_run(TWO_STORAGES, environment="emulated")
    for cell in (*summary["cells"], *planned["cells"]):
        cell["storage"] = {**cell["storage"], "emulated": True}
    page = render(summary, results=results, plan=planned)
    text = words(re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL))
    answer = text.partition("Answer")[2].partition("The matrix")[0]

    assert 'data-of="r1, emulated, not AWS"' in page  # of charts that are saved
    assert answer.count("emulated") == answer.count("not those of AWS") == 1
    assert "USD" not in answer
    assert "$" not in answer


def test_the_matrix_is_copied_and_saved_as_data():
    heads, *rows = heat_map.rows_of(built_view(TWO_STORAGES))

    assert heads == ["storage", "fleet", "value", "unit", "times_as_slow", "mark"]
    measured = [dict(zip(heads, row, strict=True)) for row in rows if row[2]]
    assert all(
        float(row["value"]) > 1000 and row["unit"] == "s" and float(row["times_as_slow"]) >= 1 for row in measured
    )
    best = {row["mark"].removeprefix("take ") for row in measured if row["times_as_slow"] == "1"}
    assert best == {"ahead", "fastest"}
