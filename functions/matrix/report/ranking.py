"""The first picture: for each comparison its answer in a line, a number, and all storages ranked with their costs."""

from collections.abc import Callable, Iterator, Sequence

from matrix.report.heat_map import level_of
from matrix.report.html import Figure, Markup, join, packed, tag, zipped
from matrix.report.neighbours import Absent, absences
from matrix.report.view import View
from matrix.terms.documents.summary import Candidate, PointCost, Question
from matrix.terms.figures import ABSENT, Column, cost_words, interval_words, number, quantity
from matrix.terms.metrics import metric_title
from matrix.terms.objectives import BEST_VALUE_WITHIN
from matrix.terms.verdicts import best_of, is_open, judged, ranked_of
from matrix.text.risks import risks_words

SIDE = 1000.0
# More comparisons than this are chosen by the chips of the page, and not one by one.
MOST_LINKS = 24
# More panels than this are zipped, each by itself.
MOST_PACKED = 100


def rankings(view: View) -> Markup:
    """Return a panel for each comparison, of which one is seen; links choose another, with or without a script."""
    questions = [question for question in view.decision.get("questions") or [] if judged(question)]
    if not questions:
        return Markup("")
    first = max(range(len(questions)), key=lambda index: (len(judged(questions[index])), questions[index]["instances"]))
    links = [
        tag("a", _asked(question, questions), href=f"#ranking-{index + 1}", class_="first" if index == first else None,
            **_marks(view, question))
        for index, question in enumerate(questions)
    ] if 1 < len(questions) <= MOST_LINKS else []  # fmt: skip
    fold = _zipped if len(questions) > MOST_PACKED else packed if len(questions) > MOST_LINKS else _open
    panels = [
        _panel(view, question, index, is_first=index == first, fold=_open if index == first else fold)
        for index, question in enumerate(questions)
    ]
    asked = [tag("p", *links, class_="asked")] if links else []
    return tag("div", *asked, *panels, class_="rankings")


def _marks(view: View, question: Question) -> dict[str, str]:
    return view.facets.marks(workload=question["workload"], label=question["label"], fleet=question["fleet"])


def _asked(question: Question, questions: Sequence[Question]) -> str:
    """Name a comparison by what tells it from the others."""
    named = [(each["workload"], each["label"], each["fleet"]) for each in questions]
    differ = [len(set(values)) > 1 for values in zip(*named, strict=True)]
    mine = (question["workload"], question["label"], question["fleet"])
    return ", ".join(name for name, is_telling in zip(mine, differ, strict=True) if is_telling and name) or mine[-1]


def _open(inner: Markup) -> Markup:
    return inner


def _zipped(inner: Markup) -> Markup:
    return zipped(inner, "This browser cannot show it here: the same stands further down, below Each comparison.")


def _panel(view: View, question: Question, index: int, *, is_first: bool, fold: Callable[[Markup], Markup]) -> Markup:
    absent = absences(view, question)
    words = tag("div", *_words(view, question, absent), class_="said")
    inner = join([words, _bars(view, question, absent)])
    return tag(
        "article", fold(inner), id=f"ranking-{index + 1}",
        class_="ranking first" if is_first else "ranking", **_marks(view, question),
    )  # fmt: skip


# --- in words ---------------------------------------------------------------------------------------------------------


def _words(view: View, question: Question, absent: Sequence[Absent]) -> Iterator[Markup]:
    ranked = judged(question)
    chosen = best_of(question)
    where = ", ".join(filter(None, (question["workload"], question["label"], question["fleet"])))
    yield tag("p", where, class_="where")
    yield tag("p", _headline(view, question, chosen, ranked, absent), class_="headline")
    if chosen is not None:
        figure, cost = ranked_of(chosen), chosen["cost"]
        named = _named(question, figure["level"])
        usd = f", {_usd_words(cost)} per {cost['per']}" if cost else ""
        yield tag("p", tag("b", quantity(figure["value"], question["unit"])), f" {named}{usd}", class_="number")
        yield from _beside(view, question, chosen, ranked)
        if chosen["risks"]:
            yield tag("p", f"Risk: {risks_words(chosen['risks'], question['unit'])}.", class_="quiet")
    yield from _expected(view, question, absent)


def _named(question: Question, level: float) -> str:
    title = metric_title(question["metric"], question["workload"])
    return f"P{level:g} {title[0].lower()}{title[1:]}"


