"""Errors of any kind as what a command says: what happened, and what to try."""

import sys

from cli.messages.errors import CommandError


def explain(error: Exception) -> CommandError:
    """Put any error into words; one that nobody thought of is named as a fault of this program."""
    if isinstance(error, CommandError):
        return error
    # botocore takes half a second to import: an error can only be its own when something imported it before.
    if "botocore" in sys.modules:
        from cli.messages import aws_errors

        said = aws_errors.explain(error)
        if said is not None:
            return said
    if isinstance(error, OSError):
        return CommandError(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    return CommandError(
        f"unexpected {type(error).__name__}: {error}",
        "this is a fault of matrix itself: run it again as `matrix --debug …` and report the traceback",
    )
