"""The console opens with a command, prints its address, and ends with it unless somebody looks."""

import threading
import urllib.request
from types import SimpleNamespace

import pytest
import typer
from support.runs import until

from cli.console import opening
from cli.console.stopping import AsCtrlC, OwnStop
from cli.messages.errors import CommandError, ExitCode
from cli.target.deployment import Deployment
from cli.target.service import Service

SERVICE = Service(Deployment("local", "s", "us-east-1", None))


@pytest.fixture(autouse=True)
def no_runs(monkeypatch):
    """A deployment without any run."""
    monkeypatch.setattr(Service, "executions", lambda *_: [])


def test_without_web_nothing_is_served(capsys):
    with opening.following(SERVICE, "r", is_wanted=False):
        pass

    assert capsys.readouterr().err == ""


def follow(error, during, **options):
    """Follow a run that ends with an error."""
    with opening.following(SERVICE, "r", is_wanted=True, **options):
        during()
        raise error


def test_a_command_that_nobody_looks_at_ends_at_once_with_its_own_exit_code(capsys, workdir):
    seen = []

    with pytest.raises(typer.Exit) as end:
        follow(typer.Exit(1), lambda: seen.append((workdir / "console.html").read_text()))

    assert end.value.exit_code == 1
    assert "http-equiv" in seen[0]
    address = capsys.readouterr().err.splitlines()[0].split()[-1]
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address.partition("#")[0])


def _ask(address):
    place, _, token = address.partition("#token=")
    request = urllib.request.Request(f"{place}api/runs", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


def test_a_console_stays_as_long_as_a_page_asks_and_then_ends_with_the_exit_code(capsys, monkeypatch):
    monkeypatch.setattr(opening, "NOBODY_AFTER_S", 0.1)

    with pytest.raises(typer.Exit) as end:
        follow(CommandError("one cell failed", "look", 1), lambda: _ask(capsys.readouterr().err.split()[-1]))

    assert end.value.exit_code == 1
    shown = capsys.readouterr().err
    assert shown.index("one cell failed") < shown.index("The console stays while its page is open")


def test_the_page_of_a_run_that_has_ended_is_waited_for(capsys, monkeypatch):
    monkeypatch.setattr(opening, "NOBODY_AFTER_S", 0.1)
    answered = []

    def visit(address):
        _ask(address)
        answered.append(address)

    def visit_later():
        address = capsys.readouterr().err.split()[-1]
        later = threading.Timer(0.3, visit, [address])
        later.start()
        visitors.append(later)

    visitors = []
    with pytest.raises(typer.Exit):
        follow(typer.Exit(0), visit_later, has_ended=True)

    visitors[0].join()
    assert len(answered) == 1


def test_who_has_pressed_ctrl_c_in_the_terminal_need_not_press_it_again(capsys):
    interrupted = CommandError("run r interrupted", "", ExitCode.INTERRUPTED)

    with pytest.raises(CommandError, match="interrupted"):
        follow(interrupted, lambda: _ask(capsys.readouterr().err.split()[-1]), is_own=True)

    assert "stays" not in capsys.readouterr().err


def test_stop_in_the_page_of_a_finished_command_stops_the_run_once_and_says_what_became_of_it(monkeypatch):
    over, asked = threading.Event(), []

    def stop_run(_service, run, _plan, lines, _counter):
        asked.append(run)
        lines.say("cells end")
        over.wait(10)
        return None, SimpleNamespace(is_complete=True)

    monkeypatch.setattr("cli.console.stopping.running.stop", stop_run)
    monkeypatch.setattr("cli.console.stopping.readable", lambda _: None)
    monkeypatch.setattr("cli.console.stopping.interruption.what_became", lambda *_: [" nothing is left "])
    stop = OwnStop(SimpleNamespace())

    assert stop.view("mine") == {"state": "no", "lines": []}
    stop.start("mine")
    stop.start("mine")
    until(lambda: stop.view("mine") == {"state": "stopping", "lines": ["cells end"]}, "the clean-up")
    over.set()
    until(lambda: stop.view("mine") == {"state": "stopped", "lines": ["cells end", "nothing is left"]}, "its end")
    stop.start("mine")
    assert asked == ["mine"]


def test_stop_in_the_page_interrupts_the_command_once_as_ctrl_c_does(monkeypatch):
    signals = []
    others = SimpleNamespace(start=signals.append, view=lambda run: {"state": "no", "lines": []})
    monkeypatch.setattr("os.kill", lambda _, number: signals.append(number.name))
    stop = AsCtrlC("mine", others)

    assert stop.view("mine")["state"] == "no"
    stop.start("mine")
    stop.start("mine")
    stop.start("other")

    assert signals == ["SIGINT", "other"]
    assert stop.view("mine")["state"] == "stopping"
    stop.has_ended = True
    assert stop.view("mine")["state"] == "stopped"


def test_all_is_printed_before_the_page_is_waited_for_and_ctrl_c_then_changes_no_exit_code(capsys, monkeypatch):
    said = []

    class Asked:
        def is_set(self):
            return True

        def clear(self):
            said.append("waits")
            raise KeyboardInterrupt

    console = opening.OpenConsole("", SimpleNamespace(console=SimpleNamespace(asked=Asked())), None)

    with opening.before_waiting(lambda: said.append("the answer")):
        console.stay()

    assert said == ["the answer", "waits"]
