"""The dashboard of the template: the metrics of its widgets, by namespace, name, dimensions and statistic."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from local.corrections.yaml_template import load

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
STACK = "storage-matrix"
SEARCH = re.compile(r"SEARCH\('(?P<terms>.*)', '(?P<statistic>[A-Za-z0-9]+)', (?P<period>\d+)\)")


class Shown(NamedTuple):
    """One metric of a widget; dimensions None if a search includes all of them."""

    namespace: str
    name: str
    dimensions: frozenset[str] | None
    statistic: str
    period_s: int


def widgets() -> list[dict[str, Any]]:
    template = load(TEMPLATE.read_text())
    text = template["Resources"]["RunDashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    body = re.sub(r"\$\{AWS::StackName\}", STACK, text)
    return list(json.loads(re.sub(r"\$\{[A-Za-z:.]+\}", "value", body))["widgets"])


def shown() -> Iterator[Shown]:
    for widget in widgets():
        properties, before = widget["properties"], []
        for row in properties.get("metrics", []):
            if isinstance(row[0], dict):
                yield _searched(row[0]["expression"])
                continue
            words = [one for one in row if isinstance(one, str)]
            before = [before[i] if one == "." else one for i, one in enumerate(words)]
            yield Shown(before[0], before[1], frozenset(before[2::2]), properties["stat"], properties["period"])


def _searched(expression: str) -> Shown:
    found = SEARCH.fullmatch(expression)
    assert found, f"no search that this test can read: {expression}"
    terms = found["terms"]
    schema = re.match(r"\{(?P<namespace>[^,}]+),(?P<dimensions>[^}]+)\}", terms)
    namespace = schema["namespace"] if schema else re.search(r'Namespace="([^"]+)"', terms)[1]
    dimensions = frozenset(schema["dimensions"].split(",")) if schema else None
    name = re.search(r'MetricName="([^"]+)"', terms)[1]
    return Shown(namespace, name, dimensions, found["statistic"], int(found["period"]))


def searches() -> list[re.Match[str]]:
    rows = [row for widget in widgets() for row in widget["properties"].get("metrics", [])]
    return [SEARCH.fullmatch(row[0]["expression"]) for row in rows if isinstance(row[0], dict)]


def names_of_functions() -> list[str]:
    """The names that CloudFormation gives to functions without a name: stack, logical id, something random."""
    resources = load(TEMPLATE.read_text())["Resources"]
    functions = [name for name, resource in resources.items() if resource["Type"] == "AWS::Serverless::Function"]
    assert not any("FunctionName" in resources[name]["Properties"] for name in functions)
    return [f"{STACK}-{name}-ABCDEFGH1234" for name in functions]


def finds(term: str, value: str) -> bool:
    """Whether a term of a search finds a metric by this name or value, by the rules of CloudWatch's guide.

    Within quotes it is the whole value. Without, its parts are consecutive in the value; if it has several parts, case
    matters. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
    """
    if term.startswith('"'):
        return term == f'"{value}"'
    wanted, parts = _parts(term), _parts(value)
    if len(wanted) == 1:
        return wanted[0].lower() in {*(part.lower() for part in parts), "".join(parts).lower()}
    return any(parts[start : start + len(wanted)] == wanted for start in range(len(parts)))


def _parts(text: str) -> list[str]:
    """The parts of a text: split at capitals, before and after numbers, and at other characters."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", text)


def emitted(text: str) -> set[tuple[str, str, frozenset[str]]]:
    """The metrics that a function's log has in CloudWatch's embedded metric format: namespace, name, dimensions."""
    found = set()
    for line in text.splitlines():
        start = line.find('{"_aws"')
        if start < 0 and '"_aws"' not in line:
            continue
        document = json.loads(line[max(start, 0) :])
        for directive in document["_aws"]["CloudWatchMetrics"]:
            for dimensions in directive["Dimensions"]:
                assert all(name in document for name in dimensions)
                for metric in directive["Metrics"]:
                    assert metric["Name"] in document
                    found.add((directive["Namespace"], metric["Name"], frozenset(dimensions)))
    return found
