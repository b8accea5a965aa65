"""Bake image: reuse the machine image that an earlier run baked, or launch the instance that builds one."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import baking
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `baked` or `baking`; each refusal (budget, time, quota, capacity) is an error with its own name."""
    return {"image": event["image"], "state": baking.begin(event["run"], event["image"])}
