"""The answer of one comparison in words: the verdict first, then its evidence, then its caveats."""

from collections.abc import Callable, Iterator, Sequence

from matrix.terms.documents.parts import Part
from matrix.terms.documents.summary import Absence, Candidate, Decision, Difference, Question, SummaryDocument
from matrix.terms.figures import ASSUMED_BYTES, cost_words, quantity
from matrix.terms.names import tools_words
from matrix.terms.objectives import BEST_VALUE_WITHIN
from matrix.terms.sentences import listed
from matrix.terms.verdicts import best_of, difference_of, expected_ahead, judged, ranked_of
from matrix.text.replication import shortage_words
from matrix.text.risks import risk_words, risks_words
from matrix.text.verdicts import lost_words

NEAR = f"{100 * BEST_VALUE_WITHIN:.0f} %"
MOST_NAMED = 3
NOT_FOR_SALE = {
    "local": "No storage is recommended: this run ranks folders of one disk (local cloud), not AWS storages.",
    "local-vm": "No storage is recommended: this run proves mounts and machines in emulation, it ranks no storages.",
    "emulated": "No storage is recommended: this run ranks emulated storages, not those of AWS.",
    "imported": "No storage is recommended: these are files of {tools}, and how they were measured is not known.",
}


def _whole(candidate: Candidate) -> str:
    """Return the name of a storage with all of its figures."""
    return candidate["storage"]


def sale_note(summary: SummaryDocument) -> str | None:
    """Return why a run recommends nothing; None if it may recommend a storage."""
    note = NOT_FOR_SALE.get(str(summary.get("environment")))
    return note and note.format(tools=tools_words(summary))


def question_words(question: Question, decision: Decision) -> str:
    """Return the answer to one question in sentences."""
    parts = _of_objective(question, decision) if decision["objective"] else _of_ranking(question, decision)
    short = [each for each in question["candidates"] if each["lost"] and each["lost"]["code"] == "quorum"]
    parts = [*parts, *(f"{each['storage']} is {lost_words(each['lost'])}" for each in short if each["lost"])]
    if absent := _absences(question, decision["objective"]):
        parts.append(absent)
    return f"{'. '.join(parts)}."


def open_words(question: Question, name: Callable[[Candidate], str]) -> Iterator[str]:
    """Name the storages without a significant difference to the fastest one, and why; `name` names a candidate."""
    fastest, *others = judged(question)
    unclear = [each for each, difference in _differences(others) if difference["code"] == "not-significant"]
    if unclear:
        yield f"The difference to {listed(map(name, unclear))} is not significant"
    few = [(each, difference) for each, difference in _differences(others) if difference["code"] == "too-few"]
    if few:
        names = listed([name(fastest), *(name(candidate) for candidate, _ in few)])
        yield f"{names} cannot be told apart: not replicated, {shortage_words(few[0][1].get('shortages') or [])}"


def not_comparable(questions: Sequence[Question], name: Callable[[Candidate], str] = _whole) -> str:
    """Report where creates in memory are compared with durable creates; empty if nowhere."""
    unlike = [question for question in questions if len({_in_memory(each) for each in judged(question)}) > 1]
    if not unlike:
        return ""
    candidates = [candidate for question in unlike for candidate in judged(question)]
    cached = dict.fromkeys(name(each) for each in candidates if _in_memory(each))
    stored = dict.fromkeys(name(each) for each in candidates if not _in_memory(each))
    return (
        f"Not comparable {at_sizes(unlike, questions)}: {listed(cached)} count{'s' if len(cached) == 1 else ''} a "
        f"create once it is in the instance's memory, {listed(stored)} once it is stored. "
        'Set "sync": "each" to measure both stored.'
    )


def at_sizes(some: Sequence[Question], every: Sequence[Question]) -> str:
    """Write the place of some questions: `at 1 and 10 instances`, for several points `in 3 of 12 comparisons`."""
    if len({question["label"] for question in every}) > 1:
        return f"in {len(some)} of {len(every)} comparisons"
    sizes = sorted({question["instances"] for question in some})
    return f"at {listed(map(str, sizes))} instance{'' if sizes == [1] else 's'}"


def limit_words(objective: Part, unit: str) -> str:
    """Write the limit of an objective: `at most 66m 40s`."""
    is_upper = objective.get("atMost") is not None
    limit = quantity(objective["atMost" if is_upper else "atLeast"], unit)
    return f"{'at most' if is_upper else 'at least'} {limit}"


# --- one question -----------------------------------------------------------------------------------------------------


def _of_objective(question: Question, decision: Decision) -> list[str]:
    objective, ranked = decision["objective"] or {}, judged(question)
    meeting = [each for each in ranked if each["verdict"]["code"] in ("cheapest-that-meets", "meets")]
    chosen = best_of(question)
    if chosen is None:
        nearest = [f"Nearest is {ranked[0]['storage']} with {_figure(question, ranked[0])}"] if ranked else []
        return [f"No storage reaches {limit_words(objective, question['unit'])}", *nearest]
    verb = "Take" if decision["is_recommendation"] else "First here is"
    alone = "" if len(ranked) > 1 else ", the only one measured"
    within = f"{100 * (question['margin'] or 0.0):.0f} % within the limit"
    parts = [f"{verb} {chosen['storage']}{alone}: {_figure(question, chosen)}, {within}{_at_cost(chosen)}"]
    if chosen["risks"]:
        parts.append(f"Caution: {risks_words(chosen['risks'], question['unit'])}")
        sure = sorted((each for each in meeting if not each["risks"]), key=_order_of_cost)
        parts += [f"Cheapest without a risk: {sure[0]['storage']}{_at_cost(sure[0])}"] if sure else []
    cheaper = [each for each in meeting if _is_partial(each) and _usd(each) < _usd(chosen)]
    parts += [f"{cheaper[0]['storage']} may cost less{_at_cost(cheaper[0])}"] if cheaper else []
    return parts


