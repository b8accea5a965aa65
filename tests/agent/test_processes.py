"""Programs that the agent starts and ends: what goes on without them is ended too."""

from __future__ import annotations

import pytest

from agent.errors import ToolFailed
from agent.programs import processes
from agent.programs.processes import Armed, Command


@pytest.fixture
def killed(tmp_path):
    """A file that a killer makes."""
    return tmp_path / "killed"


def command(script, killed):
    return Command(["sh", "-c", script], killed.parent, killer=["touch", str(killed)])


@pytest.mark.parametrize("end", [lambda armed: armed.kill(), lambda armed: processes.kill_all()])
def test_what_goes_on_without_a_program_ends_when_the_program_is_killed(killed, end):
    armed = Armed([command("sleep 60", killed)], killed.parent)
    armed.release()

    end(armed)

    assert killed.exists()


def test_what_goes_on_without_a_program_ends_when_another_thread_strikes_it(killed):
    armed = Armed([command("sleep 60", killed)], killed.parent)
    armed.release()

    armed.strike()

    with pytest.raises(ToolFailed, match="signal SIGKILL"):
        armed.wait()
    assert killed.exists()


def test_a_program_that_ends_by_itself_has_left_nothing_to_end(killed):
    processes.run(command("true", killed), killed.parent)

    assert not killed.exists()


def test_of_a_long_command_line_who_runs_and_what_it_runs_are_said():
    line = processes.describe(["docker", "run", *["--env", "A=b"] * 50, "-c", "set -u\nmake  all"])

    assert len(line) <= 160
    assert line.startswith("docker run --env A=b")
    assert line.endswith("-c set -u make all")
