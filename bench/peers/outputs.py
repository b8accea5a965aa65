"""Parse the output of peers: one figure each, found by the words before it. Raises ValueError without it."""

from __future__ import annotations

import json
import re
from typing import Any


def fio(output: str) -> dict[str, Any]:
    """Return the only group of a fio report in JSON, from fio alone or from a client with one server."""
    # A client may print a line about its server before the report.
    report = json.loads(output[output.find("{") :])
    [job] = report.get("jobs") or report["client_stats"]
    return dict(job)


def fio_iops(output: str) -> float:
    """Return operations per second of all directions of a fio report."""
    job = fio(output)
    return float(job["read"]["iops"] + job["write"]["iops"])


def fio_mb_per_s(output: str) -> float:
    """Return MB/s of all directions of a fio report."""
    job = fio(output)
    return float(job["read"]["bw_bytes"] + job["write"]["bw_bytes"]) / 1e6


def fs_mark(output: str) -> float:
    """Return files per second of the last iteration of fs_mark: the fourth column of its table."""
    figures = re.findall(r"^ +\d+ +\d+ +\d+ +([\d.]+) +\d+ *$", output, re.MULTILINE)
    return last(figures, "fs_mark")


def mdtest(output: str) -> float:
    """Return created files per second of all ranks: the column Max of mdtest's summary of one iteration."""
    return last(re.findall(r"^ *File creation *:? +([\d.]+)", output, re.MULTILINE), "mdtest")


def ior(output: str, direction: str) -> float:
    """Return MB/s of IOR; `direction` is "Write" or "Read"."""
    return last(re.findall(rf"^Max {direction}: +[\d.]+ MiB/sec \(([\d.]+) MB/sec\)", output, re.MULTILINE), "IOR")


def elbencho(output: str, result: str) -> float:
    """Return a result of elbencho ("Files/s", "IOPS", "Throughput MiB/s") at the end of its last thread."""
    return last(re.findall(rf"^[A-Z]* +{re.escape(result)} *: +\d+ +(\d+)", output, re.MULTILINE), "elbencho")


def smallfile(output: str) -> float:
    """Return files per second of all threads of smallfile."""
    return last(re.findall(r"^files/sec = ([\d.]+)", output, re.MULTILINE), "smallfile")


def last(figures: list[str], tool: str) -> float:
    """Return the figure that was printed last."""
    if not figures:
        raise ValueError(f"{tool} printed no figure that is known")
    return float(figures[-1])
