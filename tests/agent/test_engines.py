"""What all engines report besides rate and latency: stalls, and every second."""

from __future__ import annotations

import json
import marshal
import threading
from pathlib import Path

import pytest

from agent.engine import worker_pool
from agent.errors import ToolFailed
from agent.workloads import engines
from contract.keys import HISTOGRAMS

SECOND = 1_000_000_000


def worker(*ends_s):
    """The report of a worker whose operations ended at these seconds; the first is its start."""
    return worker_pool.summarise(worker_pool.Timed.closed([round(end * SECOND) for end in ends_s]))


@pytest.mark.parametrize(
    ("workers", "stall_s"),
    [
        ([(0, 0.01, 0.02, 1.02, 1.03)], 1.0),
        # The other one ends an operation in the middle, so only half a second is without any.
        ([(0, 0.01, 1.01, 1.02), (0, 0.01, 0.51, 1.01, 1.02)], 0.5),
        # Of two that wait one after the other no moment is without an operation that ends soon.
        ([(0, 0.5, *(0.5 + n / 100 for n in range(1, 51))), (*(n / 100 for n in range(51)), 1.0)], 0.0),
        # One has ended its work; nobody is left but the one that waits.
        ([(0, 0.01, 0.02), (0, 0.01, 0.02, 0.82)], 0.8),
        # Two long operations of one worker, one after the other: what ends between them is not a stall.
        ([(0, 0.3, 0.7)], 0.4),
        ([(0, 0.01, 0.05)], 0.0),
    ],
)
def test_a_stall_is_a_time_in_which_nobody_ends_an_operation(workers, stall_s):
    assert engines.longest_stall_ns([worker(*ends) for ends in workers]) / SECOND == pytest.approx(stall_s, abs=1e-6)


@pytest.mark.parametrize(
    ("workers", "processors", "teams"),
    [(1, 16, [[0]]), (3, 16, [[0], [1], [2]]), (5, 2, [[0, 1, 2], [3, 4]]), (4, 1, [[0, 1, 2, 3]])],
)
def test_workers_share_as_many_processes_as_there_are_processors(workers, processors, teams):
    assert [list(team) for team in worker_pool.teams_of(workers, processors)] == teams


def report(tmp_path, *workers):
    """An engine's report, as its file has it."""
    lines = [{"mode": "threads"}, *workers]
    output = tmp_path / "report"
    output.write_bytes(b"".join(marshal.dumps(line) for line in lines))
    operations = sum(one["operations"] for one in workers)
    return engines.read_report(output, threads=len(workers), operations=operations)


def test_every_second_has_its_operations_and_the_longest_stall_is_known(tmp_path):
    # 100 operations of 10 ms in each of three seconds, in the second one of which one takes 510.
    steady = [100 + n / 100 for n in range(101)]
    stalled = [*(101 + n / 100 for n in range(1, 50)), *(102 + n / 100 for n in range(101))]
    done = report(tmp_path, worker(*steady, *stalled))

    assert done.operations_by() == [(100 * SECOND, 0), (101 * SECOND, 100), (102 * SECOND, 150), (103 * SECOND, 250)]
    assert done.longest_stall_s == pytest.approx(0.51)


def test_the_slowest_operation_of_all_workers_is_uploaded_as_it_was(tmp_path):
    # The middle of the bin of 40 s is 39.997 s.
    done = report(tmp_path, worker(0, 0.01, 0.02), worker(0, 40, 40.01), worker(0, 0.01, 30.01))

    uploaded = json.loads(done.outcome("create_lat", {}, {}, {}).raw[HISTOGRAMS])["histograms"]["create_lat"]

    assert uploaded["max_ns"] == 40 * SECOND
    assert str(40 * SECOND) not in uploaded["bins"]


def test_the_plan_of_an_engine_is_in_no_command_line_and_may_be_of_any_length(tmp_path):
    plan = {"phase": "create", "counts": [1], "threads": 1, "directories": [str(tmp_path)], "mode": "processes",
            "pilot_directory": str(tmp_path), "token": "hush" * 100_000}  # fmt: skip
    armed = engines.arm("phases", plan, tmp_path)
    lines = [(Path("/proc") / str(pid) / "cmdline").read_bytes() for pid in armed._pids]
    armed.release()
    armed.wait()

    assert all(b"agent.engine.phases" in line and b"hush" not in line for line in lines)
    assert all(b"hush".hex().encode() not in line for line in lines)


def test_an_engine_ends_when_one_of_its_workers_fails_and_the_others_have_finished(tmp_path):
    folders = [tmp_path / str(number) for number in range(3)]
    for folder in folders:
        folder.mkdir()
    plan = {
        "phase": "create", "counts": [1] * 3, "threads": 3, "directories": [str(folder) for folder in folders],
        "mode": "processes", "pilot_directory": str(tmp_path),
    }  # fmt: skip
    armed = engines.arm("phases", plan, tmp_path)
    folders[1].rmdir()
    # Without the mend it would wait for ever.
    give_up = threading.Timer(20, armed.kill)
    give_up.start()
    armed.release()

    with pytest.raises(ToolFailed, match=r"^FileNotFoundError.*ended with status 1"):
        armed.wait()
    give_up.cancel()
