"""Bake image: take the machine image that an earlier run has baked, or launch the instance from which it is made."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import baking
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `baked` or `baking`; a refusal for want of budget, time, quota or capacity is an error of its own name."""
    return {"image": event["image"], "state": baking.begin(event["run"], event["image"])}
