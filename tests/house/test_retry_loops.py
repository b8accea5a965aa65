"""Every loop that waits is one of agent/retrying.py and aws/stack/retrying.py, or says here why it is not.

They log the first failure with its reason, and give up what no attempt mends (mending.py). A loop of one's own that
swallows failures hid for 900 s why no fleet could start.
"""

import ast
from collections.abc import Iterator
from inspect import getmembers, isclass
from pathlib import Path

import botocore.exceptions
import pytest

from local.corrections.yaml_template import load
from matrix.terms import errors

ROOT = Path(__file__).parents[2]
HOUSES = ("agent", "functions", "cli", "local")
OURS = ("agent/retrying.py", "functions/aws/stack/retrying.py")
PAUSES = {"sleep", "_sleep", "wait"}

# "file: function" of each other loop that waits, or that begins again after an error, and why it may.
REASONS = {
    # Waiting for a moment, for an event or for others, in which nothing fails.
    "agent/board/barrier.py: wait": "its looks have a Series each, and what no look mends is raised",
    "agent/board/barrier.py: repeat": "the other thread of wait: it hands on what it is refused",
    "agent/board/barrier.py: sleep_until": "waits for the clock",
    "agent/board/heartbeat.py: _beat": "its beats have a Series, and what no beat mends ends it",
    "agent/engine/arrivals.py: work": "waits for the time of the next arrival",
    "agent/engine/creates.py: create_all": "paces requests of an emulated storage",
    "agent/engine/object_requests.py: _repeated": "each is counted in the sample, and what none mends is raised",
    "agent/engine/exports.py: look": "looks each second until all is there; a failure is raised",
    "agent/engine/phases.py: list_all": "paces requests of an emulated storage",
    "agent/engine/reads.py: read": "paces requests of an emulated storage",
    "agent/machine/traffic.py: _sample": "reads counters at even distances",
    "agent/programs/processes.py: _report_early_end": "waits for processes of its own, for a second",
    "cli/console/opening.py: stay": "serves as long as a page asks",
    "cli/follow/following.py: follow": "says the first failure, and gives up what no look mends",
    "cli/follow/following.py: _sleep": "sleeps until somebody interrupts",
    "cli/follow/interruption.py: sleep": "sleeps until somebody interrupts",
    "cli/follow/interruption.py: _reap_until_empty": "says each new failure, and gives up what no pass mends",
    "cli/follow/running.py: _is_completed": "waits for the sweep of a local run; a failure is raised",
    "cli/target/local_cloud.py: wait_until_ready": "reads lines of a child until one says it is ready",
    "cli/target/local_cloud.py: running_or_started": "begins again only where another command was faster to start it",
    "cli/target/local_cloud.py: leave": "waits for the end of a child for some seconds, then ends it",
    "cli/target/local_cloud.py: stop": "ends a child by three means, each once",
    "cli/target/logs.py: follow": "looks until the cell ends; a failure is raised",
    "cli/verify/measurements.py: complete_receipt": "a few sweeps; a failure is raised",
    # The local cloud plays what AWS does, and ends its own processes.
    "local/server.py: claim": "waits for another cloud's end; a folder that cannot be used is raised at once",
    "local/functions/runtime.py: deliver": "plays Lambda, which keeps an event that it throttles for six hours",
    "local/instances/player.py: _stay_until_described": "waits until EC2 has described an instance",
    "local/instances/player.py: _boot": "plays a boot",
    "local/instances/player.py: _wait_for_first": "waits for the first sign of a process",
    "local/instances/vm/nfs.py: _start": "waits for a port of a child for some seconds, and raises the end of its log",
    "local/keeping/room.py: _watch": "looks at the disk at even distances, and logs each failure",
    "local/programs/leftovers.py: end_processes": "waits for processes that were killed",
    "local/programs/processes.py: _start": "asks another fork server, three at most, where one was killed",
    "local/programs/processes.py: _wait_for_ends": "waits for processes that were killed",
    "local/step_functions/events.py: _fire_schedules": "fires schedules",
    "local/step_functions/interpreter.py: stop": "waits for a thread that has just begun",
    "local/step_functions/interpreter.py: wait": "plays a Wait",
    # Begins again without a pause.
    "agent/file_server.py: _append": "takes what a client sends to its end, then raises why it was not written",
    "agent/board/blackboard.py: get_range": "four times more; each is counted in the sample",
}


