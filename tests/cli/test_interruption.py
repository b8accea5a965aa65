"""Ctrl-C: the execution is stopped, everything is deleted, and what was measured is said."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ParamValidationError
from support.cli_documents import CELLS, plan_document, progress_rows, rows, summary_document
from support.refusals import refusal
from typer import Exit

from cli.follow import following, interruption, progress, running
from cli.follow.interruption import InterruptCounter, Retry
from cli.follow.running import RunOptions
from cli.inputs.planning import Planned
from cli.messages.errors import CommandError, ExitCode, FunctionFailed, UnknownRun
from cli.target.deployment import Deployment, from_cloud_document, running_local_cloud
from cli.target.run_folders import RunFolders
from cli.target.service import Execution, Service
from local.keeping.disk_space import DISK_FULL
from local.programs import claims
from local.programs.liveness import started_ticks

AT_ONCE = Retry(pause_s=0.0, at_most_s=60.0)
VOLUME, INSTANCE = {"kind": "volume", "id": "vol-1", "run": "r"}, {"kind": "instance", "id": "i-1", "run": "r"}


class FakeService:
    """A deployment whose run goes on until it is stopped. Signals arrive at chosen moments."""

    deployment = Deployment("aws", "storage-matrix", "eu-central-1", None)
    is_here = False

    def __init__(self, answers, interrupt_at_look=2, interrupt_at_reap=()):
        self.answers, self.calls = list(answers), []
        self.interrupt_at_look, self.interrupt_at_reap = interrupt_at_look, interrupt_at_reap
        self.looks = self.passes = 0
        self.status = "RUNNING"

    def start(self, run, _matrix):
        self.calls.append(f"start {run}")
        return True

    def execution(self, run):
        return Execution(run, self.status, started_at=0)

    def point_rows(self, run, cell):
        return []

    def progress_rows(self, _run):
        self.looks += 1
        if self.looks == self.interrupt_at_look:
            os.kill(os.getpid(), signal.SIGINT)
        return progress_rows()

    def stop(self, run, _cause):
        self.calls.append(f"stop {run}")
        self.status = "ABORTED"

    def reap(self, run, *, dry_run=False):
        assert not dry_run
        self.calls.append(f"reap {run}")
        self.passes += 1
        if self.passes in self.interrupt_at_reap:
            os.kill(os.getpid(), signal.SIGTERM)
        answer = self.answers.pop(0) if self.answers else {"deleted": [], "remaining": []}
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def flag(self):
        return self.deployment.flag

    def where(self, run):
        return f"s3://results/runs/{run}/"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    """Look and clean up without waiting for AWS."""
    monkeypatch.setitem(following.POLL_EVERY_S, "aws", 0.0)
    monkeypatch.setattr(following, "FAILED_POLL_PAUSE_S", 0.0)
    for retry in ("AWS_RETRY", "LOCAL_RETRY"):
        monkeypatch.setattr(running, retry, AT_ONCE)


def run_interrupted(service, **options):
    """Run until the interruption; return what is said at the end."""
    with pytest.raises(CommandError) as ended:
        running.run_to_end(service, Planned({}, plan_document()), RunOptions("r", **options))
    return ended.value


def one_volume_left():
    """A deployment where a volume remains, and the second interruption comes with the first pass."""
    return FakeService([{"deleted": [], "remaining": [VOLUME]}] * 9, interrupt_at_reap=(1,))


def local(process=None):
    """A local cloud, by default one without a process."""
    return Deployment("local", "s", "us-east-1", "http://localhost:1", process=process)


def test_ctrl_c_stops_the_execution_then_reaps_until_nothing_is_found_twice(capsys):
    service = FakeService(
        [{"deleted": [INSTANCE], "remaining": [VOLUME]}, {"deleted": [VOLUME], "remaining": []}, {}, {}]
    )

    said = run_interrupted(service)

    assert service.calls == ["start r", "stop r", "reap r", "reap r", "reap r", "reap r"]
    assert said.code == ExitCode.INTERRUPTED
    assert "deleted: instance i-1, volume vol-1" in said.message
    out = capsys.readouterr().out
    assert out.index("run r: STOPPING") < out.index("stopping the execution") < out.index("remaining: volume vol-1")


COMPLETE = {"run": "r", "is_complete": True, "sweep": {"at": 1.0, "remaining": 0}}


def test_a_run_stopped_elsewhere_ends_with_what_the_other_command_says():
    class Stopped(FakeService):
        """The cell that was analysed when the run was stopped is measured a moment later."""

        flag = "--stack storage-matrix"

        def progress_rows(self, _run):
            return rows("measured", "running")

        def document(self, _run, name):
            return COMPLETE | {"totals": {"gone": 9, "resources": 9}} if name == "receipt.json" else None

    execution = Execution("r", "ABORTED", 1.0, 2.0, running.INTERRUPTED, "stopped")
    before = progress.read(rows("analysing", "running"), plan_document(), execution)
    service = Stopped([])
    service.execution = lambda _run: execution
    with pytest.raises(CommandError, match="run r was stopped") as ended:
        running.finish(service, before, as_json=False)

    assert "deleted: 9 of 9 resources" in ended.value.message
    assert "measured before: 1 of 2 cells" in ended.value.message
    assert ended.value.advice == "measure the rest: `matrix run --resume r --stack storage-matrix`"
    # Nothing of it seems to go on meanwhile.
    assert {cell.state for cell in progress.stopping(before).cells} == {"stopped"}


def test_ctrl_c_while_the_command_is_imported_is_one_line(tmp_path):
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")

    ended = subprocess.run(
        [sys.executable, "-m", "storage_matrix", "results", "r"], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[2], env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip

    assert ended.returncode == ExitCode.INTERRUPTED
    assert len(ended.stderr.splitlines()) == 1


def test_ctrl_c_ends_only_the_view_of_a_run_that_another_command_has_started(capsys):
    class Others(FakeService):
        def start(self, run, _matrix):
            return False

    service = Others([])

    said = run_interrupted(service)

    assert (service.calls, service.status) == ([], "RUNNING")
    assert said.code == ExitCode.INTERRUPTED
    assert "run r is running already" in capsys.readouterr().out


@pytest.mark.parametrize("has_header", [True, False])
def test_the_first_of_two_commands_with_one_name_and_matrix_owns_the_run(cloud, monkeypatch, has_header):
    """StartExecution is idempotent: it succeeds for both. AWS may put a trace header of its own in place of ours."""
    service = Service(running_local_cloud())
    states = service._states
    start, kept = states.start_execution, []

    def start_traced(*, traceHeader, **fields):  # noqa: N803 - as boto3 calls it
        kept.append(traceHeader if has_header else "Root=1-657a147a-c149c6d2302acc758d8bb4ec;Sampled=1")
        return start(**fields)

    describe = states.describe_execution
    monkeypatch.setattr(states, "start_execution", start_traced)
    monkeypatch.setattr(states, "describe_execution", lambda **which: describe(**which) | {"traceHeader": kept[0]})

    owns = [service.start("joint", {"name": "m"})]
    if not has_header:
        monkeypatch.setattr("cli.target.service.STARTED_JUST_NOW", timedelta(seconds=-2))
    owns.append(service.start("joint", {"name": "m"}))

    assert owns == [True, False]
    with pytest.raises(ClientError, match="ExecutionAlreadyExists"):
        service.start("joint", {"name": "other"})


def test_a_clean_up_that_never_succeeds_ends_and_says_why(monkeypatch):
    monkeypatch.setattr(running, "AWS_RETRY", Retry(pause_s=0.1, at_most_s=0.2))

    said = run_interrupted(FakeService([FunctionFailed("throttled")] * 99))

    assert "deleted: nothing yet" in said.message
    assert "CLEAN-UP NOT FINISHED (throttled): it is not known what is still there" in said.message


def test_a_second_interruption_says_how_to_finish_by_hand():
    service = one_volume_left()

    said = run_interrupted(service)

    assert service.passes == 1
    assert "CLEAN-UP NOT FINISHED" in said.message
    assert "still there: volume vol-1" in said.message
    assert said.advice == "finish by hand: matrix reap --run r --stack storage-matrix --region eu-central-1"


def test_a_second_interruption_of_a_local_run_leaves_nothing_to_do_where_its_cloud_ends_with_it(keep_run, workdir):
    keep_run("r")
    service = one_volume_left()
    service.deployment = local(this_process())

    said = run_interrupted(service, ends_cloud=True)

    assert "deleted: everything goes with the local cloud" in said.message
    assert "NOT FINISHED" not in said.message
    assert said.advice == "measure the rest: `matrix run --resume r --local`"

    # A command that uses the cloud keeps it up, with all that is in it.
    service = one_volume_left()
    service.deployment = local(this_process())
    with claims.used(workdir):
        said = run_interrupted(service, ends_cloud=True)
    assert "still there: volume vol-1" in said.message
    assert said.advice == "finish by hand: matrix reap --run r --local"


@pytest.mark.parametrize("unasked", [[], ["ebs-snapshot: denied"]])
def test_what_a_faster_sweep_has_deleted_is_said_as_in_the_receipt(unasked):
    service = FakeService([])
    receipt = COMPLETE | {"totals": {"resources": 3, "gone": 3}, "unasked": unasked}
    service.document = lambda run, name: receipt if (run, name) == ("r", "receipt.json") else None

    said = run_interrupted(service)

    assert "deleted: 3 of 3 resources that it had created" in said.message
    assert "nothing was left" not in said.message
    assert ("not certain that nothing is left: not searched: ebs-snapshot" in said.message) is bool(unasked)


def this_process():
    """A process that is alive."""
    return os.getpid(), started_ticks(os.getpid())


def unknown_at_first(service, looks):
    """A description that does not know a new run yet, as AWS documents."""
    execution, failures = service.execution, iter([UnknownRun("no run r", "")] * looks)

    def describe(run):
        service.calls.append("describe")
        for failure in failures:
            raise failure
        return execution(run)

    service.execution = describe


def test_a_run_that_step_functions_does_not_know_yet_is_looked_for_again():
    service = FakeService([])
    unknown_at_first(service, looks=following.MAX_FAILED_POLLS - 1)

    said = run_interrupted(service)  # by the signal of its second look at the rows, so it was followed until then

    assert service.calls[: following.MAX_FAILED_POLLS + 1] == ["start r", *["describe"] * following.MAX_FAILED_POLLS]
    assert "interrupted" in said.message


def test_a_run_that_stays_unknown_is_lost_sight_of_and_said_to_go_on():
    service = FakeService([])
    unknown_at_first(service, looks=99)

    said = run_interrupted(service)

    assert "lost sight of run r" in said.message
    assert "the run itself goes on" in said.advice


def test_a_run_that_is_not_known_yet_is_stopped_all_the_same():
    service = FakeService([])
    unknown_at_first(service, looks=1)

    interruption.stop_and_clean(service, "r", print, InterruptCounter(), AT_ONCE)

    assert service.calls[:2] == ["describe", "stop r"]


def test_a_run_that_has_ended_meanwhile_is_not_stopped_again():
    service = FakeService([])
    service.stop = None
    service.execution = lambda run: Execution(run, "SUCCEEDED" if service.looks >= 2 else "RUNNING", started_at=0)

    assert "interrupted" in run_interrupted(service).message


def test_a_local_run_keeps_its_files_and_names_the_failed_cell(cloud, capsys, workdir):
    class Ending(Service):
        """The run ends as soon as it is looked at."""

        def progress_rows(self, run):
            cloud.write_rows(run, rows("measured", "failed"))
            cloud.write_document(run, "summary.json", summary_document(run, ("measured", "failed")))
            cloud.write_document(run, "cells/c/instances/AROA:i-1/samples.json", {})
            cloud.write_document(run, "cells/../../../../outside.json", {})
            cloud.end(run)
            return super().progress_rows(run)

    with pytest.raises(Exit) as ended:
        running.run_to_end(Ending(running_local_cloud()), Planned({}, plan_document()), RunOptions("r"))

    assert ended.value.exit_code == ExitCode.FAILED
    said = capsys.readouterr().out
    assert f"{CELLS[1]}: ToolMissing: fio is not installed" in said
    assert "matrix run --resume r" in said
    assert (workdir / "runs/r/cells/c/instances/AROA:i-1/samples.json").exists()
    assert not list(Path(workdir.parent).rglob("outside.json"))


def test_that_the_local_cloud_has_ended_is_said_within_seconds(workdir):
    cloud = subprocess.Popen(["sleep", "1000"])
    keys = {"access_key": "LOCAL", "secret_key": "local"}  # pragma: allowlist secret
    machine = "arn:aws:states:us-east-1:123456789012:stateMachine:m"
    document = {"endpoint": "http://localhost:1", "region": "us-east-1", "outputs": {"StateMachineArn": machine},
                "pid": cloud.pid, "started_ticks": started_ticks(cloud.pid), **keys}  # fmt: skip

    class Started(Service):
        """Its run has begun; then its cloud is killed, which nobody has collected yet."""

        def start(self, _run, _matrix):
            cloud.kill()
            return True

    began = time.monotonic()
    said = run_interrupted(Started(from_cloud_document(document)))
    took_s = time.monotonic() - began
    cloud.wait()

    assert took_s < 60  # 1 s alone; who only asked on would do so for ever
    assert "the local cloud has ended, and run r with it" in said.message
    assert "matrix results r --local" in said.advice


def test_a_local_cloud_that_ends_with_the_run_that_is_stopped_has_taken_everything_along(keep_run, capsys):
    """The command that has started the run ends its cloud as soon as it sees the run end, while `stop` cleans up."""
    keep_run("r")
    cloud = subprocess.Popen(["sleep", "1000"])

    class Ending(FakeService):
        deployment = local((cloud.pid, started_ticks(cloud.pid)))

        def reap(self, run, *, dry_run=False):
            cloud.kill()
            cloud.wait()
            raise EndpointConnectionError(endpoint_url="http://localhost:1")

        def execution(self, run):
            assert cloud.returncode is None, "nobody answers any more"
            return super().execution(run)

    running.stop_on_request(Ending([], interrupt_at_look=None), "r", plan_document(), as_json=False)

    said = capsys.readouterr().out
    assert "run r was stopped" in said
    assert "deleted: everything goes with the local cloud" in said
    assert "tried again" not in said
    assert "matrix run --resume r" in said


def test_a_stopped_run_is_one_document_for_a_program(keep_run, capsys):
    keep_run("r")
    volume = {"kind": "volume", "id": "vol-1"}
    service = FakeService([{"deleted": [volume], "remaining": []}, {}, {}], interrupt_at_look=None)

    running.stop_on_request(service, "r", plan_document(), as_json=True)

    stopped = json.loads(capsys.readouterr().out)
    assert (stopped["run"], stopped["is_clean"], stopped["remaining"]) == ("r", True, [])
    assert stopped["deleted"] == [volume]


def test_results_are_shown_though_the_cloud_was_killed_just_after_them(keep_run, workdir, capsys):
    keep_run("r")
    cloud = subprocess.Popen(["sleep", "1000"])
    process = (cloud.pid, started_ticks(cloud.pid))
    cloud.kill()
    cloud.wait()

    class Killed(Service):
        """Nobody answers any more."""

        def reap(self, _run):
            raise ConnectionError("Connection was closed")

    execution = Execution("r", "SUCCEEDED", 1.0, 2.0)
    with pytest.raises(Exit) as ended:
        running.finish(Killed(local(process)), progress.read([], plan_document(), execution), as_json=False)

    assert ended.value.exit_code == ExitCode.MEASURED
    assert "  matrix report r --open" in capsys.readouterr().out


class Swept(Service):
    """A local run whose receipt is open at the first looks."""

    def __init__(self, open_looks):
        super().__init__(local())
        self.__dict__.update(open_looks=open_looks, reaped=[])

    def has_open_receipt(self, _run):
        self.__dict__["open_looks"] -= 1
        return self.open_looks >= 0

    def reap(self, run):
        self.reaped.append(run)


@pytest.mark.parametrize(
    ("open_looks", "within_s", "receipt", "reaped"),
    [
        pytest.param(0, 60, None, [], id="it is complete"),
        pytest.param(2, 60, {"sweep": None, "is_complete": False}, [], id="its sweep completes it"),
        pytest.param(
            2, 60, {"sweep": {"at": 1, "remaining": 1}, "is_complete": False}, ["r"], id="its sweep fell short"
        ),
        pytest.param(2, 60, {"sweep": {"at": 1, "remaining": 0}, "is_complete": True}, [], id="it is being written"),
        pytest.param(9, -1, None, ["r"], id="nobody sweeps it"),
    ],
)
def test_the_sweep_that_the_end_of_a_local_run_starts_is_waited_for_and_not_started_twice(
    monkeypatch, open_looks, within_s, receipt, reaped
):
    monkeypatch.setattr(running, "SWEPT_WITHIN_S", within_s)
    monkeypatch.setattr(RunFolders, "document", lambda *_: receipt)
    service = Swept(open_looks)

    running._complete_receipt(service, "r")

    assert service.reaped == reaped


def test_a_full_disk_is_not_asked_to_delete_anything(keep_run):
    keep_run("r")

    class Full(Service):
        """Each call of a function would be tried for a minute."""

        def reap(self, _run):
            pytest.fail("a function was invoked")

        def document(self, _run, _name):
            return None

    execution = Execution("r", "ABORTED", 1.0, 2.0, DISK_FULL, "the disk of /x is full")
    with pytest.raises(CommandError, match="DiskFull: the disk of /x is full"):
        running.finish(Full(local()), progress.read([], plan_document(), execution), as_json=False)


DENIED = refusal("AccessDenied", status=403)


def failing(service, error, looks):
    """Let the first looks at the rows fail."""
    rows, failures = service.progress_rows, iter([error] * looks)

    def answer(run):
        service.calls.append("look")
        for failure in failures:
            raise failure
        return rows(run)

    service.progress_rows = answer


def test_looks_that_fail_are_told_once_with_the_reason(capsys):
    service = FakeService([])
    failing(service, EndpointConnectionError(endpoint_url="https://dynamodb"), following.MAX_FAILED_POLLS - 1)

    run_interrupted(service)

    printed = capsys.readouterr().out
    assert printed.count("run r is not seen, looking again: cannot reach AWS") == 1
    assert printed.count("run r is seen again") == 1


@pytest.mark.parametrize(
    ("error", "reason"), [(DENIED, "AWS denies access"), (ParamValidationError(report="x"), "Parameter validation")]
)
def test_a_look_that_no_further_one_mends_is_the_last(error, reason):
    service = FakeService([])
    failing(service, error, 99)

    assert f"lost sight of run r: {reason}" in run_interrupted(service).message
    assert service.calls.count("look") == 1


def test_a_clean_up_that_no_further_pass_mends_is_given_up_at_once():
    service = FakeService([DENIED] * 99)

    said = run_interrupted(service)

    assert service.passes == 1
    assert "AWS denies access" in said.message
