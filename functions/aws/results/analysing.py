"""What Analyse cell and Record failed cell have in common: read the fleet's samples, write the cell's result."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError

from aws.records import bucket, metrics, table
from aws.records.plans import plan_of
from aws.results import observing
from aws.run import budget
from aws.stack.clock import now
from aws.stack.environment import environment
from matrix.answer import bottleneck
from matrix.answer.results import cell_result, skipped_result, without_samples
from matrix.samples import histograms, rates
from matrix.samples.file import MAX_BYTES, SampleFile, read_samples
from matrix.samples.histograms import Histogram
from matrix.terms.errors import InvalidSamples
from matrix.terms.keys import Board
from matrix.terms.sentences import named

GETS_AT_ONCE = 16
logger = Logger(child=True)


def samples_of(run: str, cell: str) -> tuple[list[SampleFile], list[str]]:
    """Return the sample files of a cell's fleet, and a sentence for each reason why others cannot be believed."""
    board = Board.of_cell(run, cell)
    record = bucket.get(board.fleet)
    # A launch that failed half-way has instances, noted as resources, and no record: what they measured counts too.
    expected = set(record["instances"] if record else table.instances(run, cell))
    files: list[SampleFile] = []
    refused: dict[str, list[str]] = {}
    for key, _ in bucket.listing(board.instances):
        userid, _, name = key.removeprefix(board.instances).partition("/")
        instance = userid.rpartition(":")[2]
        if name != "samples.json" or instance not in expected:
            continue
        try:
            files.append(read_samples(bucket.get_bytes(key, MAX_BYTES) or b"", instance=instance, cell=cell))
        except InvalidSamples as error:
            refused.setdefault(str(error), []).append(instance)
    # A fleet runs one agent, so what is wrong with one file is mostly wrong with all: each reason once.
    return files, [f"{named(instances)}: {reason}" for reason, instances in refused.items()]


def launched(run: str, cell: str) -> int | None:
    """Return how many instances of a cell's fleet were launched, None if it came to no launch."""
    record = bucket.get(Board.of_cell(run, cell).fleet)
    return len(record["instances"]) if record else None


def histograms_of(
    run: str, cell: str, instances: Collection[str]
) -> tuple[dict[str, dict[str, list[Histogram]]], list[str]]:
    """Return the latency histograms that the instances uploaded, by point and name, and a sentence if some are bad.

    They only add latencies to a result that stands without them, so a bad one is warned about and does not fail it.
    """
    found: dict[str, dict[str, list[Histogram]]] = {}
    refused: list[str] = []
    for raw in _raw(run, cell, instances, histograms.point_of, histograms.MAX_BYTES):
        try:
            of_step = histograms.read_histograms(raw.text)
        except InvalidSamples as error:
            refused.append(f"{raw.instance}, {raw.name}: {error}")
            continue
        for latency, bins in of_step.items():
            found.setdefault(raw.of, {}).setdefault(latency, []).append(bins)
    return found, [f"{len(refused)} latency histograms are left out; the first: {refused[0]}"] if refused else []


def curves_of(run: str, cell: str, instances: Collection[str]) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return the rates over time that the instances uploaded, by point, and a sentence if some are bad.

    Of each point only as many as a chart can show, those of the first instances and repetitions.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    refused: list[str] = []
    for raw in _raw(run, cell, instances, _first_of_each_point(), rates.MAX_BYTES):
        try:
            curve = rates.read_curve(raw.text)
        except InvalidSamples as error:
            refused.append(f"{raw.instance}, {raw.name}: {error}")
            continue
        point, repetition = raw.of
        found.setdefault(point, []).append({"instance": raw.instance, "repetition": repetition, **curve})
    return found, [f"{len(refused)} rates over time are left out; the first: {refused[0]}"] if refused else []


