"""The decision of a run in words: the verdict first, then its evidence, then its caveats."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from matrix.terms.documents.parts import Part
from matrix.terms.documents.summary import Absence, Candidate, Decision, Difference, Question, SummaryDocument
from matrix.terms.figures import ASSUMED_BYTES, cost_words, money, quantity, rough_duration
from matrix.terms.metrics import metric_title
from matrix.terms.names import tools_words
from matrix.terms.objectives import BEST_VALUE_WITHIN
from matrix.terms.sentences import listed
from matrix.terms.verdicts import best_of, difference_of, expected_ahead, is_open, judged, ranked_of
from matrix.text.replication import shortage_words
from matrix.text.risks import ranked_by_median, risk_words, risks_words
from matrix.text.verdicts import lost_words

NEAR = f"{100 * BEST_VALUE_WITHIN:.0f} %"
MOST_SENTENCES = 3
MOST_NAMED = 3
# Number of the cheapest candidates for which the cost of filling the cache is written.
MOST_FILLED = 3
NOT_FOR_SALE = {
    "local": "No storage is recommended: this run ranks folders of one disk (local cloud), not AWS storages.",
    "local-vm": "No storage is recommended: this run proves mounts and machines in emulation, it ranks no storages.",
    "emulated": "No storage is recommended: this run ranks emulated storages, not those of AWS.",
    "imported": "No storage is recommended: these are files of {tools}, and how they were measured is not known.",
}


def _whole(candidate: Candidate) -> str:
    """Return the name of a storage with all of its figures."""
    return candidate["storage"]


def decision_sentences(summary: SummaryDocument) -> list[str]:
    """Return the answer of a run in a few sentences, after reasons not to follow it; empty without a decision."""
    decision = summary.get("decision")
    if not decision:
        return []
    note = sale_note(summary)
    return [*([note] if note else []), *answer_sentences(decision)]


def sale_note(summary: SummaryDocument) -> str | None:
    """Return why a run recommends nothing; None if it may recommend a storage."""
    note = NOT_FOR_SALE.get(str(summary.get("environment")))
    return note and note.format(tools=tools_words(summary))


def answer_sentences(decision: Decision) -> list[str]:
    """Return the answer: of up to three questions each one's, else one for each workload."""
    questions = decision["questions"]
    if not questions:
        return ["Nothing was measured, so there is nothing to choose from."]
    unlike = not_comparable(questions)
    if len(questions) <= MOST_SENTENCES:
        words = [f"{_where(question)}: {question_words(question, decision)}" for question in questions]
    else:
        by_workload: dict[str, list[Question]] = {}
        for question in questions:
            by_workload.setdefault(question["workload"], []).append(question)
        words = [_tally(workload, asked, decision) for workload, asked in by_workload.items()]
        if len(words) > MOST_SENTENCES:
            more = f"{len(words) - MOST_SENTENCES + 1} more workloads are in the tables."
            words = [*words[: MOST_SENTENCES - 1], more]
    return [*words, *([unlike] if unlike else []), *_filling(questions)]


def question_words(question: Question, decision: Decision) -> str:
    """Return the answer to one question in sentences."""
    parts = _of_objective(question, decision) if decision["objective"] else _of_ranking(question, decision)
    short = [each for each in question["candidates"] if each["lost"] and each["lost"]["code"] == "quorum"]
    parts = [*parts, *(f"{each['storage']} is {lost_words(each['lost'])}" for each in short if each["lost"])]
    if absent := _absences([question], decision["objective"]):
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


# --- many questions ---------------------------------------------------------------------------------------------------


