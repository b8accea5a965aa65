"""Bake images: find the machine images of a run, or take the next step in making them."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import baking
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `baking` until every image is `baked`; each refusal (budget, time, quota) is an error of its own."""
    return {"state": baking.step(event["run"])}
