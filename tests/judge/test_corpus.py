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
