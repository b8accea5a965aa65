"""The result of a run compared with another run, in words."""

from collections.abc import Sequence

from matrix.terms.documents.compared import ComparedPoint, ComparedRuns, ComparisonDocument, LostCell
from matrix.terms.findings.replication import ONE_NIGHT
from matrix.terms.quantities import count_of

# Points that a message names.
MAX_NAMED = 2


def describe_comparison_briefly(comparison: ComparisonDocument) -> str:
    """Return the verdict in a word or two, as a subject has it."""
    return {
        "slower": "slower", "faster": "faster", "both": "slower and faster", "no-difference": "no difference found",
        "cannot-tell": "cannot tell", "not-compared": "not compared",
    }[comparison["verdict"]]  # fmt: skip


def count_lost(lost: Sequence[LostCell]) -> str:
    """Write how much of the base was not measured: `2 cells not measured`; empty if nothing is lost."""
    return f"{count_of(len(lost), 'cell')} not measured" if lost else ""


def describe_lost(lost: LostCell) -> str:
    """Write which cell was not measured, and why."""
    return f"Not measured: {lost['cell']} ({count_of(len(lost['points']), 'point')}): {lost['reason']}"


def comparison_lines(comparison: ComparisonDocument) -> list[str]:
    """Return what was lost, then the verdict with its evidence, the largest changes and the caveat, a line each."""
    lost = comparison["lost"]
    more = [f"and {count_lost(lost[MAX_NAMED:])}"] if lost[MAX_NAMED:] else []
    return [*map(describe_lost, lost[:MAX_NAMED]), *more, *_verdict_lines(comparison)]


def _verdict_lines(comparison: ComparisonDocument) -> list[str]:
    base = _base(comparison)
    points = count_of(comparison["points"], "point")
    undecided = f"; {comparison['unjudged']} cannot be judged" if comparison["unjudged"] else ""
    match comparison["verdict"]:
        case "not-compared":
            return [f"Not compared with {base}: {comparison['reason']}."]
        case "cannot-tell":
            return [f"Cannot tell whether it differs from {base}: {comparison['reason']}."]
        case "no-difference":
            return [f"No difference found to {base} at {points}{_power(comparison)}{undecided}."]
        case "slower" | "faster" as verdict:
            found = f"{verdict.capitalize()} than {base} at {comparison[verdict]} of {points}"
        case "both":
            found = f"Beside {base} {comparison['slower']} of {points} slower, {comparison['faster']} faster"
    named = [describe_point(point) for point in comparison["changes"][:MAX_NAMED]]
    caveat = [f"Caution: {ONE_NIGHT}."] if comparison.get("is_of_one_night") else []
    scatter = f" and {comparison['runs']} earlier runs differ by" if comparison["runs"] else ""
    return [f"{found}, by more than chance explains{scatter}{undecided}:", *named, *caveat]


def describe_compared(document: ComparedRuns) -> str:
    """Return what was lost, and the verdict of two runs by the thresholds of `matrix compare`, a sentence each."""
    lost = count_lost(document["lost"])
    return f"{lost} of {document['base']}. {_judged(document)}" if lost else _judged(document)


def _judged(document: ComparedRuns) -> str:
    points, slower = len(document["compared"]), document["regressions"]
    if not points:
        return "Nothing was compared: the two runs have no measured cell in common."
    own = [f"of {metric} {100 * share:g} %" for metric, share in document.get("thresholds", {}).items()]
    threshold = ", ".join([f"{100 * document['threshold']:g} %", *own])
    if slower:
        return f"{slower} of {points} became slower, shown to be by more than {threshold}."
    undecided = sum(pair["verdict"] == "cannot tell" for pair in document["compared"])
    if undecided == points:
        return f"Too little was measured to tell whether any of {points} became slower."
    rest = f"; of {undecided} of {points} it cannot be told" if undecided else ""
    return f"Nothing is shown to be slower by more than {threshold}{rest}."


def describe_point(point: ComparedPoint) -> str:
    """Write one change with its interval."""
    interval = ", no interval" if point["low"] is None else f", 95 % {point['low']:.3f} – {point['high']:.3f}"
    where = f"{point['storage']}, {point['fleet']}, {point['workload']}: {point['point']}"
    metric = point["metric"] if point["percentile"] == "p50" else f"{point['percentile'].upper()} of {point['metric']}"
    verdict = f"{point['verdict']}{', a trend of all runs' if point['is_trend'] else ''}"
    return f"{where}: {metric} {100 * point['change']:+.1f} %, {verdict} (ratio {point['ratio']:.3f}{interval})"


def _base(comparison: ComparisonDocument) -> str:
    base, asked = comparison["base"], comparison["asked"]
    return asked if base is None else base if base == asked else f"{base} ({asked})"


def _power(comparison: ComparisonDocument) -> str:
    ratio, noisiest = comparison["detectable_ratio"], comparison["noisiest_ratio"]
    if ratio is None or noisiest is None:
        return ""
    worst = f", ×{noisiest:.3g} at the noisiest" if noisiest > 1.05 * ratio else ""
    return f" (would have found above ×{ratio:.3g}{worst})"
