"""A run as JUnit XML: the form in which Jenkins, GitLab and GitHub's actions read the results of tests.

One test case for each point, one for a cell that was not measured, and one for each question of the objective. The
elements and attributes are those of Jenkins' schema:
https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import figure, sample_count
from matrix.terms.names import (
    describe_fleet,
    describe_launch,
    point_labels,
    primary_metric,
    reading_order,
    workload_names_of,
)
from matrix.terms.objectives import describe_limit, misses_objective
from matrix.terms.printable import printable
from matrix.terms.quantities import ABSENT
from matrix.terms.sentences import reason_of
from matrix.text.decisions import describe_question
from matrix.text.rankings import describe_comparison

OBJECTIVE = "objective"
# Type and message of a failure, by the state of a question.
NOT_REACHED = {
    "missed": ("ObjectiveMissed", "no storage reaches"),
    "by-value": ("ObjectiveNotShown", "no storage is shown to reach"),
}


def to_junit(summary: SummaryDocument) -> str:
    """Return the run as one test suite."""
    workloads = workload_names_of(summary["cells"])
    cases = [case for cell in reading_order(summary["cells"]) for case in _cases(cell, workloads[cell["id"]])]
    cases += _objective_cases(summary)
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": 0,
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    attributes = {name: str(count) for name, count in counts.items()}
    begun, ended = summary.get("started_at"), summary.get("finished_at")
    if begun is not None and ended is not None:
        attributes["time"] = f"{max(0.0, ended - begun):.3f}"
    when = {"timestamp": f"{datetime.fromtimestamp(begun, UTC):%Y-%m-%dT%H:%M:%S}"} if begun is not None else {}
    suites = ET.Element("testsuites", {"name": _legal(summary["name"]), **attributes})
    suite = ET.SubElement(suites, "testsuite", {"name": _legal(summary["run"]), **attributes, **when})
    suite.extend(cases)
    ET.indent(suites)
    # Other characters as numbers, so that the file is the same in each encoding of a terminal.
    xml: bytes = ET.tostring(suites, encoding="us-ascii", xml_declaration=True)
    return xml.decode("ascii") + "\n"


def _cases(cell: ResultDocument, workload: str) -> Iterator[ET.Element]:
    group = ", ".join(filter(None, [cell["file_system"], describe_fleet(cell["fleet"]), describe_launch(cell)]))
    if cell["state"] != "measured":
        case = _case(group, cell["id"])
        reason = _legal(reason_of(cell))
        error = cell.get("error")
        kind = str(error["name"] if error else cell["state"])
        if cell["state"] == "failed":
            ET.SubElement(case, "failure", {"message": reason, "type": _legal(kind)}).text = reason
        else:
            ET.SubElement(case, "skipped", {"message": reason})
        yield case
        return
    labels = point_labels(cell["points"])
    for point in cell["points"]:
        case = _case(group, f"{workload}: {labels[point['id']] or point['id']}")
        if named := primary_metric(point):
            name, metric = named
            p50 = figure(metric, "p50").strip() or ABSENT
            ET.SubElement(case, "system-out").text = _legal(f"{name}: P50 {p50}, n {sample_count(metric)}")
        yield case


def _objective_cases(summary: SummaryDocument) -> list[ET.Element]:
    decision = summary.get("decision")
    if not decision or not decision.get("objective"):
        return []
    limit = describe_limit(summary)
    cases = []
    for question in decision["questions"]:
        case = _case(OBJECTIVE, describe_comparison(question))
        if kind := NOT_REACHED.get(question.get("state", "")):
            _fail(case, kind, limit, describe_question(question, decision))
        cases.append(case)
    if not cases and misses_objective(summary):
        cases = [_case(OBJECTIVE, limit)]
        _fail(cases[0], NOT_REACHED["missed"], limit, "nothing measured it")
    return cases


def _fail(case: ET.Element, kind: tuple[str, str], limit: str, why: str) -> None:
    name, words = kind
    message = {"message": _legal(f"{words} {limit}"), "type": name}
    ET.SubElement(case, "failure", message).text = _legal(why)


def _case(group: str, name: str) -> ET.Element:
    # Jenkins takes the part before the last dot of a class for its package: t3.medium would be two words.
    return ET.Element("testcase", {"classname": _legal(group).replace(".", "_"), "name": _legal(name)})


def _legal(text: str) -> str:
    """Replace characters that XML 1.0 does not allow: https://www.w3.org/TR/xml/#charsets."""
    return printable(text).translate({0xFFFE: "?", 0xFFFF: "?"})
