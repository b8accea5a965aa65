"""Shared by Analyse cell and Record failed cell: read the fleet's uploads, write the cell's result and its metrics."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError

from aws.records import bucket, table
from aws.records.plans import plan_of
from aws.results import observing, rows
from aws.run import budget
from aws.stack.clock import now
from aws.stack.environment import environment
from contract import keys
from contract.keys import RAW_LETTER, SAMPLES, instance_of, is_bundle
from matrix.answer import bottleneck, metering
from matrix.answer.results import cell_result, skipped_result, without_samples
from matrix.price.book import published_prices
from matrix.run.admission import skipped
from matrix.samples import bundle, histograms
from matrix.samples.file import MAX_BYTES, SampleFile, read_samples
from matrix.samples.histograms import Histogram
from matrix.samples.over_time import Sums
from matrix.terms.documents.job import FleetRecord
from matrix.terms.documents.parts import Failure
from matrix.terms.documents.plan import PlanCell
from matrix.terms.documents.result import OverTime, ResultDocument
from matrix.terms.errors import InvalidSamples
from matrix.terms.findings.warnings import NoBottleneck, Unreadable, WarningDocument
from matrix.terms.keys import Board
from matrix.terms.metrics import own_metrics
from matrix.terms.sentences import of_fleet

GETS_AT_ONCE = 16
# Texts that are fetched before they are wanted, of up to 20 MB each.
AHEAD = 2 * GETS_AT_ONCE


@dataclass(frozen=True)
class Upload:
    """An object that an instance has uploaded; `point` and `repetition` if it belongs to one step."""

    key: str
    instance: str
    point: str = ""
    repetition: int = 0

    @property
    def stem(self) -> str:
        """Prefix of the names of a step's files."""
        return f"{self.point}-r{self.repetition}"

    @property
    def folder(self) -> str:
        """The folder of its instance."""
        return self.key.rpartition("/")[0].removesuffix("/raw")

    @property
    def name(self) -> str:
        """The last part of its key."""
        return self.key.rpartition("/")[2]


@dataclass(frozen=True)
class Uploads:
    """The uploads of all instances of a cell, sorted by name; `fleet` is fleet.json, if it exists.

    `bundles` hold histograms and curves of many steps. Files of a single step are named in its sample.
    """

    run: str
    cell: str
    fleet: FleetRecord | None
    samples: list[Upload] = field(default_factory=list)
    bundles: list[Upload] = field(default_factory=list)

    @property
    def launched(self) -> int | None:
        """Return the number of launched instances, or None without a launch."""
        return len(self.fleet["instances"]) if self.fleet else None


def uploads_of(run: str, cell: str) -> Uploads:
    """Return the uploads of the instances of a cell: one GET for its fleet, one listing for everything else."""
    board = Board.of_cell(run, cell)
    uploads = Uploads(run, cell, bucket.read(board.fleet, FleetRecord))
    for key, _ in bucket.listing(board.instances, RAW_LETTER):
        userid, _, name = key.removeprefix(board.instances).partition("/")
        instance = instance_of(userid)
        if name == SAMPLES:
            uploads.samples.append(Upload(key, instance))
        elif is_bundle(name):
            uploads.bundles.append(Upload(key, instance))
    return uploads


def samples_of(cell: PlanCell, uploads: Uploads) -> tuple[list[SampleFile], list[str]]:
    """Return the sample files of the cell's fleet, and a sentence for each reason why others cannot be believed."""
    own = frozenset(own_metrics(cell["workload"]))
    is_of_leader = cell["workload"].get("on") == "leader"
    # A launch that failed half-way has no fleet.json, but its instances have rows; their measurements count too.
    if uploads.fleet:
        fleet = uploads.fleet["instances"]
    else:
        fleet = table.instances(uploads.run, cell["file_system"], cell["id"])
    files: list[SampleFile] = []
    refused: dict[str, list[str]] = {}
    for upload, text in _texts(_from_instances(uploads.samples, set(fleet)), MAX_BYTES):
        try:
            file = read_samples(text, instance=upload.instance, cell=cell["id"], own=own, is_of_leader=is_of_leader)
            files.append(file)
        except InvalidSamples as error:
            refused.setdefault(str(error), []).append(upload.instance)
    # All agents of a fleet are the same, so one error usually affects all files: report each reason once.
    return files, [
        of_fleet(instances, len(fleet), f"uploaded an invalid file: {reason}") for reason, instances in refused.items()
    ]


@dataclass(frozen=True)
class Together:
    """Merged content of a fleet's bundles by point, and a sentence for each kind of damaged bundle."""

    histograms: dict[str, dict[str, list[Histogram]]]  # by point, and by name
    over_time: dict[str, list[OverTime]]
    moved: dict[str, Mapping[str, float]]  # by instance: all that its mount has exchanged with the storage's servers
    warnings: list[WarningDocument]


def together_of(uploads: Uploads, files: Sequence[SampleFile]) -> Together:
    """Return the latency histograms of these samples, and the fleet's throughput over time.

    Both are optional parts of a result, so a damaged file causes a warning and no failure. Without a bundle, for
    example of a killed instance, histograms are read step by step, and curves are missing.
    """
    sums = Sums(files)
    by_point: dict[str, dict[str, list[Histogram]]] = {}
    of_steps = {(step.folder, step.stem): step for step in _of_steps(uploads, files, keys.HISTOGRAMS)}
    damaged: list[str] = []
    moved: dict[str, Mapping[str, float]] = {}

    def add(step: Upload, of_step: Mapping[str, Histogram]) -> None:
        for latency, histogram in of_step.items():
            by_point.setdefault(step.point, {}).setdefault(latency, []).append(histogram)

    instances = {file.instance.id for file in files}
    for upload, text in _texts(_from_instances(uploads.bundles, instances), bundle.MAX_BYTES):
        try:
            together = bundle.read(text)
        except InvalidSamples as error:
            damaged.append(f"{upload.instance}, {upload.name}: {error}")
            continue
        if together.moved:
            moved[upload.instance] = together.moved
        for stem, of_step in together.histograms.items():
            if step := of_steps.pop((upload.folder, stem), None):
                add(step, of_step)
        sums.add(upload.instance, together.curves)
    refused = []
    for step, text in _texts(of_steps.values(), histograms.MAX_BYTES):
        try:
            add(step, histograms.read_histograms(text))
        except InvalidSamples as error:
            refused.append(f"{step.instance}, {step.name}: {error}")
    warnings = [
        *_unreadable(refused, "latencies"),
        *_unreadable(damaged, "bundles"),
    ]
    return Together(by_point, sums.of_points(), moved, warnings)


