"""Errors of any kind as messages: what happened, and what to try."""

import sys

from cli.messages.errors import CommandError


def explain(error: Exception) -> CommandError:
    """Explain any error; an unexpected one is called a fault of this program."""
    if isinstance(error, CommandError):
        return error
    # botocore takes half a second to import. Only code that imported it can have raised its errors.
    if "botocore" in sys.modules:
        from cli.messages import aws_errors

        failure = aws_errors.explain(error)
        if failure is not None:
            return failure
    if isinstance(error, OSError):
        return CommandError(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    return CommandError(
        f"unexpected {type(error).__name__}: {error}",
        "this is a fault of matrix itself: run it again as `matrix --debug …` and report the traceback",
    )