def _tally(workload: str, questions: Sequence[Question], decision: Decision) -> str:
    """Name the storage to take at each fleet size, then the caveats."""
    has_objective = bool(decision["objective"])
    parts = [_winners(workload, questions, decision)]
    alone = [question for question in questions if len(judged(question)) == 1]
    if has_objective:
        parts += _uncertain(questions, decision)
    else:
        parts += _by_median(questions)
        if alone:
            names = dict.fromkeys(candidate["storage"] for question in alone for candidate in judged(question))
            parts.append(f"Only {' or '.join(names)} was measured {at_sizes(alone, questions)}, so nothing is compared")
        if unclear := [question for question in questions if _is_open(question)]:
            why = _common_reason(unclear)
            parts.append(f"Not significant: {len(unclear)} of {len(questions)} comparisons{why}")
        if tailed := [question for question in questions if _has_slow_tail(question)]:
            where = at_sizes(tailed, questions)
            parts.append(f"The best value has a slow tail {where}, which its median does not show")
    if absent := _absences(questions, decision["objective"]):
        parts.append(absent)
    return f"{'. '.join(parts)}."


def _winners(workload: str, questions: Sequence[Question], decision: Decision) -> str:
    """Name the winning storages, each with its fleet sizes; a storage without others wins only against an objective."""
    compared = [question for question in questions if len(judged(question)) > 1 or decision["objective"]]
    if not compared:
        return f"{workload}: nothing was compared"
    wins: dict[str, list[Question]] = {}
    for question in compared:
        wins.setdefault(best["storage"] if (best := best_of(question)) else "", []).append(question)
    # Users who choose a storage plan for many instances, so the winner at the largest fleet comes first.
    order = sorted(wins.items(), key=lambda win: (not win[0], -max(each["instances"] for each in win[1]), -len(win[1])))
    words = "; ".join(f"{name or 'no storage'} {at_sizes(won, questions)}" for name, won in order)
    first = questions[0]
    if objective := decision["objective"]:
        title = metric_title(first["metric"], workload).lower()
        limit = limit_words(objective, first["unit"])
        return f"Cheapest for {workload} with P{first['level']:g} of {title} {limit}: {words}"
    levels = dict.fromkeys(f"P{each.get('ranked_level', each['level']):g}" for each in compared)
    if any(question.get("best_value") != judged(question)[0]["cell"] for question in compared):
        return f"Best value for {workload} (cheapest within {NEAR} of the fastest {' or '.join(levels)}): {words}"
    return f"Fastest for {workload} ({' or '.join(levels)}): {words}"


def _by_median(questions: Sequence[Question]) -> list[str]:
    by_median = [question for question in questions if question.get("why_median")]
    if not by_median:
        return []
    where = "" if len(by_median) == len(questions) else f" {at_sizes(by_median, questions)}"
    return [ranked_by_median(by_median, where)]


def _is_open(question: Question) -> bool:
    return any(is_open(candidate) for candidate in judged(question))


def _common_reason(questions: Sequence[Question]) -> str:
    """Write the missing replication of all questions if it is the same; else nothing."""
    found = [
        difference
        for question in questions
        for candidate, difference in _differences(judged(question))
        if is_open(candidate)
    ]
    if any(each["code"] != "too-few" or each.get("shortages") != found[0].get("shortages") for each in found):
        return ""
    return f" (not replicated: {shortage_words(found[0].get('shortages') or [])})"


def _has_slow_tail(question: Question) -> bool:
    best = [each for each in judged(question) if each["cell"] == question.get("best_value")]
    return len(judged(question)) > 1 and any(risk["code"] == "slow-tail" for each in best for risk in each["risks"])


def _uncertain(questions: Sequence[Question], decision: Decision) -> list[str]:
    """Report how many of the recommended storages have a risk, and the most frequent risk."""
    if not decision["is_recommendation"]:
        return []
    taken = [(question, each) for question in questions for each in judged(question)
             if each["cell"] == question["recommended"]]  # fmt: skip
    risky = [(question, each) for question, each in taken if each["risks"]]
    if not risky:
        return []
    which = "None of these is certain" if len(risky) == len(taken) else (
        f"Not certain {at_sizes([question for question, _ in risky], questions)}"
    )  # fmt: skip
    words = Counter(risk_words(risk, question["unit"]) for question, each in risky for risk in each["risks"])
    [(most, count)] = words.most_common(1)
    return [f"{which}: {most}{'' if count == len(risky) and len(words) == 1 else ', among other things'}"]


# --- missing measurements ---------------------------------------------------------------------------------------------


