"""What a cell and a file system cost, from a dated price book: low, expected and high in US dollars."""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from matrix.storages import Storage
from matrix.storages.ebs import EbsStorage
from matrix.storages.efs import EfsStorage
from matrix.storages.fsx_openzfs import FsxOpenZfsStorage

BOOK_REGION = "us-east-1"
HOUR_S = 3_600
MONTH_S = 730 * HOUR_S  # AWS's month of 730 hours
ROOT_VOLUME_GIB = 8
LEAST_BILLED_S = 60  # EC2 instances and EBS volumes: by the second, at least a minute
# How far an unconfirmed price may be off, and one that is only known for another region or a similar instance type.
UNCONFIRMED = (0.75, 1.5)
OTHER_REGION = (0.9, 1.4)
GUESSED = (0.5, 2.0)
# Sizes as multiples of `large`; on-demand prices of a family are proportional to them.
SIZES = {"nano": 1 / 16, "micro": 1 / 8, "small": 1 / 4, "medium": 1 / 2, "large": 1.0, "xlarge": 2.0}
METAL_AS_LARGE = 48.0  # most .metal are a whole host of 96 vCPUs, 24xlarge


@dataclass(frozen=True)
class Cost:
    """US dollars: what it costs at least, most likely, and at most."""

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        """Return what both cost together."""
        return Cost(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def to_document(self) -> dict[str, float]:
        """Return the cost as JSON, in hundredths of a cent."""
        return {"low": round(self.low, 4), "expected": round(self.expected, 4), "high": round(self.high, 4)}


@dataclass(frozen=True)
class Amount:
    """How much of something is used: at least, most likely, at most."""

    low: float
    expected: float
    high: float

    @classmethod
    def exactly(cls, amount: float) -> "Amount":
        """Return an amount that is certain."""
        return cls(amount, amount, amount)

    def times(self, factor: float) -> "Amount":
        """Return the amount `factor` times."""
        return Amount(self.low * factor, self.expected * factor, self.high * factor)

    def plus(self, more: float) -> "Amount":
        """Return the amount and `more`."""
        return Amount(self.low + more, self.expected + more, self.high + more)

    def at_least(self, least: float) -> "Amount":
        """Return the amount with a minimum."""
        return Amount(max(self.low, least), max(self.expected, least), max(self.high, least))


@dataclass(frozen=True)
class Price:
    """US dollars for one unit, where that was read and when; `spread` is how far it may be off."""

    usd: float
    unit: str
    source: str
    read: str
    confirmed: bool
    spread: tuple[float, float] = (1.0, 1.0)

    def of(self, amount: Amount) -> Cost:
        """Return what `amount` units cost."""
        low, high = self.spread
        return Cost(amount.low * self.usd * low, amount.expected * self.usd, amount.high * self.usd * high)


@dataclass
class PriceBook:
    """Prices of one region; `unconfirmed` and `guessed` gather the names of doubtful ones that were used."""

    prices: dict[str, Price]
    instances: dict[str, Price]
    region: str = BOOK_REGION
    unconfirmed: set[str] = field(default_factory=set)
    guessed: set[str] = field(default_factory=set)
    _known: dict[str, Price] = field(default_factory=dict)

    def for_region(self, region: str) -> "PriceBook":
        """Return the book as it applies in `region`, without doubts yet."""
        return PriceBook(self.prices, self.instances, region)

    def price(self, name: str) -> Price:
        """Return a price by its name in prices.json."""
        if name not in self._known:
            self._known[name] = self._judged(name, self.prices[name])
        return self._known[name]

    def instance_hour(self, instance_type: str) -> Price:
        """Return the on-demand price of an hour of Linux; of an unknown family, a guess."""
        if instance_type not in self._known:
            self._known[instance_type] = self._instance_hour(instance_type)
        return self._known[instance_type]

    def _instance_hour(self, instance_type: str) -> Price:
        family, _, size = instance_type.partition(".")
        price = self.instances.get(family)
        factor = _size_factor(size)
        if price is not None and not size.startswith("metal"):
            name = f"instance family {family}"
            scaled = Price(price.usd * factor, price.unit, price.source, price.read, price.confirmed)
            return self._judged(name, scaled)
        usd = (price.usd if price else _guess_of_large(family)) * factor
        self.guessed.add(instance_type)
        return Price(usd, "hour", "estimate", "", confirmed=False, spread=GUESSED)

    def warnings(self) -> list[dict[str, object]]:
        """Return what to say about the prices that were used."""
        said: list[tuple[str, str]] = []
        if self.region != BOOK_REGION:
            said.append((self.region, f"prices are those of {BOOK_REGION}; the range is widened for another region"))
        if self.guessed:
            names = ", ".join(sorted(self.guessed))
            said.append((names, "no price in the book; estimated by family and size, half to double"))
        if self.unconfirmed:
            names = ", ".join(sorted(self.unconfirmed))
            said.append((names, "prices that nobody has confirmed widen the range, 25% down and 50% up"))
        return [{"path": "prices", "value": names, "message": message} for names, message in said]

    def _judged(self, name: str, price: Price) -> Price:
        low, high = price.spread
        if not price.confirmed:
            self.unconfirmed.add(name)
            low, high = low * UNCONFIRMED[0], high * UNCONFIRMED[1]
        if self.region != BOOK_REGION:
            low, high = low * OTHER_REGION[0], high * OTHER_REGION[1]
        return Price(price.usd, price.unit, price.source, price.read, price.confirmed, (low, high))


@lru_cache(maxsize=1)
def _published() -> tuple[dict[str, Price], dict[str, Price]]:
    text = (Path(__file__).parent / "prices.json").read_text(encoding="utf-8")
    book = json.loads(text)
    return (
        {name: Price(**entry) for name, entry in book["prices"].items()},
        {name: Price(unit="hour", **entry) for name, entry in book["instances_large_hour"].items()},
    )


def published_prices() -> PriceBook:
    """Return the price book of this package."""
    prices, instances = _published()
    return PriceBook(prices, instances)


def _size_factor(size: str) -> float:
    if size in SIZES:
        return SIZES[size]
    if size.startswith("metal"):
        number = "".join(filter(str.isdigit, size))
        return 2.0 * int(number) if number else METAL_AS_LARGE
    return 2.0 * int(size.removesuffix("xlarge"))


def _guess_of_large(family: str) -> float:
    """Return about what a `large` of an unknown family costs per hour, from its first letter."""
    by_class = {"t": 0.08, "m": 0.1, "c": 0.09, "r": 0.13, "x": 0.17, "z": 0.19, "i": 0.16, "d": 0.16, "h": 0.15}
    return by_class.get(family[0], 0.5)  # accelerated and high-memory families


def instances_cost(book: PriceBook, instance_type: str, count: int, each_s: Amount) -> Cost:
    """Return what `count` instances cost that each run `each_s`, with their root volumes and public addresses."""
    hours = each_s.at_least(LEAST_BILLED_S).times(count / HOUR_S)
    root_gib_months = each_s.at_least(LEAST_BILLED_S).times(ROOT_VOLUME_GIB * count / MONTH_S)
    return (
        book.instance_hour(instance_type).of(hours)
        + book.price("public_ipv4_hour").of(hours)
        + book.price("ebs_gp3_gib_month").of(root_gib_months)
    )


def volumes_cost(book: PriceBook, storage: EbsStorage, count: int, each_s: Amount) -> Cost:
    """Return what `count` EBS volumes cost that each exist `each_s`."""
    months = each_s.at_least(LEAST_BILLED_S).times(count / MONTH_S)
    cost = book.price(f"ebs_{storage.volume_type}_gib_month").of(months.times(storage.size_gib))
    if storage.volume_type == "gp3":
        extra_iops = max(0, (storage.iops or 3_000) - 3_000)
        extra_mibps = max(0, (storage.throughput_mibps or 125) - 125)
        if extra_iops:
            cost += book.price("ebs_gp3_iops_month").of(months.times(extra_iops))
        if extra_mibps:
            cost += book.price("ebs_gp3_mibps_month").of(months.times(extra_mibps))
    if storage.volume_type == "io1":
        cost += book.price("ebs_io1_iops_month").of(months.times(storage.iops or 0))
    if storage.volume_type == "io2":
        for name, iops in io2_tiers(storage.iops or 0):
            cost += book.price(name).of(months.times(iops))
    return cost


def io2_tiers(iops: int) -> list[tuple[str, int]]:
    """Return how many of a volume's IOPS are billed at each tier of io2."""
    tiers = (("ebs_io2_iops_month", 0, 32_000), ("ebs_io2_iops_month_above_32000", 32_000, 64_000))
    split = [(name, max(0, min(iops, most) - least)) for name, least, most in tiers]
    split.append(("ebs_io2_iops_month_above_64000", max(0, iops - 64_000)))
    return [(name, billed) for name, billed in split if billed]


@dataclass(frozen=True)
class Usage:
    """What a file system is used for: how long it exists, bytes read, written and kept."""

    seconds: Amount
    read_bytes: Amount
    written_bytes: Amount
    stored_bytes: Amount


def file_system_cost(book: PriceBook, storage: Storage, usage: Usage) -> Cost:
    """Return what a shared file system costs; EBS volumes belong to their cells, so nothing for them."""
    if isinstance(storage, FsxOpenZfsStorage):
        return _fsx_cost(book, storage, usage)
    if isinstance(storage, EfsStorage):
        return _efs_cost(book, storage, usage)
    return Cost()


def _efs_cost(book: PriceBook, storage: EfsStorage, usage: Usage) -> Cost:
    zone = "one_zone" if storage.deployment == "oneZone" else "regional"
    # What is stored changes all the time: counted as if the most were there all the time, in the expected case half.
    months = usage.seconds.times(1 / MONTH_S)
    kept = Amount(
        0.0,
        usage.stored_bytes.expected / 2**30 * months.expected / 2,
        usage.stored_bytes.high / 2**30 * months.high,
    )
    cost = book.price(f"efs_{zone}_gib_month").of(kept)
    if storage.throughput_mode == "elastic":
        cost += book.price("efs_elastic_read_gib").of(usage.read_bytes.times(1 / 2**30))
        cost += book.price("efs_elastic_write_gib").of(usage.written_bytes.times(1 / 2**30))
    if storage.throughput_mode == "provisioned":
        mibps = storage.provisioned_throughput_mibps or 0
        cost += book.price("efs_provisioned_mibps_month").of(months.times(mibps))
    return cost


def _fsx_cost(book: PriceBook, storage: FsxOpenZfsStorage, usage: Usage) -> Cost:
    zone = "multi_az" if storage.deployment_type == "MULTI_AZ_1" else "single_az"
    zone = "single_az_ha" if "_HA_" in storage.deployment_type else zone
    months = usage.seconds.times(1 / MONTH_S)
    extra_iops = max(0, (storage.iops or 0) - 3 * storage.storage_capacity_gib)
    cost = book.price(f"fsx_{zone}_gib_month").of(months.times(storage.storage_capacity_gib))
    cost += book.price(f"fsx_{zone}_mbps_month").of(months.times(storage.throughput_capacity_mbps))
    if extra_iops:
        cost += book.price(f"fsx_{zone}_iops_month").of(months.times(extra_iops))
    return cost


def orchestration_cost(book: PriceBook, *, poll_turns: Amount, steps: int, instances: int, each_s: Amount) -> Cost:
    """Return what Step Functions, Lambda and S3 take for one cell: cents, but they add up over thousands of cells."""
    # A turn: Wait for fleet, Poll fleet, Fleet finished?; around them about 30 transitions of the cell.
    transitions = poll_turns.times(3).plus(30)
    # Each instance: ready, samples and a state per step, and a heartbeat every 30 s.
    puts = each_s.times(instances / 30)
    gets = each_s.times(instances)  # a look at the gate each second, at most
    return (
        book.price("step_functions_transition").of(transitions)
        + book.price("lambda_call_of_1_s").of(poll_turns)
        + book.price("s3_put").of(puts.plus(4 * steps * instances))
        + book.price("s3_get").of(Amount(0.0, gets.expected / 2, gets.high))
    )
