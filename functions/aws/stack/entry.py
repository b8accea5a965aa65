"""How Lambda enters a function: what it logs and traces says which run, file system and cell it is about."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import botocore
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.stack import tracing

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]

# What an event names, by which CloudWatch Logs Insights finds the lines of all functions, filter run = "nightly-7", and
# X-Ray their traces, annotation[run] = "nightly-7".
KEYS = ("run", "file_system", "cell", "image")


def entry(handler: Handler) -> Handler:
    """Make a handler one that logs what its event is about in each line, and nothing of an earlier invocation.

    Where X-Ray traces the invocation, its trace is annotated with the same keys.
    """
    # Here and not in the module: the environment names the service, by which all loggers of a function are one.
    logger = Logger()
    # Module = state: "poll_fleet" is "Poll fleet" in the graph.
    state = handler.__module__.replace("_", " ").capitalize()

    @logger.inject_lambda_context(clear_state=True)
    @wraps(handler)
    def entered(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        named = _named(event)
        # Which of the layer's and the runtime's is imported is AWS's to say.
        logger.append_keys(botocore=botocore.__version__, **named)
        try:
            with tracing.subsegment(state, named):
                return handler(event, context)
        except Exception as error:
            # The runtime logs it too, with the stack trace, but by the request's id only.
            logger.error("failed", error={"name": type(error).__name__, "message": str(error)})
            raise

    return entered


def _named(event: Mapping[str, Any]) -> dict[str, str]:
    """Return what an event names; that of a run's end, which EventBridge sends to Reap, calls the run `name`."""
    ended = event.get("detail") or {}
    named = {"run": ended.get("name"), **event}
    return {key: named[key] for key in KEYS if isinstance(named.get(key), str)}
