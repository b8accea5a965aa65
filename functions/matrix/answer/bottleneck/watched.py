"""What AWS itself saw of volumes, file systems and instances, in CloudWatch.

Its values are of whole minutes: each is held against the points that were measured then. A minute that a point fills
only in part tells too little of it, never too much.
"""

from collections.abc import Callable, Iterable, Iterator

from matrix.answer.bottleneck.clients import LARGER_EBS
from matrix.answer.bottleneck.evidence import Ceiling, Evidence
from matrix.samples.cloudwatch import Series
from matrix.terms.figures import instant, number
from storages.ebs.model import EbsStorage
from storages.efs.model import EfsStorage
from storages.fsx_openzfs.model import FsxOpenZfsStorage

MIB = 2.0**20
GIB = 2.0**30
# A credit balance of this many per cent or less counts as used up.
USED_UP_PERCENT = 1.0
# A cache that misses more than this sends the reads to the disks.
FEW_HITS_PERCENT = 80.0
FSX_DISK = "FSx disk"
MORE_FSX = "raise throughputCapacityMBps"
# Credits counted in bytes are used up when what is left lasts for no longer than this.
SECONDS_OF_CREDITS = 60.0

# Metrics that are 1 in a minute for most of which AWS throttled the volume or the instance.
CHECKS = {
    "AWS/EBS VolumeIOPSExceededCheck": ("volume IOPS", EbsStorage.ceilings.more_operations),
    "AWS/EBS VolumeThroughputExceededCheck": ("volume throughput", EbsStorage.ceilings.more_throughput),
    "AWS/EC2 InstanceEBSIOPSExceededCheck": ("instance EBS allowance", LARGER_EBS),
    "AWS/EC2 InstanceEBSThroughputExceededCheck": ("instance EBS allowance", LARGER_EBS),
}
# Metrics that give the remaining credits in per cent.
CREDITS = {
    "AWS/EBS BurstBalance": ("volume burst credits", "take gp3, or a larger volume, whose baseline is higher"),
    "AWS/EC2 EBSIOBalance%": ("instance EBS allowance", LARGER_EBS),
    "AWS/EC2 EBSByteBalance%": ("instance EBS allowance", LARGER_EBS),
}
# Metrics that give the used share of a limit in per cent.
SHARES = {
    "AWS/EFS PercentIOLimit": ("EFS IOPS limit", EfsStorage.ceilings.more_operations),
    "AWS/FSx FileServerDiskThroughputUtilization": (FSX_DISK, MORE_FSX),
    "AWS/FSx FileServerDiskIopsUtilization": (FSX_DISK, MORE_FSX),
    "AWS/FSx DiskIopsUtilization": (FSX_DISK, FsxOpenZfsStorage.ceilings.more_operations),
    "AWS/FSx NetworkThroughputUtilization": ("FSx network", MORE_FSX),
    "AWS/FSx CPUUtilization": ("FSx CPU", MORE_FSX),
}


def ceilings(evidence: Evidence) -> Iterator[Ceiling]:
    """Yield what CloudWatch has values for."""
    for metric, (name, advice) in CHECKS.items():
        yield from _told(evidence, metric, name, advice, lambda value: value >= 1.0, "1")
    for metric, (name, advice) in CREDITS.items():
        yield from _told(evidence, metric, name, advice, lambda percent: percent <= USED_UP_PERCENT, "used up")
    for metric, (name, advice) in SHARES.items():
        yield from _percent(evidence, metric, name, advice)
    yield from _efs_throughput(evidence)


def _told(
    evidence: Evidence, metric: str, name: str, advice: str, is_held: Callable[[float], bool], what: str
) -> Iterator[Ceiling]:
    """Yield a ceiling of which AWS says only whether it held somebody back: reached at the points of those minutes."""
    shares: dict[str, float] = {}
    held: list[tuple[float, str]] = []
    for series in evidence.series(metric):
        for at, value in series:
            point = evidence.point_at(at, at + series.period_s)
            if point is None:
                continue
            shares[point] = max(shares.get(point, 0.0), float(is_held(value)))
            if is_held(value):
                held.append((at, _whose(series)))
    if not shares:
        return
    words = f"{metric} was never {what}"
    if held:
        who = sorted({resource for _, resource in held})
        several = f" and {len(who) - 1} more" if len(who) > 1 else ""
        words = f"{metric} was {what} for {who[0]}{several}, first at {instant(min(held)[0])}"
    yield Ceiling(name, shares, words, advice, is_told=True)


