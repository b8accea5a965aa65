"""Rules for metrics in a matrix: of its objective and of its commands."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from matrix.input import workloads
from matrix.input.matrix import Matrix
from matrix.input.workloads.command import THROUGHPUT, CommandWorkload, OwnMetric
from matrix.terms.metrics import METRICS, Metric
from matrix.terms.open_loop import HIGHEST_RATE
from matrix.terms.problems import Problem, Problems, shorten


def objective_problems(objective: Mapping[str, Any], elements: Sequence[Any]) -> Problems:
    """Yield the problems of an objective, given the workloads as written."""
    metric = objective.get("metric")
    written = [element for element in elements if isinstance(element, dict)]
    kinds = {kind for element in written if isinstance(kind := element.get("type"), str)}
    own = dict(_declared(written))
    known = {**own, **METRICS}
    if isinstance(metric, str) and metric not in known:
        yielded = [name for name in known if name in own or any(_yields(kind, name) for kind in kinds)]
        rule = f"is no metric; the workloads of the matrix yield {', '.join(yielded or METRICS)}"
        close = difflib.get_close_matches(metric[:40], known, n=1)
        fix = f"did you mean {close[0]}?" if close else "write one of them"
        yield Problem("objective.metric", shorten(metric), rule, fix)
    elif isinstance(metric, str):
        if kinds and metric not in own and not any(_yields(kind, metric) for kind in kinds):
            rule = f"no workload of the matrix yields it ({', '.join(sorted(kinds))})"
            yield Problem("objective.metric", metric, rule, "write duration_s, which every workload yields")
        elif metric == HIGHEST_RATE and not any(_has_rates(element) for element in written):
            rule = "is found among the rates of a workload by its limit, and none has both"
            fix = "write ratePerSecondPerInstance and p99AtMostMs into a workload"
            yield Problem("objective.metric", metric, rule, fix)
    if ("atMost" in objective) == ("atLeast" in objective):
        rule = "needs either atMost or atLeast, and not both"
        yield Problem("objective", shorten(objective), rule, "write atMost for a duration, atLeast for a rate")
    elif isinstance(metric, str) and metric in known:
        limit, meant = ("atMost", "atLeast") if "atMost" in objective else ("atLeast", "atMost")
        if known[metric].higher_is_better == (limit == "atMost"):
            better = "higher" if known[metric].higher_is_better else "lower"
            rule = f"{metric} is better the {better} it is, so the worst storage would reach this"
            yield Problem(f"objective.{limit}", shorten(objective[limit]), rule, f"write {meant}")


def _declared(elements: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Metric]]:
    """Yield each metric that a command declares or has its objects' bytes for, as far as it can be read."""
    for element in elements:
        metrics = element.get("metrics") if element.get("type") == "command" else None
        if element.get("type") == "command" and element.get("primaryMetric") == THROUGHPUT:
            yield THROUGHPUT, METRICS[THROUGHPUT]
        for name, written in metrics.items() if isinstance(metrics, dict) else ():
            try:
                metric = OwnMetric.model_validate(written)
            except ValidationError:
                continue
            yield name, Metric(metric.unit, metric.better == "higher", "")


def _yields(kind: str, metric: str) -> bool:
    model = workloads.MODELS.get(kind)
    return metric == "duration_s" or (model is not None and metric in model.yields)


def _has_rates(workload: Mapping[str, Any]) -> bool:
    return {"ratePerSecondPerInstance", "p99AtMostMs"} <= workload.keys()


def own_metric_problems(matrix: Matrix) -> Problems:
    """Yield a problem for each metric that two commands mean differently: an objective could mean either."""
    first: dict[str, tuple[int, OwnMetric]] = {}
    for i, workload in enumerate(matrix.workload):
        for name, metric in workload.metrics.items() if isinstance(workload, CommandWorkload) else ():
            earlier, meant = first.setdefault(name, (i, metric))
            if (metric.unit, metric.better) != (meant.unit, meant.better):
                path = f"workload[{i}].metrics.{name}"
                rule = f"is another one in workload[{earlier}]: {meant.unit}, {meant.better} is better"
                yield Problem(path, f"{metric.unit}, {metric.better}", rule, "give it another name, or make them alike")
