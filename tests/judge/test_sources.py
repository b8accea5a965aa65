"""The pages of AWS's API references that the judge cites are of calls and types that exist."""

import re
from collections.abc import Iterator

import pytest
from judge import prose
from judge.corpus import cases

from local.validation.requests import model_of

# Where botocore calls a service otherwise than the path of its reference does.
SERVICES = {
    "AWSEC2": "ec2",
    "AmazonS3": "s3",
    "IAM": "iam",
    "amazondynamodb": "dynamodb",
    "step-functions": "stepfunctions",
    "AmazonCloudWatch": "cloudwatch",
    "AmazonCloudWatchLogs": "logs",
    "AWSCloudFormation": "cloudformation",
    "servicequotas": "service-quotas",
    "aws-cost-management": "pricing",
}
PAGE = re.compile(r"https://docs\.aws\.amazon\.com/([\w-]+)/.*/API_(?:pricing_)?(\w+)\.html")


def pages() -> Iterator[str]:
    """All pages that are named."""
    for rule in prose.RULES:
        yield from rule.sources
    for kind in ("resources", "requests", "templates", "definitions"):
        yield from (entry.values[0]["source"] for entry in cases(kind))


API_PAGES = sorted({page for page in pages() if "/API_" in page})


def test_every_entry_and_every_rule_has_a_page_of_aws_or_of_the_states_language():
    hosts = ("https://docs.aws.amazon.com/", "https://repost.aws/", "https://states-language.net/")

    assert [page for page in pages() if not page.startswith(hosts)] == []


@pytest.mark.parametrize("page", API_PAGES)
def test_a_page_of_an_api_is_of_a_call_or_a_type_of_its_service(page: str):
    found = PAGE.fullmatch(page)
    assert found, page
    model = model_of(SERVICES.get(found[1], found[1]))

    names = {name.lower() for name in (*model.operation_names, *model.shape_names)}

    assert found[2].lower() in names
