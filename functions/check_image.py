"""Check image: create the image after its builder has finished, and end the builder after the image exists."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import baking
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `baked` or `baking`; ImageFailed if the builder failed or EC2 could not create the image."""
    return {"image": event["image"], "state": baking.check(event["run"], event["image"])}
