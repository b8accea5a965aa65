"""Convert documents of earlier versions to the current types.

Older plans lack fields that had only one value then; with these fields their runs can be resumed. Older decisions and
warnings were sentences, which are kept.
"""

from collections.abc import Mapping
from typing import Any

from matrix.terms.names import current_label

# Every fleet had 15 minutes until it had to be ready, and every root volume 20 GiB, until builds filled caches of their
# own. Before budgets were reserved, the only maximum of a cell's cost was its cost.
READY_WITHIN_S = 900.0
ROOT_VOLUME_GIB = 20
# Schemas of a decision.
SENTENCES, CODES = 1, 2
# Warnings with a text from elsewhere, which stays.
WORDS_OF_OTHERS = frozenset({"of-samples", "of-source", "as-written"})
# Keys of texts for readers; answers are kept under another name.
WORDS = frozenset({"words", "sentences", "reads", "note"})


def completed_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan with its missing fields added. Invalid parts stay for the check that follows."""
    of_cells: dict[str, Any] = {"ready_within_s": READY_WITHIN_S, "root_volume_gib": ROOT_VOLUME_GIB}
    completed = dict(plan)
    # Before an image was put together on each instance, too, only a baked one had provisions.
    of_images: dict[str, Any] = {"provisions": {}}
    for entries, defaults in (("cells", of_cells), ("file_systems", {}), ("images", of_images)):
        if isinstance(plan.get(entries), list):
            completed[entries] = [_completed(entry, defaults) for entry in plan[entries]]
    return completed


def _completed(entry: Any, defaults: Mapping[str, Any]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    cost_usd = entry.get("cost_usd")
    most = {"reserve_usd": cost_usd["high"]} if isinstance(cost_usd, Mapping) and "high" in cost_usd else {}
    return {**defaults, **most, **entry}


def completed_result(result: Any) -> Any:
    """Return a cell's result with coded warnings and bottleneck. Invalid parts stay for the check that follows."""
    if not isinstance(result, Mapping):
        return result
    completed = dict(result)
    warnings, hit = result.get("warnings"), result.get("bottleneck")
    if isinstance(warnings, list):
        completed["warnings"] = [_warning(each) for each in warnings]
    if isinstance(result.get("points"), list):
        completed["points"] = [_point(point) for point in result["points"]]
    if isinstance(hit, Mapping) and isinstance(hit.get("evidence"), str):
        completed["bottleneck"] = _bottleneck(hit)
    return completed


def _warning(warning: Any) -> Any:
    """A warning whose code had a text instead of numbers, or that was a text only."""
    if not isinstance(warning, Mapping) or "text" not in warning or warning.get("code") in WORDS_OF_OTHERS:
        return _written(warning)
    return {name: value for name, value in warning.items() if name != "kind"} | {"code": "as-written"}


def _point(point: Any) -> Any:
    """A point whose metrics' findings had a message instead of numbers."""
    metrics = point.get("metrics") if isinstance(point, Mapping) else None
    if not isinstance(metrics, Mapping):
        return point
    return {**point, "metrics": {name: _metric(metric) for name, metric in metrics.items()}}


def _metric(metric: Any) -> Any:
    findings = metric.get("findings") if isinstance(metric, Mapping) else None
    if not isinstance(findings, list) or not any(isinstance(each, Mapping) and "message" in each for each in findings):
        return metric
    return {**metric, "findings": [_finding(each) for each in findings]}


def _finding(finding: Any) -> Any:
    if not isinstance(finding, Mapping) or "message" not in finding:
        return finding
    share = {"share": finding["share"]} if "share" in finding else {}
    return {"code": "as-written", "text": str(finding["message"]), **share}


def _bottleneck(hit: Mapping[str, Any]) -> dict[str, Any]:
    """A bottleneck whose evidence was a sentence."""
    others = hit.get("others")
    unseen = hit.get("unseen")
    coded = {name: value for name, value in hit.items() if name != "evidence"}
    coded["uses"] = [{"code": "as-written", "text": str(hit["evidence"])}]
    coded["next"] = {"code": "as-written", "text": str(hit.get("next", ""))}
    if isinstance(others, list):
        coded["others"] = [_other(other) for other in others]
    if isinstance(unseen, list):
        coded["unseen"] = [_written(each) for each in unseen]
    return coded


def _other(other: Any) -> Any:
    if not isinstance(other, Mapping) or "words" not in other:
        return other
    kept = {name: value for name, value in other.items() if name != "words"}
    return {**kept, "use": {"code": "as-written", "text": str(other["words"])}}


def completed_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary with coded verdicts and risks. Invalid parts stay for the check that follows."""
    cells = summary.get("cells")
    summary = {**summary, "cells": [completed_result(cell) for cell in cells]} if isinstance(cells, list) else summary
    decision = summary.get("decision")
    if not isinstance(decision, Mapping):
        return dict(summary)
    questions = decision.get("questions")
    if isinstance(questions, list):
        questions = [_labelled(each) for each in questions]
        decision = {**decision, "questions": questions}
    if decision.get("schema") != SENTENCES:
        return {**summary, "decision": decision}
    asked = [_question(each) for each in questions] if isinstance(questions, list) else questions
    kept = {name: value for name, value in decision.items() if name not in WORDS}
    # The note precedes the answer of each version.
    words = [each for each in decision.get("sentences") or [] if each != decision.get("note")]
    return {**summary, "decision": {**kept, "schema": CODES, "questions": asked, "as_written": words}}


def _labelled(question: Any) -> Any:
    """A question whose label has the current words of a point's label: page and tables find its points by it."""
    label, workload = (question.get(name) if isinstance(question, Mapping) else None for name in ("label", "workload"))
    if not isinstance(label, str) or not isinstance(workload, str):
        return question
    return {**question, "label": current_label(label, workload)}


def _question(question: Any) -> Any:
    if not isinstance(question, Mapping):
        return question
    candidates = question.get("candidates")
    kept = [_candidate(each) for each in candidates] if isinstance(candidates, list) else candidates
    other = {name: value for name, value in question.items() if name not in WORDS}
    words = str(question.get("words", ""))
    return {**other, "candidates": kept, "why_median": _written(question.get("why_median")), "as_written": words}


def _candidate(candidate: Any) -> Any:
    if not isinstance(candidate, Mapping):
        return candidate
    lost, risks = candidate.get("lost"), candidate.get("risks")
    return {
        **candidate,
        "lost": {"code": "as-written", "reason": lost} if isinstance(lost, str) else lost,
        "verdict": {"code": "as-written", "text": candidate.get("verdict")},
        "risks": [_written(risk) for risk in risks] if isinstance(risks, list) else risks,
    }


def _written(text: Any) -> Any:
    return {"code": "as-written", "text": text} if isinstance(text, str) else text