def _first_of_each_point() -> Callable[[str], tuple[str, int] | None]:
    """Return what finds point and repetition of a series' name, until there are as many of a point as can be shown."""
    seen: Counter[str] = Counter()

    def step_of(name: str) -> tuple[str, int] | None:
        step = rates.step_of(name)
        if step is None or seen[step[0]] == rates.MOST_CURVES:
            return None
        seen[step[0]] += 1
        return step

    return step_of


@dataclass(frozen=True)
class _Raw:
    """A file of raw output: what it is of, and what it holds."""

    instance: str
    name: str
    of: Any
    text: bytes


def _raw(run: str, cell: str, instances: Collection[str], of: Callable[[str], Any], most_bytes: int) -> Iterator[_Raw]:
    """Yield the raw output of these instances that `of` knows by its name below an instance's folder."""
    board = Board.of_cell(run, cell)
    wanted: list[tuple[str, str, Any]] = []
    for key, _ in bucket.listing(board.instances):
        userid, _, name = key.removeprefix(board.instances).partition("/")
        instance = userid.rpartition(":")[2]
        about = of(name) if instance in instances else None
        if about is not None:
            wanted.append((key, instance, about))
    # 200 instances with 20 points and 3 repetitions have 12,000 of them: 4 minutes one by one, 15 s at once.
    with ThreadPoolExecutor(GETS_AT_ONCE) as pool:
        texts = pool.map(lambda one: bucket.get_bytes(one[0], most_bytes), wanted)
        for (key, instance, about), text in zip(wanted, texts, strict=True):
            yield _Raw(instance, key.rpartition("/")[2], about, text or b"")


def write_result(run: str, cell: dict[str, Any], files: Sequence[SampleFile], *, error: dict[str, str] | None) -> None:
    """Write the result of a cell to bucket and table."""
    board = Board.of_cell(run, cell["id"])
    record = bucket.get(board.fleet)
    finished_at = now()
    actual_s = finished_at - record["launched_at"] if record else None
    instances = {file.instance.id for file in files}
    found, unread = histograms_of(run, cell["id"], instances)
    curves, unread_curves = curves_of(run, cell["id"], instances)
    result = cell_result(
        cell,
        files,
        error=error,
        actual_s=actual_s,
        histograms=found,
        curves=curves,
        launched=len(record["instances"]) if record else None,
        shortfall=record.get("shortfall", "") if record else "",
    )
    result["warnings"] += unread + unread_curves
    if error is None:
        _find_bottleneck(run, cell, files, result)
    bucket.put(board.result, result)
    table.record_points(run, cell["id"], map(without_samples, result["points"]))
    table.set_cell(run, cell["id"], result["state"], error=error, finished_at=finished_at)
    try:
        budget.settle_cell(run, plan_of(run), cell)
    except (BotoCoreError, ClientError):
        # The result stands. What stays set aside is the cell's worst case, which errs to the safe side.
        logger.exception("the budget of %s is not settled", cell["id"])
    metrics.cell_ended(result["state"], actual_s)


def _find_bottleneck(run: str, cell: dict[str, Any], files: Sequence[SampleFile], result: dict[str, Any]) -> None:
    """Say which ceiling the cell hit, or warn why that cannot be said: its figures stand without it."""
    try:
        result |= observing.observe(run, cell, files)
        result["bottleneck"] = bottleneck.find(result, environment().name)
    except Exception as problem:  # whatever it is: what was measured must not be lost to it
        logger.exception("no bottleneck of %s", cell["id"])
        result["warnings"].append(f"no bottleneck was looked for: {type(problem).__name__}: {problem}")


def write_skipped(run: str, cell: dict[str, Any], skip: dict[str, str]) -> None:
    """Write the result of a cell that was not begun: nothing was launched and nothing spent for it."""
    bucket.put(Board.of_cell(run, cell["id"]).result, skipped_result(cell, skip))
    table.set_cell(run, cell["id"], "skipped", error=skip, finished_at=now())
    metrics.cell_ended("skipped", None)
