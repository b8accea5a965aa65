"""Zero-byte creates end to end: a real agent process, real tools, a folder as the storage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.agent_cloud import touch_params
from support.disturbance import attempts

from agent.engine import worker_pool
from agent.workloads import engines, touch


def test_threads_are_chosen_where_latency_dominates_and_processes_where_the_processor_does():
    nfs = {"pilot_wall_us": 10_000, "pilot_cpu_us": 60}
    xfs = {"pilot_wall_us": 9, "pilot_cpu_us": 8.5}

    assert worker_pool.choose_mode(32, nfs) == "threads"
    assert worker_pool.choose_mode(4, xfs) == "processes"
    assert worker_pool.choose_mode(1, xfs) == "processes"


def slow_storage(folder: Path, create_s: float) -> dict[str, object]:
    """One that answers each create after so long, however many ask; what the timer adds is not made up for."""
    return {"path": str(folder / "bucket"), "create_s": create_s, "create_operations": 0, "catch_up_s": 0}


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_both_modes_of_the_engine_reach_the_ideal_of_a_slow_storage(tmp_path, mode):
    for attempt in attempts():
        with attempt:
            root = tmp_path / str(attempt.number)
            directories = [root / str(n) for n in range(16)]
            for folder in [*directories, root / "pilot", root / "scratch"]:
                folder.mkdir(parents=True)
            plan = {
                "phase": "create",
                "counts": [10] * 16,
                "threads": 16,
                "directories": [str(folder) for folder in directories],
                "pilot_directory": str(root / "pilot"),
                "mode": mode,
                "emulation": slow_storage(root, 0.01),
            }

            armed = engines.arm("phases", plan, root / "scratch")
            armed.release()
            [ended] = armed.wait()
            report = engines.read_report(ended.stdout, threads=16, operations=160)
            outcome = touch.engine_outcome(report, touch_params(files=160, threads=16))

            # 16 workers, 10 ms each: 1,600 files/s cannot be exceeded.
            assert 1000 < outcome.metrics["files_per_s"] <= 1600
            assert outcome.metrics["create_lat_p50_us"] == pytest.approx(10_100, rel=0.1)

    assert sum(len(list(folder.iterdir())) for folder in directories) == 160
    assert list((root / "pilot").iterdir()) == []


def test_the_engine_does_nothing_when_the_agent_goes_away_before_the_start(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "p").mkdir()
    plan = {
        "phase": "create",
        "counts": [5],
        "threads": 1,
        "directories": [str(tmp_path / "d")],
        "pilot_directory": str(tmp_path / "p"),
        "mode": "processes",
    }
    armed = engines.arm("phases", plan, tmp_path)

    os.close(armed._gate)
    armed._gate = -1
    os.waitpid(armed._pids[0], 0)

    assert list((tmp_path / "d").iterdir()) == []


def test_the_published_command_lines_are_written_literally():
    target = Path("/efs/work")

    assert touch.touch_lines(touch_params(files=1024, threads=1), ["/efs/work"]) == [
        "for i in {1..1024}; do touch /efs/work/$i; done"
    ]
    assert touch.parallel_line(touch_params(files=1024, threads=128, directories="shared"), target) == (
        "seq 1024 | parallel --will-cite -j 128 touch /efs/work/{}"
    )
    assert touch.parallel_line(touch_params(files=1024, threads=32, directories="own"), target) == (
        "seq 32 | parallel --will-cite -j 32 touch /efs/work/{}/{1..32}"
    )
