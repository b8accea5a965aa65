"""`matrix demo`: a small matrix on a local cloud, and how an answer from AWS looks."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from cli.commands.run import run
from cli.console import opening
from cli.inputs import imported_files
from cli.messages import terminal
from cli.messages.errors import CommandError
from cli.target.known_runs import PUBLISHED

MATRIX = Path(__file__).parents[2] / "events/local/demo.json"


def demo() -> None:
    """See it work on this machine, in the browser.

    A small matrix on a local cloud: a real state machine and real instance programs, without an AWS account. This
    machine emulates EBS and EFS at an eighth of the limits that AWS documents, which two slow processors can keep up
    with. It prints everything before it waits; close the page or press Ctrl-C to end it.

    Example: matrix demo
    """
    try:
        with _own_group(), opening.before_waiting(_say_more):
            run(MATRIX, local=True, web=True)
    except CommandError as error:
        if "matrix " in f"{error.message} {error.advice}":
            _say_activation(terminal.stderr(), "The commands below need first: ")
        raise


def _say_more() -> None:
    """Name the report of an answer from AWS, which others measured and published, and how to call `matrix`."""
    imported_files.load_published(PUBLISHED)
    console = terminal.stdout()
    console.print("\nHow an answer from AWS looks, with its charts:")
    _say_activation(console)
    console.print(f"  matrix report {PUBLISHED}-yocto --open", soft_wrap=True)


def _say_activation(console: Console, lead: str = "  ") -> None:
    """Name the command after which a shell finds `matrix`, where it does not yet."""
    if shutil.which("matrix") is None:
        console.print(f"{lead}source {Path(sys.prefix, 'bin', 'activate')}", soft_wrap=True)


@contextmanager
def _own_group() -> Iterator[None]:
    """Let Ctrl-C reach this command but not `make`, which would report the end of the demo as an error.

    A terminal sends it to the group of processes in its foreground (termios(3), ISIG; tcsetpgrp(3)).
    """
    before = os.getpgrp()
    if not sys.stdin.isatty() or before == os.getpid() or os.tcgetpgrp(0) != before:
        yield
        return
    os.setpgid(0, 0)
    _give_terminal_to(os.getpgrp())
    try:
        yield
    finally:
        _give_terminal_to(before)


def _give_terminal_to(group: int) -> None:
    """Put a group into the foreground; a background process that does this would be stopped by SIGTTOU."""
    usual = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, group)
    signal.signal(signal.SIGTTOU, usual)
