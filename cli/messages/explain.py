"""Turn errors of any kind into messages: the problem and advice."""

import errno
import sys

from cli.messages.errors import CommandError

# The disk, a quota, or the largest size of a file (ulimit -f). A write error has no file name.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
    if isinstance(error, OSError) and error.errno in FULL:
        where = error.filename or "the disk of .local/, or of MATRIX_WORKDIR"
        advice = "make room (`df -h`), then see what was measured: `matrix runs`"
        return CommandError(f"{error.strerror}: {where}", advice)
    if isinstance(error, OSError):
        return CommandError(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    return CommandError(
        f"unexpected {type(error).__name__}: {error}",
        "this is a fault of matrix itself: run it again as `matrix --debug …` and report the traceback",
    )
