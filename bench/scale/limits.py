"""Lambda's limits of each function of the template, and the share of them that a function needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from local.corrections.yaml_template import load

ROOT = Path(__file__).parents[2]
# "At 1,769 MB, a function has the equivalent of one vCPU"
# https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
VCPU_MB = 1769
MARGIN = 3
# Response times of S3, DynamoDB and EC2 within a region, rounded up; pages of S3's and EC2's lists take longest.
ANSWER_S = {"ListObjectsV2": 0.2, "DescribeInstances": 0.3, "DescribeVolumes": 0.3, "RunInstances": 3.0}
OTHER_ANSWER_S = 0.03
# Number of threads that share requests outside of the handler's thread: the objects and metrics of Analyse cell, and
# rows of the ledger. `bench.scale.cloud` adds IN_THREADS to their operation.
IN_THREADS = " in threads"
THREADS = {"GetObject": 16, "GetMetricData": 8, "UpdateItem": 16}


def limits() -> dict[str, dict[str, int]]:
    """Return MemorySize (MB) and Timeout (s) of each function, by its module."""
    template = load((ROOT / "template.yaml").read_text())
    of_all = template["Globals"]["Function"]
    functions = {}
    for resource_ in template["Resources"].values():
        if resource_["Type"] == "AWS::Serverless::Function":
            properties = of_all | resource_["Properties"]
            module = properties["Handler"].partition(".")[0]
            functions[module] = {name: properties[name] for name in ("MemorySize", "Timeout")}
    return functions


def share_of_time(cpu_s: float, requests: Mapping[str, float], limit: Mapping[str, int]) -> float:
    """Return the share of a third of its Timeout that a function needs, by processor time and requests of each kind."""
    needed_s = cpu_s / min(1.0, limit["MemorySize"] / VCPU_MB)
    for operation, count in requests.items():
        name = operation.removesuffix(IN_THREADS)
        threads = THREADS.get(name, 1) if operation.endswith(IN_THREADS) else 1
        needed_s += count * ANSWER_S.get(name, OTHER_ANSWER_S) / threads
    return needed_s / (limit["Timeout"] / MARGIN)
