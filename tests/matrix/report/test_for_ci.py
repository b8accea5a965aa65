"""A run as JUnit XML and as GitHub's summary: what a machine reads says what the run says, and its counts add up."""

import xml.etree.ElementTree as ET

import pytest
from support.cli_documents import summary_document

from matrix.answer.decision import decide
from matrix.report.github_summary import to_github
from matrix.report.junit import to_junit
from matrix.terms.objectives import misses_objective

REACHED = {"metric": "files_per_s", "atLeast": 50}
MISSED = {"metric": "files_per_s", "atLeast": 5000}


def summary(objective=None, **changes):
    document = summary_document(**changes)
    return {**document, "decision": decide(document, objective=objective)}


def counted(suite):
    """What the test cases of a suite are, counted as a reader does."""
    cases = list(suite.iter("testcase"))
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {
        "tests": len(cases),
        **{name: sum(case.find(kind) is not None for case in cases) for name, kind in kinds.items()},
    }


@pytest.mark.parametrize("objective", [None, REACHED, MISSED])
@pytest.mark.parametrize("states", [("measured", "measured"), ("measured", "failed"), ("skipped", "failed")])
def test_the_counts_of_the_suite_are_those_of_its_cases(states, objective):
    suites = ET.fromstring(to_junit(summary(objective, states=states)))

    [suite] = suites
    for element in (suites, suite):
        said = {name: int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")}
        assert said == counted(suites)
    assert suite.get("time") == "100.000"
    names = [(case.get("classname"), case.get("name")) for case in suite]
    assert len(set(names)) == len(names)


def test_a_failed_cell_is_a_failure_with_its_reason_and_a_measured_point_has_its_figure():
    suite = ET.fromstring(to_junit(summary(states=("measured", "failed"))))

    [failure] = suite.iter("failure")
    assert (failure.get("type"), failure.get("message")) == ("ToolMissing", "ToolMissing: fio is not installed")
    assert [each.text for each in suite.iter("system-out")] == ["files_per_s: P50 305 files/s, n 2/2"] * 2


def test_two_commands_and_work_on_files_and_on_the_device_are_different_test_cases():
    document = summary()
    [cell, _] = document["cells"]
    workloads = ({"type": "command", "name": "sort"}, {"type": "command", "name": "tar"}, {"type": "fio"},
                 {"type": "fio", "device": True})  # fmt: skip
    document["cells"] = [cell | {"id": f"c{at}", "workload": workload} for at, workload in enumerate(workloads)]

    names = [case.get("name") for case in ET.fromstring(to_junit(document)).iter("testcase")]

    assert len(set(names)) == len(names)
    assert names[0] == "command sort: threads 1"


def shown(document):
    """A summary as if its figures showed that they meet the objective: it has no single values."""
    for question in document["decision"]["questions"]:
        question["state"] = "shown"
    return document


def test_an_objective_that_is_missed_or_met_by_values_alone_is_a_failure_of_each_question():
    suite = ET.fromstring(to_junit(summary(MISSED)))

    missed = [failure.get("message") for failure in suite.iter("failure")]
    assert missed == ["no storage reaches P10 of files_per_s at least 5,000 files/s"] * 4
    unshown = list(ET.fromstring(to_junit(summary(REACHED))).iter("failure"))
    assert {failure.get("type") for failure in unshown} == {"ObjectiveNotShown"}
    assert not list(ET.fromstring(to_junit(shown(summary(REACHED)))).iter("failure"))


def test_what_xml_has_no_character_for_and_dots_of_types_break_no_reader():
    document = summary(states=("failed", "failed"))
    document["cells"][0]["error"]["message"] = "\x1b[2J <&> \ufffe \ud800 ]]> \x00"

    suite = ET.fromstring(to_junit(document))

    assert next(suite.iter("failure")).get("message") == "ToolMissing: ?[2J <&> ? ? ]]> ?"
    assert {"." in case.get("classname") for case in suite.iter("testcase")} == {False}


def test_an_objective_of_which_nothing_was_measured_is_missed():
    document = summary({"metric": "mb_per_s", "atLeast": 1})

    assert misses_objective(document)
    assert len(list(ET.fromstring(to_junit(document)).iter("failure"))) == 1
    assert "Nothing measured it" in to_github(document)


def test_github_shows_the_verdict_first_then_what_failed():
    good, missed = to_github(shown(summary(REACHED))), to_github(summary(MISSED))
    failed = to_github(summary(states=("measured", "failed")))

    assert good.startswith("## :white_check_mark: small: 2 of 2 cells measured")
    assert "**Objective reached**: P10 of files_per_s at least 50.0 files/s" in good
    assert missed.startswith("## :x: small: 2 of 2 cells measured")
    assert "**Objective missed in 4 of 4**" in missed
    assert to_github(summary(REACHED)).startswith("## :grey_question: small")
    assert "ToolMissing: fio is not installed" in failed


def test_a_run_of_many_points_is_no_larger_than_github_takes():
    document = summary(MISSED)
    document["cells"] *= 5000
    document["decision"]["questions"] *= 5000
    document["warnings"] = ["w" * 100_000] * 9

    assert len(to_github(document).encode()) < 1024 * 1024
