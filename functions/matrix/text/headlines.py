"""The answer of a run in one line, and what may be wrong with it in another one."""

from collections import Counter
from collections.abc import Iterator, Mapping

from matrix.terms.documents.summary import Decision, Question, SummaryDocument
from matrix.terms.verdicts import best_of, difference_of, is_open, judged
from matrix.text.decisions import NEAR, limit_words, listed, not_comparable
from matrix.text.replication import shortage_words
from matrix.text.risks import risk_words

# Storages that a line names.
MOST_NAMED = 3


def headline(decision: Decision, names: Mapping[str, str]) -> str:
    """Return the answer in one line; `names` has what storages are called, by file system."""
    questions = decision["questions"]
    if not any(judged(question) for question in questions):
        return "Nothing was measured, so there is nothing to choose from."
    won = Counter(names[best["file_system"]] if (best := best_of(each)) else "" for each in questions)
    if len(questions) == 1:
        [only] = questions
        where = ", ".join(filter(None, [only["workload"], only["label"], only["fleet"]]))
        return f"{where}: {_of_one(only, decision, next(iter(won)))}"
    counted = [f"{name or 'no storage'} ({count})" for name, count in won.most_common(MOST_NAMED)]
    more = f" and {len(won) - MOST_NAMED} others" if len(won) > MOST_NAMED else ""
    what = "Cheapest that meets the objective" if decision["objective"] else "Best value"
    return f"{what} in {len(questions)} comparisons: {', '.join(counted)}{more}."


def _of_one(question: Question, decision: Decision, name: str) -> str:
    if objective := decision["objective"]:
        level, limit = f"P{question['level']:g}", limit_words(objective, question["unit"])
        if not name:
            return f"no storage reaches {level} {limit}."
        verb = f"take {name}" if decision["is_recommendation"] else f"{name} is first here"
        return f"{verb}: it is the cheapest with {level} {limit}."
    if len(judged(question)) == 1:
        return f"only {name} was measured, so nothing is compared."
    best = best_of(question)
    if best is not None and best["verdict"]["code"] == "fastest":
        is_cheapest = best["verdict"].get("is_cheapest") and decision["is_recommendation"]
        return f"{name} is {'fastest and cheapest' if is_cheapest else 'fastest'}."
    return f"{name} is the best value: cheapest of those within {NEAR} of the fastest."


def caveats(summary: SummaryDocument) -> list[str]:
    """Return what may be wrong with the answer, the worst first, a line each."""
    decision = summary.get("decision")
    return list(_caveats(decision)) if decision else []


def _caveats(decision: Decision) -> Iterator[str]:
    questions = decision["questions"]
    if unlike := not_comparable(questions):
        yield unlike
    unclear = [question for question in questions if any(map(is_open, judged(question)))]
    if unclear:
        which = f" ({len(unclear)} of {len(questions)} comparisons)" if len(questions) > 1 else ""
        yield f"≈ Too close to call{which}: {_why_open(unclear)}."
    risks = Counter(
        risk_words(risk, question["unit"])
        for question in questions
        if (best := best_of(question))
        for risk in best["risks"]
        if risk["code"] != "not-replicated" or not unclear
    )
    if risks:
        most, count = risks.most_common(1)[0]
        of = f" ({count} of {len(questions)} comparisons)" if len(questions) > 1 else ""
        yield f"At risk: {most}{of}."


def _why_open(questions: list[Question]) -> str:
    found = [each for question in questions for each in map(difference_of, judged(question)) if each]
    few = [each for each in found if each["code"] == "too-few"]
    reasons = list(dict.fromkeys(shortage_words(each.get("shortages") or []) for each in few))[:1]
    if any(each["code"] == "not-significant" for each in found):
        reasons.append("the difference is not significant")
    return listed(reasons)
