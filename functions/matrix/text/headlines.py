"""The answer of a run in one line, and its caveats in a few more."""

from collections import Counter
from collections.abc import Iterator, Sequence

from matrix.terms.documents.summary import Absence, Candidate, Decision, Question, SummaryDocument
from matrix.terms.figures import describe_bounded_cost
from matrix.terms.findings.replication import shortage_words_of
from matrix.terms.findings.risks import LaunchedOnce, Risk
from matrix.terms.findings.verdicts import SAME, Lost, Tested, TooFew
from matrix.terms.metrics import readable
from matrix.terms.names import fleet_label, workload_names_of
from matrix.terms.quantities import factor, quantity, times
from matrix.terms.sentences import listed
from matrix.terms.verdicts import (
    difference_of,
    expected_ahead,
    is_comparable,
    is_far_ahead,
    is_open,
    judged,
    leading,
    ranked_of,
    winner,
)
from matrix.text.decisions import (
    NEAR,
    at_sizes,
    describe_limit,
    describe_open_question,
    is_only_not_ranked,
    not_comparable,
    sale_note,
)
from matrix.text.medians import ranked_by_median
from matrix.text.rankings import OPEN, Name, cost_unit, describe_level, parts, shared_and_own_parts, short_name
from matrix.text.warnings import kinds_of, of_run

# Storages that a line names.
MAX_NAMED = 3
# Environments whose instances are processes of this machine.
ON_THIS_MACHINE = ("local", "emulated")
PROCESSORS = "the processors of this machine"
# Limits of a run on this machine that are not of its storages, by the code of their evidence.
OWN_LIMITS = {"processors": PROCESSORS, "tool": "the load generator"}
# Cells that a line names.
MAX_CELLS = 2
# Verdicts of comparisons in the order in which a headline names them.
STATES = ("shown", "open", "not-tested", "by-value", "missed", "expected")


def answer_sentences(summary: SummaryDocument, name: Name) -> list[str]:
    """Return why a run recommends nothing, the answer, and its caveats; empty without a decision."""
    decision = summary.get("decision")
    if not decision:
        return []
    note = sale_note(summary)
    return [*([note] if note else []), headline(decision, name), *caveats(decision, name)]


def opening(decision: Decision, name: Name, short: Name | None = None) -> list[str]:
    """Return the sentences with which every output begins: the comparison that stands for the run, then all of them.

    `short` names a candidate's storage where the first sentence has said that it is emulated.
    """
    if not decision["objective"] and not any(map(is_comparable, decision["questions"])):
        return [headline(decision, short or name)]
    first = leading(decision["questions"])
    sentences = [] if first is None else [f"{question_headline(decision['questions'][first], decision, name)}."]
    return [*sentences, *([] if len(decision["questions"]) == 1 and sentences else [headline(decision, short or name)])]


def headline(decision: Decision, name: Name) -> str:
    """Return the answer in one line; `name` names a candidate's storage."""
    questions = decision["questions"]
    if not any(judged(question) for question in questions):
        is_measured = any(is_only_not_ranked(each) for question in questions for each in question["candidates"])
        return f"Nothing {'can be ranked' if is_measured else 'was measured'}, so there is nothing to choose from."
    if len(questions) == 1:
        [only] = questions
        return f"{question_headline(only, decision, name)}."
    # An objective judges a storage alone. Without one, a storage beside which none was measured is not the best of any.
    compared = questions if decision["objective"] else [each for each in questions if _is_comparison(each)]
    return _of_several(compared, decision, name) if compared else _nothing_compared(questions, name)


def _of_several(compared: list[Question], decision: Decision, name: Name) -> str:
    """Name the storages of all comparisons of one verdict in a sentence, one after the other."""
    questions = decision["questions"]
    unlike = [] if decision["objective"] else [question for question in compared if not is_comparable(question)]
    sentences = [f"No winner{_at(unlike, questions, of_none=True)}: the storages did different work"] if unlike else []
    for state in STATES:
        some = [question for question in compared if question.get("state") == state and question not in unlike]
        if some and state == "missed":
            sentences.append(f"No storage reaches the objective{_at(some, questions, of_none=True)}")
        elif some and state == "expected":
            sentences.append(_expected(some, questions, name))
        elif some and state == "open" and decision["objective"]:
            sentences.append(f"Which is the cheapest that meets the objective is open{_at(some, questions)}")
        elif some and state == "open":
            sentences.append(f"No winner is shown{_at(some, questions, of_none=True)}")
        elif some:
            sentences.append(_named(_what(state, some, decision), some, questions, name))
    alone = [question for question in questions if question not in compared]
    sentences += [f"Nothing to compare{_at(alone, questions, of_none=True)}"] if alone else []
    return f"{'. '.join(sentences)}."


