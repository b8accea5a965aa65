"""Check image: make the image once its builder is done, and end the builder once the image is there."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.fleet import baking
from aws.stack.entry import entry


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer `baked` or `baking`; ImageFailed where the builder failed or EC2 could not make the image."""
    return {"image": event["image"], "state": baking.check(event["run"], event["image"])}
