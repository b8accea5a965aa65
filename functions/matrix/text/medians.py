"""Why comparisons are ranked by the median, in words."""

from collections.abc import Iterable, Sequence

from matrix.terms.documents.summary import Question
from matrix.terms.findings.risks import Risk, SampleSizeUnknown, TooFewSamples, describe_too_few
from matrix.terms.sentences import listed


def ranked_by_median(questions: Sequence[Question], where: str) -> str:
    """Write that these comparisons are ranked by the median, and why in short; `where` is their place."""
    reasons = [why for question in questions if (why := question.get("why_median"))]
    is_few = all(why["code"] == TooFewSamples.code for why in reasons)
    few = f"too few samples for P{reasons[0]['level']:g}"
    return f"Ranked by the median{where} ({few if is_few else describe_why_median(questions)})."


def describe_why_median(questions: Sequence[Question]) -> str:
    """Write why comparisons are ranked by the median, with the range of their sample sizes.

    Fleets with an unknown sample size are named by their sizes, unless these do not tell them apart.
    """
    reasons: list[Risk] = []
    sizes: dict[str, set[int]] = {}
    for question in questions:
        if why := question.get("why_median"):
            reasons.append(Risk.read(why))
            sizes.setdefault(why["code"], set()).add(question["instances"])
    few = [each for each in reasons if isinstance(each, TooFewSamples)]
    if not few:
        return ", or ".join(dict.fromkeys(each.sentence for each in reasons))
    counted, unknown = sizes[TooFewSamples.code], sizes.get(SampleSizeUnknown.code, set())
    if sizes.keys() == {TooFewSamples.code, SampleSizeUnknown.code} and not counted & unknown:
        return f"{describe_too_few(few, f'; at {_sizes(counted)} ')}, at {_sizes(unknown)} an unknown number"
    others = dict.fromkeys(
        "an unknown number" if isinstance(each, SampleSizeUnknown) else each.sentence
        for each in reasons
        if not isinstance(each, TooFewSamples)
    )
    return " or ".join([describe_too_few(few), *others])


def _sizes(counts: Iterable[int]) -> str:
    return listed(map(str, sorted(counts)))
