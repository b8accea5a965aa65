"""What Lambda gives each function of the template, and which share of it a function needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from local.corrections.yaml_template import load

ROOT = Path(__file__).parents[2]
# "At 1,769 MB, a function has the equivalent of one vCPU"
# https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
VCPU_MB = 1769
MARGIN = 3
# Answers of S3, DynamoDB and EC2 within a region, rounded up; a page of S3's list and of EC2's descriptions takes most.
ANSWER_S = {"ListObjectsV2": 0.2, "DescribeInstances": 0.3, "DescribeVolumes": 0.3, "RunInstances": 3.0}
OTHER_ANSWER_S = 0.03
# How many threads share the requests that are none of the handler's own: what Analyse cell fetches and asks CloudWatch
# for, and rows of the ledger. `bench.scale.cloud` adds the word to their operation.
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
    """Return which share of a third of its Timeout a function takes, by processor time and requests of each kind."""
    return needed_s(cpu_s, requests, limit) / (limit["Timeout"] / MARGIN)


def needed_s(cpu_s: float, requests: Mapping[str, float], limit: Mapping[str, int]) -> float:
    """Return how long a function takes on Lambda, by processor time and requests of each kind."""
    waits_s = sum(count * _wait_s(operation) for operation, count in requests.items())
    return cpu_s / min(1.0, limit["MemorySize"] / VCPU_MB) + waits_s


def _wait_s(operation: str) -> float:
    name = operation.removesuffix(IN_THREADS)
    threads = THREADS.get(name, 1) if operation.endswith(IN_THREADS) else 1
    return ANSWER_S.get(name, OTHER_ANSWER_S) / threads