def _what(state: str, some: Sequence[Question], decision: Decision) -> str:
    """Write what the storages of such comparisons are."""
    if decision["objective"]:
        meets = f"{'Cheapest' if decision['is_recommendation'] else 'First'} that meets the objective"
        return meets if state == "shown" else f"{meets} by figures alone"
    best = "Best value" if decision["is_recommendation"] else "Fastest here"
    if state == "shown":
        is_near = not decision["is_recommendation"] and not all(map(is_far_ahead, some))
        return f"{best}, or within {NEAR} of it" if is_near else best
    return f"{best} by figures alone"


def _named(what: str, some: list[Question], questions: list[Question], name: Name) -> str:
    """Name each storage with the fleet sizes, or the number of comparisons, in which it is first."""
    won: dict[str, list[Question]] = {}
    for question in some:
        best = winner(question)
        won.setdefault(name(best) if best else "no storage", []).append(question)
    if len(won) == 1:
        return f"{what}{_at(some, questions)}: {next(iter(won))}"
    if _differ_in_size_only(questions):
        sizes = {storage: [question["instances"] for question in mine] for storage, mine in won.items()}
        # Users who choose a storage plan for many instances, so the winner at the largest fleet comes first.
        order = sorted(sizes, key=lambda each: -max(sizes[each]))
        places = [f"{storage} at {_sizes(sizes[storage])}" for storage in order[:MAX_NAMED]]
        places[0] += " instance" if sizes[order[0]] == [1] else " instances"  # only the first numbers need their unit
    else:
        places = [f"{each} in {len(mine)}" for each, mine in sorted(won.items(), key=lambda each: -len(each[1]))]
        places = places[:MAX_NAMED]
        places[0] += f" of {len(questions)} comparisons"
    return f"{what}: {'; '.join([*places, *_others(len(won))])}"


def _expected(some: list[Question], questions: list[Question], name: Name) -> str:
    there: dict[str, list[Question]] = {}
    for question in some:
        for absence in expected_ahead(question):
            there.setdefault(_called(absence, questions, name), []).append(question)
    named = [f"{storage}{_at(asked, questions) or ' here'}" for storage, asked in there.items()]
    return f"Expected fastest, not measured: {'; '.join(named)}"


def _is_comparison(question: Question) -> bool:
    """Whether a storage is compared with another one: measured here, or expected to be ahead."""
    return len(judged(question)) > 1 or bool(judged(question) and expected_ahead(question))


def _nothing_compared(questions: list[Question], name: Name) -> str:
    storages = {name(each) for question in questions for each in judged(question)}
    if len(storages) == 1:
        return f"Only {storages.pop()} was measured, so nothing is compared."
    return "No two storages were measured alike, so nothing is compared."


def _sizes(sizes: list[int]) -> str:
    return listed(map(str, sorted(sizes)))


def _others(count: int) -> list[str]:
    """Write the number of storages that are not named."""
    return [f"{count - MAX_NAMED} others in the rest"] if count > MAX_NAMED else []


def _called(absence: Absence, questions: list[Question], name: Name) -> str:
    known = (each for question in questions for each in judged(question) if each["storage"] == absence["storage"])
    return next((name(each) for each in known), absence["storage"])


def _every(questions: list[Question]) -> str:
    return "both comparisons" if len(questions) == 2 else f"all {len(questions)} comparisons"  # noqa: PLR2004


def _differ_in_size_only(questions: list[Question]) -> bool:
    """Whether comparisons are of one kind of work on one instance type, so that their sizes name them."""
    return len(set(map(_kind, questions))) == 1


