"""The answer of one comparison in words: the verdict first, then its evidence, then its caveats."""

from collections.abc import Callable, Iterator, Sequence

from matrix.terms.documents.parts import Part
from matrix.terms.documents.summary import Absence, Candidate, CostRatio, Decision, Question, SummaryDocument
from matrix.terms.figures import ASSUMED_BYTES, describe_cost
from matrix.terms.findings.replication import describe_needed
from matrix.terms.findings.risks import Risk
from matrix.terms.findings.verdicts import NOT_RANKED, AsFast, Lost, Tested, TooFew
from matrix.terms.names import describe_tools
from matrix.terms.objectives import BEST_VALUE_WITHIN
from matrix.terms.quantities import factor, quantity, times
from matrix.terms.sentences import listed
from matrix.terms.verdicts import difference_of, is_comparable, judged, ranked_of, winner
from matrix.text.rankings import describe_level

NEAR = f"{100 * BEST_VALUE_WITHIN:.0f} %"
MAX_NAMED = 3
# The most that advice considers.
MOST_REPETITIONS = 100
# Costs that differ by less are not worth a word.
DEARER = 1.01
NOT_FOR_SALE = {
    "local": "No storage is recommended: this run ranks folders of one disk (local cloud), not AWS storages.",
    "local-vm": "No storage is recommended: this run proves mounts and machines in emulation, it ranks no storages.",
    "emulated": "No storage is recommended: this run ranks emulated storages, not those of AWS.",
    "imported": "No storage is recommended: these are files of {tools}, and how they were measured is not known.",
}


def is_only_not_ranked(candidate: Candidate) -> bool:
    """Whether a candidate was measured, and is not ranked."""
    return bool(candidate["lost"] and Lost.read(candidate["lost"]).outcome == NOT_RANKED)


def _whole(candidate: Candidate) -> str:
    """Return the name of a storage with all of its figures."""
    return candidate["storage"]


def sale_note(summary: SummaryDocument) -> str | None:
    """Return why a run recommends nothing; None if it may recommend a storage."""
    note = NOT_FOR_SALE.get(str(summary.get("environment")))
    return note and note.format(tools=describe_tools(summary))


def describe_question(question: Question, decision: Decision) -> str:
    """Return the answer to one question in sentences."""
    parts = _of_objective(question, decision) if decision["objective"] else _of_ranking(question, decision)
    short = [each for each in question["candidates"] if is_only_not_ranked(each)]
    parts = [*parts, *(f"{each['storage']} is {Lost.describe(each['lost'])}" for each in short if each["lost"])]
    if absent := _absences(question, decision["objective"]):
        parts.append(absent)
    return f"{'. '.join(parts)}."


def describe_open_question(question: Question, name: Callable[[Candidate], str]) -> Iterator[str]:
    """Write why a question is open, and what would decide it; `name` names a candidate."""
    fastest, *others = judged(question)
    rival = next((each for each in (fastest, *others) if each["cell"] == question.get("rival")), None)
    best, cost = winner(question), question.get("rival_cost")
    if question.get("state") != "open" or not rival:
        return
    difference = difference_of(rival)
    if best and cost:
        yield (
            f"{name(rival)} costs {factor(cost['low'])} to {times(cost['high'])} as much as {name(best)} (95 % "
            f"interval): which of them is cheaper is open, {_advice_of_cost(cost, question, [best, rival], name)}"
        )
    elif best and question["margin"] is not None:
        bound = rival["verdict"].get("bound")
        worst = f"may be {quantity(bound, question['unit'])}" if bound is not None else "is not known well enough"
        yield (
            f"{name(rival)} may cost less than {name(best)}, but meets the objective by its value only: its true "
            f"P{question['level']:g} {worst}; more instances and repetitions may show it"
        )
    elif isinstance(difference, TooFew):
        names = listed([name(fastest), name(rival)])
        yield f"{names} cannot be told apart: {difference.sentence}"
    elif isinstance(difference, Tested):
        # One that is shown to be within 5 % may still be faster than the best value by more.
        is_near = isinstance(difference, AsFast)
        doubt = f"{name(best or fastest)} is within {NEAR} of it" if is_near else f"it is within {NEAR}"
        yield (
            f"{name(rival)} is {factor(difference.low)} to {times(difference.high)} as slow as {name(fastest)} (95 % "
            f"interval): whether {doubt} is open, {describe_needed(question.get('needed'))}"
        )


def _advice_of_cost(
    cost: CostRatio, question: Question, both: Sequence[Candidate], name: Callable[[Candidate], str]
) -> str:
    """Write what makes costs uncertain, and what would decide."""
    if cost["low"] > 1 - BEST_VALUE_WITHIN and cost["high"] < 1 + BEST_VALUE_WITHIN:
        return f"but by less than {NEAR}: take either"
    slow = [(each, risk) for each in both for risk in each["risks"] if risk["code"] == "slow-tail"]
    needed = question.get("needed")
    advice = describe_needed(needed) if needed else f"{MOST_REPETITIONS} repetitions would not show it: take either"
    if not slow:
        return advice
    counts = listed(f"{risk['slow']} of {risk['values']} samples of {name(each)}" for each, risk in slow)
    longest = times(max(risk["slowest"] for _, risk in slow))
    return (
        f"a fleet is paid for until its slowest instance is done, and {counts} took up to {longest} as long; {advice}"
    )


def not_comparable(questions: Sequence[Question], name: Callable[[Candidate], str] = _whole) -> str:
    """Report where creates in memory are compared with durable creates; empty if nowhere."""
    unlike = [question for question in questions if not is_comparable(question)]
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


