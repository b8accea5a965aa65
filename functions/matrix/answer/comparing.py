"""Two runs side by side: which cells became slower or faster, by how much, and whether chance explains it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from matrix.input.emulation import ENVIRONMENT
from matrix.statistics.differing import SIGNIFICANT, Difference, difference, holm
from matrix.statistics.fleet_values import from_columns
from matrix.terms.names import fleet_words, point_labels, primary_metric
from matrix.terms.storages import storage_label

Document = dict[str, Any]


class NotComparable(Exception):
    """One of two runs was emulated, the other was not: a ratio of their figures would mean nothing."""


# In what order a reader wants to see them.
VERDICTS = ("slower", "faster", "no difference shown", "cannot tell")


@dataclass(frozen=True)
class Compared:
    """One point of one cell in both runs."""

    storage: str
    workload: str
    fleet: str
    point: str
    metric: str
    unit: str
    higher_is_better: bool
    base: Document
    run: Document
    ratio: float | None
    difference: Difference | None
    p_holm: float | None = None
    verdict: str = "cannot tell"
    words: str = ""
    is_regression: bool = False

    def to_document(self) -> Document:
        """As `matrix compare --json` prints it."""
        found = self.difference
        interval = found.interval if found else None
        return {
            **{name: getattr(self, name) for name in ("storage", "workload", "fleet", "point", "metric", "unit")},
            "higher_is_better": self.higher_is_better,
            "base": {"cell": self.base["cell"], "p50": self.base["p50"], "n": self.base["n"]},
            "run": {"cell": self.run["cell"], "p50": self.run["p50"], "n": self.run["n"]},
            "ratio": self.ratio,
            "interval": interval.to_document() if interval else None,
            "hodges_lehmann_ratio": found.hodges_lehmann_ratio if found else None,
            "p_lower": found.p_lower if found else None,
            "cliffs_delta": found.cliffs_delta if found else None,
            "test": found.test if found else None,
            "p_value": found.p_value if found else None,
            "p_holm": self.p_holm,
            "units": list(found.units) if found else None,
            "repetitions_overlap": found.repetitions_overlap if found else None,
            "verdict": self.verdict,
            "words": self.words,
            "is_regression": self.is_regression,
        }


def compare(base: Document, run: Document, *, threshold: float) -> Document:
    """Compare two runs, each a summary whose points may hold `samples` (as those of result.json do).

    A regression is a cell that is slower by more than the threshold (0.05 is 5 %) and by more than chance explains,
    all cells considered. Raises NotComparable where one of the runs is emulated and the other is not.
    """
    _refuse_mixture(base, run)
    before, after = _by_key(list(_points(base)), list(_points(run)))
    matched = [_compared(before[key], after[key]) for key in before if key in after]
    compared = [_judged(one, threshold, len(matched)) for one in _corrected(matched)]
    compared.sort(key=lambda one: VERDICTS.index(one.verdict))
    return {
        "schema": 1,
        "base": base["run"],
        "run": run["run"],
        "threshold": threshold,
        "environments": [base.get("environment"), run.get("environment")],
        "compared": [one.to_document() for one in compared],
        "only_in_base": [before[key]["name"] for key in before if key not in after],
        "only_in_run": [after[key]["name"] for key in after if key not in before],
        "regressions": sum(one.is_regression for one in compared),
        "warnings": _warnings(base, run, matched),
    }


def _refuse_mixture(base: Document, run: Document) -> None:
    emulated = [one["run"] for one in (base, run) if one.get("environment") == ENVIRONMENT]
    if len(emulated) == 1:
        [other] = [one["run"] for one in (base, run) if one["run"] not in emulated] or emulated
        raise NotComparable(f"the storages of {emulated[0]} were emulated, those of {other} were not")


def _by_key(*runs: list[tuple[str, Document]]) -> Iterator[dict[str, Document]]:
    """Yield each run's points by what was measured; where a run has that twice (an A/A comparison), by cell too."""
    twice = {key for points in runs for key, count in Counter(key for key, _ in points).items() if count > 1}
    for points in runs:
        yield {
            f"{key} {point['cell']}" if key in twice else key: (
                point | {"storage": f"{point['storage']} ({point['cell']})"} if key in twice else point
            )
            for key, point in points
        }


