"""Start barrier (gate) of a fleet: rules for the agents, and Poll fleet's check of opened gates.

The agents open gates among themselves (agent/board/barrier.py). Poll fleet opens one only if all agents have been ready
for some time and none has opened it. It also detects gates that no agent writes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from contract.gates import GRAIN_S, NotBelieved, start_of
from contract.keys import instance_of, step_of_gate
from matrix.input.pace import gate_margin_s
from matrix.terms.documents.job import BarrierRule
from matrix.terms.errors import GateForged

# Polls of the gate between its opening and the start: with 2 s one each 0.4 s, so an instance sends less than 3
# requests a second.
POLLS_PER_MARGIN = 5
# Locally more would only heat the machine that measures.
MIN_POLL_S = 0.05
# S3 takes 5,500 reads a second of one prefix (S3 guide, optimizing performance); 1,000 instances ask for 2,000.
POLLS_PER_S = 2000
# A request about a gate that takes longer is given up; half of S3's responses come within 0.05 s.
REQUEST_S = 1.0


@dataclass(frozen=True)
class OpenGate:
    """The last gate of a fleet: its step, its content, when it was written (epoch s), and the number of all gates."""

    step: int
    body: bytes
    opened_at: float
    gates: int


def rule(instances: int, least_margin_s: float, timeout_s: float) -> BarrierRule:
    """Return the rule of the start barrier for this number of instances; `least_margin_s` is a small fleet's margin."""
    return {
        "poll_s": max(MIN_POLL_S, least_margin_s / POLLS_PER_MARGIN, instances / POLLS_PER_S),
        "margin_s": gate_margin_s(instances, least_margin_s),
        # An emulated machine takes a second for a request; its margin is 10 s.
        "request_s": max(REQUEST_S, least_margin_s / 2),
        "timeout_s": timeout_s,
    }


def read_names(prefix: str, objects: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the names below `prefix` with their times, from (key, last-modified epoch s) pairs."""
    return {key.removeprefix(prefix): modified_at for key, modified_at in objects}


def instances_of(marks: Mapping[str, float]) -> dict[str, float]:
    """Return the ready time of each instance by id: a mark's name is its `aws:userid`, `<role id>:<id>`."""
    return {instance_of(userid): at for userid, at in marks.items()}


def steps_of(gates: Mapping[str, float]) -> dict[int, float]:
    """Return when the gate of each step was written. Other names than an agent's mean nothing."""
    return {step: at for name, at in gates.items() if (step := step_of_gate(name)) is not None}


def check(gate: OpenGate, instances: Iterable[str], ready_at: Mapping[str, float]) -> None:
    """Raise GateForged unless all earlier gates, all ready marks (`ready_at`, by id) and a valid start exist."""
    what = f"the gate of step {gate.step}"
    if gate.gates != gate.step + 1:
        raise GateForged(f"{what} is there, but {gate.gates} of the {gate.step + 1} gates to it; {_ADVICE}")
    expected = list(instances)
    ready = [name for name in expected if name in ready_at and ready_at[name] <= gate.opened_at + GRAIN_S]
    if len(ready) < len(expected):
        missing = len(expected) - len(ready)
        raise GateForged(f"{what} was opened before {missing} of {len(expected)} instances were ready; {_ADVICE}")
    try:
        start_of(gate.body, gate.step, gate.opened_at)
    except NotBelieved as err:
        raise GateForged(f"{err}; {_ADVICE}") from err


_ADVICE = "a command of this cell's workload writes to the bucket by the instance's role"
