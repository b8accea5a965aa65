"""Rules for metrics in a matrix: of its objective and of its commands."""

import difflib
from collections.abc import Iterator, Sequence

from matrix.check.cells import ParsedMatrix
from matrix.input.workloads import Workload
from matrix.input.workloads.command import THROUGHPUT, CommandWorkload, OwnMetric
from matrix.input.workloads.open_loop import OpenLoopModel
from matrix.terms.findings.replication import MIN_INSTANCES, MIN_REPETITIONS, advice, describe_counts, shortages_of
from matrix.terms.metrics import METRICS, Metric
from matrix.terms.open_loop import HIGHEST_RATE
from matrix.terms.problems import Problem, Problems, Weight, shorten


def objective_can_be_judged(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for an objective that no workload yields, or whose limit is on the wrong side."""
    objective, workloads = parsed.matrix.objective, [workload for _, workload in parsed.workloads]
    if objective is None:
        return
    metric = objective.metric
    is_of_hours = objective.job_hours is not None and objective.at_most is None and objective.at_least is None
    if metric is None:
        if not is_of_hours:
            rule = "needs the metric that is judged; only jobHours may stand alone"
            yield Problem("objective.metric", None, rule, "write one, such as duration_s, which every workload yields")
        return
    own = dict(_declared(workloads))
    known = {**own, **METRICS}
    yielded = [
        name for name in known if name in own or name == "duration_s" or any(name in w.yields for w in workloads)
    ]
    if metric not in known:
        rule = f"is not a metric; the workloads of the matrix yield {', '.join(yielded)}"
        close = difflib.get_close_matches(metric[:40], known, n=1)
        fix = f"did you mean {close[0]}?" if close else "write one of them"
        yield Problem("objective.metric", shorten(metric), rule, fix)
    elif metric not in yielded and parsed.is_whole:
        kinds = sorted({workload.type for workload in workloads})
        rule = f"no workload of the matrix yields it ({', '.join(kinds)})"
        yield Problem("objective.metric", metric, rule, "write duration_s, which every workload yields")
    elif metric == HIGHEST_RATE and parsed.is_whole and not any(map(_has_rates, workloads)):
        rule = "is found among the rates of a workload by its limit, and none has both"
        fix = "write ratePerSecondPerInstance and p99AtMostMs into a workload"
        yield Problem("objective.metric", metric, rule, fix)
    if (objective.at_most is None) == (objective.at_least is None):
        written = objective.model_dump(by_alias=True, exclude_unset=True)
        rule = "needs either atMost or atLeast, and not both"
        yield Problem("objective", shorten(written), rule, "write atMost for a duration, atLeast for a rate")
    elif metric in known:
        at_most = objective.at_most is not None
        limit, meant = ("atMost", "atLeast") if at_most else ("atLeast", "atMost")
        if known[metric].higher_is_better == at_most:
            better = "higher" if known[metric].higher_is_better else "lower"
            rule = f"{metric} is better the {better} it is, so the worst storage would reach this"
            value = objective.at_most if at_most else objective.at_least
            yield Problem(f"objective.{limit}", shorten(value), rule, f"write {meant}")


def objective_can_be_shown(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for an objective that no run can show: of the slowest sample, or with too few instances."""
    matrix = parsed.matrix
    if matrix.objective is None or matrix.objective.metric is None:
        return
    if matrix.objective.percentile in (0, 100):
        rule = (
            "no run can show it, since the next instance may be slower: no storage gets the ★, and the exit code is 5"
        )
        yield Problem("objective.percentile", matrix.objective.percentile, rule, "write 99", weight=Weight.NO_VERDICT)
        return
    fewest = min((cell.fleet.count for cell in parsed.cells), default=MIN_INSTANCES)
    # A volume for each instance may need no third repetition.
    if lacking := shortages_of(fewest, MIN_REPETITIONS, matrix.launches if matrix.launches > 1 else None):
        path = "launches" if matrix.launches > 1 else "fleet"
        rule = f"no storage can be shown to reach it with {describe_counts(lacking)}: the exit code is 5 at best"
        yield Problem(path, None, rule, advice(lacking), weight=Weight.NO_VERDICT)


def _declared(workloads: Sequence[Workload]) -> Iterator[tuple[str, Metric]]:
    """Yield each metric that a command declares, or has for the bytes of its objects."""
    for command in workloads:
        if isinstance(command, CommandWorkload):
            if command.primary == THROUGHPUT:
                yield THROUGHPUT, METRICS[THROUGHPUT]
            for name, metric in command.metrics.items():
                yield name, Metric(metric.unit, metric.better == "higher", "")


def _has_rates(workload: Workload) -> bool:
    if not isinstance(workload, OpenLoopModel):
        return False
    return workload.rate_per_second_per_instance is not None and workload.p99_at_most_ms is not None


def metrics_mean_the_same(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each metric that two commands mean differently: an objective could mean either."""
    first: dict[str, tuple[str, OwnMetric]] = {}
    for path, workload in parsed.parts("workload"):
        for name, metric in workload.metrics.items() if isinstance(workload, CommandWorkload) else ():
            earlier, meant = first.setdefault(name, (path, metric))
            if (metric.unit, metric.better) != (meant.unit, meant.better):
                rule = f"is another one in {earlier}: {meant.unit}, {meant.better} is better"
                fix = "give it another name, or make them alike"
                yield Problem(f"{path}.metrics.{name}", f"{metric.unit}, {metric.better}", rule, fix)
