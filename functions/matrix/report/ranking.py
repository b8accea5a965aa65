"""The answer: the verdict, then for each comparison all ranked storages with their costs and bottlenecks."""

from collections.abc import Callable, Iterator, Sequence

from matrix.report.charts.chart import MAX_BEYOND
from matrix.report.heat_map import level_of, question_id
from matrix.report.html import Markup, join, packed, tag, zipped
from matrix.report.neighbours import Absent, absences
from matrix.report.view import View
from matrix.tables.ranking_table import figure_column, ranking_table
from matrix.tables.table import TableCell, TableColumn
from matrix.terms.documents.summary import Candidate, Question
from matrix.terms.figures import describe_bounded_cost, describe_interval
from matrix.terms.metrics import metric_title
from matrix.terms.quantities import Column, number, quantity
from matrix.terms.verdicts import is_taken, judged, ranked_of, winner
from matrix.text.decisions import describe_limit, describe_open_question
from matrix.text.headlines import claim, headline
from matrix.text.rankings import OPEN, cost_unit, describe_comparison, describe_level, parts
from matrix.text.risks import describe_risk, describe_risks
from matrix.text.verdicts import SAME, describe_verdict

# With more comparisons than this, the panels that are hidden at first are packed.
MAX_OPEN = 24
# If there are more panels than this, each is zipped.
MAX_PACKED = 100
# Attributes for picking a comparison; the page's script makes a list for each one with several values.
AXES = ("data_workload", "data_parameters", "data_fleet")


def rankings(view: View) -> Markup:
    """Return a panel for each comparison. A picker shows one of them; without a script all are shown."""
    questions = {index: question for index, question in enumerate(view.questions) if judged(question)}
    if not questions:
        return Markup("")
    first = max(questions, key=lambda index: (len(judged(questions[index])), questions[index]["instances"]))
    fold = _zipped if len(questions) > MAX_PACKED else packed if len(questions) > MAX_OPEN else _open
    panels = [
        _panel(view, question, index, is_first=index == first, fold=_open if index == first else fold)
        for index, question in questions.items()
    ]
    verdict = []
    if len(questions) > 1:
        verdict = [tag("p", headline(view.decision, view.called), class_="headline")]
    return join([*verdict, tag("div", *panels, class_="rankings")])


def _marks(view: View, question: Question) -> dict[str, str]:
    marks = view.facets.marks(workload=question["workload"], label=question["label"], fleet=question["fleet"])
    return marks | {axis: part for axis, part in zip(AXES, parts(question), strict=True) if part}


def _open(inner: Markup) -> Markup:
    return inner


def _zipped(inner: Markup) -> Markup:
    return zipped(inner, "This browser cannot show it here: its figures are in summary.md and summary.csv.")


def _panel(view: View, question: Question, index: int, *, is_first: bool, fold: Callable[[Markup], Markup]) -> Markup:
    absent = absences(view, question)
    inner = join([*_verdict(view, question, absent), _table(view, question, absent), *_caveats(view, question, absent)])
    where = tag("h3", describe_comparison(question), class_="where")
    return tag(
        "article", where, fold(inner), id=question_id(index),
        class_="ranking first" if is_first else "ranking", **_marks(view, question),
    )  # fmt: skip


# --- in words ---------------------------------------------------------------------------------------------------------


def _verdict(view: View, question: Question, absent: Sequence[Absent]) -> Iterator[Markup]:
    """The storage to take and its figure, then its distance to the next one."""
    chosen, objective = winner(question), view.decision.get("objective")
    if chosen is None:
        limit = f" {describe_limit(objective, question['unit'])}" if objective else ""
        yield tag("p", f"No storage reaches the objective: P{question['level']:g}{limit}.", class_="headline")
        return
    yield tag("p", f"{_headline(view, question, chosen, absent)}.", class_="headline")
    figure, cost = ranked_of(chosen), chosen["cost"]
    usd = f", {describe_bounded_cost(cost)} per {cost['per']}" if cost and cost_unit(question, view.decision) else ""
    behind = _beside(view, question, chosen)
    yield tag("p", tag("b", quantity(figure["value"], question["unit"])),
              f" {_named(question, figure['level'])}{usd}. {behind}", class_="number")  # fmt: skip


def _headline(view: View, question: Question, chosen: Candidate, absent: Sequence[Absent]) -> str:
    name = view.called(chosen)
    objective = view.decision.get("objective")
    if objective and is_taken(chosen, question):
        return f"Take {name}"
    if len(judged(question)) == 1:
        return f"Only {name} was measured"
    measured = " of those measured" if any(each.is_ahead for each in absent) else ""
    if not view.decision.get("is_recommendation", True):
        measured = f" here{measured}"
    if objective:
        by_value = ", by its value only" if question.get("state") == "by-value" else ""
        return f"{name} is first{measured}{by_value}"
    return f"{name} {claim(question, view.decision, measured)}"