def _absences(questions: Sequence[Question], objective: Part | None) -> str:
    """Name the storages that were not measured in some of the questions, with sizes and expectations."""
    by_storage: dict[str, list[tuple[Question, Absence]]] = {}
    for question in questions:
        for absence in question.get("absences") or []:
            by_storage.setdefault(absence["storage"], []).append((question, absence))
    if not by_storage:
        return ""
    ahead = [name for name, missing in by_storage.items() if any(each["is_expected_ahead"] for _, each in missing)]
    named = (ahead or list(by_storage))[:MOST_NAMED]
    parts = [_absent(name, by_storage[name], questions, objective) for name in named]
    if rest := len(by_storage) - len(named):
        parts.append(f"{rest} {'more' if not ahead else 'other'} storage{'s' if rest > 1 else ''}")
    return f"Not measured: {'; '.join(parts)}"


def _absent(
    storage: str, missing: Sequence[tuple[Question, Absence]], questions: Sequence[Question], objective: Part | None
) -> str:
    where = f" {at_sizes([question for question, _ in missing], questions)}" if len(questions) > 1 else ""
    ahead = [(question, absence) for question, absence in missing if absence["is_expected_ahead"]]
    if not ahead:
        return f"{storage}{where}"
    question, absence = ahead[0]
    figures = listed(quantity(each["value"], question["unit"]) for each in absence["neighbours"])
    sizes = listed(str(each["instances"]) for each in absence["neighbours"])
    level = question.get("ranked_level", question["level"])
    expected = "to meet the limit" if objective else "to be fastest"
    at = at_sizes([each for each, _ in ahead], questions)
    there = "here" if len(questions) == 1 else "there" if len(ahead) == len(missing) else at
    return f"{storage}{where}, expected {expected} {there} by its P{level:g} at {sizes} instances ({figures})"


# --- costs ------------------------------------------------------------------------------------------------------------


def _filling(questions: Sequence[Question]) -> list[str]:
    """Write how much the cache fill adds to the cost of a build, for the largest fleet with a comparison."""
    filled = [(question, _filled(question)) for question in questions]
    compared = [(question, candidates) for question, candidates in filled if len(candidates) > 1]
    if not compared:
        return []
    question, candidates = max(compared, key=lambda pair: pair[0]["instances"])
    parts = [_with_filling(candidate) for candidate in candidates[:MOST_FILLED]]
    size = question["instances"]
    at = f"{size} instances" if size > 1 else "1 instance"
    return [f"Filling the cache is extra. Cost per build at {at}: {'; '.join(parts)}."]


def _filled(question: Question) -> list[Candidate]:
    """Return the candidates whose builds read a filled cache, cheapest first."""
    known = [each for each in judged(question) if each["cost"] and each["cost"].get("filling")]
    return sorted((each for each in known if not _is_partial(each)), key=_order_of_cost)


def _with_filling(candidate: Candidate) -> str:
    cost = candidate["cost"]
    filling = cost.get("filling") if cost else None
    if cost is None or filling is None:
        return candidate["storage"]
    whole, spread = (cost["usd"] + filling["usd"] / (filling["builds"] * times) for times in (1, 10))
    where = "one instance" if filling["instances"] == 1 else f"each of {filling['instances']} instances"
    assumed = "assumed " if filling.get("is_assumed") else ""
    return (
        f"{candidate['storage']} {money(cost['usd'])}, with filling {money(whole)}, spread over 10 builds"
        f" {money(spread)} ({assumed}{rough_duration(filling['seconds'])} on {where})"
    )


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


def _where(question: Question) -> str:
    point = f" ({question['label']})" if question["label"] else ""
    return f"{question['workload']}{point} on {question['fleet']}"


def _figure(question: Question, candidate: Candidate) -> str:
    """Write the figure that ranks a candidate: `P90 101m 17s`."""
    level = question.get("ranked_level", question["level"])
    return f"P{level:g} {quantity(ranked_of(candidate)['value'], question['unit'])}"


def _in_memory(candidate: Candidate) -> bool:
    return bool(candidate.get("counts_in_memory"))