def _points(summary: Document) -> Iterator[tuple[str, Document]]:
    """Each measured point with a key of what was measured: storage, workload, fleet and parameters, names left out."""
    for cell in summary.get("cells", []):
        points = cell.get("points") or []
        labels = point_labels(points)
        for point in points:
            found = primary_metric(point)
            if found is None:
                continue
            storage = {name: value for name, value in cell["storage"].items() if name != "name"}
            fleet = {name: cell["fleet"].get(name) for name in ("instanceType", "count", "placement")}
            key = json.dumps([storage, cell["workload"]["type"], fleet, point["params"], found[0]], sort_keys=True)
            name = f"{cell['id']}, {labels[point['id']]}"
            metric, figures = found
            known = {"cell": cell["id"], "name": name, "label": labels[point["id"]], "metric": metric}
            shown = {"storage": storage_label(storage), "workload": cell["workload"]["type"]}
            yield (
                key,
                {**known, **shown, "fleet": fleet_words(fleet), "samples": point.get("samples"), **_figures(figures)},
            )


def _figures(metric: Mapping[str, Any]) -> Document:
    return {name: metric.get(name) for name in ("p50", "n", "unit", "higher_is_better")}


def _compared(base: Document, run: Document) -> Compared:
    found = None
    if base["samples"] and run["samples"]:
        values = [from_columns(one["samples"], one["metric"]) for one in (base, run)]
        found = difference(*values) if all(len(one.pooled) for one in values) else None
    ratio = found.ratio if found else run["p50"] / base["p50"] if base["p50"] and run["p50"] is not None else None
    same = {name: run[name] for name in ("storage", "workload", "fleet", "metric", "unit", "higher_is_better")}
    return Compared(**same, point=run["label"], base=base, run=run, ratio=ratio, difference=found)


def _corrected(matched: list[Compared]) -> Iterator[Compared]:
    """Correct p values for the number of tests: of twenty cells that did not change one looks changed at 5 %."""
    tested = [one.difference.p_value for one in matched if one.difference]
    corrected = iter(holm(tested))
    for one in matched:
        yield replace(one, p_holm=next(corrected)) if one.difference else one


def _judged(one: Compared, threshold: float, cells: int) -> Compared:
    if one.difference is None or one.p_holm is None:
        why = "no single values are known of one of them" if one.ratio is not None else "there is no ratio of 0"
        return replace(one, words=f"cannot tell: {why}")
    if one.p_holm >= SIGNIFICANT:
        least = min(1.0, one.difference.least_p * cells)
        if least >= SIGNIFICANT:
            return replace(one, words=_too_few(one.difference, cells))
        return replace(one, verdict="no difference shown", words=f"no difference shown ({_ratio_words(one)})")
    if one.difference.repetitions_overlap:
        words = f"no difference shown ({_ratio_words(one)}): repetitions of one run differ as much as the two runs do"
        return replace(one, verdict="no difference shown", words=words)
    assert one.ratio is not None  # noqa: S101 - there is a difference, so there is its ratio
    is_slower = (one.difference.p_lower > 1 / 2) == one.higher_is_better
    verdict = "slower" if is_slower else "faster"
    change = _slowdown(one.ratio, one.higher_is_better)
    words = f"{verdict} by {100 * abs(change):.1f} % ({_ratio_words(one)}, {_chance_words(one, is_slower)})"
    beyond = is_slower and change > threshold
    if is_slower and not beyond:
        words += f": within the threshold of {100 * threshold:g} %"
    return replace(one, verdict=verdict, words=words, is_regression=beyond)


def _slowdown(ratio: float, higher_is_better: bool) -> float:
    """How much slower: a rate of 0.9 is 10 % slower, and so is a duration of 1.1."""
    return 1 - ratio if higher_is_better else ratio - 1


def _ratio_words(one: Compared) -> str:
    interval = one.difference.interval if one.difference else None
    between = f", 95 % {interval.low:.3f} – {interval.high:.3f}" if interval else ", no interval"
    return f"ratio {one.ratio:.3f}{between}"


def _chance_words(one: Compared, is_slower: bool) -> str:
    assert one.difference is not None  # noqa: S101
    slower = one.difference.p_lower if one.higher_is_better else 1 - one.difference.p_lower
    return f"{100 * (slower if is_slower else 1 - slower):.0f} % of pairs"


def _too_few(found: Difference, cells: int) -> str:
    return (
        f"cannot tell: {found.units[0]} against {found.units[1]} independent values cannot show a difference among "
        f"{cells} {'cells' if cells != 1 else 'cell'}; measure more instances"
    )


def _warnings(base: Document, run: Document, matched: list[Compared]) -> list[str]:
    found = []
    if base.get("environment") != run.get("environment"):
        found.append(
            f"{base['run']} was measured on {base.get('environment')}, {run['run']} on {run.get('environment')}: "
            "their figures do not compare"
        )
    if not matched:
        found.append("the two runs have no cell in common (same storage, workload, fleet and parameters)")
    return found