def _beside(view: View, question: Question, chosen: Candidate) -> str:
    """Write the distance to the next storage, or name a faster one."""
    ranked = judged(question)
    others = [each for each in ranked if each is not chosen]
    ratio = _ratio(question, ranked_of(others[0])["value"], ranked_of(chosen)["value"]) if others else None
    if ratio is None:
        return ""
    other = others[0]
    if other is ranked[0]:
        if ratio >= 1:
            return ""
        by = "is less than 1 % faster" if ratio > 1 - SAME else f"takes {ratio:.2f} times as long"
        return f"The fastest, {view.called(other)}, {by}."
    return f"The next, {view.called(other)}, is {ratio:.2f} times as slow."


def _named(question: Question, level: float) -> str:
    title = metric_title(question["metric"], question["workload"])
    return f"P{level:g} {title[0].lower()}{title[1:]}"


def _ratio(question: Question, value: float, best: float) -> float | None:
    """The factor by which a value is slower than another."""
    top, bottom = (best, value) if question["higher_is_better"] else (value, best)
    return top / bottom if bottom > 0 and top > 0 else None


def _caveats(view: View, question: Question, absent: Sequence[Absent]) -> Iterator[Markup]:
    """The caveats of the ranking, a line each."""
    lines = [f"{OPEN.capitalize()}: {words}." for words in describe_open_question(question, view.called)]
    chosen = winner(question)
    # A line about a difference without significance already has the missing replication as its reason.
    risks = [risk for risk in chosen["risks"] if risk["code"] != "not-replicated" or not lines] if chosen else []
    if risks:
        lines.append(f"Caution: {describe_risks(risks)}.")
    lines += _filling(view, question)
    lines += _other_risks(view, question, chosen)
    lines += _without_figure(view, question)
    yield from (tag("p", line, class_="quiet") for line in lines)
    yield from _expected(view, question, absent)


def _other_risks(view: View, question: Question, chosen: Candidate | None) -> list[str]:
    """Name each risk that only other storages have, with these storages."""
    known = [describe_risk(risk) for risk in (chosen["risks"] if chosen else ())]
    storages: dict[str, list[str]] = {}
    for candidate in judged(question):
        for risk in candidate["risks"]:
            storages.setdefault(describe_risk(risk), []).append(view.called(candidate))
    return [f"{', '.join(names)}: {words}." for words, names in storages.items() if words not in known]


def _without_figure(view: View, question: Question) -> list[str]:
    """Name the storages that failed here, each with the reason; storages without a cell have their own line."""
    reasons: dict[str, list[str]] = {}
    for candidate in question["candidates"]:
        if candidate["value"] is None and not (candidate["lost"] and candidate["lost"]["code"] == "no-cell"):
            reasons.setdefault(describe_verdict(candidate), []).append(view.called(candidate))
    return [f"{', '.join(names)}: {why}." for why, names in reasons.items()]


def _filling(view: View, question: Question) -> list[str]:
    """Explain the costs with a cache fill, if there are any."""
    per = cost_unit(question, view.decision)
    fillings = [filling for each in judged(question) if each["cost"] and (filling := each["cost"].get("filling"))]
    if not per or not fillings:
        return []
    is_assumed = any(filling.get("is_assumed") for filling in fillings)
    assumed = " Nobody measured the fill: its time is assumed." if is_assumed else ""
    share = f"the cost also has its share of filling the cache once, for one {per} on each instance"
    return [f"With cache fill: {share}.{assumed}"]


def _expected(view: View, question: Question, absent: Sequence[Absent]) -> Iterator[Markup]:
    ahead = [each for each in absent if each.is_ahead]
    rest = [each.storage for each in absent if not each.is_ahead]
    expected = "to reach the objective" if view.decision.get("objective") else "to be fastest"
    for each in ahead:
        known = " and ".join(f"{quantity(value, question['unit'])} at {size}" for size, value in each.between or ())
        words = f"{each.storage}. By its {describe_level(question)} of {known} instances it is expected {expected}."
        yield tag("p", tag("strong", "Not measured here: "), words, class_="expected")
    if rest:
        yield tag("p", f"Not measured here: {', '.join(rest)}.", class_="quiet")


# --- as a table -------------------------------------------------------------------------------------------------------


