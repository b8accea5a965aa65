"""Compare the observations of a run with the assumptions of plan and local cloud. Pure: documents in, checks out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cli.verify.checks import Check, assumed, required
from matrix.input.pace import PREPARE_S, gate_wait_s
from matrix.price.book import OBJECTS_A_STEP, OBJECTS_ONCE
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.samples import SamplesDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.quantities import count_of
from matrix.terms.sentences import why_incomplete

# From agent/session.py: a sample that starts later gets a warning.
SKEW_S = 0.05
# Part of a warning of matrix.plan.quotas.
SLOW_INSTANCE = "is slower than the volume"


@dataclass(frozen=True)
class Evidence:
    """The documents of a run."""

    plan: PlanDocument
    summary: SummaryDocument
    receipt: ReceiptDocument
    samples: Sequence[SamplesDocument]
    ready_at: Mapping[str, Mapping[int, float]]
    """By instance: when it reported ready for a step, by its own clock."""
    objects: Mapping[str, int]
    """By instance: the number of objects that it has put."""
    denials: Sequence[str]
    """Log lines in which AWS denies access."""


def compare(evidence: Evidence) -> Iterator[Check]:
    """Compare all documents that exist; requirements first, then assumptions."""
    for result in evidence.summary["cells"]:
        yield _measured(result)
    yield from _complete(evidence)
    denials = evidence.denials
    yield required(
        "denials in the logs of functions and instances", "none", "; ".join(denials[:3]) or "none", is_so=not denials,
        fix="a role lacks what the line names: deploy the stack again, or report it",
    )  # fmt: skip
    yield from _cost(evidence)
    for cell in evidence.plan["cells"]:
        yield from _cell(cell, evidence)


def _measured(result: ResultDocument) -> Check:
    error = result["error"]
    seen = result["state"] if error is None else f"{result['state']}: {error['name']}: {error['message']}"
    advice = "see the cell's log.gz and the function's log; `matrix report` has the whole story"
    return required(f"cell {result['id']}", "measured", seen, is_so=result["state"] == "measured", fix=advice)


def _complete(evidence: Evidence) -> Iterator[Check]:
    receipt = evidence.receipt
    reasons, count = why_incomplete(receipt), receipt["totals"]["resources"]
    yield required(
        "everything is gone", f"all of {count_of(count, 'resource')} seen gone", "; ".join(reasons) or "all",
        is_so=not reasons, fix=f"allow what was refused, then `matrix reap --run {receipt['run']} --stack NAME`",
    )  # fmt: skip
    for cell in evidence.plan["cells"]:
        expected = cell["fleet"]["count"] * len(cell["steps"])
        seen = sum(len(each["samples"]) for each in evidence.samples if each["cell"] == cell["id"])
        yield required(
            f"samples of {cell['id']}", f"{expected}", f"{seen}", is_so=seen == expected,
            fix="samples are missing from the bucket: report it, with the run's folder",
        )  # fmt: skip


def _cost(evidence: Evidence) -> Iterator[Check]:
    cost, seen = evidence.plan["totals"]["cost_usd"], evidence.receipt["totals"]["cost_usd"]
    yield assumed(
        "cost on the receipt", f"{cost['low']:.4f} to {cost['high']:.4f} USD", f"{seen:.4f} USD",
        # A quick run may cost less than the plan's low estimate; that is not a problem.
        is_so=seen <= cost["high"],
        fix="compare tomorrow's bill with the receipt, by the tag storage-matrix:run",
    )  # fmt: skip


def _cell(cell: PlanCell, evidence: Evidence) -> Iterator[Check]:
    """Yield checks of a fleet's times."""
    samples = [document for document in evidence.samples if document["cell"] == cell["id"]]
    if not samples:
        return
    created = {line["id"]: line["created_at"] for line in evidence.receipt["resources"] if line["kind"] == "instance"}
    ids = [document["instance"]["id"] for document in samples]
    prepared = {document["instance"]["id"]: document["prepared"]["at"] for document in samples}
    ready = {instance: evidence.ready_at[instance][0] for instance in ids if 0 in evidence.ready_at.get(instance, {})}
    booted = max(prepared[instance] - created[instance] for instance in ids if instance in created)
    yield _seconds(f"boot and packages, {cell['id']}", PREPARE_S, booted)
    if ready:
        yield _seconds(
            f"boot, packages and mount, {cell['id']}", PREPARE_S,
            max(ready[instance] - created[instance] for instance in ready if instance in created),
        )  # fmt: skip
        mount_s = max(ready[instance] - prepared[instance] for instance in ready)
        yield assumed(f"mount, {cell['id']}", "part of the time above", f"{mount_s:.1f} s", is_so=True)
    yield from _gates(cell, samples, evidence)
    most = max(evidence.objects.get(instance, 0) for instance in ids)
    paid = OBJECTS_A_STEP * len(cell["steps"]) + OBJECTS_ONCE
    yield assumed(
        f"objects that an instance puts, {cell['id']}", f"at most {paid}", f"{most}", is_so=most <= paid,
        fix="the plan's price of S3 requests is too low: report it",
    )  # fmt: skip
    actual = next(result["actual_s"] for result in evidence.summary["cells"] if result["id"] == cell["id"])
    if actual is not None:
        yield _seconds(f"the whole cell, {cell['id']}", cell["expected_s"], actual)