def _percent(evidence: Evidence, metric: str, name: str, advice: str) -> Iterator[Ceiling]:
    """Yield a ceiling of which AWS publishes the share that is used."""
    several = evidence.series(metric)
    values = [(at, series.period_s, value / 100, _whose(series)) for series in several for at, value in series]
    shares, top = _highest(evidence, values)
    if top is None:
        return
    share, at, whose = top
    of_one = f" of {whose}" if len(several) > 1 else ""
    words = f"{metric} {100 * share:.0f} %{of_one} at {instant(at)}"
    hits = _hits(evidence, at, whose) if name == FSX_DISK else None
    if hits is not None and hits < FEW_HITS_PERCENT:
        # The disks work because the cache does not hold what is read: a larger cache helps more than faster disks.
        words += f", while the cache had {hits:.0f} % of the reads"
        advice = f"{MORE_FSX}, which enlarges the cache, or read less at a time than the cache holds"
        name = "FSx cache"
    yield Ceiling(name, shares, words, advice, is_told=True)


def server_cache(evidence: Evidence) -> dict[str, float]:
    """Return the cache's hit ratio in per cent of each point that mostly read: the mean over its minutes."""
    ratios: dict[str, list[float]] = {}
    for series in evidence.series("AWS/FSx FileServerCacheHitRatio"):
        for at, _ in series:
            point, hits = evidence.point_at(at, at + series.period_s), _hits(evidence, at, _whose(series))
            if point is not None and hits is not None:
                ratios.setdefault(point, []).append(hits)
    return {point: sum(hits) / len(hits) for point, hits in ratios.items()}


def _whose(series: Series) -> str:
    """The resource that a series is of."""
    return next(iter(series.resource.values()))


def _hits(evidence: Evidence, at: float, whose: str) -> float | None:
    """The hit ratio of a file system's cache in per cent in a minute of mostly reads; None in one of mostly writes."""
    read, written = (_value(evidence, f"AWS/FSx Data{way}Bytes", at, whose) for way in ("Read", "Write"))
    if read is None or read < (written or 0.0):
        return None
    return _value(evidence, "AWS/FSx FileServerCacheHitRatio", at, whose)


def _value(evidence: Evidence, metric: str, at: float, whose: str) -> float | None:
    own = (series for series in evidence.series(metric) if _whose(series) == whose)
    return next((value for series in own for when, value in series if when == at), None)


def _efs_throughput(evidence: Evidence) -> Iterator[Ceiling]:
    """Metered bytes against what EFS permitted in the same minute; on bursting file systems with the credits left."""
    permitted = {at: value for series in evidence.series("AWS/EFS PermittedThroughput") for at, value in series}
    values = [
        (at, series.period_s, value / series.period_s / permitted[at], _whose(series))
        for series in evidence.series("AWS/EFS MeteredIOBytes")
        for at, value in series
        if permitted.get(at)
    ]
    shares, top = _highest(evidence, values)
    if top is None:
        return
    share, at, whose = top
    most = permitted[at]
    words = f"{number(share * most / MIB)} of {number(most / MIB)} MiB/s permitted at {instant(at)}"
    name, advice = EfsStorage.ceilings.throughput, EfsStorage.ceilings.more_throughput
    left = _value(evidence, "AWS/EFS BurstCreditBalance", at, whose)
    if left is not None and evidence.storage.get("throughputMode") == "bursting":
        words += f", {number(left / GIB)} GiB of burst credits left"
        if left <= most * SECONDS_OF_CREDITS:
            name, advice = "EFS burst credits", "use throughputMode elastic or provisioned, or store more data"
    yield Ceiling(name, shares, words, advice, is_told=True)


def _highest(
    evidence: Evidence, values: Iterable[tuple[float, float, float, str]]
) -> tuple[dict[str, float], tuple[float, float, str] | None]:
    """Of (time, period, share, resource): each point's highest share, and the highest of all with time and resource."""
    shares: dict[str, float] = {}
    top: tuple[float, float, str] | None = None
    for at, period_s, share, whose in values:
        point = evidence.point_at(at, at + period_s)
        if point is not None:
            shares[point] = max(shares.get(point, 0.0), share)
            top = max(top or (share, at, whose), (share, at, whose))
    return shares, top