def _headline(
    view: View, question: Question, chosen: Candidate | None, ranked: Sequence[Candidate], absent: Sequence[Absent]
) -> str:
    if chosen is None:
        return "No storage reaches the objective."
    name = view.called(chosen)
    if chosen["cell"] == question["recommended"]:
        return f"Take {name}."
    if len(ranked) == 1:
        return f"Only {name} was measured."
    measured = " of those measured" if any(each.is_ahead for each in absent) else ""
    if not view.decision.get("is_recommendation", True):
        measured = f" here{measured}"
    return f"{name} {_claim(view, chosen, ranked, measured)}."


def _claim(view: View, chosen: Candidate, ranked: Sequence[Candidate], measured: str) -> str:
    """Say what a storage is among those that were measured."""
    if any(is_open(each) for each in ranked) and chosen is ranked[0]:
        return f"is ahead{measured}, but the difference is not significant"
    if view.decision.get("objective"):
        return f"is first{measured}"
    if chosen is not ranked[0]:
        return f"is within {100 * BEST_VALUE_WITHIN:.0f} % of the fastest{measured}, for less"
    is_cheapest = chosen["verdict"].get("is_cheapest")
    return f"is fastest{' and cheapest' if is_cheapest else ''}{measured}"


def _beside(view: View, question: Question, chosen: Candidate, ranked: Sequence[Candidate]) -> Iterator[Markup]:
    """Say how far the next one is behind, or what is faster."""
    others = [each for each in ranked if each is not chosen]
    if not others:
        return
    other = others[0]
    ratio = _ratio(question, ranked_of(other)["value"], ranked_of(chosen)["value"])
    if ratio is None:
        return
    is_unclear = is_open(other) or is_open(chosen)
    how = (
        f"takes {ratio:.2f} times as long"
        if not question["higher_is_better"]
        else f"does {1 / ratio:.2f} times as much"
    )
    doubt = "; the difference is not significant" if is_unclear else ""
    words = "The fastest" if other is ranked[0] else "The next"
    yield tag("p", f"{words}, {view.called(other)}, {how}{doubt}.")


def _ratio(question: Question, value: float, best: float) -> float | None:
    """How many times as slow a value is as another."""
    top, bottom = (best, value) if question["higher_is_better"] else (value, best)
    return top / bottom if bottom > 0 and top > 0 else None


def _expected(view: View, question: Question, absent: Sequence[Absent]) -> Iterator[Markup]:
    ahead = [each for each in absent if each.is_ahead]
    rest = [each.storage for each in absent if not each.is_ahead]
    expected = "to reach the objective" if view.decision.get("objective") else "to be first"
    for each in ahead:
        known = " and ".join(f"{quantity(value, question['unit'])} at {size}" for size, value in each.between or ())
        yield tag("p", tag("strong", "Not measured here: "), f"{each.storage}. By its {known} instances it is expected "
                  f"{expected}.", class_="expected")  # fmt: skip
    if rest:
        yield tag("p", f"Not measured here: {', '.join(rest)}.", class_="quiet")


# --- as bars ----------------------------------------------------------------------------------------------------------


def _bars(view: View, question: Question, absent: Sequence[Absent]) -> Markup:
    ranked = judged(question)
    wrong = [each for each in question["candidates"] if each.get("ranked") and each["lost"]]
    ghosts = [each for each in absent if each.between]
    values = [ranked_of(each)["value"] for each in (*ranked, *wrong)]
    ends = [ranked_of(each)["high"] for each in ranked] + [_tail(view, question, each) for each in ranked]
    most = max([*values, *(each.middle for each in ghosts), *(end for end in ends if end is not None)]) or 1.0
    best = ranked_of(ranked[0])["value"]
    column = Column.of(values, question["unit"])
    rows = [(ranked_of(each)["value"], _measured(view, question, each, best, most, column)) for each in ranked]
    rows += [(ghost.middle, _ghost(ghost, most, column)) for ghost in ghosts]
    rows.sort(key=lambda pair: pair[0], reverse=question["higher_is_better"])
    body = [row for _, row in rows] + [_wrong(view, each, most, column) for each in wrong]
    costs = [each["cost"] for each in ranked if each["cost"]]
    level = question.get("ranked_level", question["level"])
    head = tag(
        "tr", tag("th", "Storage", scope="col"), tag("td"),
        tag("th", column.head(f"P{level:g}"), scope="col", class_="figure"),
        tag("th", f"USD per {costs[0]['per']}" if costs else "USD", scope="col", class_="figure"),
    )  # fmt: skip
    caption = tag("caption", f"{_named(question, level)} {_line_words(view, question, ranked)}")
    return tag("table", caption, tag("thead", head), tag("tbody", *body), class_="bars")


