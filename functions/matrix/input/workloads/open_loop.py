"""Shared by workloads whose operations can be due at a fixed rate (open loop) instead of one after another."""

from abc import abstractmethod
from typing import Annotated, Any, ClassVar

from pydantic import Field

from matrix.fields.types import Sweep
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.sweeps import Params
from matrix.storages.base import Storage
from matrix.terms.open_loop import RATE
from matrix.terms.problems import Problems


class OpenLoopModel(Workload):
    """A workload that our engine does, one operation after the other or each when it is due."""

    open_loop_metric: ClassVar[str]
    """Primary metric of a point with a rate: the rate is given, so storages differ in latency."""

    rate_per_second_per_instance: Annotated[
        Sweep[Annotated[int, Field(ge=1, le=1_000_000)]] | None, Field(examples=[[100, 200, 400]])
    ] = None
    """Open loop: operations due each second on each instance, whether or not others have ended; latency counts from
    then. Unless given, each thread begins one when it has ended another."""
    p99_at_most_ms: Annotated[int | float | None, Field(gt=0, le=1e6, examples=[10])] = None
    """Limit for an instance's P99: results and report name the highest of the rates up to which it is kept."""

    def with_rates(self, points: list[Params]) -> list[Params]:
        """Return each point at each rate; as they are in a closed loop."""
        rates = self.rate_per_second_per_instance
        return points if rates is None else [{**point, RATE: rate} for point in points for rate in rates]

    @abstractmethod
    def operations(self, params: Params) -> float:
        """Return how many operations one instance does in a step."""

    def latencies_of(self, operation: str, params: Params, storage: Storage, clients: Clients) -> float:
        """Return its operations: each has a latency."""
        del operation, storage, clients
        return self.operations(params)

    def paced_s(self, params: Params) -> float:
        """Return the seconds in which the operations of one instance are due; 0 in a closed loop."""
        return self.operations(params) / params[RATE] if RATE in params else 0.0

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the metric that a point is judged by."""
        return cls.open_loop_metric if RATE in params else super().judged_by(params, workload)


def a_limit_has_its_rates(part: OpenLoopModel) -> Problems:
    """Yield a problem for a limit of latency without rates to test against it."""
    if part.p99_at_most_ms is not None and part.rate_per_second_per_instance is None:
        rule = "is the limit that the highest rate is looked for with, and there are no rates"
        yield part.problem("p99AtMostMs", rule, "write ratePerSecondPerInstance, such as [100, 200, 400]")
