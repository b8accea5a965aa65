"""Open the console for a command, and keep it while a page is open."""

import html
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target.service import Service
from cli.target.workdir import CONSOLE_PAGE, workdir

if TYPE_CHECKING:
    from cli.console.server import Server
    from cli.console.stopping import AsCtrlC
    from matrix.terms.documents.plan import PlanDocument

# A page polls every 2 s locally and every 5 s on AWS. A hidden tab may poll only once a minute (Chromium, "Intensive
# throttling of JavaScript timer wake ups").
NOBODY_AFTER_S = 75.0


@dataclass
class OpenConsole:
    address: str
    server: "Server"
    own_stop: "AsCtrlC | None"

    @property
    def was_stopped_there(self) -> bool:
        """Return whether the page's Stop button stopped the run."""
        return self.own_stop is not None and self.own_stop.is_asked

    def say_end(self, error: CommandError) -> None:
        """Show the terminal's message about the stopped run on the page too."""
        if self.own_stop is not None:
            self.own_stop.lines = [line.strip() for line in error.message.splitlines()[1:]]

    def stay(self, *, is_awaited: bool = False) -> None:
        """Keep serving while a page is open, so that people can read the end of a run. Ctrl-C ends it at once.

        `is_awaited`: wait for the first page, because the user cannot have opened it yet.
        """
        if _more_to_say:
            _more_to_say[-1]()
        asked = self.server.console.asked
        if self.own_stop is not None:
            self.own_stop.has_ended = True
        if not asked.is_set() and not is_awaited:
            terminal.stderr().print("The console has ended with the run: nobody has opened its page.")
            return
        try:
            terminal.stderr().print("The console stays while its page is open; Ctrl-C ends it.")
            if is_awaited:
                asked.wait()
            while asked.is_set():
                asked.clear()
                asked.wait(NOBODY_AFTER_S)
        except KeyboardInterrupt:
            return


# Output that a command still has to print after its run has ended.
_more_to_say: list[Callable[[], None]] = []


@contextmanager
def before_waiting(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` before the console waits for its page to close, so that the terminal shows the result first."""
    _more_to_say.append(say)
    try:
        yield
    finally:
        _more_to_say.remove(say)


@contextmanager
def following(
    service: Service,
    run: str,
    *,
    is_wanted: bool,
    is_own: bool = False,
    has_ended: bool = False,
    plan: "PlanDocument | None" = None,
) -> Iterator[None]:
    """Serve the console, if wanted, while the block follows a run, and afterwards while its page is open.

    `is_own`: this process started the run, so Stop works like Ctrl-C. `has_ended`: the run has ended already, so wait
    for its page. `plan`: the plan of a run that the block starts, to show it at once.
    """
    if not is_wanted:
        yield
        return
    with opened(service, run, is_own=is_own, plan=plan) as console:
        try:
            yield
        except CommandError as error:
            # After Ctrl-C the user is in the terminal and wants to exit; after Stop the user is in the browser.
            if error.code == ExitCode.INTERRUPTED and not console.was_stopped_there:
                raise
            terminal.say_error(error)
            console.say_end(error)
            console.stay(is_awaited=has_ended)
            raise typer.Exit(error.code) from None
        except typer.Exit:
            console.stay(is_awaited=has_ended)
            raise


@contextmanager
def opened(
    service: Service, run: str, *, is_own: bool = False, plan: "PlanDocument | None" = None
) -> Iterator[OpenConsole]:
    """Serve the console during the block, and print its address."""
    # The console uses the report's drawing, which imports numpy: most of a second that other commands need not wait
    # for.
    from cli.console.admission import Admission
    from cli.console.server import Console, Handler, Server, new_token
    from cli.console.stopping import AsCtrlC, OwnStop
    from cli.target.traces import Traces

    stop = OwnStop(service)
    as_ctrl_c = AsCtrlC(run, stop) if is_own else None
    with Server(("127.0.0.1", 0), Handler) as server:
        admission = Admission(server.server_port, new_token())
        server.console = Console(Traces(service.deployment), run, as_ctrl_c or stop, admission, plan)
        threading.Thread(target=server.serve_forever, name="console", daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/#token={admission.token}"
        terminal.print_wrapped(terminal.stderr(), f"See it in the browser: {address}")
        page = workdir() / CONSOLE_PAGE if service.deployment.environment == "local" else None
        with _leading_there(page, address) if page else nullcontext():
            try:
                yield OpenConsole(address, server, as_ctrl_c)
            finally:
                server.shutdown()


@contextmanager
def _leading_there(page: Path, address: str) -> Iterator[None]:
    """Redirect the page to the console during the block only, also if its terminal is closed."""

    def hung_up(number: int, _: object) -> None:
        close(page, address)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    lead_to(page, address)
    is_open = (
        threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    )
    if is_open:
        signal.signal(signal.SIGHUP, hung_up)
    try:
        yield
    finally:
        if is_open:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
        close(page, address)


# --- `.local/console.html` leads to the console ----------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Storage Matrix</title>{forward}
<p>{words}</p></html>
"""
CLOSED = "No console runs now: <code>matrix watch RUN --web</code> or <code>matrix local up --web</code> opens one."


def lead_to(path: Path, address: str) -> None:
    """Make the page redirect to a console. It contains the console's token, so only its owner may read it."""
    there = html.escape(address, quote=True)
    _write(path, f'<meta http-equiv="refresh" content="0; url={there}">', f'<a href="{there}">The console</a>')


def close(path: Path, address: str) -> None:
    """Make the page say that no console runs, unless another one has been opened since."""
    if path.is_file() and html.escape(address, quote=True) in path.read_text():
        _write(path, "", CLOSED)


def _write(path: Path, forward: str, words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # do not write through a link, or into a file that others may read
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(PAGE.format(forward=forward, words=words))
