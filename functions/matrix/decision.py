"""Which storage to take: the cheapest that is fast enough, what it is ahead by, how sure that is, why the others lost.

"Fast enough" looks at the slow end. `percentile` 90 means that 90 % of the samples are at least this good: of durations
that is P90, of rates P10, since of rates P0 is the slowest. Where single values are not known, as in published tables,
a rate's slow end can only be its P0; that is said.

One question per workload, point and fleet: which storage? Storages are compared where everything else is the same.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matrix.costs import Bill, PointCost
from matrix.rendering import error_text, fleet_label, number, point_labels, primary_metric, quantity
from matrix.statistics.carrying import is_carried, needed
from matrix.statistics.differing import SIGNIFICANT, difference, holm
from matrix.statistics.fleet_values import FleetValues, from_columns
from matrix.statistics.independence import LEAST_UNITS
from matrix.statistics.intervals import percentile_interval
from matrix.storage_names import whole_names

Document = dict[str, Any]

SCHEMA = 1
USUAL_PERCENT = 90.0
# Figures that lead nobody to a purchase: what was measured is not what would be bought.
NOT_FOR_SALE = {
    "local": "No storage is recommended: this run ranks folders of one disk (local cloud), not AWS storages.",
    "emulated": "No storage is recommended: this run ranks emulated storages, not those of AWS.",
}
MOST_SENTENCES = 3
# Costs closer than this are the same for all that anyone can plan.
SAME_COST = 0.01


@dataclass(frozen=True)
class Objective:
    """What the slow end must reach; `limit` None only looks at the slow end of the primary metric."""

    metric: str | None = None
    percent: float = USUAL_PERCENT
    limit: float | None = None
    is_upper: bool = True

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> "Objective":
        """Read the `objective` of a matrix."""
        if not document:
            return cls()
        upper, lower = document.get("atMost"), document.get("atLeast")
        limit = upper if upper is not None else lower
        return cls(document.get("metric"), float(document.get("percentile", USUAL_PERCENT)), limit, upper is not None)

    def is_met(self, value: float) -> bool:
        """Whether a value reaches it."""
        return self.limit is not None and (value <= self.limit if self.is_upper else value >= self.limit)

    def words(self, unit: str) -> str:
        """Write it as a sentence's part."""
        return f"{'at most' if self.is_upper else 'at least'} {quantity(self.limit, unit)}"


@dataclass(frozen=True)
class SlowEnd:
    """The value that `percent` of the samples are at least as good as, and how sure it is."""

    level: float
    value: float
    low: float | None
    high: float | None
    doubt: str | None  # why this percentile is not carried, in words


@dataclass
class Candidate:
    """One storage in one question."""

    cell: str
    point: str
    storage: str
    file_system: str
    slow_end: SlowEnd | None
    cost: PointCost | None
    values: FleetValues | None
    lost: str | None = None  # why it was not measured, or may not be believed
    on_front: bool = False
    verdict: str = ""
    risks: list[str] = field(default_factory=list)

    @property
    def usd(self) -> float | None:
        """What a result costs; None where that is not known in full."""
        return self.cost.usd if self.cost and not self.cost.missing else None

    @property
    def name(self) -> str:
        """As it stands in a sentence."""
        return self.storage

    def to_document(self) -> Document:
        """As it is in summary.json."""
        end = self.slow_end
        return {
            "cell": self.cell,
            "point": self.point,
            "storage": self.storage,
            "file_system": self.file_system,
            "value": end.value if end else None,
            "low": end.low if end else None,
            "high": end.high if end else None,
            "cost": self.cost.to_document() if self.cost else None,
            "on_front": self.on_front,
            "verdict": self.verdict,
            "risks": self.risks,
        }


