"""Wrong resources and calls, none of which passes."""

from typing import Any

import pytest
from judge import form, prose, shapes, template
from judge.corpus import cases


@pytest.mark.parametrize("entry", cases("resources"))
def test_a_resource_that_aws_refuses_is_refused(entry: dict[str, Any]):
    problems = template.refusals({"Wrong": {"Type": entry["type"], "Properties": entry["properties"]}})

    assert any(entry["says"] in problem for problem in problems), problems


@pytest.mark.parametrize("entry", cases("requests"))
def test_a_call_that_aws_refuses_is_refused(entry: dict[str, Any]):
    service, operation = entry["call"].split(":")
    problems = [
        *shapes.refusals_of_request(service, operation, entry["parameters"]),
        *prose.refusals_of_request(service, operation, entry["parameters"]),
    ]

    assert any(entry["says"] in problem for problem in problems), problems


@pytest.mark.parametrize("entry", cases("templates"))
def test_a_template_that_cloudformation_refuses_is_refused(entry: dict[str, Any]):
    problems = list(form.refusals(entry["template"]))

    assert any(entry["says"] in problem for problem in problems), problems


def test_every_rule_that_aws_has_in_prose_refuses_something_of_the_corpus():
    resources = [entry.values[0] for entry in cases("resources")]
    calls = [entry.values[0] for entry in cases("requests")]

    def refuses(rule: prose.Rule) -> bool:
        of_resources = [one["properties"] for one in resources if one["type"] in rule.subjects]
        of_calls = [one["parameters"] for one in calls if one["call"] in rule.subjects]
        return any(problem for subject in of_resources + of_calls for problem in rule.check(subject))

    assert [rule.check.__name__ for rule in prose.RULES if not refuses(rule)] == []
    assert all(entry["source"].startswith(prose.AWS) for entry in resources + calls)
