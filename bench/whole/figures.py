"""What a run took: states, events, requests, Lambda's time, money, and how far below AWS's limits it stayed."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bench.scale.limits import IN_THREADS
from bench.whole import prices
from bench.whole.engine import ROOT, Call
from bench.whole.run import Played
from matrix.input.limits import SFN_EVENTS, SFN_INPUT_BYTES
from matrix.price.book import PriceBook

GB = 1_024
EVENT_PAYLOADS = ("input", "output")


@dataclass(frozen=True)
class Reached:
    """A limit of AWS, and the highest value seen."""

    what: str
    limit: float
    seen: float
    unit: str

    @property
    def is_kept(self) -> bool:
        """Return whether it was not exceeded."""
        return self.seen <= self.limit


class Figures:
    """The figures of one run."""

    def __init__(self, played: Played, book: PriceBook) -> None:
        """Work them out by these prices."""
        self._played, self._book = played, book
        self._log, self._agents = played.functions.log, played.agents
        self._events = [event for history in played.histories.all() for event in history]

    @property
    def cells(self) -> int:
        """Return how many cells were measured."""
        return len(self._played.plan["cells"])

    @cached_property
    def counts(self) -> dict[str, float]:
        """Return what no busy machine disturbs, for the whole run."""
        functions: Counter[str] = Counter(call.function for call in self._log)
        return {
            "states entered": self._entered,
            "history events": len(self._events),
            **{f"calls of {name}": number for name, number in functions.items()},
            **{f"requests of functions: {name}": number for name, number in self.requests.items()},
            **{f"requests of instances: {name}": number for name, number in self._agents.requests.items()},
            **{f"DynamoDB units: {name}": number for name, number in self._world.units.items()},
            "CloudWatch metrics": self._world.metrics_asked,
        }

    @property
    def of_instances(self) -> Mapping[str, int]:
        """Return the requests of all instances to S3, by operation."""
        return self._agents.requests

    @property
    def instance_steps(self) -> int:
        """Return how many steps all instances took together."""
        return sum(cell["fleet"]["count"] * len(cell["steps"]) for cell in self._played.plan["cells"])

    @property
    def requests(self) -> Counter[str]:
        """Return the requests of functions, by service and operation."""
        counted: Counter[str] = Counter()
        for call in self._log:
            for operation, number in call.requests.items():
                counted[f"{self._world.services[operation]} {operation.removesuffix(IN_THREADS)}"] += number
        return counted

    def functions(self) -> Iterator[tuple[str, int, float, float, float]]:
        """Yield each function with its calls, seconds, GB-seconds, and the longest call as a share of its Timeout."""
        limits = self._played.functions.limits
        for name in dict.fromkeys(call.function for call in self._log):
            calls = [call.seconds for call in self._log if call.function == name]
            memory_gb = limits[name]["MemorySize"] / GB
            yield name, len(calls), sum(calls), sum(calls) * memory_gb, max(calls) / limits[name]["Timeout"]

    @cached_property
    def bill(self) -> dict[str, float]:
        """Return the USD of one cell, by what they are for."""
        of_functions = {name.partition(" ")[2]: number for name, number in self.requests.items() if name[:3] == "s3 "}
        units = {name: number * prices.UNITS[name] for name, number in self._world.units.items()}
        whole = {
            "Step Functions": self._entered * self._book.price("step_functions_transition").usd,
            "Lambda": sum(gb_s for *_, gb_s, _ in self.functions()) * prices.GB_SECOND + len(self._log) * prices.CALL,
            "S3, functions": prices.s3_usd(self._book, of_functions),
            "S3, instances": prices.s3_usd(self._book, self._agents.requests),
            "DynamoDB": sum(units.values()),
            "CloudWatch": self._world.metrics_asked * prices.METRIC,
        }
        return {name: usd / self.cells for name, usd in whole.items()}

    @property
    def planned_usd(self) -> float:
        """Return what the plan takes for the orchestration of a cell, whose data stay on volumes."""
        return sum(cell["metered_usd"]["expected"] for cell in self._played.plan["cells"]) / self.cells

    @property
    def cell_usd(self) -> float:
        """Return what the plan expects of a cell."""
        return sum(cell["cost_usd"]["expected"] for cell in self._played.plan["cells"]) / self.cells

    @cached_property
    def times(self) -> dict[str, float]:
        """Return the mean seconds of a cell: from its admission to its result, and of that its instances' own."""
        begun = {call.cell: call.at for call in self._log if call.function == "admit_cell"}
        ended = {call.cell: call.at + call.seconds for call in self._log if call.function == "analyse_cell"}
        stopped = {call.cell: call.at for call in self._log if call.function == "stop_fleet"}
        own = dict.fromkeys(begun, 0.0)
        last = dict.fromkeys(begun, 0.0)
        for launch in self._world.launches:
            cell = launch.tags["storage-matrix:cell"]
            own[cell] = max(own[cell], launch.ended_at - launch.at)
            last[cell] = max(last[cell], launch.ended_at)
        return {
            "whole": _mean(ended[cell] - begun[cell] for cell in begun),
            "instances": _mean(own.values()),
            "until it is seen that they are done": _mean(stopped[cell] - last[cell] for cell in begun),
            "analysis": _mean(call.seconds for call in self._log if call.function == "analyse_cell"),
        }

    def limits(self) -> list[Reached]:
        """Return each limit that was looked at."""
        histories = self._played.histories
        timeouts = max(share for *_, share in self.functions())
        return [
            Reached("history of the run", SFN_EVENTS.value, len(histories.parent), "events"),
            Reached("history of a file system", SFN_EVENTS.value, max(map(len, histories.children)), "events"),
            Reached("input or output of a state", SFN_INPUT_BYTES.value, self._largest_payload, "bytes"),
            Reached("definition", 1_048_576, len((ROOT / "statemachine" / "run.asl.json").read_bytes()), "bytes"),
            Reached("states entered in a second (most regions)", 800, max(histories.entered.values()), ""),
            Reached("functions at once (new accounts)", 10, self._played.functions.most_at_once, "calls"),
            Reached("a function's Timeout", 100, 100 * timeouts, "%"),
            Reached("DynamoDB, one partition, reads", 3_000, self._units_a_second("read"), "units/s"),
            Reached("DynamoDB, one partition, writes", 1_000, self._units_a_second("write"), "units/s"),
            Reached("row of the table", 400 * 1_024, self._world.largest_bytes, "bytes"),
            Reached("S3, one prefix, writes of a fleet", 3_500, max(self._agents.puts_by_second.values()), "/s"),
            Reached("RunInstances, instances", prices.RUN_INSTANCES.size, self._instances_taken, "of the bucket"),
            *(
                Reached(f"{operation}, calls", bucket.size, self._taken(bucket, operation), "of the bucket")
                for operation, bucket in prices.CALLS.items()
            ),
        ]

    @property
    def _world(self) -> Any:
        return self._played.functions.world

    @property
    def _entered(self) -> int:
        return sum(event["type"].endswith("StateEntered") for event in self._events)

    @property
    def _largest_payload(self) -> int:
        sizes = (len(text) for event in self._events for text in _payloads(event))
        return max(sizes)

    def _units_a_second(self, kind: str) -> float:
        by_second: defaultdict[int, float] = defaultdict(float)
        for call in self._log:
            for second, share in _spread(call):
                by_second[second] += share * call.units.get(kind, 0)
        return max(by_second.values())

    @property
    def _instances_taken(self) -> float:
        taken = [(launch.at, float(len(launch.instances))) for launch in self._world.launches]
        return prices.RUN_INSTANCES.most_taken(taken)

    def _taken(self, bucket: prices.Bucket, operation: str) -> float:
        taken = [
            (call.at + call.seconds * number / asked, 1.0)
            for call in self._log
            if (asked := call.requests.get(operation, 0))
            for number in range(asked)
        ]
        return bucket.most_taken(taken)


def _spread(call: Call) -> Iterator[tuple[int, float]]:
    """Yield the seconds in which a call worked, each with its share of the call."""
    first, last = int(call.at), int(call.at + call.seconds)
    for second in range(first, last + 1):
        within_s = min(second + 1, call.at + call.seconds) - max(second, call.at)
        yield second, within_s / call.seconds if call.seconds else 1.0


def _payloads(event: Mapping[str, Any]) -> Iterator[str]:
    for name, details in event.items():
        if name.endswith("EventDetails") and isinstance(details, dict):
            for payload in EVENT_PAYLOADS:
                if isinstance(details.get(payload), str):
                    yield details[payload]


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def as_json(figures: Figures) -> str:
    """Return the counts of a run as a line of JSON."""
    return json.dumps({"cells": figures.cells, **figures.counts})
