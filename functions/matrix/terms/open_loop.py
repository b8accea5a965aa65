"""Given rates: operations are due at a fixed rate; in an open loop even if earlier ones have not ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from contract.fio_job import FioJob
from matrix.terms.documents.parts import Params

if TYPE_CHECKING:
    from matrix.terms.documents.result import MetricResult

# The parameter of a point of our own engines.
RATE = "rate_per_s_per_instance"
# The metric of a whole sweep of rates.
HIGHEST_RATE = "highest_rate_per_s"
# Metrics of the operations per second of each workload that may be an open loop.
DONE_PER_S = ("files_per_s", "requests_per_s", "iops")
# Below this share of the due rate, operations queue up: their latency then depends on the duration of the step.
KEPT_UP = 0.95


def offered_per_s(params: Params) -> float | None:
    """Return the number of operations per second that are due on one instance; None if it does as many as it can."""
    if RATE in params:
        return float(params[RATE])
    options = params.get("options")
    return FioJob(options).given_per_s if isinstance(options, dict) else None


def done_per_s(metrics: Mapping[str, MetricResult]) -> float | None:
    """Return an instance's operations per second at the median; None without such a metric."""
    return next((float(metrics[name]["p50"]) for name in DONE_PER_S if name in metrics), None)


def has_kept_up(done: float | None, offered: float) -> bool:
    """Whether the completed operations kept up with the due ones, so that none queued up."""
    return done is not None and done >= KEPT_UP * offered