@dataclass
class Question:
    """Which storage for this workload, point and fleet?"""

    workload: str
    label: str
    fleet: str
    instances: int
    metric: str
    unit: str
    higher_is_better: bool
    level: float
    candidates: list[Candidate]
    recommended: Candidate | None = None
    margin: float | None = None
    words: str = ""

    @property
    def judged(self) -> list[Candidate]:
        """Those that have a figure to be judged by."""
        return [one for one in self.candidates if one.slow_end is not None and one.lost is None]

    @property
    def ranked(self) -> list[Candidate]:
        """The same, fastest first."""
        return sorted(self.judged, key=_value, reverse=self.higher_is_better)

    @property
    def priced(self) -> list[Candidate]:
        """The same, cheapest first; of two that cost the same, the faster one."""
        costed = [one for one in self.ranked if one.usd is not None]
        return sorted(costed, key=lambda one: one.usd or 0.0)

    def meeting(self, wanted: Objective) -> list[Candidate]:
        """Those that reach the objective, cheapest first; those whose cost is not known in full come last."""
        unpriced = [one for one in self.ranked if one.usd is None]
        return [one for one in [*self.priced, *unpriced] if wanted.is_met(_value(one))]

    def figure(self, one: Candidate) -> str:
        """Write a candidate's slow end: `P90 101m 17s`."""
        return f"P{self.level:g} {quantity(_value(one), self.unit)}"

    def to_document(self) -> Document:
        """As it is in summary.json."""
        names = ("workload", "label", "fleet", "instances", "metric", "unit", "higher_is_better", "level")
        return {
            **{name: getattr(self, name) for name in names},
            "candidates": [one.to_document() for one in self.candidates],
            "recommended": self.recommended.cell if self.recommended else None,
            "margin": self.margin,
            "words": self.words,
        }


def decide(
    summary: Mapping[str, Any],
    *,
    results: Mapping[str, Mapping[str, Any]] | None = None,
    objective: Mapping[str, Any] | None = None,
    bill: Bill | None = None,
) -> Document:
    """Return the decision of a run, from its summary and, where they are known, its cells' single values.

    `results` are the cells' result.json by id, `objective` that of the matrix. Local and emulated runs are ranked all
    the same, so that one can try it, but recommend nothing.
    """
    wanted = Objective.of(objective)
    not_for_sale = NOT_FOR_SALE.get(str(summary.get("environment")))
    questions = list(_questions(summary, results or {}, wanted, bill or Bill.of(None, None)))
    for one in questions:
        _answer(one, wanted, for_sale=not_for_sale is None)
    return {
        "schema": SCHEMA,
        "objective": dict(objective) if objective else None,
        "percentile": wanted.percent,
        "reads": f"percentile {wanted.percent:g}: {wanted.percent:g} % of the samples are at least this good",
        "is_recommendation": not_for_sale is None,
        "note": not_for_sale,
        "sentences": _sentences(questions, wanted, not_for_sale),
        "questions": [one.to_document() for one in questions],
    }


# --- the questions ----------------------------------------------------------------------------------------------------


def _questions(
    summary: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]], wanted: Objective, bill: Bill
) -> Iterator[Question]:
    found: dict[str, Question] = {}
    unmeasured: list[Mapping[str, Any]] = []
    storages = whole_names(storages_of(summary))
    for cell in summary.get("cells", []):
        points = cell.get("points") or []
        if cell.get("state") != "measured" or not points:
            unmeasured.append(cell)
            continue
        labels = point_labels(points)
        full = {one["id"]: one for one in (results.get(cell["id"]) or {}).get("points") or []}
        for point in points:
            metrics = point.get("metrics") or {}
            primary = primary_metric(point)
            name = wanted.metric if wanted.metric in metrics else primary[0] if primary and not wanted.limit else None
            if name is None:
                continue
            metric = metrics[name]
            fleet = {key: cell["fleet"].get(key) for key in ("instanceType", "count")}
            key = json.dumps([cell["workload"]["type"], point.get("params"), fleet, name], sort_keys=True, default=str)
            question = found.setdefault(
                key,
                Question(
                    workload=str(cell["workload"]["type"]),
                    label=labels[point["id"]],
                    fleet=fleet_label(cell["fleet"]),
                    instances=int(cell["fleet"].get("count") or 1),
                    metric=name,
                    unit=str(metric.get("unit", "")),
                    higher_is_better=bool(metric.get("higher_is_better")),
                    level=100 - wanted.percent if metric.get("higher_is_better") else wanted.percent,
                    candidates=[],
                ),
            )
            samples = (full.get(point["id"]) or point).get("samples")
            storage = storages[_system(cell)]
            question.candidates.append(_candidate(cell, point, metric, name, samples, question.level, bill, storage))
    for question in found.values():
        question.candidates += [
            _absent(cell, storages[_system(cell)]) for cell in unmeasured if _belongs(cell, question)
        ]
    yield from sorted(found.values(), key=lambda one: (one.workload, one.label, one.instances))


