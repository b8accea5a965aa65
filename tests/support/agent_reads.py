"""Reads for the tests of the agent."""

from __future__ import annotations

from agent.workloads import read

KIB, MIB = 1 << 10, 1 << 20


def read_params(**changes):
    params = {
        **{"access": "sequential", "requests": 32, "request_bytes": 64 * KIB, "threads": 4, "caching": "direct"},
        **changes,
    }
    return {"data_bytes": params["requests"] * params["request_bytes"], **params}


def engine(params, tmp_path, mode="auto", where=None):
    """Run the engine over a folder's data, or over the place in `where`; its outcome."""
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    plan = {**params, "mode": mode, "seed": "1", **(where or read.data_file(params, tmp_path))}
    armed = read.arm_engine(plan, scratch)
    armed.release()
    [ended] = armed.wait()
    return read.read_engine(ended.stdout, plan)