def _gates(cell: PlanCell, samples: Sequence[SamplesDocument], evidence: Evidence) -> Iterator[Check]:
    """Yield checks of start barriers: how long they delayed the fleet and how far apart its instances started."""
    waits, skews = [], []
    for document in samples:
        for sample in document["samples"]:
            if sample["scheduled_at"] is None:
                continue
            skews.append(abs(sample["start_skew_s"] or 0.0))
            marks = [marks[sample["step"]] for marks in evidence.ready_at.values() if sample["step"] in marks]
            waits.append(sample["scheduled_at"] - max(marks, default=sample["scheduled_at"]))
    if waits:
        yield _seconds(f"last ready to common start, {cell['id']}", gate_wait_s(cell["fleet"]["count"]), max(waits))
        yield assumed(
            f"start skew, {cell['id']}", f"at most {SKEW_S * 1000:.0f} ms", f"{max(skews) * 1000:.1f} ms",
            is_so=max(skews) <= SKEW_S,
            fix="the clocks of instances or their load: see the samples' clock and warnings",
        )  # fmt: skip


def _seconds(what: str, most: float, seen: float) -> Check:
    fix = "works, but takes longer than plans say: report it, so that the assumption is corrected"
    return assumed(what, f"at most {most:.0f} s", f"{seen:.1f} s", is_so=seen <= most, fix=fix)


def same_plan(here: PlanDocument, there: PlanDocument) -> Iterator[Check]:
    """Compare a plan of the deployed function with that of this tree: the same cells, and today's prices."""
    own, deployed = ([cell["id"] for cell in plan["cells"]] for plan in (here, there))
    yield required(
        "cells of the plan", ", ".join(sorted(own)), ", ".join(sorted(deployed)), is_so=sorted(own) == sorted(deployed),
        fix="the deployed functions plan otherwise than this tree: deploy again",
    )  # fmt: skip
    book, today = (plan["totals"]["cost_usd"] for plan in (here, there))
    yield assumed(
        "cost by today's prices", f"{book['low']:.4f} to {book['high']:.4f} USD by the price book",
        f"{today['expected']:.4f} USD", is_so=book["low"] <= today["expected"] <= book["high"],
        fix="prices of this region differ from the book's by more than its range: the plan of a run has today's",
    )  # fmt: skip
    known = {warning["path"] for warning in here["warnings"]}
    for warning in there["warnings"]:
        if warning["path"] not in known:
            # AWS has the figures of instance types. This warning is expected of the cheapest type, and no step measures
            # a volume.
            is_small = SLOW_INSTANCE in warning["message"]
            expected = "that the cheapest instance is slower than a volume" if is_small else "none"
            yield assumed(f"warning of the plan, {warning['path']}", expected, warning["message"], is_so=is_small)
