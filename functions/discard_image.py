"""Discard image: terminate the builders of a run whose image could not be baked, and wait for their end."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import baking
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `discarding` or `gone`. Builders are found by tag, including those of a launch that crashed half-way."""
    return {"state": baking.discard(event["run"])}