def _kind(question: Question) -> tuple[str, str, str]:
    """The key of comparisons that differ only in fleet size: workload, label and instance type."""
    return question["workload"], question["label"], question["fleet"].partition(" × ")[2]


def question_headline(question: Question, decision: Decision, name: Name) -> str:
    """Return the answer of one comparison in a sentence that may be quoted alone, without its full stop.

    `EBS gp3 on 6 × m6i.xlarge: P10 131 MB/s, 1.26 times as fast as EFS elastic (1.21 to 1.31)`. No storage is named as
    the best where none is shown to be, or where the storages did different work.
    """
    where, best = _where(question, decision), winner(question)
    if decision["objective"]:
        return _of_objective(question, decision, where, name)
    if best is None:
        return f"Nothing can be ranked {where}"
    if len(judged(question)) == 1 and question.get("state") != "expected":
        return f"Only {name(best)} was measured {where}: {_figure(question, decision, best)}"
    if undecided := _undecided(question, decision, best, where, name):
        return undecided
    advantage = _advantage(question, best, name)
    return f"{name(best)} {where}: {', '.join(filter(None, [_figure(question, decision, best), advantage]))}"


def _undecided(question: Question, decision: Decision, best: Candidate, where: str, name: Name) -> str:
    """Write why a comparison has no winner; empty if it has one."""
    if not is_comparable(question):
        return f"No winner {where}: the storages did different work"
    if question.get("state") == "open":
        by_cost, rival = bool(question.get("rival_cost")), _rival(question)
        leaders = listed(
            _with_figure(question, each, name, by_cost=by_cost)
            for each in (best if by_cost else judged(question)[0], rival)
        )
        return f"No winner {where}: {leaders} cannot be told apart{' by their costs' if by_cost else ''}"
    if question.get("state") == "expected":
        unmeasured = listed(_called(each, [question], name) for each in expected_ahead(question))
        measured = f"{name(best)}, {_figure(question, decision, best)}"
        return f"Expected fastest {where}, but not measured: {unmeasured}. Best measured: {measured}"
    return ""


def _of_objective(question: Question, decision: Decision, where: str, name: Name) -> str:
    best = winner(question)
    percentile = readable(f"P{question['level']:g} of {question['metric']}", question["workload"])
    limit = f"{percentile} {describe_limit(decision['objective'] or {}, question['unit'])}"
    first = "cheapest" if decision["is_recommendation"] else "first"
    if best is None:
        return f"No storage reaches {limit} {where}"
    if question.get("state") == "by-value":
        figure = f"{name(best)}, {_figure(question, decision, best)}"
        return f"No storage is shown to reach {limit} {where}; the {first} whose value reaches it is {figure}"
    if question.get("state") == "open":
        both = [_with_figure(question, each, name, by_cost=True) for each in (best, _rival(question))]
        if not question.get("rival_cost"):
            return f"{both[0]} keeps {limit} {where}; {both[1]} may be cheaper, and keeps it by its value only"
        leaders = listed(both)
        return f"{leaders} both keep {limit} {where}, and cannot be told apart by their costs"
    alone = " by figures alone" if question.get("state") == "not-tested" else ""
    return f"{name(best)} {where}: {_figure(question, decision, best)}, the {first}{alone} with {limit}"


def _where(question: Question, decision: Decision) -> str:
    """Name the fleet of a comparison, and what else differs between the comparisons of a run."""
    workload, label, _ = shared_and_own_parts(decision["questions"])[1][parts(question)]
    return ", ".join(filter(None, [f"on {question['fleet']}", workload, label]))


def _figure(question: Question, decision: Decision, candidate: Candidate) -> str:
    """Write the figure that ranks a candidate with its percentile, and its cost if there is one."""
    cost = candidate["cost"] if cost_unit(question, decision) else None
    per = f"{'median ' if cost.get('is_of_median') else ''}{cost['per']}" if cost else ""
    usd = f", {describe_bounded_cost(cost)} per {per}" if cost else ""
    return f"{describe_level(question)} {quantity(ranked_of(candidate)['value'], question['unit'])}{usd}"


