"""Open loops: operations are due at a fixed rate, even if earlier ones have not ended."""

from collections.abc import Iterator, Mapping

from matrix.terms.documents.parts import Params
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
    """Return the number of operations per second that are due on one instance; None for a closed loop.

    fio's requests have due times only in its offload mode: `rate_iops` of each of its jobs. A job that
    reads and writes has as many of each direction (seen with fio 3.33), or `100,50` for the two separately.
    """
    if RATE in params:
        return float(params[RATE])
    options = params.get("options") or {}
    jobs = options.get("numjobs", 1)
    if options.get("io_submit_mode") != "offload":
        return None
    rates = list(_rates_of_directions(options))
    # A direction without a rate of its own is a closed loop.
    if None in rates:
        return None
    return sum(rate for rate in rates if rate) * float(jobs if isinstance(jobs, (int, float)) else 1)


def _rates_of_directions(options: Params) -> Iterator[float | None]:
    """Yield `rate_iops` of each direction of a fio job; None if a direction has none."""
    pattern = str(options.get("rw", options.get("readwrite", "read"))).partition(":")[0]
    rates = str(options.get("rate_iops", "")).split(",")
    directions = (0, 1) if "rw" in pattern or pattern == "readwrite" else (int("write" in pattern),)
    for direction in directions:
        rate = rates[direction] if direction < len(rates) else (rates[0] if len(rates) == 1 else "")
        yield float(rate) if rate.isdecimal() else None


def done_per_s(metrics: Mapping[str, MetricResult]) -> float | None:
    """Return an instance's operations per second at the median; None without such a metric."""
    return next((float(metrics[name]["p50"]) for name in DONE_PER_S if name in metrics), None)


def has_kept_up(done: float | None, offered: float) -> bool:
    """Whether the completed operations kept up with the due ones, so that none queued up."""
    return done is not None and done >= KEPT_UP * offered
