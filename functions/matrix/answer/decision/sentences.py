"""The answers in a few sentences."""

from collections.abc import Sequence

from matrix.answer.decision.absences import absences_words, at_sizes
from matrix.answer.decision.candidates import AS_GOOD, Question
from matrix.answer.decision.objective import Objective
from matrix.answer.decision.words import money
from matrix.terms.figures import rough_duration

MOST_SENTENCES = 3
# The cheapest ones, of which what filling the cache adds is said.
MOST_FILLED = 3


def sentences(questions: Sequence[Question], wanted: Objective, note: str | None) -> list[str]:
    """Return the answer in at most three sentences for any matrix, after what forbids to follow it."""
    notes = [text for text in (note, _unlike_creates(questions)) if text]
    if not questions:
        return [*notes, "Nothing was measured, so there is nothing to choose from."]
    room = MOST_SENTENCES
    if len(questions) <= room:
        words = [f"{_where(question)}: {question.words}." for question in questions]
        return [*notes, *words, *filling_words(questions)]
    by_workload: dict[str, list[Question]] = {}
    for question in questions:
        by_workload.setdefault(question.workload, []).append(question)
    tallies = [_tally(workload, asked, wanted) for workload, asked in by_workload.items()]
    if len(tallies) > room:
        tallies = [*tallies[: room - 1], f"{len(tallies) - room + 1} more workloads are in the tables."]
    return [*notes, *tallies, *filling_words(questions)]


def filling_words(questions: Sequence[Question]) -> list[str]:
    """Say what filling the cache adds to the cost of a build, at the most instances at which storages were compared."""
    filled = [
        (question, [candidate for candidate in question.priced if candidate.cost and candidate.cost.filling])
        for question in questions
    ]
    compared = [(question, candidates) for question, candidates in filled if len(candidates) > 1]
    if not compared:
        return []
    question, candidates = max(compared, key=lambda pair: pair[0].instances)
    parts = [
        f"{candidate.name} {money(cost.usd)}, {money(cost.usd + filling.added_usd(1))} and"
        f" {money(cost.usd + filling.added_usd(10))} ({rough_duration(filling.seconds)} on"
        f" {'one instance' if filling.instances == 1 else f'each of {filling.instances} instances'})"
        for candidate in candidates[:MOST_FILLED]
        if (cost := candidate.cost) and (filling := cost.filling)
    ]
    at = f"{question.instances} instances" if question.instances > 1 else "1 instance"
    return [
        f"Filling the cache comes on top. At {at} a build costs without it, with it, and with it spread over 10 builds"
        f" on each instance: {'; '.join(parts)}."
    ]


def _unlike_creates(questions: Sequence[Question]) -> str:
    """Say where files that were in memory are counted beside files that were stored; '' where they are not."""
    unlike = [question for question in questions if len({candidate.is_volatile for candidate in question.judged}) > 1]
    if not unlike:
        return ""
    judged = [candidate for question in unlike for candidate in question.judged]
    volatile = dict.fromkeys(candidate.name for candidate in judged if candidate.is_volatile)
    stored = dict.fromkeys(candidate.name for candidate in judged if not candidate.is_volatile)
    return (
        f"Unlike things are compared {at_sizes(unlike, questions)}: a create counts on {' and '.join(volatile)} when it"
        f" is in the instance's memory, on {' and '.join(stored)} when it is stored; sync each measures both stored."
    )


def _tally(workload: str, questions: Sequence[Question], wanted: Objective) -> str:
    """Say who wins how often: storages in the order of their wins, each with the fleets it wins at."""
    parts = [_winners(workload, questions, wanted)]
    alone = [question for question in questions if not question.is_comparison]
    if alone and wanted.limit is None:
        names = dict.fromkeys(candidate.name for question in alone for candidate in question.judged)
        parts.append(f"{' or '.join(names)} was measured alone {at_sizes(alone, questions)}, so it is ahead of nothing")
    if wanted.limit is None:
        untold = sum(question.is_open for question in questions)
        if untold:
            parts.append(f"In {untold} of {len(questions)} the figures do not tell the fastest from the next")
        tailed = [question for question in questions if question.as_good and question.as_good.tail]
        if tailed:
            parts.append(f"The first has a slow tail {at_sizes(tailed, questions)}, which its median does not show")
    else:
        taken = [question for question in questions if question.recommended]
        risky = [question for question in taken if question.recommended is not None and question.recommended.risks]
        if risky:
            which = (
                "None of these is certain" if len(risky) == len(taken) else f"Not certain {at_sizes(risky, questions)}"
            )
            parts.append(f"{which}: {_common(risky)}")
    if absent := absences_words(questions, wanted):
        parts.append(absent[0].upper() + absent[1:])
    return f"{'. '.join(parts)}."


def _winners(workload: str, questions: Sequence[Question], wanted: Objective) -> str:
    """Say which storages win, each with the fleets it wins at; one that was alone wins only against an objective."""
    compared = [question for question in questions if question.is_comparison or wanted.limit is not None]
    if not compared:
        return f"{workload}: nothing was compared"
    wins: dict[str, list[Question]] = {}
    for question in compared:
        wins.setdefault(_winner(question, wanted) or "", []).append(question)
    # Who asks which storage to buy asks for many instances, so who wins with the most of them is named first.
    order = sorted(wins.items(), key=lambda win: (not win[0], -max(each.instances for each in win[1]), -len(win[1])))
    words = [f"{name or 'no storage does'} {at_sizes(won, questions)}" for name, won in order]
    if wanted.limit is not None:
        level = f"P{questions[0].level:g} of {questions[0].metric}"
        return f"{workload}: for {level} of {wanted.words(questions[0].unit)} the cheapest is {'; '.join(words)}"
    cheaper = any(question.as_good is not question.ranked[0] for question in compared)
    least = f", or within {100 * AS_GOOD:.0f} % of it for less," if cheaper else ""
    return f"{workload}: fastest {_ranked_by(compared)}{least} is {'; '.join(words)}"


def _ranked_by(questions: Sequence[Question]) -> str:
    """Say by what storages are ranked: the slow end where it is carried, else the median."""
    by_median = [question for question in questions if question.why_median]
    if not by_median:
        return "at the slow end"
    if len(by_median) == len(questions):
        return f"at the median ({by_median[0].why_median})"
    return f"at the slow end ({at_sizes(by_median, questions)} at the median: {by_median[0].why_median})"


def _common(questions: Sequence[Question]) -> str:
    """The risk that most of the recommended storages have."""
    risks = [risk for question in questions if question.recommended for risk in question.recommended.risks]
    most = max(risks, key=risks.count)
    return most if risks.count(most) == len(questions) else f"{most}, among other things"


def _winner(question: Question, wanted: Objective) -> str | None:
    if wanted.limit is None:
        return question.as_good.name if question.as_good else None
    meeting = question.meeting(wanted)
    return meeting[0].name if meeting else None


def _where(question: Question) -> str:
    if question.label:
        return f"{question.workload} ({question.label}) on {question.fleet}"
    return f"{question.workload} on {question.fleet}"
