"""The answer of a run in one line, and what may be wrong with it in a few more."""

from collections import Counter
from collections.abc import Iterator

from matrix.terms.documents.summary import Candidate, Decision, Question, SummaryDocument
from matrix.terms.verdicts import difference_of, is_open, judged, winner
from matrix.text.decisions import NEAR, at_sizes, limit_words, listed, not_comparable
from matrix.text.rankings import OPEN, Name
from matrix.text.replication import shortage_words_of
from matrix.text.risks import risk_words
from matrix.text.warnings import kinds_of, of_run

# Storages that a line names.
MOST_NAMED = 3


def headline(decision: Decision, name: Name) -> str:
    """Return the answer in one line; `name` says what a candidate's storage is called there."""
    questions = decision["questions"]
    if not any(judged(question) for question in questions):
        return "Nothing was measured, so there is nothing to choose from."
    if len(questions) == 1:
        [only] = questions
        where = ", ".join(filter(None, [only["workload"], only["label"], only["fleet"]]))
        return f"{where}: {_of_one(only, decision, name)}"
    won: dict[str, list[Question]] = {}
    for question in questions:
        best = winner(question, decision)
        won.setdefault(name(best) if best else "no storage", []).append(question)
    if decision["objective"]:
        what = "Cheapest that meets the objective"
    elif decision["is_recommendation"]:
        what = "Best value"
    else:
        what = "Fastest here"
    if not decision["objective"] and all(any(map(is_open, judged(question))) for question in questions):
        what = "Ahead, but not significantly"
    if len(won) == 1:
        return f"{what} in {_every(questions)}: {next(iter(won))}."
    if _differ_in_size_only(questions):
        # Who asks which storage to buy asks for many instances, so who wins with the most of them is named first.
        order = sorted(won.items(), key=lambda each: -max(question["instances"] for question in each[1]))
        told = [f"{storage} {at_sizes(mine, questions)}" for storage, mine in order[:MOST_NAMED]]
        # The first one says what the numbers are.
        told = [told[0], *(words.removesuffix(" instances").removesuffix(" instance") for words in told[1:])]
    else:
        order = sorted(won.items(), key=lambda each: -len(each[1]))
        told = [f"{storage} in {len(mine)}" for storage, mine in order[:MOST_NAMED]]
        told[0] += f" of {len(questions)} comparisons"
    more = [f"{len(won) - MOST_NAMED} others in the rest"] if len(won) > MOST_NAMED else []
    return f"{what}: {'; '.join([*told, *more])}."


def _every(questions: list[Question]) -> str:
    return "both comparisons" if len(questions) == 2 else f"all {len(questions)} comparisons"  # noqa: PLR2004


def _differ_in_size_only(questions: list[Question]) -> bool:
    """Whether comparisons are of one kind of work on one instance type, so that their sizes name them."""
    kinds = {(each["workload"], each["label"], each["fleet"].partition(" × ")[2]) for each in questions}
    return len(kinds) == 1


def _of_one(question: Question, decision: Decision, name: Name) -> str:
    best = winner(question, decision)
    if objective := decision["objective"]:
        level, limit = f"P{question['level']:g}", limit_words(objective, question["unit"])
        if best is None:
            return f"no storage reaches {level} {limit}."
        verb = f"take {name(best)}" if decision["is_recommendation"] else f"{name(best)} is first here"
        return f"{verb}: it is the cheapest with {level} {limit}."
    if best is None:
        return "nothing can be ranked."
    if len(judged(question)) == 1:
        return f"only {name(best)} was measured, so nothing is compared."
    return f"{name(best)} {claim(question, decision, best)}."


def claim(question: Question, decision: Decision, candidate: Candidate, among: str = "") -> str:
    """Say what the winner of a comparison is: `is fastest and cheapest`; `among` says of which storages."""
    if candidate["verdict"]["code"] == "fastest" or candidate is judged(question)[0]:
        if any(map(is_open, judged(question)[1:])):
            return f"is ahead{among}, but not significantly"
        is_cheapest = candidate["verdict"].get("is_cheapest") and decision["is_recommendation"]
        return f"is {'fastest and cheapest' if is_cheapest else 'fastest'}{among}"
    return f"is the best value{among}: cheapest of those within {NEAR} of the fastest"


def doubts(summary: SummaryDocument, decision: Decision, name: Name, most: int) -> list[str]:
    """Return the caveats of an answer, then the worst kinds of warnings, then those of the plan: a line each."""
    known = [] if "as_written" in decision else list(caveats(decision, name))
    return [*known, *(kind.brief for kind in kinds_of(summary)), *of_run(summary)][:most]


def caveats(decision: Decision, name: Name) -> Iterator[str]:
    """Yield what may be wrong with the answer, the worst first, a line each."""
    questions = decision["questions"]
    if unlike := not_comparable(questions, name):
        yield unlike
    unclear = [question for question in questions if any(map(is_open, judged(question)))]
    if unclear:
        yield f"{OPEN} Not significant{_at(unclear, questions)}: {_why_open(unclear)}."
    yield from _expected_ahead(questions, name)
    yield from _by_median(questions)
    risks: Counter[str] = Counter()
    where: dict[str, list[Question]] = {}
    for question in questions:
        best = winner(question, decision)
        for risk in best["risks"] if best else ():
            is_said = risk == question.get("why_median") or (risk["code"] == "not-replicated" and unclear)
            if not is_said:
                words = risk_words(risk, question["unit"])
                risks[words] += 1
                where.setdefault(words, []).append(question)
    if risks:
        most, _ = risks.most_common(1)[0]
        yield f"Caution{_at(where[most], questions)}: {most}."


def _expected_ahead(questions: list[Question], name: Name) -> Iterator[str]:
    """Name the storages that were not measured where their figures at other sizes let expect them to be first."""
    missing: dict[str, list[Question]] = {}
    for question in questions:
        for absence in question.get("absences") or []:
            if absence["is_expected_ahead"]:
                known = (each for one in questions for each in judged(one) if each["storage"] == absence["storage"])
                storage = next((name(each) for each in known), absence["storage"])
                missing.setdefault(storage, []).append(question)
    for storage, there in missing.items():
        yield (
            f"Not measured{_at(there, questions)}, but expected to be first by smaller and larger fleets: {storage}."
        )


def _by_median(questions: list[Question]) -> Iterator[str]:
    """Say where the median ranks, and the most frequent reason why P90 does not."""
    there = [(question, why) for question in questions if (why := question.get("why_median"))]
    if there:
        [(most, _)] = Counter(risk_words(why, question["unit"]) for question, why in there).most_common(1)
        yield f"Ranked by the median{_at([question for question, _ in there], questions)}: {most}."


def _at(some: list[Question], questions: list[Question]) -> str:
    """Name the comparisons that are meant, where they are not all."""
    if len(questions) == 1:
        return ""
    if len(some) == len(questions):
        return f" in {_every(questions)}"
    if _differ_in_size_only(questions):
        return f" {at_sizes(some, questions)}"
    return f" in {len(some)} of {len(questions)} comparisons"


def _why_open(questions: list[Question]) -> str:
    found = [each for question in questions for each in map(difference_of, judged(question)) if each]
    few = [each for each in found if each["code"] == "too-few"]
    reasons = [shortage_words_of(each.get("shortages") or [] for each in few)] if few else []
    if any(each["code"] == "not-significant" for each in found):
        reasons.append("chance can explain the difference")
    return listed(reasons)
