"""Programs that the agent starts and ends: what goes on without them is ended too."""

from __future__ import annotations

import pytest

from agent.__main__ import with_leftovers
from agent.errors import DiskFull, ToolFailed
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

    armed.terminate()

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


@pytest.fixture
def nothing_failed(monkeypatch):
    """No killer has failed yet."""
    monkeypatch.setattr(processes, "_failed_killers", {})


@pytest.mark.parametrize(
    ("killer", "limit_s", "words"),
    [
        (
            "echo 'tried to kill container, but did not receive an exit event' >&2; exit 1",
            60,
            "did not receive an exit event",
        ),
        ("exit 125", 60, "status 125"),
        ("sleep 60", 0.2, "no answer within 0.2 s"),
    ],
)
def test_what_a_killer_could_not_end_is_said_with_what_to_do(
    tmp_path, monkeypatch, nothing_failed, killer, limit_s, words
):
    monkeypatch.setattr(processes, "KILLER_S", limit_s)
    program = Command(["sleep", "60"], tmp_path, killer=["sh", "-c", killer, "kill", "storage-matrix-1f"])
    armed = Armed([program], tmp_path)

    armed.kill()

    assert words in processes.not_ended()
    assert "kill storage-matrix-1f" in processes.not_ended()
    assert "repeat it on that machine" in processes.not_ended()
    failure = {"error": "ToolFailed", "message": "make ended with status 2"}
    assert with_leftovers(None)["error"] == "ContainerNotEnded"
    assert with_leftovers(failure)["error"] == "ToolFailed"
    assert with_leftovers(failure)["message"] == f"make ended with status 2; {processes.not_ended()}"


@pytest.mark.parametrize(
    "words",
    [
        "Error response from daemon: Cannot kill container: x: No such container: x",
        "Error response from daemon: Cannot kill container: x: Container 1f is not running",
        'Error: no container with name or ID "x" found: no such container',
        "Error: can only kill running containers. 1f is in state exited: container state improper",
    ],
)
def test_a_container_that_has_ended_already_is_not_a_failure_to_end_it(tmp_path, nothing_failed, words):
    killer = ["sh", "-c", 'echo "$0" >&2; exit 1', words]

    Armed([Command(["sleep", "60"], tmp_path, killer=killer)], tmp_path).kill()

    assert processes.not_ended() == ""
    assert with_leftovers(None) is None


def test_what_could_not_be_ended_is_tried_again_at_the_end(tmp_path, nothing_failed):
    killer = ["sh", "-c", "test -e again || { touch again; exit 1; }"]
    killer = ["env", "-C", str(tmp_path), *killer]
    Armed([Command(["sleep", "60"], tmp_path, killer=killer)], tmp_path).kill()
    assert processes.not_ended()

    processes.kill_all()

    assert processes.not_ended() == ""


@pytest.mark.parametrize(
    "words", ["fio: ENOSPC on laying out file, stopping", "dd: error writing 'f': No space left on device"]
)
def test_a_program_that_ended_for_want_of_room_says_which_disk_is_full(tmp_path, words):
    script = f'echo "{words}" >&2; exit 1'

    with pytest.raises(DiskFull, match=r"^disk full: [0-9.,]+ of [0-9.,]+ MiB are free in ") as refused:
        processes.run(Command(["sh", "-c", script], tmp_path), tmp_path / "scratch")

    assert str(tmp_path) in str(refused.value)
    assert f"; {words} (`sh -c " in str(refused.value)
