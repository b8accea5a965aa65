"""Two runs side by side: which cells became slower or faster, by how much, and whether chance explains it."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from matrix.statistics.differing import SIGNIFICANT, Difference, difference, holm
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.resampling import LEAST_LAUNCHES, LEAST_REPETITIONS
from matrix.statistics.uncertainty import Uncertainty
from matrix.terms.documents.values import JudgedCell, JudgedPoint, ValuesDocument
from matrix.terms.names import fleet_words, workload_words
from matrix.terms.sameness import same_fleet, same_storage
from matrix.terms.sentences import EMULATED

Document = dict[str, Any]


class NotComparable(Exception):
    """One of two runs was emulated, the other was not: a ratio of their figures would mean nothing."""


WITHIN_RUNS = (
    "instances share the storage, and so few repetitions cannot show how much it differs from one to the next; "
    f"repeat {LEAST_REPETITIONS} times in both runs"
)
FEW_LAUNCHES = (
    f"fewer than {LEAST_LAUNCHES} launches cannot show how much launches differ; launch {LEAST_LAUNCHES} times in both "
    "runs (`launches`)"
)
OF_POINT = ("label", "metric", "unit", "higher_is_better", "p50", "n", "interval")
# Verdicts in the order in which they are listed: what needs a look comes first.
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
        between = self.difference
        interval = between.interval if between else None
        return {
            **{name: getattr(self, name) for name in ("storage", "workload", "fleet", "point", "metric", "unit")},
            "higher_is_better": self.higher_is_better,
            "base": {"cell": self.base["cell"], "p50": self.base["p50"], "n": self.base["n"]},
            "run": {"cell": self.run["cell"], "p50": self.run["p50"], "n": self.run["n"]},
            "ratio": self.ratio,
            "interval": interval.to_document() if interval else None,
            "hodges_lehmann_ratio": between.hodges_lehmann_ratio if between else None,
            "p_lower": between.p_lower if between else None,
            "cliffs_delta": between.cliffs_delta if between else None,
            "test": between.test if between else None,
            "p_value": between.p_value if between else None,
            "p_holm": self.p_holm,
            "units": list(between.units) if between else None,
            "repetitions_overlap": between.repetitions_overlap if between else None,
            "is_within_runs": between.is_within_runs if between else None,
            "verdict": self.verdict,
            "words": self.words,
            "is_regression": self.is_regression,
        }


def compare(base: ValuesDocument, run: ValuesDocument, *, threshold: float) -> Document:
    """Compare two runs by the values that their points are judged by.

    A regression is a cell that is slower by more than the threshold (0.05 is 5 %) and by more than chance explains,
    all cells considered. Raises NotComparable where one of the runs is emulated and the other is not.
    """
    _refuse_mixture(base, run)
    before, after = _by_key(list(measured_points(base)), list(measured_points(run)))
    matched = [_compared(before[key], after[key]) for key in before if key in after]
    compared = [_judged(cell, threshold, len(matched)) for cell in _corrected(matched)]
    compared.sort(key=lambda cell: VERDICTS.index(cell.verdict))
    return {
        "schema": 1,
        "base": base["run"],
        "run": run["run"],
        "threshold": threshold,
        "environments": [base["environment"], run["environment"]],
        "compared": [cell.to_document() for cell in compared],
        "only_in_base": [before[key]["name"] for key in before if key not in after],
        "only_in_run": [after[key]["name"] for key in after if key not in before],
        "regressions": sum(cell.is_regression for cell in compared),
        "warnings": _warnings(base, run, matched),
    }


def _refuse_mixture(base: ValuesDocument, run: ValuesDocument) -> None:
    emulated = [each["run"] for each in (base, run) if each["environment"] == EMULATED]
    if len(emulated) == 1:
        [other] = [each["run"] for each in (base, run) if each["run"] not in emulated] or emulated
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


def measured_points(values: ValuesDocument) -> Iterator[tuple[str, Document]]:
    """Each measured point with a key of what was measured: storage, workload, fleet and parameters, names left out."""
    for cell in values["cells"]:
        storage, fleet = same_storage(cell["storage"]), same_fleet(cell["fleet"])
        same = json.dumps([storage, cell["workload"]["type"], fleet], sort_keys=True)
        of_cell = {
            "cell": cell["id"],
            "storage": cell["storage_label"],
            "is_relaunched": cell["is_relaunched"],
            "workload": workload_words(cell["workload"]),
            "fleet": fleet_words(fleet),
        }
        for point in cell["points"]:
            uncertainty = point["median_uncertainty"]
            yield (
                f"{same} {json.dumps([point['params'], point['metric']], sort_keys=True)}",
                {
                    **of_cell,
                    **{name: value for name, value in point.items() if name in OF_POINT},
                    "name": f"{cell['id']}, {point['label']}",
                    "values": _fleet_values(cell, point),
                    # Runs of older versions have none: their samples are resampled.
                    "uncertainty": Uncertainty(**uncertainty) if uncertainty else None,
                },
            )


def _fleet_values(cell: JudgedCell, point: JudgedPoint) -> FleetValues | None:
    if point["values"] is None:
        return None
    instances, repetitions, launches = cell["instances"], cell["repetitions"], cell["launches"]
    return FleetValues.of_rows(instances, repetitions, point["values"], is_shared=cell["is_shared"], launches=launches)


def _compared(base: Document, run: Document) -> Compared:
    before, after, between = base["values"], run["values"], None
    if before is not None and after is not None and before.table.size and after.table.size:
        between = difference(before, after, known=(base["uncertainty"], run["uncertainty"]))
    ratio = between.ratio if between else run["p50"] / base["p50"] if base["p50"] and run["p50"] is not None else None
    same = {name: run[name] for name in ("storage", "workload", "fleet", "metric", "unit", "higher_is_better")}
    return Compared(**same, point=run["label"], base=base, run=run, ratio=ratio, difference=between)


def _corrected(matched: list[Compared]) -> Iterator[Compared]:
    """Correct p values for the number of tests: of twenty cells that did not change one looks changed at 5 %."""
    tested = [cell.difference.p_value for cell in matched if cell.difference]
    corrected = iter(holm(tested))
    for cell in matched:
        yield replace(cell, p_holm=next(corrected)) if cell.difference else cell


def _judged(cell: Compared, threshold: float, cells: int) -> Compared:
    between, p_holm, ratio = cell.difference, cell.p_holm, cell.ratio
    if between is None or p_holm is None or ratio is None:
        why = "no single values are known of one of them" if ratio is not None else "there is no ratio of 0"
        return replace(cell, words=f"cannot tell: {why}")
    if between.is_within_runs:
        why = FEW_LAUNCHES if cell.base["is_relaunched"] or cell.run["is_relaunched"] else WITHIN_RUNS
        return replace(cell, words=f"cannot tell ({_ratio_words(cell)}): {why}")
    if not between.is_shown(p_holm):
        if min(1.0, between.least_p * cells) >= SIGNIFICANT:
            return replace(cell, words=_too_few(between, cells))
        why = ": repetitions of one run differ as much as the two runs do" if p_holm < SIGNIFICANT else ""
        words = f"no difference shown ({_ratio_words(cell)}){why}"
        return replace(cell, verdict="no difference shown", words=words)
    is_slower = between.is_lower == cell.higher_is_better
    verdict = "slower" if is_slower else "faster"
    change = _slowdown(ratio, cell.higher_is_better)
    words = f"{verdict} by {100 * abs(change):.1f} % ({_ratio_words(cell)}, {_chance_words(between, is_slower, cell)})"
    beyond = is_slower and change > threshold
    if is_slower and not beyond:
        words += f": within the threshold of {100 * threshold:g} %"
    return replace(cell, verdict=verdict, words=words, is_regression=beyond)


def _slowdown(ratio: float, higher_is_better: bool) -> float:
    """How much slower: a rate of 0.9 is 10 % slower, and so is a duration of 1.1."""
    return 1 - ratio if higher_is_better else ratio - 1


def _ratio_words(cell: Compared) -> str:
    interval = cell.difference.interval if cell.difference else None
    between = f", 95 % {interval.low:.3f} – {interval.high:.3f}" if interval else ", no interval"
    return f"ratio {cell.ratio:.3f}{between}"


def _chance_words(between: Difference, is_slower: bool, cell: Compared) -> str:
    slower = between.p_lower if cell.higher_is_better else 1 - between.p_lower
    return f"{100 * (slower if is_slower else 1 - slower):.0f} % of pairs"


def _too_few(between: Difference, cells: int) -> str:
    return (
        f"cannot tell: {between.units[0]} against {between.units[1]} independent values cannot show a difference among "
        f"{cells} {'cells' if cells != 1 else 'cell'}; measure more instances"
    )


def _warnings(base: ValuesDocument, run: ValuesDocument, matched: list[Compared]) -> list[str]:
    warnings = []
    if base["environment"] != run["environment"]:
        warnings.append(
            f"{base['run']} was measured on {base['environment']}, {run['run']} on {run['environment']}: "
            "their figures do not compare"
        )
    if any(cell.base["is_relaunched"] != cell.run["is_relaunched"] for cell in matched):
        warnings.append(
            "one run has launched its cells several times, the other once: what launches differ by is in the figures "
            "of one only, so a difference may be that of its launch; launch both as often"
        )
    if not matched:
        warnings.append("the two runs have no cell in common (same storage, workload, fleet and parameters)")
    return warnings