def _of_ranking(question: Question, decision: Decision) -> list[str]:
    ranked = judged(question)
    at_cost = _at_cost if decision["is_recommendation"] else _without_cost
    is_partial = any(each["lost"] and each["lost"]["code"] == "quorum" for each in question["candidates"])
    if not ranked:
        return ["Nothing can be ranked" if is_partial else "Nothing was measured"]
    if len(ranked) == 1:
        verb = "can be ranked" if is_partial else "was measured"
        return [f"Only {ranked[0]['storage']} {verb}: {_figure(question, ranked[0])}{at_cost(ranked[0])}"]
    fastest, bargain = ranked[0], best_of(question) or ranked[0]
    cheapest = next((each for each in ranked if each["verdict"].get("is_cheapest")), None)

    def described(candidate: Candidate, praise: str) -> str:
        return f"{candidate['storage']} is {praise}: {_figure(question, candidate)}{at_cost(candidate)}"

    among = " of those measured" if expected_ahead(question) else ""
    parts = [described(fastest, f"fastest and cheapest{among}" if cheapest is fastest else f"fastest{among}")]
    if bargain is not fastest and decision["is_recommendation"]:
        praise = "and cheapest" if bargain is cheapest else "and cheaper"
        parts.append(described(bargain, f"within {NEAR} of it {praise}"))
    if cheapest and cheapest is not fastest and cheapest is not bargain:
        parts.append(described(cheapest, "cheapest"))
    parts += open_words(question, _whole)
    named = [each for each in (fastest, bargain, cheapest) if each is not None]
    parts += [
        f"{candidate['storage']}: {risk_words(risk, question['unit'])}"
        for candidate in ranked
        for risk in candidate["risks"]
        if risk["code"] in ("burst", "judged-by-sustained") or (risk["code"] == "slow-tail" and candidate in named)
    ]
    if why := question.get("why_median"):
        parts.append(f"Ranked by the median: {risk_words(why, question['unit'])}")
    return parts


def _differences(candidates: Sequence[Candidate]) -> list[tuple[Candidate, Difference]]:
    return [(each, difference) for each in candidates if (difference := difference_of(each))]


# --- missing measurements ---------------------------------------------------------------------------------------------


def _absences(question: Question, objective: Part | None) -> str:
    """Name the storages that were not measured here, first those that are expected to be ahead."""
    absences = question.get("absences") or []
    ahead = [absence for absence in absences if absence["is_expected_ahead"]]
    named = (ahead or absences)[:MOST_NAMED]
    if not named:
        return ""
    parts = [_absent(question, absence, objective) for absence in named]
    if rest := len(absences) - len(named):
        parts.append(f"{rest} {'more' if not ahead else 'other'} storage{'s' if rest > 1 else ''}")
    return f"Not measured: {'; '.join(parts)}"


def _absent(question: Question, absence: Absence, objective: Part | None) -> str:
    if not absence["is_expected_ahead"]:
        return absence["storage"]
    figures = listed(quantity(each["value"], question["unit"]) for each in absence["neighbours"])
    sizes = listed(str(each["instances"]) for each in absence["neighbours"])
    level = question.get("ranked_level", question["level"])
    expected = "to meet the limit" if objective else "to be fastest"
    return f"{absence['storage']}, expected {expected} here by its P{level:g} at {sizes} instances ({figures})"


# --- costs ------------------------------------------------------------------------------------------------------------


def _at_cost(candidate: Candidate) -> str:
    cost = candidate["cost"]
    if cost is None:
        return ""
    beside = f" and {cost['missing']}" if cost["missing"] else f" ({ASSUMED_BYTES})" if cost.get("is_assumed") else ""
    return f", {cost_words(cost)} per {cost['per']}{beside}"


def _without_cost(_: Candidate) -> str:
    return ""


def _is_partial(candidate: Candidate) -> bool:
    return bool(candidate["cost"] and candidate["cost"]["missing"])


def _usd(candidate: Candidate) -> float:
    return candidate["cost"]["usd"] if candidate["cost"] else 0.0


def _order_of_cost(candidate: Candidate) -> tuple[bool, float]:
    return candidate["cost"] is None or _is_partial(candidate), _usd(candidate)


# --- small ------------------------------------------------------------------------------------------------------------


def _figure(question: Question, candidate: Candidate) -> str:
    """Write the figure that ranks a candidate: `P90 101m 17s`."""
    level = question.get("ranked_level", question["level"])
    return f"P{level:g} {quantity(ranked_of(candidate)['value'], question['unit'])}"


def _in_memory(candidate: Candidate) -> bool:
    return bool(candidate.get("counts_in_memory"))
