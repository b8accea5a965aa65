"""Entry of a Lambda function: its log lines name the run, file system and cell of the event."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import botocore
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.exceptions import ClientError

from contract.retryable import MENDABLE_CODES
from matrix.terms.errors import Throttled

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]

# Keys of an event by which CloudWatch Logs Insights finds the lines of all functions, e.g. filter run = "nightly-7".
KEYS = ("run", "file_system", "cell")


def entry(handler: Handler) -> Handler:
    """Wrap a handler so that each log line has the keys of its event, and none of an earlier invocation.

    Throttling of a service has the name of Throttled, by which the state machine tries some functions again.
    """
    # Here and not in the module: the environment names the service, by which all loggers of a function are one.
    logger = Logger()

    @logger.inject_lambda_context(clear_state=True)
    @wraps(handler)
    def entered(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        # botocore may come from the layer or from the runtime, so log its version.
        logger.append_keys(botocore=botocore.__version__, **_named(event))
        try:
            return handler(event, context)
        except Exception as error:
            # The runtime logs it too, with the stack trace, but by the request's id only.
            logger.error("failed", error={"name": type(error).__name__, "message": str(error)})
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in MENDABLE_CODES:
                raise Throttled(str(error)) from error
            raise

    return entered


def _named(event: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys of an event; the end of a run, which EventBridge sends to Reap, has the run as `name`."""
    ended = event.get("detail") or {}
    named = {"run": ended.get("name"), **event}
    return {key: named[key] for key in KEYS if isinstance(named.get(key), str)}
