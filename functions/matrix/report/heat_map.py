"""The matrix as a heat map: storages as rows, comparisons as columns, figures coloured by the distance to the best.

It is a table, so that it is readable without colours and scripts, and every cell leads to its comparison.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from matrix.report.charts.labels import lower
from matrix.report.html import Markup, tag
from matrix.report.view import View
from matrix.terms.documents.summary import Candidate, Question
from matrix.terms.grouping import grouped
from matrix.terms.metrics import metric_title
from matrix.terms.names import natural_order, shared_and_own
from matrix.terms.quantities import ABSENT, count_of, factor, quantity
from matrix.terms.sentences import why_taken
from matrix.terms.verdicts import expected_ahead, has_winner, is_open, is_taken, is_unclear, ranked_of
from matrix.text.decisions import NEAR
from matrix.text.rankings import OPEN

Neighbour = tuple[int, float]


@dataclass(frozen=True)
class Absent:
    """A storage without a figure in a comparison."""

    storage: str  # as the page calls it
    between: tuple[Neighbour, Neighbour] | None  # instances and figure, smaller first; None: not measured on both sides
    is_ahead: bool  # both are better than the best that was measured here, or reach the objective

    @property
    def middle(self) -> float:
        """The figure halfway between its neighbours."""
        return sum(value for _, value in self.between) / 2 if self.between else 0.0


def absences(view: View, question: Question) -> list[Absent]:
    """Return the storages that were not measured in a comparison; none for a decision of an earlier version."""
    absent = []
    for absence in question.get("absences") or []:
        known = [(each["instances"], each["value"]) for each in absence["neighbours"]]
        smaller = [neighbour for neighbour in known if neighbour[0] < question["instances"]]
        larger = [neighbour for neighbour in known if neighbour[0] > question["instances"]]
        between = (smaller[-1], larger[0]) if smaller and larger else None
        absent.append(Absent(view.called_by_name(absence["storage"]), between, absence["is_expected_ahead"]))
    return absent


Cell = tuple[str, list[Markup]]  # its class and its content

# A figure that is at most this many times worse than the best of its column has the colour of that place.
LEVELS = (1.02, 1.1, 1.25, 1.5, 2.0, 3.0)
# Number of columns that fit on paper.
PAPER_COLUMNS = 7
TAKE, FASTEST, BOTH, AHEAD = "★ take", "○ fastest", "★ fastest", "○ ahead"


def heat_map(view: View) -> Markup:
    """Return the section; empty if fewer than two storages were measured, because one has no comparison."""
    questions = view.questions
    curves = {cell["id"]: view.curve(cell) for cell in view.cells}
    columns = [_by_storage(curves, question) for question in questions]
    measured = {storage for column in columns for storage, candidate in column.items() if _value(candidate)}
    if len(measured) < 2:  # noqa: PLR2004
        return Markup("")
    rows = [storage for storage in view.curves if storage in measured]
    if view.summary.get("environment") != "published":
        # A run measures its storages in a random order.
        rows.sort(key=natural_order)
    note: list[Markup] = []
    nowhere = [cell for cell in view.cells if curves[cell["id"]] not in measured]
    # Cells of published figures that others did not publish have not failed.
    is_own = view.summary.get("environment") != "published"
    by_failure = grouped((is_own and cell.get("state") == "failed", curves[cell["id"]]) for cell in nowhere)
    for has_failed, storages in by_failure.items():
        words = f" ({count_of(len(storages), 'cell')}): {'; '.join(dict.fromkeys(storages))}."
        if has_failed:
            note.append(tag("p", tag("a", "Failed", href="#failed"), words, class_="bad"))
        else:
            note.append(tag("p", f"Nowhere measured{words}", class_="quiet"))
    if len(questions) > PAPER_COLUMNS:
        words = f"Paper has no room for all of the {len(questions)} columns; the page has them on a screen."
        note.append(tag("p", words, class_="quiet on-paper"))
    ahead = [_expected_ahead(view, question) for question in questions]
    body = tag(
        "tbody",
        *(
            tag("tr", tag("th", storage, scope="row"), *_cells(view, columns, storage, ahead),
                **view.facets.marks(storage=storage))
            for storage in rows
        ),
    )  # fmt: skip
    metrics = dict.fromkeys(metric_title(question["metric"], question["workload"]) for question in questions)
    kind = _only_type(questions)
    shared, _ = shared_and_own(map(_group, questions))
    everywhere = ", ".join([*shared, *([f"instances of {kind}"] if kind else [])])
    of = f" ({everywhere})" if everywhere else ""
    caption = f"{_ranked_by(questions)} of {', '.join(map(lower, metrics))}{of}"
    built = tag("table", tag("caption", caption), _head(view, questions), body, class_="heat")
    return tag(
        "section",
        tag("h2", "The matrix"),
        tag(
            "div",
            built,
            class_="table",
            tabindex="0",
            role="region",
            aria_label="The matrix",
            data_rows=json.dumps(rows_of(view), ensure_ascii=False, separators=(",", ":")),
            data_run=str(view.summary.get("run", "")),
        ),
        _legend(view),
        *note,
        id="matrix",
        class_="wide" if len(questions) > PAPER_COLUMNS else None,
    )


def rows_of(view: View) -> list[list[str]]:
    """Return the matrix as data, with its heads first, for spreadsheets: a row for each storage and comparison.

    `point` is the workload and the test point where a run has several; times_as_slow is 1 for the best.
    """
    questions = view.questions
    curves = {cell["id"]: view.curve(cell) for cell in view.cells}
    has_points = len({_group(question) for question in questions}) > 1
    rows = [["storage", *(["point"] if has_points else []), "fleet", "value", "unit", "times_as_slow", "mark"]]
    columns = [_by_storage(curves, question) for question in questions]
    for storage in view.curves:
        for question, column in zip(questions, columns, strict=True):
            candidate = column.get(storage)
            if candidate is None:
                continue
            point = [_group(question)] if has_points else []
            rows.append([storage, *point, question["fleet"], *_data_of(question, candidate)])
    return rows


def _data_of(question: Question, candidate: Candidate) -> list[str]:
    """Return value, unit, times as slow, and mark of a cell of the matrix; a value that is left out has no rank."""
    if candidate["ranked"] is None:
        return ["", question["unit"], "", "not measured"]
    value, ranked = _value(candidate), f"{ranked_of(candidate)['value']:.15g}"
    if value is None:
        return [ranked, question["unit"], "", "left out"]
    values, best = _values_and_best(question)
    above, below = (best, value) if question["higher_is_better"] else (value, best)
    first = "fastest" if has_winner(question) else "ahead"
    marks = ["take"] * is_taken(candidate, question) + [first] * (value == best and len(values) > 1)
    marks += ["open"] * is_unclear(candidate, question)
    return [ranked, question["unit"], f"{above / below:.6g}" if below else "", " ".join(marks)]


def level_of(ratio: float) -> int:
    """Return the colour of a figure that is `ratio` times as slow as the best."""
    return sum(ratio > limit for limit in LEVELS)


def question_id(index: int) -> str:
    """Return the id of a comparison's panel, to which the cells of its column lead."""
    return f"ranking-{index + 1}"