def _loops(file: Path) -> Iterator[tuple[str, ast.For | ast.While]]:
    """Yield each loop of a module with the name of the function that it is in."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, ast.For | ast.While]]:
        for child in ast.iter_child_nodes(node):
            name = child.name if isinstance(child, ast.FunctionDef) else function
            if isinstance(child, ast.For | ast.While):
                yield name, child
            yield from walk(child, name)

    yield from walk(ast.parse(file.read_text(encoding="utf-8")), "")


def _inside(loop: ast.AST) -> Iterator[ast.AST]:
    """Yield what a loop does in each turn, without the functions that it defines."""
    for child in ast.iter_child_nodes(loop):
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield child
            yield from _inside(child)


def _waits(loop: ast.AST) -> bool:
    calls = (node.func for node in _inside(loop) if isinstance(node, ast.Call))
    return any(getattr(call, "attr", getattr(call, "id", "")) in PAUSES for call in calls)


def _begins_again(loop: ast.For | ast.While) -> bool:
    """Say whether a loop makes one thing again after an error: it counts, or has no end, and swallows."""
    counts = isinstance(loop, ast.While) or "range(" in ast.unparse(loop.iter)
    handlers = [node for node in _inside(loop) if isinstance(node, ast.ExceptHandler)]
    ends = (ast.Raise, ast.Return, ast.Break)
    return counts and any(not isinstance(handler.body[-1], ends) for handler in handlers)


def places(root: Path = ROOT) -> set[str]:
    """Return each loop that waits, or begins again, outside of the modules that are for it."""
    return {
        f"{name}: {function}"
        for house in HOUSES
        for file in (root / house).rglob("*.py")
        if (name := file.relative_to(root).as_posix()) not in OURS
        for function, loop in _loops(file)
        if _waits(loop) or _begins_again(loop)
    }


def test_each_loop_that_waits_is_of_the_helper_or_has_its_reason():
    assert places() - REASONS.keys() == set(), "use retried() or Series, or say in REASONS why not"
    assert REASONS.keys() - places() == set(), "no such loop any more"


def test_a_loop_that_swallows_and_sleeps_is_seen(tmp_path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "new.py").write_text(
        "def ask():\n    while True:\n        try:\n            return put()\n        except Error:\n            pass\n"
        "def poll():\n    for _ in range(3):\n        time.sleep(1)\n"
        "def each():\n    for n in names:\n        try:\n            read(n)\n        except Error:\n            pass\n"
    )

    assert places(tmp_path) == {"agent/new.py: ask", "agent/new.py: poll"}


# --- the state machine -----------------------------------------------------------------------------------------------

NOT_GRANTED = {"NotGranted", "Lambda.AccessDeniedException"}
IAM_S = 60


def _retriers(machine: dict) -> Iterator[tuple[str, dict]]:
    for name, state in machine["States"].items():
        yield from ((name, retrier) for retrier in state.get("Retry", []))
        for inner in (state.get("ItemProcessor"), *state.get("Branches", [])):
            if inner:
                yield from _retriers(inner)


RETRIERS = list(_retriers(load((ROOT / "statemachine/run.asl.yaml").read_text(encoding="utf-8"))))
# What a function of ours can raise; of Lambda's own errors the names have a dot.
RAISED = {name for module in (errors, botocore.exceptions) for name, _ in getmembers(module, isclass)}


@pytest.mark.parametrize(("state", "retrier"), RETRIERS, ids=[f"{state}-{n}" for n, (state, _) in enumerate(RETRIERS)])
def test_a_state_is_entered_again_only_where_lambda_itself_failed(state, retrier):
    """No error of a function is retried: what botocore could mend it has tried, and no retry mends the rest."""
    names = set(retrier["ErrorEquals"])
    if names == NOT_GRANTED:
        # IAM is eventually consistent: seconds after a deployment a role may be denied what it was granted.
        assert state == "Plan matrix"
        waits_s = [retrier["IntervalSeconds"] * retrier["BackoffRate"] ** n for n in range(retrier["MaxAttempts"])]
        assert sum(waits_s) <= IAM_S
        return
    assert not names & (RAISED | {"States.ALL", "States.TaskFailed", "Exception"})
    # A task times out later than its function: the answer of Lambda is lost (tests/template/test_definition.py).
    of_lambda = names - {"States.Timeout"}
    assert all(name.startswith(("Lambda.", "Sandbox.", "Runtime.ExitError")) for name in of_lambda)
