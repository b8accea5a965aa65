"""result.json: the result of one cell, with percentiles over all samples for each point and metric."""

from typing import NotRequired

from typing_extensions import TypedDict

from matrix.terms.documents.bottleneck import Bottleneck
from matrix.terms.documents.parts import Attempt, CostRange, Emulation, Failure, Fleet, Params, Part, Source
from matrix.terms.documents.watched import CloudWatchMetrics
from matrix.terms.findings.warnings import WarningDocument


class Interval(TypedDict):
    """A confidence interval by resampling."""

    low: float
    high: float
    confidence: float
    method: str
    limited_by: NotRequired[str]
    """Whether too few instances, repetitions or launches make it this wide."""


class Range(TypedDict):
    """The least and the greatest of some medians, and how far they are apart as a share of the median of all."""

    low: float
    high: float
    relative: float | None


class RepetitionMedian(TypedDict):
    """The median of one repetition over all instances."""

    repetition: int
    n: int
    median: float


class LaunchMedian(TypedDict):
    """The median of one launch over all its instances and repetitions."""

    launch: int
    n: int
    median: float


class Spread(TypedDict):
    """Where the differences lie: standard deviations are relative to the median."""

    instances: int
    repetitions: int
    instance_medians: Range
    repetition_medians: Range
    by_repetition: list[RepetitionMedian]
    launches: NotRequired[int]
    """There, like all of launches, where the cell was launched several times."""
    launch_medians: NotRequired[Range]
    by_launch: NotRequired[list[LaunchMedian]]
    between_launches_cv: NotRequired[float | None]
    between_instances_cv: float | None
    between_repetitions_cv: float | None
    residual_cv: float | None
    lag1: NotRequired[float | None]
    """How much a repetition, or a launch, resembles the one before it: 0 to 0.95; None of fewer than 8 of them."""


class MedianUncertainty(TypedDict):
    """How uncertain a median is: of its logarithm, where all values are above 0."""

    variance: float
    degrees_of_freedom: float
    """Of Student's t."""
    limited_by: str
    """The best way to lower it: more instances, repetitions or launches."""


class Fences(TypedDict):
    """Beyond these a value is an outlier."""

    low: float
    high: float


class Outlier(TypedDict):
    """One value far from the others."""

    instance: str
    repetition: int
    value: float
    side: str
    """low or high."""
    kind: str
    """outside or far out, by Tukey's fences."""


class Outliers(TypedDict):
    """Values far from the others: marked, never dropped."""

    fences: Fences | None
    count: int
    listed: list[Outlier]
    """The farthest twenty."""


class MetricResult(TypedDict):
    """One metric of one point. Published figures have percentiles only."""

    unit: str
    higher_is_better: bool
    primary: bool
    """Whether the workload is judged by it."""
    n: int | None
    """How many samples have it; None where a source does not tell."""
    n_at_least: NotRequired[int]
    """Of published percentiles without an n: so many samples have such percentiles."""
    expected_n: int | None
    p0: float
    p50: float
    """Of several launches p50 to p98 are those of a typical one: the geometric mean of each launch's own."""
    p75: float
    p90: float
    p98: float
    p100: float
    p2: NotRequired[float]
    p10: NotRequired[float]
    p25: NotRequired[float]
    """Of rates: the steps towards their slow end."""
    mean: float | None
    independent_n: NotRequired[int]
    """How many independent values the samples are worth."""
    resampled: NotRequired[str]
    """The source of intervals."""
    scope: NotRequired[str | None]
    """"not replicated" with fewer than three instances, repetitions or launches."""
    carried: NotRequired[dict[str, bool]]
    """By percentile: whether so many independent values carry it."""
    at_least: NotRequired[dict[str, float | None]]
    """Lower bounds (97.5 % confidence) of percentiles with too few samples."""
    at_most: NotRequired[dict[str, float | None]]
    """Upper bounds (97.5 % confidence) of p2, p10 and p25 with too few samples."""
    intervals: NotRequired[dict[str, Interval]]
    """By percentile and for the mean."""
    median_uncertainty: NotRequired[MedianUncertainty]
    """Source of the median's interval, if there is one. Only of the primary metric, for comparisons of runs."""
    no_interval: NotRequired[str | None]
    """Why there is none."""
    spread: NotRequired[Spread]
    outliers: NotRequired[Outliers]
    findings: NotRequired[list[WarningDocument]]