def _with_figure(question: Question, candidate: Candidate, name: Name, *, by_cost: bool = False) -> str:
    called, cost = short_name(candidate, judged(question), name), candidate["cost"]
    if by_cost and cost:
        return f"{called} ({describe_bounded_cost(cost)} per {cost['per']})"
    return f"{called} ({quantity(ranked_of(candidate)['value'], question['unit'])})"


def _rival(question: Question) -> Candidate:
    """Return the candidate that keeps a comparison open; of decisions that name none the second."""
    ranked = judged(question)
    return next((each for each in ranked if each["cell"] == question.get("rival")), ranked[1])


def _advantage(question: Question, best: Candidate, name: Name) -> str:
    """Write how many times as fast the winner is as the next, with the interval if one is known."""
    fastest = judged(question)[0]
    if fastest is not best:
        return f"within {NEAR} of the fastest, {short_name(fastest, judged(question), name)}"
    other = judged(question)[1]
    called = short_name(other, judged(question), name)
    mine, theirs = ranked_of(best)["value"], ranked_of(other)["value"]
    top, bottom = (mine, theirs) if question["higher_is_better"] else (theirs, mine)
    if bottom <= 0:
        return f"ahead of {called}"
    if top / bottom < 1 + SAME:
        return f"equal to {called}"
    difference = difference_of(other)
    interval = f" ({factor(difference.low)} to {factor(difference.high)})" if isinstance(difference, Tested) else ""
    return f"{times(top / bottom)} as fast as {called}{interval}"


def doubts(summary: SummaryDocument, decision: Decision, name: Name, most: int) -> list[str]:
    """Return the caveats of an answer, then the worst kinds of warnings, then the plan's warnings: a line each."""
    known = list(caveats(decision, name))
    if busy := describe_busy_machine(summary, decision, name):
        known.insert(0, busy)
    # The line below the answer already names the source of published figures.
    source = summary.get("source")
    about_run = [line for line in of_run(summary) if not (source and source in line)]
    names = describe_cell(summary, decision, name)
    return [*known, *(f"{kind.line}." for kind in kinds_of(summary, names)), *about_run][:most]


def describe_cell(summary: SummaryDocument, decision: Decision, name: Name) -> dict[str, str]:
    """Return the name of each cell in tables by id: `EBS gp3 at 10 × m6i.large`, with the workload if several exist.

    Cells without a comparison keep the id of their storage.
    """
    storages: dict[str, str] = {}
    for question in decision["questions"]:
        candidates = [each for each in question["candidates"] if each["cell"]]
        storages |= {each["cell"]: short_name(each, candidates, name) for each in candidates}
    cells = summary.get("cells", [])
    workloads = workload_names_of(cells)
    several = len(set(workloads.values())) > 1
    names = {}
    for cell in cells:
        work = f", {workloads[cell['id']]}" if several else ""
        storage = storages.get(cell["id"]) or cell.get("file_system") or cell["id"]
        names[cell["id"]] = f"{storage} at {fleet_label(cell.get('fleet') or {})}{work}"
    return names


def describe_busy_machine(summary: SummaryDocument, decision: Decision, name: Name) -> str | None:
    """Name the limits of this machine that limited cells instead of their storages, and these cells; else None."""
    if summary.get("environment") not in ON_THIS_MACHINE:
        return None
    names = describe_cell(summary, decision, name)
    known = 0
    limited: dict[str, list[str]] = {}
    for cell in summary.get("cells", []):
        if bottleneck := cell.get("bottleneck"):
            known += 1
            codes = {use["code"] for use in bottleneck["uses"]}
            if limit := next((words for code, words in OWN_LIMITS.items() if code in codes), None):
                limited.setdefault(limit, []).append(names[cell["id"]])
    if not limited:
        return None
    if len(limited) == 1:
        [(limit, cells)] = limited.items()
        which = f"{limit} were the limit" if limit == PROCESSORS else f"{limit} was the limit"
        some = f"{len(cells)} of {known} cells {which}, not the storage ({_first(cells)})"
        every = "both cells" if known == 2 else f"all {known} cells"  # noqa: PLR2004
        what = f"In {f'{every} {which}, not the storage' if len(cells) == known > 1 else some}."
    else:
        count = sum(map(len, limited.values()))
        each = [f"{limit} in {len(cells)} ({_first(cells)})" for limit, cells in limited.items()]
        what = f"In {count} of {known} cells the storage was not the limit, but {listed(each)}."
    return f"{what} Run it again when nothing else runs on this machine."


