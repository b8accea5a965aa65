"""`matrix demo`: a small matrix on a local cloud, then the result of a published run on AWS."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.commands.import_published import PREFIX, load
from cli.commands.run import run
from cli.console import opening
from cli.messages import terminal
from cli.tables import verdict_table
from cli.target.place import Place
from cli.target.summaries import find

EVENTS = Path(__file__).parents[2] / "events"
PUBLISHED = f"{PREFIX}-yocto"


def demo() -> None:
    """See it work on this machine, in the browser.

    A small matrix on a local cloud: a real state machine and real instance programs, without an AWS account. This
    machine plays EBS, EFS and FSx with the latencies and limits that AWS documents. It prints everything before it
    waits; close the page or press Ctrl-C to end it.

    Example: matrix demo
    """
    with _own_group(), opening.before_waiting(_say_more):
        run(EVENTS / "demo.json", local=True, web=True)


def _say_more() -> None:
    """Show the result of a run on AWS, and the next steps."""
    console = terminal.stdout()
    console.print(
        "\nA run on AWS ends with an answer like the next one. Others measured its figures on AWS and published them:"
    )
    load(PREFIX)
    summary = find(PUBLISHED, Place()).summary
    verdict_table.show(console, summary, flag="")
    console.print("\nTo call matrix by its name, and to see this answer's report with its charts:")
    activate = Path(sys.prefix, "bin", "activate")
    console.print(f"  source {activate}", soft_wrap=True)
    console.print(f"  matrix report {PUBLISHED} --open", soft_wrap=True)


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