class FleetRate(TypedDict):
    """Rates of all instances together in one repetition, from the first start to the last end."""

    repetition: int
    launch: NotRequired[int]
    """Of which launch, where there were several."""
    span_s: float
    best_s: NotRequired[float]
    """From the first start to the end of that instance until which the work of those that had ended makes most."""
    start_spread_s: float | None
    """Between the first start and the last."""
    files_per_s: NotRequired[float]
    bytes_per_s: NotRequired[float]
    read_bytes_per_s: NotRequired[float]
    write_bytes_per_s: NotRequired[float]
    builds_per_s: NotRequired[float]
    runs_per_s: NotRequired[float]
    files_per_s_best: NotRequired[float]
    bytes_per_s_best: NotRequired[float]
    read_bytes_per_s_best: NotRequired[float]
    write_bytes_per_s_best: NotRequired[float]
    builds_per_s_best: NotRequired[float]
    runs_per_s_best: NotRequired[float]
    """`…_best`: until then. The fleet reached at least this."""
    counted: NotRequired[dict[str, float]]
    """Bytes and requests of the work that the mounts of all instances counted, without fio's ramp."""
    crossed_bytes: NotRequired[float]
    """Bytes of the work of instances outside the storage's Availability Zone; absent if a zone is not known."""


class ToolCeiling(TypedDict):
    """Rate of the tool in memory, without a storage."""

    tool: str
    metric: str
    value: float
    share: float
    """How much of it the point reached."""
    is_bound: bool
    """Whether the point measured its tool rather than the storage."""


class Latency(TypedDict):
    """Percentiles of single operations, from the merged histograms of all instances; None where too few carry it."""

    unit: str
    operations: int
    histograms: int
    p50: float | None
    p90: float | None
    p99: float | None
    p99_9: float | None
    p99_99: float | None
    at_least: NotRequired[dict[str, float]]
    """Lower bounds (97.5 % confidence) of percentiles of too few operations."""
    p100: float
    p99_of_each: NotRequired[dict[str, float]]
    """P50, P90 and P100 over the P99 of each instance in each repetition: a slow instance shows here."""
    bins_ns: NotRequired[dict[str, int]]
    """Operations by latency in ns; the summary leaves it out."""


class PointSteadiness(TypedDict):
    """Whether a point's rate per second reached steady state within its steps (SNIA PTS), over its samples."""

    judged: int
    """Samples of which it can be told."""
    steady: int
    """How many of these were steady to their end."""
    from_s: float | None
    """From which second on: the median of the steady ones."""
    ratio: float | None
    """Their rate from then on, over that of the whole step: the median."""
    too_short: int
    """Samples of fewer than nine whole seconds, of which nothing can be told."""
    too_noisy: int
    """Samples whose rate changed so much from one second to the next that nothing can be told."""
    period_s: NotRequired[float]
    """Where most samples that were not steady swing: after how many seconds the rate repeats, the median."""


class SampleColumns(TypedDict):
    """Every sample of a point, in columns of the same length."""

    instance: list[str]
    launch: NotRequired[list[int]]
    """Where there were several launches: in which."""
    repetition: list[int]
    started_at: list[float]
    ended_at: list[float]
    start_skew_s: list[float | None]
    metrics: dict[str, list[float | None]]


class OverTime(TypedDict):
    """Bytes and operations of the whole fleet over time in one repetition."""

    repetition: int
    launch: NotRequired[int]
    """Of which launch, where there were several."""
    instances: int
    """Number of instances with a curve. A killed instance has none."""
    seconds: list[float]
    """When each stretch ended, since the first instance's start: a second each, of long steps more."""
    mb_per_s: dict[str, list[float]]
    """Counters of network interfaces and disks below the storage: the mean of each interval of time."""
    operations_per_s: dict[str, list[float]]
    """By who counted them: the workload's own engine, the disks, the NFS mounts."""


class ReadBytes(TypedDict):
    """Bytes read, summed over all samples of a point that have both counts."""

    asked: float
    """By the programs."""
    mounted: float
    """By the mount: the instance's cache answered the rest. More than asked for is read-ahead."""


class PointMetrics(TypedDict):
    """A point by its figures alone, as the table has it. A `PointResult` is one too."""

    id: str
    metrics: dict[str, MetricResult]


