"""Interpret the verdict codes of a decision."""

from matrix.terms.documents.summary import Absence, Candidate, Decision, Difference, Question, RankedBy

OPEN = ("not-significant", "too-few")


def difference_of(candidate: Candidate) -> Difference | None:
    """Return whether the samples tell a candidate from the fastest one; None where it was not compared with it."""
    return candidate["verdict"].get("difference")


def is_open(candidate: Candidate) -> bool:
    """Whether the samples do not tell a candidate from the fastest one."""
    difference = difference_of(candidate)
    return difference is not None and difference["code"] in OPEN


def ranked_of(candidate: Candidate) -> RankedBy:
    """Return the figure by which a candidate is ranked. Raises LookupError for one that has none."""
    ranked = candidate.get("ranked")
    if ranked is None:
        raise LookupError(f"{candidate['storage']} has no figure")
    return ranked


def judged(question: Question) -> list[Candidate]:
    """Return the candidates that are ranked, the best first."""
    known = [each for each in question["candidates"] if each.get("ranked") and not each["lost"]]
    return sorted(known, key=lambda each: ranked_of(each)["value"], reverse=question["higher_is_better"])


def expected_ahead(question: Question) -> list[Absence]:
    """Return the storages that were not measured here, but whose figures at other sizes beat the best measured one."""
    return [absence for absence in question.get("absences") or [] if absence["is_expected_ahead"]]


def taken(question: Question) -> str | None:
    """Return the id of the cell that a question says to take.

    None where the figures do not tell, or where a storage that was not measured is expected to be better.
    """
    return question["recommended"] or (None if expected_ahead(question) else question.get("as_good"))


def is_taken(candidate: Candidate, question: Question, decision: Decision) -> bool:
    """Whether a storage is the one to take in a comparison; in a run that recommends nothing none is."""
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

    In a run that recommends nothing that is the fastest, as its costs would be nobody's, unless it has an objective.
    None where nothing meets the objective, or nothing is ranked.
    """
    if decision["is_recommendation"] or decision["objective"]:
        return best_of(question)
    return next(iter(judged(question)), None)
