"""What was not measured, and what the same storage at other sizes of fleet lets expect of it.

A storage that is missing at a size was neither beaten nor did it fail there. Where it was measured with a smaller and
with a larger fleet, its figure in between is expected between those two; beyond the last size nothing is expected.
"""

from collections.abc import Sequence

from matrix.answer.decision.candidates import Absence, Question
from matrix.answer.decision.objective import Objective
from matrix.terms.figures import quantity

MOST_NAMED = 3


def absences_words(questions: Sequence[Question], wanted: Objective) -> str:
    """Name the storages that were not measured in some of the questions, at which sizes, and what to expect there.

    Empty where everything was measured.
    """
    storages = list(dict.fromkeys(absence.storage for question in questions for absence in question.absences))
    if not storages:
        return ""
    ahead = [storage for storage in storages if _missing(storage, questions, wanted)[1]]
    named = (ahead or storages)[:MOST_NAMED]
    parts = [_of_storage(storage, questions, wanted) for storage in named]
    rest = len(storages) - len(named)
    if rest:
        parts.append(f"{rest} {'more' if not ahead else 'other'} storage{'s' if rest > 1 else ''}")
    return f"not measured: {'; '.join(parts)}"


def at_sizes(some: Sequence[Question], every: Sequence[Question]) -> str:
    """Write where some of the questions are: `at 1 and 10 instances`, of many points `in 3 of 12 comparisons`."""
    if len({question.label for question in every}) > 1:
        return f"in {len(some)} of {len(every)} comparisons"
    sizes = sorted({question.instances for question in some})
    return f"at {listed(map(str, sizes))} instance{'' if sizes == [1] else 's'}"


def listed(names: "Sequence[str] | map[str]") -> str:
    """Write `1, 10 and 50`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _missing(
    storage: str, questions: Sequence[Question], wanted: Objective
) -> tuple[list[Question], list[tuple[Question, Absence]]]:
    """Where a storage was not measured, and where of that it is expected to be ahead."""
    missing = [
        (question, absence) for question in questions for absence in question.absences if absence.storage == storage
    ]
    ahead = [(question, absence) for question, absence in missing if _is_expected_ahead(absence, question, wanted)]
    return [question for question, _ in missing], ahead


def _of_storage(storage: str, questions: Sequence[Question], wanted: Objective) -> str:
    missing, ahead = _missing(storage, questions, wanted)
    where = f" {at_sizes(missing, questions)}" if len(questions) > 1 else ""
    if not ahead:
        return f"{storage}{where}"
    expected = "the limit is expected to be met" if wanted.limit is not None else "it is expected to be first"
    there = "there" if len(ahead) == len(missing) else at_sizes([question for question, _ in ahead], questions)
    return f"{storage}{where}, but {_evidence(*ahead[0])} {expected} {there if len(questions) > 1 else 'here'}"


def _is_expected_ahead(absence: Absence, question: Question, wanted: Objective) -> bool:
    """Whether both neighbours are better than the best that was measured, or meet the objective."""
    if not absence.is_between:
        return False
    values = [value for _, value in absence.neighbours]
    if wanted.limit is not None:
        return all(wanted.is_met(value) for value in values)
    return all(question.is_faster(value, question.ranked[0].value) for value in values)


def _evidence(question: Question, absence: Absence) -> str:
    figures = listed([quantity(value, question.unit) for _, value in absence.neighbours])
    sizes = listed([str(instances) for instances, _ in absence.neighbours])
    return f"by its P{question.ranked_level:g} at {sizes} instances ({figures})"