def _unreadable(found: Sequence[str], what: Literal["latencies", "bundles"]) -> list[WarningDocument]:
    """Return a warning on files that cannot be read, with the reason of the first; empty if there are none."""
    return [Unreadable(what=what, files=len(found), reason=found[0]).document] if found else []


def _from_instances(uploads: Iterable[Upload], instances: Collection[str]) -> list[Upload]:
    return [upload for upload in uploads if upload.instance in instances]


def _of_steps(uploads: Uploads, files: Sequence[SampleFile], kind: str) -> Iterator[Upload]:
    """Yield the raw files of one kind that samples name: a sample names its own, or it does not count."""
    folders = {upload.instance: upload.folder for upload in uploads.samples}
    for file in files:
        instance = file.instance.id
        for sample in file.samples:
            for name in sample.raw:
                if keys.step_of(name, kind) == (sample.point, sample.repetition):
                    yield Upload(f"{folders[instance]}/{name}", instance, sample.point, sample.repetition)


def _texts(uploads: Iterable[Upload], most_bytes: int) -> Iterator[tuple[Upload, bytes]]:
    """Yield each upload with its text, in their order; of a larger one `most_bytes` and one more."""

    def text_of(upload: Upload) -> tuple[Upload, bytes]:
        return upload, bucket.get_bytes(upload.key, most_bytes) or b""

    # Of 1,000 instances one by one: half a minute for each kind of file.
    with ThreadPoolExecutor(GETS_AT_ONCE) as pool:
        texts: deque[Future[tuple[Upload, bytes]]] = deque()
        for upload in uploads:
            texts.append(pool.submit(text_of, upload))
            if len(texts) == AHEAD:
                yield texts.popleft().result()
        while texts:
            yield texts.popleft().result()


def write_result(cell: PlanCell, uploads: Uploads, files: Sequence[SampleFile], *, error: Failure | None) -> None:
    """Write the result of a cell to bucket and table; `files` are its valid sample files."""
    run, fleet = uploads.run, uploads.fleet
    finished_at = now()
    actual_s = finished_at - fleet["launched_at"] if fleet else None
    together = together_of(uploads, files)
    result = cell_result(
        cell,
        files,
        error=error,
        actual_s=actual_s,
        histograms=together.histograms,
        over_time=together.over_time,
        launched=uploads.launched,
        shortfall=fleet.get("shortfall", "") if fleet else "",
        storage_zone=fleet.get("storage_zone") if fleet else None,
    )
    result["warnings"] += together.warnings
    plan = plan_of(run)
    instances = fleet["instances"] if fleet else table.instances(run, cell["file_system"], cell["id"])
    moved = [together.moved[instance] for instance in instances if instance in together.moved]
    book = published_prices().for_region(plan["region"])
    metered_usd = metering.metered_usd(cell, result, files, moved if len(moved) == len(instances) else None, book)
    result["metered_usd"] = metered_usd
    if error is None:
        _find_bottleneck(run, cell, files, result)
    bucket.put(Board.of_cell(run, cell["id"]).result, result)
    if files:  # else no point has a figure
        table.record_points(run, cell["id"], map(without_samples, result["points"]))
    rows.record(run, cell, result)
    table.set_cell(run, cell["id"], result["state"], error=error, finished_at=finished_at, metered_usd=metered_usd)
    try:
        budget.settle_cell(run, plan, cell, metered_usd)
    except (BotoCoreError, ClientError):
        # The result is valid. The cell's worst case stays reserved, which errs on the safe side.
        Logger().exception("the budget of %s is not settled", cell["id"])


def _find_bottleneck(run: str, cell: PlanCell, files: Sequence[SampleFile], result: ResultDocument) -> None:
    """Add the cell's bottleneck to its result, or a warning with the reason why it was not searched."""
    try:
        if observed := observing.observe(run, cell, files):
            result["cloudwatch"], result["instance_limits"] = observed
        result["bottleneck"] = bottleneck.find(result, environment().name)
    except Exception as problem:  # any error: it must not cost the measurement
        Logger().exception("no bottleneck of %s", cell["id"])
        result["warnings"].append(NoBottleneck(reason=f"{type(problem).__name__}: {problem}").document)


def write_unmeasured(cell: PlanCell, uploads: Uploads, error: Failure) -> None:
    """Write the result of a cell whose file system or image failed: skipped for lack of budget or time, else failed."""
    if skip := skipped(error):
        write_skipped(uploads.run, cell, skip)
    else:
        write_result(cell, uploads, [], error=error)


def write_skipped(run: str, cell: PlanCell, skip: Failure) -> None:
    """Write the result of a skipped cell: nothing was launched, and it cost nothing."""
    result = skipped_result(cell, skip)
    bucket.put(Board.of_cell(run, cell["id"]).result, result)
    table.set_cell(run, cell["id"], "skipped", error=skip, finished_at=now())
    rows.record(run, cell, result)