def _first(cells: list[str]) -> str:
    """Name at most two of several cells."""
    more = len(cells) - MAX_CELLS
    return f"{'; '.join(cells[:MAX_CELLS])} and {more} more" if more > 0 else listed(cells)


def caveats(decision: Decision, name: Name) -> Iterator[str]:
    """Yield the caveats of the answer, the worst first, a line each."""
    questions = decision["questions"]
    if unlike := not_comparable(questions, name):
        yield unlike
    unclear = [question for question in questions if is_open(question)]
    if unclear:
        yield f"{OPEN.capitalize()}{_at(unclear, questions)}: {_why_open(unclear, name)}."
    yield from _of_too_few_operations(questions, name)
    yield from _expected_ahead(questions, name)
    yield from _by_median(questions)
    risks: Counter[str] = Counter()
    where: dict[str, list[Question]] = {}
    for question in questions:
        best = winner(question)
        for risk in best["risks"] if best else ():
            why = question.get("why_median")
            is_said = (why and risk["code"] == why["code"]) or (risk["code"] == "not-replicated" and unclear)
            if not is_said:
                words = Risk.describe(risk)
                risks[words] += 1
                where.setdefault(words, []).append(question)
    # The next launch concerns each comparison, and hides no other risk.
    once = LaunchedOnce().sentence
    others = [each for each, _ in risks.most_common() if each != once]
    for most in [*others[:1], *([once] if once in risks else [])]:
        yield f"Caution{_at(where[most], questions)}: {most}."


def _of_too_few_operations(questions: list[Question], name: Name) -> Iterator[str]:
    """Name each storage that did too few operations for the percentile of the objective."""
    there: dict[str, list[Question]] = {}
    for question in questions:
        for each in question["candidates"]:
            if each["lost"] and each["lost"]["code"] == "too-few-operations":
                there.setdefault(f"{name(each)} is {Lost.describe(each['lost'])}", []).append(question)
    for sentence, where in there.items():
        yield f"{sentence}{_at(where, questions)}."


def _expected_ahead(questions: list[Question], name: Name) -> Iterator[str]:
    """Name the storages that were not measured if their figures at other sizes beat the best measured one."""
    missing: dict[str, list[tuple[Question, Absence]]] = {}
    for question in questions:
        for absence in expected_ahead(question):
            missing.setdefault(_called(absence, questions, name), []).append((question, absence))
    for storage, there in missing.items():
        sizes = sorted({each["instances"] for _, absence in there for each in absence["neighbours"]})
        where = _at([question for question, _ in there], questions)
        figures = f"{storage} is faster than all others by more than {NEAR} at {_sizes(sizes)}"
        yield f"{figures}, and was not measured{where or ' here'}."


def _by_median(questions: list[Question]) -> Iterator[str]:
    """Report which comparisons the median ranks, and why P90 does not."""
    there = [question for question in questions if question.get("why_median")]
    if there:
        yield ranked_by_median(there, _at(there, questions))


def _at(some: list[Question], questions: list[Question], *, of_none: bool = False) -> str:
    """Name these comparisons, for a sentence about each of them, or `of_none` of them."""
    if len(questions) == 1:
        return ""
    if len(some) == len(questions):
        if of_none:
            return " in either comparison" if len(some) == 2 else f" in any of the {len(some)} comparisons"  # noqa: PLR2004
        return f" in {_every(questions)}"
    if _differ_in_size_only(questions):
        return f" {at_sizes(some, questions)}"
    return f" in {len(some)} of {len(questions)} comparisons"


def _why_open(questions: list[Question], name: Name) -> str:
    """Write why comparisons are open: the shortages of all, or the words of the first one."""
    found = [difference_of(each) for question in questions for each in judged(question)]
    if few := [each.shortages for each in found if isinstance(each, TooFew)]:
        return shortage_words_of(few)
    return next(describe_open_question(questions[0], name), "the interval reaches across the tolerance")