class PointResult(TypedDict):
    """One point of a cell."""

    id: str
    params: Params
    label: NotRequired[str]
    """How a published point is called."""
    emulated: NotRequired[bool]
    metrics: dict[str, MetricResult]
    fleet: NotRequired[list[FleetRate]]
    """One entry for each repetition that every launched instance finished."""
    use: NotRequired[dict[str, float]]
    """Resource use of one instance: medians, by the names of matrix/samples/usage.py."""
    fleet_use: NotRequired[dict[str, float]]
    """Resource use of all instances together."""
    caches: NotRequired[str]
    """Whether the instances' caches were dropped before the samples: dropped, not dropped, or both."""
    overhead_share: NotRequired[float]
    """Median share of a sample's time in which its programs started or ended."""
    read_bytes: NotRequired[ReadBytes]
    tool_ceiling: NotRequired[ToolCeiling]
    steadiness: NotRequired[PointSteadiness]
    latency: NotRequired[dict[str, Latency]]
    """By operation: create_lat, stat_lat, read_lat, write_lat and the like."""
    samples: NotRequired[SampleColumns | None]
    """The summary leaves it out."""
    """The summary leaves it out."""
    over_time: NotRequired[list[OverTime]]
    """The summary leaves it out."""


class HighestRate(TypedDict):
    """The highest rate of a sweep of open loops up to which a limit of latency was kept."""

    params: Params
    """Of all its points, without the rate."""
    p99_at_most_ms: float
    points: list[str]
    """From the lowest rate to the highest."""
    held: str | None
    """The point of the highest rate that the median instance kept; None where it was not even the lowest."""
    beyond_per_s: float | None
    """The next rate, which it did not keep; None where no higher one was tried."""
    metric: MetricResult
    """Operations per second of one instance; 0 where it did not keep the lowest rate."""
    samples: NotRequired[SampleColumns | None]
    """The summary leaves it out."""


class Instances(TypedDict):
    """How many instances were to run, and how many did; None where nothing was launched."""

    expected: int
    launched: int | None


class Limit(TypedDict):
    """The sustained limit, and the limit while credits last."""

    baseline: float
    maximum: float


class LaunchOutcome(TypedDict):
    """Outcome of one launch of a cell with several launches."""

    launch: int
    """Counted from 1."""
    cell: str
    """Id below which its own result.json is."""
    file_system: str
    state: str
    """measured, failed or skipped."""
    error: Failure | None
    actual_s: float | None
    launched: NotRequired[int]
    """How many instances ran, where it is known."""
    metered_usd: NotRequired[CostRange]
    """What is billed of it by use, with the bytes that its mounts counted."""
    taken_from: NotRequired[Source]


class ResultDocument(TypedDict):
    """The result of one cell. With several launches, there is one for each launch and one for all."""

    id: str
    file_system: str
    storage: Part
    workload: Part
    fleet: Fleet
    state: str
    """measured, failed or skipped."""
    error: Failure | None
    expected_s: float | None
    actual_s: float | None
    """From the launch to the end; of several launches all together."""
    metered_usd: NotRequired[CostRange]
    """What is billed by use, with the bytes that the mounts counted; several launches have it for each."""
    points: list[PointResult]
    highest_rates: NotRequired[list[HighestRate]]
    """One for each sweep of rates, where the workload has a limit for them."""
    provenance: NotRequired[dict[str, dict[str, int]]]
    """By fact (agent, kernel, mount …): its values, with how many instances had each."""
    mounted_s: NotRequired[list[float]]
    """Seconds in which each instance attached, formatted and mounted its storage, in rising order."""
    instances: NotRequired[Instances]
    launches: NotRequired[list[LaunchOutcome]]
    """Outcome of each launch, if there are several. The cell counts as measured if one launch was."""
    emulation: NotRequired[Emulation]
    suspect: NotRequired[str | None]
    """Why published figures are left out of the comparison."""
    warnings: NotRequired[list[WarningDocument]]
    taken_from: NotRequired[Source]
    attempts: NotRequired[list[Attempt]]
    cloudwatch: NotRequired[CloudWatchMetrics]
    """The summary has it without `series`."""
    instance_limits: NotRequired[dict[str, Limit]]
    """EC2's limits of the instance type: ebs_iops, ebs_bytes_per_s, network_bytes_per_s."""
    bottleneck: NotRequired[Bottleneck]
