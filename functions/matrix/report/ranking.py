"""The answer: for each comparison its sentence, and all ranked storages with their costs and bottlenecks."""

from collections.abc import Callable, Iterator, Sequence

from matrix.report.charts.chart import MAX_BEYOND
from matrix.report.heat_map import Absent, absences, level_of, question_id
from matrix.report.html import Markup, details, join, packed, tag, zipped
from matrix.report.html_table import html_table
from matrix.report.view import View
from matrix.tables.ranking_table import figure_column, ranking_table
from matrix.terms.documents.summary import Candidate, Question
from matrix.terms.figures import describe_bounded_cost, describe_interval
from matrix.terms.findings.risks import Risk
from matrix.terms.findings.verdicts import Lost
from matrix.terms.grouping import grouped
from matrix.terms.metrics import metric_title
from matrix.terms.names import shared_and_own
from matrix.terms.quantities import Column, number, quantity
from matrix.terms.verdicts import judged, leading, ranked_of, winner
from matrix.text.decisions import describe_open_question
from matrix.text.headlines import question_headline
from matrix.text.rankings import OPEN, cost_unit, describe_comparison, describe_level, mark, parts, unclear
from matrix.text.verdicts import describe_verdict

# With more comparisons than this, the panels that are hidden at first are packed.
MAX_OPEN = 24
# If there are more panels than this, each is zipped.
MAX_PACKED = 100
# Attributes for picking a comparison; the page's script makes a list for each one with several values.
AXES = ("data_workload", "data_parameters", "data_fleet")


def rankings(view: View) -> Markup:
    """Return a panel for each comparison. A picker shows one of them; without a script all are shown."""
    questions = {index: question for index, question in enumerate(view.questions) if judged(question)}
    first = leading(view.questions)
    fold = _zipped if len(questions) > MAX_PACKED else packed if len(questions) > MAX_OPEN else _open
    panels = [
        _panel(view, question, index, is_first=index == first, fold=_open if index == first else fold)
        for index, question in questions.items()
    ]
    return tag("div", *panels, class_="rankings") if panels else Markup("")


def _marks(view: View, question: Question) -> dict[str, str]:
    marks = view.facets.marks(workload=question["workload"], label=question["label"], fleet=question["fleet"])
    workload, label, fleet = parts(question)
    _, telling = shared_and_own(each["label"] for each in view.questions)
    return marks | {axis: part for axis, part in zip(AXES, (workload, telling[label], fleet), strict=True) if part}


def _open(inner: Markup) -> Markup:
    return inner


def _zipped(inner: Markup) -> Markup:
    return zipped(inner, "This browser cannot show it here: its figures are in summary.md and summary.csv.")


def _panel(view: View, question: Question, index: int, *, is_first: bool, fold: Callable[[Markup], Markup]) -> Markup:
    absent = absences(view, question)
    notes = _caveats(view, question)
    table = html_table(ranking_table(view.summary, view.decision, question, view.called))
    count = f"{len(notes)} note{'s' if len(notes) > 1 else ''}, costs" if notes else "Costs"
    more = [*(tag("p", note, class_="quiet") for note in notes), table]
    inner = join(
        [
            tag("p", question_headline(question, view.decision, view.called), class_="headline"),
            _bars(view, question, absent),
            *_expected(view, question, absent),
            details(f"{count} and bottlenecks of this comparison", *more),
        ]
    )
    where = tag("h2", describe_comparison(question), class_="where")
    return tag(
        "article", where, fold(inner), id=question_id(index),
        class_="ranking first" if is_first else "ranking", **_marks(view, question), **_cost(view, question),
    )  # fmt: skip


def _cost(view: View, question: Question) -> dict[str, str]:
    """Return the cost of a winner, which the page's script multiplies by a load per day; none where it is not known."""
    best = winner(question)
    cost = best["cost"] if best and cost_unit(question, view.decision) else None
    if cost is None or cost["missing"]:
        return {}
    per = cost["per"] if " " in cost["per"] else f"{cost['per']}s"
    return {"data_usd": f"{cost['usd']:.6g}", "data_per": per, "data_instances": str(question["instances"])}


# --- in words ---------------------------------------------------------------------------------------------------------


def _ratio(question: Question, value: float, best: float) -> float | None:
    """The factor by which a value is slower than another."""
    top, bottom = (best, value) if question["higher_is_better"] else (value, best)
    return top / bottom if bottom > 0 and top > 0 else None


def _caveats(view: View, question: Question) -> list[str]:
    """Return the caveats of the ranking, a line each."""
    lines = [f"{OPEN.capitalize()}: {words}." for words in describe_open_question(question, view.called)]
    chosen = winner(question)
    # A line about a difference without significance already has the missing replication as its reason.
    risks = [risk for risk in chosen["risks"] if risk["code"] != "not-replicated" or not lines] if chosen else []
    if risks:
        lines.append(f"Caution: {'; '.join(map(Risk.describe, risks))}.")
    return [
        *lines, *_filling(view, question), *_other_risks(view, question, chosen), *_without_figure(view, question)
    ]  # fmt: skip


