"""Interpret the verdict codes of a decision."""

from collections.abc import Sequence

from matrix.terms.documents.summary import Absence, Candidate, Question, RankedBy
from matrix.terms.findings.verdicts import Difference, Open, ShownSlower, TooFew


def difference_of(candidate: Candidate) -> Difference | None:
    """Return how a candidate stands beside the fastest one; None if the two were not compared."""
    difference = candidate["verdict"].get("difference")
    return Difference.read(difference) if difference else None


def is_open(question: Question) -> bool:
    """Whether the figures leave open which storage to take."""
    return question.get("state") == "open"


def is_far_ahead(question: Question) -> bool:
    """Whether all others are shown to be slower than the fastest storage by more than the tolerance."""
    differences = filter(None, map(difference_of, judged(question)))
    return all(isinstance(each, ShownSlower) for each in differences)


def is_unclear(candidate: Candidate, question: Question) -> bool:
    """Whether it matters for an open question that a candidate is not shown to be as fast as the fastest, or slower."""
    return is_open(question) and isinstance(difference_of(candidate), Open | TooFew)


def ranked_of(candidate: Candidate) -> RankedBy:
    """Return the figure that ranks a candidate. Raises LookupError if it has none."""
    ranked = candidate.get("ranked")
    if ranked is None:
        raise LookupError(f"{candidate['storage']} has no figure")
    return ranked


def judged(question: Question) -> list[Candidate]:
    """Return the candidates that are ranked, the best first."""
    return sorted(_ranked(question), key=lambda each: ranked_of(each)["value"], reverse=question["higher_is_better"])


def _ranked(question: Question) -> list[Candidate]:
    return [each for each in question["candidates"] if each.get("ranked") and not each["lost"]]


def expected_ahead(question: Question) -> list[Absence]:
    """Return the storages without a measurement here whose figures at other sizes beat the best measured one."""
    return [absence for absence in question.get("absences") or [] if absence["is_expected_ahead"]]


def is_comparable(question: Question) -> bool:
    """Whether all storages did the same work: a create that is counted in memory is less than a stored one."""
    return len({bool(each.get("counts_in_memory")) for each in _ranked(question)}) < 2  # noqa: PLR2004


def has_winner(question: Question) -> bool:
    """Whether a comparison names a storage as the fastest, and not only as ahead."""
    return is_comparable(question) and not is_open(question)


def leading(questions: Sequence[Question]) -> int | None:
    """Return the place of the comparison that stands for a run: most storages, then most instances."""
    ranked = [place for place, question in enumerate(questions) if _ranked(question)]
    return max(ranked, key=lambda place: (len(_ranked(questions[place])), questions[place]["instances"]), default=None)


def is_taken(candidate: Candidate, question: Question) -> bool:
    """Whether a storage is the one to take, marked ★.

    Older runs recommended a storage where another one did less work. An objective judges each storage alone.
    """
    is_of_objective = question["margin"] is not None
    return candidate["cell"] == question["recommended"] and (is_of_objective or is_comparable(question))


def winner(question: Question) -> Candidate | None:
    """Return the storage that a comparison names first: the one to take, or the one that the figures alone name.

    None if no storage meets the objective, or none is ranked.
    """
    return next((each for each in judged(question) if each["cell"] == question.get("best_value")), None)
