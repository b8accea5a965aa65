"""Discard image: end the builders of a run whose image could not be baked, and see them gone."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import baking
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `discarding` or `gone`. Builders are found by tag, so a launch that crashed half-way is covered too."""
    return {"state": baking.discard(event["run"])}