def _other_risks(view: View, question: Question, chosen: Candidate | None) -> list[str]:
    """Name each risk that only other storages have, with these storages."""
    known = [Risk.describe(risk) for risk in (chosen["risks"] if chosen else ())]
    storages = grouped(
        (Risk.describe(risk), view.called(candidate)) for candidate in judged(question) for risk in candidate["risks"]
    )
    return [f"{', '.join(names)}: {words}." for words, names in storages.items() if words not in known]


def _without_figure(view: View, question: Question) -> list[str]:
    """Name the storages that failed here, each with the reason; storages without a cell have their own line."""
    reasons = grouped(
        (describe_verdict(candidate, question), view.called(candidate))
        for candidate in question["candidates"]
        if _is_lost(candidate)
    )
    return [f"{', '.join(names)}: {why}." for why, names in reasons.items()]


def _is_lost(candidate: Candidate) -> bool:
    """Whether a storage has a cell here, and no figure that counts."""
    lost = candidate["lost"]
    return lost["code"] != "no-cell" if lost else candidate["value"] is None


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
    # The notes name the storages that have a reason.
    lost = {view.called(each) for each in question["candidates"] if _is_lost(each)}
    rest = [each.storage for each in absent if not each.is_ahead and each.storage not in lost]
    expected = "to reach the objective" if view.decision.get("objective") else "to be fastest"
    for each in ahead:
        known = " and ".join(f"{quantity(value, question['unit'])} at {size}" for size, value in each.between or ())
        words = f"{each.storage}. By its {describe_level(question)} of {known} instances it is expected {expected}."
        yield tag("p", tag("strong", "Not measured here: "), words, class_="expected")
    if rest:
        yield tag("p", f"Not measured here: {', '.join(rest)}.", class_="quiet")


# --- as bars ----------------------------------------------------------------------------------------------------------


def _bars(view: View, question: Question, absent: Sequence[Absent]) -> Markup:
    """Rank the storages, the best first: a bar, the figure with a line for its interval, the cost and the verdict."""
    ranked, column = judged(question), figure_column(question)
    wrong = [each for each in question["candidates"] if each.get("ranked") and each["lost"]]
    ghosts = [each for each in absent if each.between]
    values = [ranked_of(each)["value"] for each in (*ranked, *wrong)]
    ends = [ranked_of(each)["high"] for each in ranked] + [_tail(view, question, each) for each in ranked]
    greatest = max([*values, *(each.middle for each in ghosts)])
    most = max([greatest, *(min(end, MAX_BEYOND * greatest) for end in ends if end is not None)]) or 1.0
    best = ranked_of(ranked[0])["value"]
    is_priced = bool(cost_unit(question, view.decision))
    rows = [
        (
            ranked_of(each)["value"],
            _measured(view, question, each, _measured_bar(view, question, each, best, most), is_priced=is_priced),
        )
        for each in ranked
    ]
    rows += [(ghost.middle, _ghost(ghost, most, column)) for ghost in ghosts]
    rows.sort(key=lambda pair: pair[0], reverse=question["higher_is_better"])
    body = [row for _, row in rows] + [_wrong(view, each, most, column) for each in wrong]
    title = metric_title(question["metric"], question["workload"])
    named = f"{describe_level(question)} {title[0].lower()}{title[1:]}"
    caption = tag("caption", f"{named} {_describe_line(view, question, ranked)}")
    return tag("table", caption, tag("tbody", *body), class_="bars")


def _measured(view: View, question: Question, each: Candidate, bar: Markup, *, is_priced: bool) -> Markup:
    cost = each["cost"] if is_priced else None
    words = [describe_bounded_cost(cost)] if cost else []
    # The notes say what would decide it.
    words.append(describe_verdict(each, question, is_brief=True))
    value = ranked_of(each)["value"]
    figure = tag(
        "td", quantity(value, question["unit"]), unclear(each, question), class_="value", data_value=repr(value)
    )
    return _row(f"{mark(each, question)}{view.called(each)}", bar, figure, tag("td", " · ".join(words), class_="quiet"))


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


def _ghost(ghost: Absent, most: float, column: Column) -> Markup:
    (less, first), (more, last) = ghost.between or ((0, 0.0), (0, 0.0))
    words = f"not measured: {column.write(first)} at {less}, {column.write(last)} at {more}"
    low, high = sorted((first, last))
    return _row(ghost.storage, _bar("ghost", high, most, (low, high)), tag("td", words, class_="quiet", colspan="2"))


def _wrong(view: View, candidate: Candidate, most: float, column: Column) -> Markup:
    value = ranked_of(candidate)["value"]
    # The notes have the reason.
    words = f"{column.write(value)}, {Lost.read(candidate['lost'] or {}).outcome}"
    return _row(view.called(candidate), _bar("wrong", value, most, None), tag("td", words, class_="quiet", colspan="2"))


def _row(name: str, bar: Markup, *cells: Markup) -> Markup:
    # Without marks of its storage: filters do not change the answer, which is about all storages.
    return tag("tr", tag("th", name, scope="row"), tag("td", bar), *cells)


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