def storages_of(summary: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each file system of a run with its storage."""
    yield from ((_system(cell), cell["storage"]) for cell in summary.get("cells", []))


def _system(cell: Mapping[str, Any]) -> str:
    return str(cell.get("file_system") or cell["id"])


def _candidate(
    cell: Mapping[str, Any], point: Mapping[str, Any], metric: Mapping[str, Any], name: str,
    samples: dict[str, Any] | None, level: float, bill: Bill, storage: str,
) -> Candidate:  # fmt: skip
    values = from_columns(samples, name) if samples else None
    if values is not None and not len(values.pooled):
        values = None
    return Candidate(
        cell=str(cell["id"]),
        point=str(point["id"]),
        storage=storage,
        file_system=_system(cell),
        slow_end=_slow_end(metric, values, level),
        cost=bill.point_cost(cell, point),
        values=values,
        lost=f"left out: {cell['suspect']}" if cell.get("suspect") else None,
    )


def _absent(cell: Mapping[str, Any], storage: str) -> Candidate:
    why = error_text(cell.get("error")).replace(f"{cell['id']}: ", "") or str(cell.get("state"))
    return Candidate(
        cell=str(cell["id"]), point="", storage=storage, file_system=_system(cell), slow_end=None, cost=None,
        values=None, lost=f"not measured: {why}",
    )  # fmt: skip


def _belongs(cell: Mapping[str, Any], question: Question) -> bool:
    return cell["workload"]["type"] == question.workload and fleet_label(cell["fleet"]) == question.fleet


def _slow_end(metric: Mapping[str, Any], values: FleetValues | None, level: float) -> SlowEnd | None:
    """The percentile at `level`, from the single values if they are known, else from the summary."""
    worth = metric.get("independent_n")
    if values is not None:
        found = float(np.percentile(values.pooled, level))
        units = len(values.units)
        count = units if worth is None else int(worth)
        carries = units >= LEAST_UNITS and is_carried(level, count)
        interval = percentile_interval(values.units, level) if carries else None
        doubt = None if carries else f"P{level:g} needs {needed(level)} independent values, there are {count}"
        return SlowEnd(level, found, interval.low if interval else None, interval.high if interval else None, doubt)
    name = f"p{level:g}"
    stored = metric.get(name)
    if stored is not None:
        interval_ = (metric.get("intervals") or {}).get(name) or {}
        return SlowEnd(level, float(stored), interval_.get("low"), interval_.get("high"), _doubt(metric, level))
    # Of a rate only the slowest is known then: at least as bad as what is asked for, so it promises nothing wrong.
    worst = metric.get("p0") if metric.get("higher_is_better") else metric.get("p100")
    if worst is None:
        return None
    return SlowEnd(level, float(worst), None, None, f"P{level:g} is not known, this is the worst value")


def _doubt(metric: Mapping[str, Any], level: float) -> str | None:
    if (metric.get("carried") or {}).get(f"p{level:g}"):
        return None
    count = metric.get("independent_n") if metric.get("independent_n") is not None else metric.get("n")
    if count is None:
        return "over how many values this percentile was taken is not known"
    if is_carried(level, int(count)):
        return None if "carried" in metric else "no single values are known, so there is no interval"
    return f"P{level:g} needs {needed(level)} independent values, there are {count}"


# --- the answers ------------------------------------------------------------------------------------------------------


def _answer(question: Question, wanted: Objective, *, for_sale: bool) -> None:
    for one in question.candidates:
        one.on_front = _is_on_front(one, question)
        one.verdict = one.lost or ("" if one.slow_end else "no figure of this metric")
        if one.slow_end and one.slow_end.doubt:
            one.risks.append(one.slow_end.doubt)
        if one.cost and one.cost.missing:
            one.risks.append(f"its cost is without {one.cost.missing}")
    if wanted.limit is None:
        _describe(question)
    else:
        _choose(question, wanted, for_sale=for_sale)


def _is_on_front(one: Candidate, question: Question) -> bool:
    """Whether nothing is both cheaper and faster."""
    if one not in question.judged or one.usd is None:
        return False
    sign = -1 if question.higher_is_better else 1
    mine = (one.usd, sign * _value(one))
    theirs = [(other.usd or 0.0, sign * _value(other)) for other in question.priced if other is not one]
    return not any(cost <= mine[0] and slow <= mine[1] and (cost, slow) != mine for cost, slow in theirs)


def _choose(question: Question, wanted: Objective, *, for_sale: bool) -> None:
    """The cheapest that meets the objective; without costs, the fastest that does."""
    meeting = question.meeting(wanted)
    limit = wanted.words(question.unit)
    if not meeting:
        nearest = question.ranked[0] if question.ranked else None
        near = f"; nearest is {nearest.name} with {question.figure(nearest)}" if nearest else ""
        question.words = f"no storage reaches {limit}{near}"
    else:
        chosen = meeting[0]
        question.margin = _margin(chosen, wanted)
        chosen.risks += _risks(chosen, wanted, question.unit)
        if for_sale:
            question.recommended = chosen
        verb = "take" if for_sale else "first here is"
        question.words = (
            f"{verb} {chosen.name}: {question.figure(chosen)}, {100 * question.margin:.0f} % within the limit"
            f"{_at_cost(chosen)}"
        )
        sure = [one for one in meeting[1:] if not one.risks and not _risks(one, wanted, question.unit)]
        if chosen.risks and sure:
            question.words += f"; the cheapest without that risk is {sure[0].name}{_at_cost(sure[0])}"
        maybe = [one for one in meeting[1:] if one.cost and one.usd is None and one.cost.usd < (chosen.usd or 0.0)]
        if maybe:
            question.words += f"; {maybe[0].name} may cost less{_at_cost(maybe[0])}"
    for one in question.judged:
        one.verdict = _verdict(one, question, meeting, wanted)


def _margin(one: Candidate, wanted: Objective) -> float:
    """How far within the limit, as a share of it."""
    limit = wanted.limit or 0.0
    return abs(limit - _value(one)) / abs(limit) if limit else 0.0


def _risks(one: Candidate, wanted: Objective, unit: str) -> list[str]:
    end = one.slow_end
    if end is None or end.low is None or end.high is None:
        return []
    if wanted.is_met(end.low) and wanted.is_met(end.high):
        return []
    low, high = quantity(end.low, unit), quantity(end.high, unit)
    return [f"its 95 % interval, {low} to {high}, crosses the limit"]


def _verdict(one: Candidate, question: Question, meeting: list[Candidate], wanted: Objective) -> str:  # noqa: ARG001
    if meeting and one is meeting[0]:
        return "cheapest that meets the objective" if one.usd is not None else "meets the objective, cost not known"
    if one not in meeting:
        end = one.slow_end
        near = end and any(edge is not None and wanted.is_met(edge) for edge in (end.low, end.high))
        return f"misses the limit by {100 * _margin(one, wanted):.0f} %" + (
            " (its interval reaches it)" if near else ""
        )
    if one.usd is None:
        return "meets the objective, but what it costs is not known" + (" in full" if one.cost else "")
    if not meeting[0].usd:
        return "meets the objective, but is slower"
    more = one.usd / meeting[0].usd
    if more < 1 + SAME_COST:
        return "meets the objective at the same cost, but is slower"
    much = f"{100 * (more - 1):.0f} % more" if more < 2 else f"{_times(more)} as much"  # noqa: PLR2004
    return f"meets the objective, but costs {much}"


def _describe(question: Question) -> None:
    """Without an objective: what is fastest, what is cheapest, and whether the figures tell them apart."""
    ranked, priced = question.ranked, question.priced
    if not ranked:
        question.words = "nothing was measured"
        return
    fastest = ranked[0]
    tied = dict(_ties(fastest, ranked[1:]))
    parts = [f"fastest is {fastest.name} ({question.figure(fastest)}{_at_cost(fastest)})"]
    cheapest = priced[0] if priced else None
    if cheapest is fastest:
        parts[0] = (
            f"{fastest.name} is fastest and cheapest ({question.figure(fastest)}{_at_cost(fastest)})"
            if len(ranked) > 1
            else f"only {fastest.name} was measured ({question.figure(fastest)}{_at_cost(fastest)})"
        )
    elif cheapest:
        parts.append(f"cheapest is {cheapest.name} ({question.figure(cheapest)}{_at_cost(cheapest)})")
    for one in ranked[1:]:
        one.verdict = _slower(one, fastest, question) + (f"; {tied[one.cell]}" if one.cell in tied else "")
    fastest.verdict = "fastest" + (" and cheapest" if cheapest is fastest else "")
    if cheapest and cheapest is not fastest:
        cheapest.verdict = f"cheapest; {cheapest.verdict}"
    doubtful = [one.name for one in ranked[1:] if one.cell in tied]
    if doubtful:
        told = tied[next(one.cell for one in ranked[1:] if one.cell in tied)]
        parts.append(f"{told}: {fastest.name} and {' and '.join(doubtful)}")
    question.words = "; ".join(parts)


def _ties(fastest: Candidate, others: Sequence[Candidate]) -> Iterator[tuple[str, str]]:
    """The cells that the samples do not tell from the fastest one, and what can be said."""
    tested: list[tuple[str, float]] = []
    for one in others:
        found = difference(fastest.values, one.values) if fastest.values and one.values else None
        if found is not None:
            if found.least_p >= SIGNIFICANT:
                yield one.cell, "too few values to tell apart"
            else:
                tested.append((one.cell, found.p_value))
        elif _overlap(fastest.slow_end, one.slow_end):
            yield one.cell, "no difference shown"
    for (cell, _), corrected in zip(tested, holm([p_value for _, p_value in tested]), strict=True):
        if corrected >= SIGNIFICANT:
            yield cell, "no difference shown"


def _overlap(one: SlowEnd | None, other: SlowEnd | None) -> bool:
    edges = [edge for end in (one, other) if end for edge in (end.low, end.high)]
    if len(edges) != 4 or None in edges:  # noqa: PLR2004 - two edges of each
        return False
    low, high, other_low, other_high = (float(edge or 0.0) for edge in edges)
    return low <= other_high and other_low <= high


def _slower(one: Candidate, fastest: Candidate, question: Question) -> str:
    best, mine = _value(fastest), _value(one)
    if not best or not mine:
        return "slower"
    ratio = best / mine if question.higher_is_better else mine / best
    if ratio < 1 + SAME_COST:
        return "as fast"
    return f"{100 * (ratio - 1):.0f} % slower" if ratio < 2 else f"{_times(ratio)} slower"  # noqa: PLR2004


# --- in words ---------------------------------------------------------------------------------------------------------


def _sentences(questions: Sequence[Question], wanted: Objective, note: str | None) -> list[str]:
    """The answer in at most three sentences, whatever the size of the matrix, after what forbids to follow it."""
    said = [note] if note else []
    if not questions:
        return [*said, "Nothing was measured, so there is nothing to choose from."]
    room = MOST_SENTENCES
    if len(questions) <= room:
        return said + [f"{_where(one)}: {one.words}." for one in questions]
    by_workload: dict[str, list[Question]] = {}
    for one in questions:
        by_workload.setdefault(one.workload, []).append(one)
    told = [_tally(workload, of, wanted) for workload, of in by_workload.items()]
    if len(told) > room:
        told = [*told[: room - 1], f"{len(told) - room + 1} more workloads are in the tables."]
    return said + told


def _tally(workload: str, questions: Sequence[Question], wanted: Objective) -> str:
    """Say who wins how often: storages in the order of their wins, each with the fleets it wins at."""
    wins: dict[str, list[Question]] = {}
    for one in questions:
        wins.setdefault(_winner(one, wanted) or "", []).append(one)
    order = sorted(wins.items(), key=lambda item: (not item[0], -len(item[1])))
    words = [f"{name or 'no storage does'} {_at(of, questions)}" for name, of in order]
    if wanted.limit is None:
        text = f"{workload}: fastest at the slow end is {'; '.join(words)}"
        untold = sum("no difference shown" in one.words or "too few values" in one.words for one in questions)
        if untold:
            text += f". In {untold} of {len(questions)} the figures do not tell the fastest from the next"
        return f"{text}."
    level = f"P{questions[0].level:g} of {questions[0].metric}"
    text = f"{workload}: for {level} of {wanted.words(questions[0].unit)} the cheapest is {'; '.join(words)}"
    risky = [one for one in questions if one.recommended and one.recommended.risks]
    taken = [one for one in questions if one.recommended]
    if risky:
        which = "None of these is certain" if len(risky) == len(taken) else f"Not certain {_at(risky, questions)}"
        text += f". {which}: {_common(risky)}"
    return f"{text}."


def _common(questions: Sequence[Question]) -> str:
    """The risk that most of the recommended storages have."""
    risks = [risk for one in questions if one.recommended for risk in one.recommended.risks]
    most = max(risks, key=risks.count)
    return most if risks.count(most) == len(questions) else f"{most}, among other things"


def _winner(one: Question, wanted: Objective) -> str | None:
    meeting = one.meeting(wanted) if wanted.limit is not None else one.ranked
    return meeting[0].name if meeting else None


def _at(won: Sequence[Question], of: Sequence[Question]) -> str:
    labels = {one.label for one in of}
    if len(labels) > 1:
        return f"in {len(won)} of {len(of)} comparisons"
    return f"at {_sizes(won)} instances"


def _sizes(questions: Sequence[Question]) -> str:
    sizes = sorted({one.instances for one in questions})
    return ", ".join(map(str, sizes[:-1])) + (" and " if len(sizes) > 1 else "") + str(sizes[-1])


def _where(one: Question) -> str:
    return f"{one.workload} ({one.label}) on {one.fleet}" if one.label else f"{one.workload} on {one.fleet}"


def _at_cost(one: Candidate) -> str:
    return f", {money(one.cost.usd)} per {one.cost.per}{_beside(one.cost)}" if one.cost else ""


def _beside(cost: PointCost) -> str:
    return f" and {cost.missing}" if cost.missing else ""


def money(usd: float | None) -> str:
    """Write US dollars: `$1.58`, `$0.0124`, `$4,425`; what is not known is a dash."""
    return "–" if usd is None else f"${usd:,.2f}" if usd >= 1 else f"${number(usd)}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio < 10 else f"{ratio:.0f} times"  # noqa: PLR2004


def _value(one: Candidate) -> float:
    assert one.slow_end is not None  # noqa: S101 - only those that were judged are asked
    return one.slow_end.value