def _value(candidate: Candidate) -> float | None:
    ranked = candidate.get("ranked")
    return float(ranked["value"]) if ranked and candidate["lost"] is None else None


def _values_and_best(question: Question) -> tuple[list[float], float]:
    """Return all figures that count in a comparison, of which there is one at least, and the best of them."""
    values = [known for each in question["candidates"] if (known := _value(each)) is not None]
    return values, (max if question["higher_is_better"] else min)(values)


def _ranked_by(questions: Sequence[Question]) -> str:
    """Name the percentiles that rank columns: `P90`, or `P90 (P50 where there are too few samples)`."""
    slow = list(dict.fromkeys(f"P{question['level']:g}" for question in questions if not question.get("why_median")))
    if not slow:
        return "P50"
    has_medians = any(question.get("why_median") for question in questions)
    return " and ".join(slow) + (" (P50 where there are too few samples)" if has_medians else "")


def _marks(view: View, question: Question) -> dict[str, str]:
    return view.facets.marks(workload=question["workload"], label=question["label"], fleet=question["fleet"])


def _head(view: View, questions: Sequence[Question]) -> Markup:
    groups = [(words, list(group)) for words, group in groupby(questions, key=_group)]
    _, telling = shared_and_own(words for words, _ in groups)
    above = [
        tag("th", tag("span", telling[words]), scope="colgroup", colspan=str(len(group))) for words, group in groups
    ]
    has_type = not _only_type(questions)
    fleets = [
        tag("th", question["fleet"] if has_type else str(question["instances"]), scope="col", **_marks(view, question))
        for _, group in groups
        for question in group
    ]
    upper = [tag("tr", tag("td"), *above)] if len(groups) > 1 else []
    return tag("thead", *upper, tag("tr", tag("th", "Storage", scope="col"), *fleets))


