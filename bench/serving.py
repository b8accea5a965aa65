"""The file server against its own volume: a server that is slower than its volume would limit the cell's result."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from agent.workloads import engines, read
from bench.pairs import Result, against

ROOT = Path(__file__).parents[1]
KIB, MIB = 2**10, 2**20
TOKEN = "bench"  # noqa: S105 - of a server of ours that ends with the bench
SERVE = """
import sys
from pathlib import Path
from agent.file_server import FileServer
with FileServer(Path(sys.argv[1]), "127.0.0.1", 0, sys.argv[2]) as server:
    print(server.port, flush=True)
    server.serve_forever()
"""
# gp3 without provisioned performance, the server's volume (EBS user guide).
VOLUME_IOPS, VOLUME_BYTES_PER_S = 3_000, 125 * MIB
# From half of a tool's limit on, results are marked as limited by the load generator.
BAR = 2.0


def bars(folder: Path, rounds: int) -> Iterator[Result]:
    """Yield single records against the volume's IOPS, and pages against its throughput, all served from memory."""
    with serving(folder) as where:
        records = partial(rate, folder, where, {"access": "random", "page_bytes": 8 * KIB, "records": 8_000})
        pages = partial(rate, folder, where, {"access": "sequential", "page_bytes": MIB, "records": 32_768})
        name = "file server / its volume's 3,000 IOPS, 8 KiB, 4 readers"
        yield against(name, records, VOLUME_IOPS, bar=BAR, unit="records/s", rounds=rounds)
        name = "file server / its volume's 125 MiB/s, 1 MiB, 4 readers"
        volume = VOLUME_BYTES_PER_S / (8 * KIB)
        yield against(name, pages, volume, bar=BAR, unit="records/s", rounds=rounds)


@contextmanager
def serving(folder: Path) -> Iterator[dict[str, Any]]:
    """Run a server of the folder; yield its address and token."""
    argv = [sys.executable, "-c", SERVE, str(folder), TOKEN]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield {"host": "127.0.0.1", "port": int(process.stdout.readline()), "token": TOKEN}
        finally:
            process.terminate()


def rate(folder: Path, where: dict[str, Any], shape: dict[str, Any]) -> float:
    """Return records per second of four readers."""
    params = {
        **{"record_bytes": 8 * KIB, "records_per_request": 1, "threads": 4, "data_bytes": 256 * MIB},
        **{"caching": "cached", **shape},
    }
    own = folder / "client" / "bench" / "serving" / "i-0"
    own.mkdir(parents=True, exist_ok=True)
    plan = read.plan_of(params, "bench", read.data_on_server(params, own, where))
    armed = engines.arm("reads", plan, own)
    armed.release()
    [ended] = armed.wait()
    return float(read.read_engine(ended.stdout, plan).metrics["records_per_s"])