def _line_words(view: View, question: Question, ranked: Sequence[Candidate]) -> str:
    better = "longer is better" if question["higher_is_better"] else "shorter is better"
    if any(ranked_of(each)["low"] is not None for each in ranked):
        return f"({better}); line: {interval_words(ranked)}, where there is one"
    if any(_tail(view, question, each) is not None for each in ranked):
        return f"({better}); line: from the median to it, since no interval is known"
    return f"({better})"


def _tail(view: View, question: Question, candidate: Candidate) -> float | None:
    """The median, where what is ranked is the slow end and no interval is known."""
    entry = view.points.get((candidate["cell"], candidate["point"], question["metric"]))
    if entry is None or question.get("why_median") or ranked_of(candidate)["low"] is not None:
        return None
    middle = entry.metric.get("p50")
    return None if middle is None else float(middle)


def _measured(view: View, question: Question, candidate: Candidate, best: float, most: float, column: Column) -> Markup:
    ranked = ranked_of(candidate)
    ratio = _ratio(question, ranked["value"], best)
    middle = _tail(view, question, candidate)
    if ranked["low"] is not None and ranked["high"] is not None:
        ends: tuple[float, float] | None = (ranked["low"], ranked["high"])
    else:
        ends = (middle, ranked["value"]) if middle is not None else None
    kind = f"level-{level_of(ratio) if ratio else 0}"
    cost = candidate["cost"]
    usd = Figure(_usd_words(cost).replace("$", ""), cost["usd"]) if cost else ABSENT
    name = f"{'★ ' if view.takes(question, candidate) else ''}{view.called(candidate)}"
    return _row(name, _bar(kind, ranked["value"], most, ends),
                Figure(column.write(ranked["value"]), ranked["value"]), usd)  # fmt: skip


def _usd_words(cost: PointCost) -> str:
    return f"{'at least ' if cost['missing'] else ''}{cost_words(cost)}"


def _ghost(ghost: Absent, most: float, column: Column) -> Markup:
    (less, first), (more, last) = ghost.between or ((0, 0.0), (0, 0.0))
    words = f"not measured: {column.write(first)} at {less}, {column.write(last)} at {more}"
    low, high = sorted((first, last))
    return _row(ghost.storage, _bar("ghost", high, most, (low, high)), words, None)


def _wrong(view: View, candidate: Candidate, most: float, column: Column) -> Markup:
    value = ranked_of(candidate)["value"]
    words = f"{column.write(value)}, left out"
    return _row(view.called(candidate), _bar("wrong", value, most, None), words, None)


def _row(name: str, bar: Markup, figure: Figure | str, usd: Figure | str | None) -> Markup:
    cells = [tag("th", name, scope="row"), tag("td", bar)]
    if usd is None:
        cells.append(tag("td", str(figure), class_="figure quiet", colspan="2"))
    else:
        cells += [_figure(figure, "figure value"), _figure(usd, "figure")]
    # Without marks of its storage: a filter leaves the answer that of all storages, and its heading says so.
    return tag("tr", *cells)


def _figure(value: Figure | str, class_: str) -> Markup:
    if isinstance(value, Figure):
        return tag("td", value.text, class_=class_, data_value=repr(value.value))
    return tag("td", value, class_=class_)


def _bar(kind: str, value: float, most: float, ends: tuple[float, float] | None) -> Markup:
    """Draw a bar from zero with a line from one end to the other."""
    drawn = [tag("rect", width=_place(value, most), height="100%", rx="3", class_=kind)]
    if ends is not None:
        left, right = (_place(end, most) for end in ends)
        # Under the line lies a wider one, so that it is seen on light bars and on dark ones.
        drawn += [tag("line", x1=left, x2=right, y1="50%", y2="50%", class_=class_) for class_ in ("under", None)]
    return tag("svg", *drawn, width="100%", height="18", aria_hidden="true")


def _place(value: float, most: float) -> str:
    return f"{number(max(0.0, 100 * value / most))}%"
