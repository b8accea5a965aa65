"""Interpret the verdict codes of a decision."""

from matrix.terms.documents.summary import Absence, Candidate, Decision, Difference, Question, RankedBy

OPEN = ("not-significant", "too-few")


def difference_of(candidate: Candidate) -> Difference | None:
    """Return a candidate's difference to the fastest one; None if the two were not compared."""
    return candidate["verdict"].get("difference")


def is_open(candidate: Candidate) -> bool:
    """Whether a candidate's difference to the fastest one is not significant, or not tested for lack of samples."""
    difference = difference_of(candidate)
    return difference is not None and difference["code"] in OPEN


def ranked_of(candidate: Candidate) -> RankedBy:
    """Return the figure that ranks a candidate. Raises LookupError if it has none."""
    ranked = candidate.get("ranked")
    if ranked is None:
        raise LookupError(f"{candidate['storage']} has no figure")
    return ranked


def judged(question: Question) -> list[Candidate]:
    """Return the candidates that are ranked, the best first."""
    known = [each for each in question["candidates"] if each.get("ranked") and not each["lost"]]
    return sorted(known, key=lambda each: ranked_of(each)["value"], reverse=question["higher_is_better"])


def expected_ahead(question: Question) -> list[Absence]:
    """Return the storages without a measurement here whose figures at other sizes beat the best measured one."""
    return [absence for absence in question.get("absences") or [] if absence["is_expected_ahead"]]


def taken(question: Question) -> str | None:
    """Return the id of the cell to take for a question.

    None if differences are not significant, or if a storage that was not measured is expected to be better.
    """
    return question["recommended"] or (None if expected_ahead(question) else question.get("as_good"))


def is_taken(candidate: Candidate, question: Question, decision: Decision) -> bool:
    """Whether a storage is the one to take in a comparison; never in a run that recommends nothing."""
    return bool(decision.get("is_recommendation", True)) and candidate["cell"] == taken(question)


def best_of(question: Question) -> Candidate | None:
    """Return the recommended candidate, else the cheapest that meets the objective, else the best value.

    None if none meets the objective, or none is ranked.
    """
    ranked = judged(question)
    chosen = [each for each in ranked if each["cell"] == question["recommended"]]
    chosen += [each for each in ranked if each["verdict"]["code"] == "cheapest-that-meets"]
    if not chosen and any(each["verdict"]["code"] == "misses" for each in ranked):
        return None
    chosen += [each for each in ranked if each["cell"] == question.get("best_value")]
    return next(iter([*chosen, *ranked]), None)


def winner(question: Question, decision: Decision) -> Candidate | None:
    """Return the storage that a comparison names first.

    In a run that recommends nothing this is the fastest, because its costs are meaningless, unless it has an objective.
    None if no storage meets the objective, or none is ranked.
    """
    if decision["is_recommendation"] or decision["objective"]:
        return best_of(question)
    return next(iter(judged(question)), None)
