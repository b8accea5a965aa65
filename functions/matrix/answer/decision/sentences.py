"""The answers in a few sentences."""

from collections.abc import Sequence

from matrix.answer.decision.candidates import AS_GOOD, Question
from matrix.answer.decision.objective import Objective

MOST_SENTENCES = 3


def sentences(questions: Sequence[Question], wanted: Objective, note: str | None) -> list[str]:
    """Return the answer in at most three sentences for any matrix, after what forbids to follow it."""
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
        cheaper = any(one.as_good is not one.ranked[0] for one in questions if one.ranked)
        least = f", or within {100 * AS_GOOD:.0f} % of it for less," if cheaper else ""
        text = f"{workload}: fastest at the slow end{least} is {'; '.join(words)}"
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
    if wanted.limit is None:
        return one.as_good.name if one.as_good else None
    meeting = one.meeting(wanted)
    return meeting[0].name if meeting else None


def _at(won: Sequence[Question], of: Sequence[Question]) -> str:
    labels = {one.label for one in of}
    if len(labels) > 1:
        return f"in {len(won)} of {len(of)} comparisons"
    sizes = _sizes(won)
    return f"at {sizes} instance{'' if sizes == '1' else 's'}"


def _sizes(questions: Sequence[Question]) -> str:
    sizes = sorted({one.instances for one in questions})
    return ", ".join(map(str, sizes[:-1])) + (" and " if len(sizes) > 1 else "") + str(sizes[-1])


def _where(one: Question) -> str:
    return f"{one.workload} ({one.label}) on {one.fleet}" if one.label else f"{one.workload} on {one.fleet}"
