"""The result of comparing a run with another one as a small document: as `matrix compare`, without its points."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from matrix.answer.comparing import NotComparable, compare
from matrix.terms.documents.compared import ComparedPair, PairVerdict
from matrix.terms.documents.comparison import ComparedPoint, ComparisonDocument, RunVerdict
from matrix.terms.documents.values import ValuesDocument

SCHEMA = 1
# The default of `matrix compare`.
THRESHOLD = 0.05
MOST_CHANGES = 5


def beside(base: ValuesDocument, values: ValuesDocument, asked: str) -> ComparisonDocument:
    """Compare a run with another, by the rules of `matrix compare`; `asked` is the other run's name in its matrix."""
    try:
        compared = compare(base, values, threshold=THRESHOLD)
    except NotComparable as mixed:
        return not_compared(values["run"], asked, str(mixed), base["run"])
    points = compared["compared"]
    if not points:
        return not_compared(values["run"], asked, "the two runs have no cell in common", base["run"])
    count = Counter(point["verdict"] for point in points)
    reasons = Counter(point["reason"] for point in points if point["reason"])
    changed = list(_changed(points))
    changed.sort(key=lambda point: (point["verdict"] != "slower", -abs(math.log(point["ratio"]))))
    power = compared["power"]
    return {
        **not_compared(values["run"], asked, next(iter(dict(reasons.most_common(1))), None), base["run"]),
        "verdict": _verdict(count, len(points)),
        "points": len(points),
        "slower": count["slower"],
        "faster": count["faster"],
        "unjudged": count["cannot tell"],
        "regressions": compared["regressions"],
        "detectable_ratio": power and power["ratio"],
        "noisiest_ratio": power and power["worst_ratio"],
        "is_launched_once": compared["is_launched_once"],
        "changes": changed[:MOST_CHANGES],
    }


def not_compared(run: str, asked: str, reason: str | None, base: str | None = None) -> ComparisonDocument:
    """Return the document of a run that was compared with nothing, and why."""
    return {
        "schema": SCHEMA, "run": run, "asked": asked, "base": base, "verdict": "not-compared", "reason": reason,
        "points": 0, "slower": 0, "faster": 0, "unjudged": 0, "regressions": 0, "threshold": THRESHOLD,
        "detectable_ratio": None, "noisiest_ratio": None, "changes": [],
    }  # fmt: skip


def _verdict(count: Counter[PairVerdict], points: int) -> RunVerdict:
    if count["slower"] and count["faster"]:
        return "both"
    if count["slower"] or count["faster"]:
        return "slower" if count["slower"] else "faster"
    return "cannot-tell" if count["cannot tell"] == points else "no-difference"


def _changed(points: Sequence[ComparedPair]) -> Iterator[ComparedPoint]:
    """Yield the points that became slower or faster, which always have a ratio."""
    for point in points:
        verdict, ratio, interval = point["verdict"], point["ratio"], point["interval"]
        if (verdict == "slower" or verdict == "faster") and ratio is not None:  # noqa: PLR1714 - mypy reads no `in`
            yield {
                "storage": point["storage"], "fleet": point["fleet"], "workload": point["workload"],
                "point": point["point"], "metric": point["metric"], "verdict": verdict, "change": ratio - 1,
                "ratio": ratio, "low": interval["low"] if interval else None,
                "high": interval["high"] if interval else None,
            }  # fmt: skip