def describe_limit(objective: Part, unit: str) -> str:
    """Write the limit of an objective: `at most 66m 40s`."""
    is_upper = objective.get("atMost") is not None
    limit = quantity(objective["atMost" if is_upper else "atLeast"], unit)
    return f"{'at most' if is_upper else 'at least'} {limit}"


# --- one question -----------------------------------------------------------------------------------------------------


def _of_objective(question: Question, decision: Decision) -> list[str]:
    objective, ranked = decision["objective"] or {}, judged(question)
    limit = describe_limit(objective, question["unit"])
    chosen = winner(question)
    if chosen is None:
        nearest = [f"Nearest is {ranked[0]['storage']} with {_figure(question, ranked[0])}"] if ranked else []
        return [f"No storage reaches {limit}", *nearest]
    alone = "" if len(ranked) > 1 else ", the only one measured"
    within = f"{100 * (question['margin'] or 0.0):.0f} % within the limit"
    figure = f"{_figure(question, chosen)}, {within}{_at_cost(chosen)}"
    if question.get("state") == "by-value":
        bound = chosen["verdict"].get("bound")
        worst = f"may be {quantity(bound, question['unit'])}" if bound is not None else "is not known well enough"
        parts = [
            f"No storage is shown to reach {limit}",
            f"By its value only {chosen['storage']} does{alone}: {figure}; the true P{question['level']:g} {worst}",
        ]
    else:
        verb = "Take" if decision["is_recommendation"] else "First here is"
        parts = [f"{verb} {chosen['storage']}{alone}: {figure}"]
    if question.get("state") in ("open", "not-tested"):
        parts = [f"{chosen['storage']} is the cheapest by figures alone that is shown to reach {limit}: {figure}"]
        parts += describe_open_question(question, _whole)
    if chosen["risks"]:
        parts.append(f"Caution: {'; '.join(map(Risk.describe, chosen['risks']))}")
    meeting = [each for each in ranked if each["verdict"]["code"] in ("meets", "meets-by-value")]
    cheaper = sorted((each for each in meeting if _usd(each) < _usd(chosen)), key=_order_of_cost)
    is_named = cheaper and cheaper[0]["cell"] == question.get("rival")
    parts += (
        [f"{cheaper[0]['storage']} may reach it for less{_at_cost(cheaper[0])}"] if cheaper and not is_named else []
    )
    return parts


def _of_ranking(question: Question, decision: Decision) -> list[str]:
    ranked = judged(question)
    at_cost = _at_cost if decision["is_recommendation"] else _without_cost
    is_partial = any(map(is_only_not_ranked, question["candidates"]))
    if not ranked:
        return ["Nothing can be ranked" if is_partial else "Nothing was measured"]
    if len(ranked) == 1:
        verb = "can be ranked" if is_partial else "was measured"
        return [f"Only {ranked[0]['storage']} {verb}: {_figure(question, ranked[0])}{at_cost(ranked[0])}"]
    fastest, bargain = ranked[0], winner(question) or ranked[0]
    cheapest = next((each for each in ranked if each["verdict"].get("is_cheapest")), None)

    def described(candidate: Candidate, praise: str) -> str:
        return f"{candidate['storage']} is {praise}: {_figure(question, candidate)}{at_cost(candidate)}"

    among = {"expected": " of those measured", "shown": ""}.get(question.get("state", ""), " by its figures")
    parts = [described(fastest, f"fastest and cheapest{among}" if cheapest is fastest else f"fastest{among}")]
    if bargain is not fastest:
        praise = "and cheapest" if bargain is cheapest else "and cheaper"
        parts.append(described(bargain, f"within {NEAR} of it {praise}{among}"))
    if cheapest and cheapest is not fastest and cheapest is not bargain:
        parts.append(described(cheapest, "cheapest"))
    parts += describe_open_question(question, _whole)
    named = [each for each in (fastest, bargain, cheapest) if each is not None]
    parts += [
        f"{candidate['storage']}: {Risk.describe(risk)}"
        for candidate in ranked
        for risk in candidate["risks"]
        if risk["code"] in ("burst", "judged-by-sustained") or (risk["code"] == "slow-tail" and candidate in named)
    ]
    if why := question.get("why_median"):
        parts.append(f"Ranked by the median: {Risk.describe(why)}")
    return parts


# --- missing measurements ---------------------------------------------------------------------------------------------


def _absences(question: Question, objective: Part | None) -> str:
    """Name the storages that were not measured here, first those that are expected to be ahead."""
    absences = question.get("absences") or []
    ahead = [absence for absence in absences if absence["is_expected_ahead"]]
    named = (ahead or absences)[:MAX_NAMED]
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
    expected = "to meet the limit" if objective else "to be fastest"
    level = describe_level(question)
    return f"{absence['storage']}, expected {expected} here by its {level} at {sizes} instances ({figures})"


# --- costs ------------------------------------------------------------------------------------------------------------


def _at_cost(candidate: Candidate) -> str:
    cost = candidate["cost"]
    if cost is None:
        return ""
    caveat = f" and {cost['missing']}" if cost["missing"] else f" ({ASSUMED_BYTES})" if cost.get("is_assumed") else ""
    ratio = candidate.get("times_as_dear")
    ratio_words = f", {times(ratio)} the cheapest" if ratio is not None and ratio > DEARER else ""
    return f", {describe_cost(cost)} per {cost['per']}{ratio_words}{caveat}"


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
    whole_s = candidate.get("fleet_s")
    whole = f" (the whole fleet {quantity(whole_s, 's')})" if whole_s is not None else ""
    return f"{describe_level(question)} {quantity(ranked_of(candidate)['value'], question['unit'])}{whole}"


def _in_memory(candidate: Candidate) -> bool:
    return bool(candidate.get("counts_in_memory"))