def _only_type(questions: Sequence[Question]) -> str:
    """Return the instance type of all comparisons; empty if they have several."""
    types = {question["fleet"].partition(" × ")[2] for question in questions}
    return types.pop() if len(types) == 1 else ""


def _group(question: Question) -> str:
    return ", ".join(filter(None, (question["workload"], question["label"])))


def _by_storage(curves: Mapping[str, str], question: Question) -> dict[str, Candidate]:
    """Return the candidates of a comparison by the brief names of their storages, which `curves` has by cell."""
    # A comparison names storages without a measurement even if the matrix has no such cell.
    return {curves[candidate["cell"]]: candidate for candidate in question["candidates"] if candidate["cell"] in curves}


def _cells(view: View, columns: list[dict[str, Candidate]], storage: str, ahead: list[set[str]]) -> Iterator[Markup]:
    # Nothing has failed in a published run: its cells without figures are empty in the source.
    kinds = ("skipped",) if view.summary.get("environment") == "published" else ("failed", "skipped")
    states = {cell["id"]: str(cell.get("state")) for cell in view.cells if cell.get("state") in kinds}
    expected = "expected to do" if view.decision.get("objective") else "expected fastest"
    for index, (question, column) in enumerate(zip(view.decision["questions"], columns, strict=True)):
        candidate = column.get(storage)
        if candidate is not None and candidate["ranked"] is not None:
            built = _measured(question, candidate, index)
        elif candidate is not None and candidate["cell"] in states:
            built = _cell(states[candidate["cell"]], states[candidate["cell"]], index=index)
        elif storage in ahead[index]:
            built = _cell("absent expected", expected, "not measured", index)
        else:
            # The matrix of a run may lack a combination, as a published table may.
            built = _cell("absent", ABSENT if candidate and candidate["cell"] else "")
        kind, inner = built
        yield tag("td", *inner, class_=kind, **_marks(view, question))


def _expected_ahead(view: View, question: Question) -> set[str]:
    return {absent.storage for absent in absences(view, question) if absent.is_ahead}


def _measured(question: Question, candidate: Candidate, index: int) -> Cell:
    figure = quantity(ranked_of(candidate)["value"], question["unit"])
    value = _value(candidate)
    if value is None:
        return _cell("left-out", "left out", figure, index)
    values, best = _values_and_best(question)
    if len(values) == 1:
        return _cell("alone", "the only one", figure, index)
    ratio = best / value if question["higher_is_better"] else value / best
    if ratio != ratio or best == 0 or value == 0:  # noqa: PLR0124 - 0 / 0 is not a number
        return _cell("alone", "no ratio", figure, index)
    is_first = is_taken(candidate, question)
    is_best = value == best
    best_words = FASTEST if has_winner(question) else AHEAD
    words = BOTH if is_first and is_best else TAKE if is_first else best_words if is_best else f"×{factor(ratio)}"
    if is_unclear(candidate, question):
        words += f" {OPEN}"
    kind = f"level-{level_of(ratio)}{' marked' if is_first or is_best else ''}{' take' if is_first else ''}"
    return _cell(kind, words, figure, index)


def _cell(kind: str, words: str, figure: str | None = None, index: int | None = None) -> Cell:
    inner = [tag("b", figure)] if figure else []
    inner.append(tag("span", words))
    return kind, inner if index is None else [tag("a", *inner, href=f"#{question_id(index)}")]


def _legend(view: View) -> Markup:
    swatches = [tag("i", "", class_=f"level-{level}") for level in range(len(LEVELS) + 1)]
    takes_any = any(is_taken(each, question) for question in view.questions for each in question["candidates"])
    marks = f"{TAKE}: {why_taken(view.decision.get('objective'))}. " if takes_any else ""
    others = [
        (
            any(not each["cell"] for question in view.questions for each in question["candidates"]),
            "Empty: this combination is not part of the run.",
        ),
        (
            any(map(is_open, view.questions)),
            f"{OPEN}: it may be within {NEAR} of the best or not, or was not replicated.",
        ),
        (
            any(map(expected_ahead, view.questions)),
            f"Expected fastest: not measured here, and more than {NEAR} faster than all others at other sizes.",
        ),
        (
            any(each["ranked"] and each["lost"] for question in view.questions for each in question["candidates"]),
            "Hatched: known to be wrong, left out.",
        ),
    ]
    return tag(
        "p",
        f"{marks}○: the best figure of its column. –: not measured. Colours: best ",
        tag("span", *swatches),
        " ".join(
            [
                f" more than {LEVELS[-1]:g} times as slow. ×: times as slow as the fastest.",
                *(words for is_there, words in others if is_there),
            ]
        ),
        class_="quiet scale",
    )
