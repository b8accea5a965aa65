"""The entry of each Lambda function: every log line names the run, the file system and the cell of the event."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import botocore
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]

# What an event names, by which CloudWatch Logs Insights finds the lines of all functions, filter run = "nightly-7".
KEYS = ("run", "file_system", "cell", "image")


def entry(handler: Handler) -> Handler:
    """Wrap a handler: each log line names the subject of its event, and no line has keys of an earlier invocation."""
    # Here and not in the module: the environment names the service, by which all loggers of a function are one.
    logger = Logger()

    @logger.inject_lambda_context(clear_state=True)
    @wraps(handler)
    def entered(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        # Which of the layer's and the runtime's is imported is AWS's to say.
        logger.append_keys(botocore=botocore.__version__, **_named(event))
        try:
            return handler(event, context)
        except Exception as error:
            # The runtime logs it too, with the stack trace, but by the request's id only.
            logger.error("failed", error={"name": type(error).__name__, "message": str(error)})
            raise

    return entered


def _named(event: Mapping[str, Any]) -> dict[str, str]:
    """Return run, file system and cell of an event. EventBridge's event for Reap has the run as `name`."""
    ended = event.get("detail") or {}
    named = {"run": ended.get("name"), **event}
    return {key: named[key] for key in KEYS if isinstance(named.get(key), str)}