def _table(view: View, question: Question, absent: Sequence[Absent]) -> Markup:
    """Rank the storages, the best first: a bar, the figure, its interval, the cost and the bottleneck of each."""
    ranked = judged(question)
    wrong = [each for each in question["candidates"] if each.get("ranked") and each["lost"]]
    ghosts = [each for each in absent if each.between]
    values = [ranked_of(each)["value"] for each in (*ranked, *wrong)]
    ends = [ranked_of(each)["high"] for each in ranked] + [_tail(view, question, each) for each in ranked]
    greatest = max([*values, *(each.middle for each in ghosts)])
    most = max([greatest, *(min(end, MAX_BEYOND * greatest) for end in ends if end is not None)]) or 1.0
    built, column = ranking_table(view.summary, view.decision, question, view.called), figure_column(question)
    _, *columns = built.columns
    best = ranked_of(ranked[0])["value"]
    rows = [
        (ranked_of(each)["value"], _measured(row.cells, _measured_bar(view, question, each, best, most), columns))
        for each, row in zip(ranked, built.rows, strict=True)
    ]
    width = str(len(columns))
    rows += [(ghost.middle, _ghost(ghost, most, column, width)) for ghost in ghosts]
    rows.sort(key=lambda pair: pair[0], reverse=question["higher_is_better"])
    body = [row for _, row in rows] + [_wrong(view, each, most, column, width) for each in wrong]
    heads = [tag("th", head.head, scope="col", class_=_class(place, head)) for place, head in enumerate(columns)]
    head = tag("tr", tag("th", "Storage", scope="col"), tag("td"), *heads)
    level = question.get("ranked_level", question["level"])
    caption = tag("caption", f"{_named(question, level)} {_describe_line(view, question, ranked)}")
    return tag("table", caption, tag("thead", head), tag("tbody", *body), class_="bars")


def _class(place: int, column: TableColumn) -> str | None:
    """Return the class of a cell behind the bar; the first has the figure that ranks."""
    return "figure value" if place == 0 else "figure" if column.is_figure else None


def _describe_line(view: View, question: Question, ranked: Sequence[Candidate]) -> str:
    better = "higher is better" if question["higher_is_better"] else "lower is better"
    if any(ranked_of(each)["low"] is not None for each in ranked):
        return f"({better}); line: {describe_interval(ranked)}, where there is one"
    if any(_tail(view, question, each) is not None for each in ranked):
        return f"({better}); line: from the median to it, since no interval is known"
    return f"({better})"


def _tail(view: View, question: Question, candidate: Candidate) -> float | None:
    """The median, if a tail percentile ranks and has no interval; else None."""
    entry = view.points.get((candidate["cell"], candidate["point"], question["metric"]))
    if entry is None or question.get("why_median") or ranked_of(candidate)["low"] is not None:
        return None
    middle = entry.metric.get("p50")
    return None if middle is None else float(middle)


def _measured_bar(view: View, question: Question, candidate: Candidate, best: float, most: float) -> Markup:
    ranked = ranked_of(candidate)
    ratio = _ratio(question, ranked["value"], best)
    middle = _tail(view, question, candidate)
    if ranked["low"] is not None and ranked["high"] is not None:
        ends: tuple[float, float] | None = (ranked["low"], ranked["high"])
    else:
        ends = (middle, ranked["value"]) if middle is not None else None
    return _bar(f"level-{level_of(ratio) if ratio else 0}", ranked["value"], most, ends)


def _measured(cells: Sequence[TableCell], bar: Markup, columns: Sequence[TableColumn]) -> Markup:
    name, *others = cells
    drawn = [_cell(cell, place, column) for place, (cell, column) in enumerate(zip(others, columns, strict=True))]
    return _row(name.text, bar, drawn)


def _ghost(ghost: Absent, most: float, column: Column, width: str) -> Markup:
    (less, first), (more, last) = ghost.between or ((0, 0.0), (0, 0.0))
    words = f"not measured: {column.write(first)} at {less}, {column.write(last)} at {more}"
    low, high = sorted((first, last))
    return _row(ghost.storage, _bar("ghost", high, most, (low, high)), [_note(words, width)])


def _wrong(view: View, candidate: Candidate, most: float, column: Column, width: str) -> Markup:
    value = ranked_of(candidate)["value"]
    words = f"{column.write(value)}, {describe_verdict(candidate)}"
    return _row(view.called(candidate), _bar("wrong", value, most, None), [_note(words, width)])


def _note(words: str, width: str) -> Markup:
    return tag("td", words, class_="quiet", colspan=width)


def _row(name: str, bar: Markup, cells: Sequence[Markup]) -> Markup:
    # Without marks of its storage: filters do not change the answer, which is about all storages.
    return tag("tr", tag("th", name, scope="row"), tag("td", bar), *cells)


def _cell(cell: TableCell, place: int, column: TableColumn) -> Markup:
    # A narrow screen has no heads: each cell behind the figure has its own.
    named = None if place == 0 else column.head
    exact = None if cell.value is None else repr(cell.value)
    return tag("td", cell.text, class_=_class(place, column), data_value=exact, data_head=named)


def _bar(kind: str, value: float, most: float, ends: tuple[float, float] | None) -> Markup:
    """Draw a bar from zero with a line from one end to the other."""
    drawn = [tag("rect", width=_place(value, most), height="100%", rx="3", class_=kind)]
    if ends is not None:
        left, right = (_place(end, most) for end in ends)
        # A wider line is drawn below this one, so that it is visible on light bars and on dark ones.
        drawn += [tag("line", x1=left, x2=right, y1="50%", y2="50%", class_=class_) for class_ in ("under", None)]
    return tag("svg", *drawn, width="100%", height="18", aria_hidden="true")


def _place(value: float, most: float) -> str:
    return f"{number(min(100.0, max(0.0, 100 * value / most)))}%"
