"""Delete the leftovers of a killed local cloud on this machine without starting another one."""

from typing import Any

from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target.workdir import workdir
from local import sweeping
from local.programs import claims


def take_away(*, dry_run: bool) -> dict[str, Any]:
    """Delete the leftovers, or only list them; return the deleted and the remaining ones, as Reap does."""
    folder = workdir()
    if not folder.is_dir():
        return {"deleted": [], "remaining": []}
    try:
        claim = claims.own(folder)
    except OSError as error:
        raise CommandError(
            f"{folder} cannot be used: {error.strerror}", "choose another one: MATRIX_WORKDIR", ExitCode.BAD_INPUT
        ) from error
    if claim is None:
        raise CommandError(f"a local cloud is starting or ending in {folder}", "in a minute again")
    with claim:
        before = sweeping.left(folder)
        if not dry_run:
            for sentence in sweeping.sweep(folder):
                terminal.print_wrapped(terminal.stderr(), f"Found: {sentence}")
        remaining = sweeping.left(folder)
    gone = [left for left in before if left not in remaining]
    return {"deleted": list(map(_resource, gone)), "remaining": list(map(_resource, remaining))}


def _resource(left: sweeping.Left) -> dict[str, str]:
    return {"kind": left.kind, "id": left.name}
