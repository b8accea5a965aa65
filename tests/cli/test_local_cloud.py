"""The local cloud as a child process: waited for, quoted when it fails, ended whatever happens."""

import json
import os
import sys
from pathlib import Path

import pytest
from botocore.loaders import JSONFileLoader

from cli.messages.errors import CloudDidNotStart
from cli.target import cloud_process, local_cloud
from local.programs import memory

READY = json.dumps({"endpoint": "http://localhost:1", "region": "us-east-1", "stack": "s", "outputs": {"A": "b"},
                    "access_key": "LOCAL", "secret_key": "local",  # pragma: allowlist secret
                    "pid": 1, "started_ticks": 1, "left_by_others": []})  # fmt: skip


@pytest.fixture
def plays(monkeypatch, tmp_path):
    """Let a script play the local cloud."""

    def play(script):
        path = tmp_path / "cloud.py"
        path.write_text(script)
        monkeypatch.setattr(cloud_process, "COMMAND", (sys.executable, str(path)))
        monkeypatch.setattr(JSONFileLoader, "load_file", JSONFileLoader.load_file)  # which the start replaces

    return play


def is_alive(pid):
    """Whether a process is still there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_cloud_is_used_when_it_says_it_is_ready_and_ends_with_the_block(plays, tmp_path):
    plays(
        "import os, sys; open('pid', 'w').write(str(os.getpid())); print('starting')\n"
        f"print('''{READY}''', flush=True); sys.stdin.read()"
    )

    with local_cloud.started() as found:
        assert (found.environment, found.endpoint, found.outputs) == ("local", "http://localhost:1", {"A": "b"})
        pid = int((tmp_path / "pid").read_text())
        assert os.getsid(pid) != os.getsid(0), "Ctrl-C in our terminal would reach the cloud too"

    assert not is_alive(pid)


def test_a_prepared_cloud_begins_at_a_word_and_ends_untouched_without_it(plays, tmp_path):
    plays(
        "import sys\n"
        "if sys.stdin.read(1):\n"
        f"    open('begun', 'w').close(); print('''{READY}''', flush=True); sys.stdin.read()"
    )

    with local_cloud.prepared(is_wanted=True) as unwanted:
        pass
    assert unwanted.returncode == 0
    assert not (tmp_path / "begun").exists()

    with local_cloud.prepared(is_wanted=True) as child, local_cloud.running_or_started(child) as found:
        assert found.endpoint == "http://localhost:1"
        assert (tmp_path / "begun").exists()
    assert child.returncode == 0


def test_a_run_on_this_machine_finds_its_cloud_started_before_the_command_line_is_imported(plays):
    plays("import sys; sys.stdin.read()")
    run = ["run", "matrix.json", "--local"]
    for arguments in ([*run, "--resume", "r"], [*run, "--help"], run[:2], ["plan", *run[1:]]):
        cloud_process.start_early(arguments)
        assert cloud_process.started_early() is None, arguments

    cloud_process.start_early(run)
    [early] = cloud_process._started_early
    with local_cloud.prepared(is_wanted=True) as child:
        assert child is early

    assert early.returncode == 0
    assert cloud_process.started_early() is None


def test_the_stack_is_our_own_whatever_folder_one_is_in(plays, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plays(
        "import pathlib, sys; open('argv', 'w').write(sys.argv[sys.argv.index('--template') + 1])\n"
        f"print('''{READY}''', flush=True); sys.stdin.read()"
    )

    with local_cloud.started():
        template = Path((tmp_path / "argv").read_text())

    assert template == Path(__file__).resolve().parents[2] / "template.yaml"
    assert template.is_file()


def test_a_cloud_that_does_not_start_is_quoted(plays):
    plays("import sys; sys.exit('port 5000 is taken')")

    with pytest.raises(CloudDidNotStart, match=r"exit code 1: it said:\nport 5000 is taken"), local_cloud.started():
        pass


def test_a_cloud_that_is_never_ready_is_not_waited_for_for_ever(plays, monkeypatch):
    monkeypatch.setattr(local_cloud, "READY_WITHIN_S", 0.3)
    plays("import sys; sys.stdin.read()")

    with pytest.raises(CloudDidNotStart, match="not ready within"), local_cloud.started():
        pass


def test_a_cloud_that_will_not_end_is_ended(plays, monkeypatch):
    monkeypatch.setattr(local_cloud, "ENDS_WITHIN_S", 0.3)
    plays(f"import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('''{READY}''', flush=True)\n"
          "time.sleep(60)")  # fmt: skip

    child = local_cloud.start()
    local_cloud.wait_until_ready(child)
    local_cloud.stop(child)

    assert child.returncode == -9


def test_a_cloud_that_was_killed_is_said_with_the_memory_that_it_needs(plays, capsys):
    plays("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    with pytest.raises(CloudDidNotStart), local_cloud.started():
        pytest.fail("it never was ready")

    assert "Linux does so where memory runs out" in capsys.readouterr().err


@pytest.mark.parametrize(("available_mib", "is_warned"), [(1024, True), (8192, False)])
def test_little_memory_is_said_before_a_run(plays, capsys, monkeypatch, available_mib, is_warned):
    monkeypatch.setattr(memory, "available_mib", lambda: available_mib)
    plays(f"import sys; print('''{READY}''', flush=True); sys.stdin.read()")

    with local_cloud.started():
        warning = capsys.readouterr().err

    assert ("Warning: 1,024 MiB of memory are free" in warning) == is_warned
