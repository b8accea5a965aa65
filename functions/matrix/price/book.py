"""Cost of cells and file systems from a dated price book: low, expected and high, in US dollars."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from matrix.input.pace import HEARTBEAT_S
from matrix.storages.base import Storage
from matrix.terms.charges import (
    HOUR_S,
    MONTH_S,
    ROOT_VOLUME_GIB,
    Amount,
    Charge,
    Usage,
    instance_charges,
    volume_charge,
)
from matrix.terms.documents.parts import CostRange, MachineRates, Volume
from matrix.terms.documents.plan import PlanWarning
from matrix.terms.problems import Weight

_HERE = Path(__file__).parent
_BOOKS = ("prices.json", "instance_prices.json")
BOOK_REGION = "us-east-1"
# Shares of the on-demand price, low, expected and high: AWS says "up to 90% off" (aws.amazon.com/ec2/spot), and the
# default maximum price is the on-demand price (EC2 user guide, Spot pricing); half of it is a guess.
SPOT_SHARE = (0.1, 0.5, 1.0)
# A Spot price is "up to 90% off" on-demand, and for a moment a little above it. Others are not believed.
BELIEVABLE_SPOT = (0.05, 1.1)
# Bounds of an unconfirmed price, and of one that is only known for another region or a similar instance type.
UNCONFIRMED = (0.75, 1.5)
OTHER_REGION = (0.9, 1.4)
GUESSED = (0.5, 2.0)
# Regions differ by a factor of up to 2, years by less; a factor of 1,000 means that a unit was misread.
UNBELIEVABLE = 4.0
# Sizes as multiples of `large`; on-demand prices of a family are proportional to them.
SIZES = {"nano": 1 / 16, "micro": 1 / 8, "small": 1 / 4, "medium": 1 / 2, "large": 1.0, "xlarge": 2.0}
# Objects that an instance writes in each step: ready mark, samples, at most two raw files (agent/session.py). Once a
# run: first and last heartbeat, log, done.json or failed.json, and bundles of many steps for Analyse cell (4 MB each).
OBJECTS_A_STEP, OBJECTS_ONCE = 4, 6
# Memory of functions in MB, as in template.yaml (a test compares both): most functions, Poll fleet, Analyse
# cell. The unit of their price has a quarter of a GB.
MAX_MB, POLL_MB, ANALYSE_MB, UNIT_MB = 1_024, 1_769, 2_048, 256
# Seconds of a function's initialisation in a cell, low, expected and high: 0 if a sandbox of the cell before still
# lives, 3 by guess, and at most 10, when Lambda ends it. Billed since August 2025 like other time.
# https://aws.amazon.com/blogs/compute/aws-lambda-standardizes-billing-for-init-phase/
INIT_S = Amount(0.0, 3.0, 10.0)
# Each once: Admit cell, Launch fleet and Stop fleet, Poll fleet, Analyse cell.
COLD_STARTS = INIT_S.times((3 * MAX_MB + POLL_MB + ANALYSE_MB) / UNIT_MB)
METAL_AS_LARGE = 48.0  # most .metal are a whole host of 96 vCPUs, 24xlarge


@dataclass(frozen=True)
class Cost:
    """A cost in US dollars: lowest, expected and highest."""

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        """Return the sum of two costs."""
        return Cost(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __sub__(self, other: "Cost") -> "Cost":
        """Return by how much a cost is higher than another one."""
        return Cost(self.low - other.low, self.expected - other.expected, self.high - other.high)

    def times(self, factor: float) -> "Cost":
        """Return the cost of so many times the same."""
        return Cost(self.low * factor, self.expected * factor, self.high * factor)

    def to_document(self) -> CostRange:
        """Return the cost as JSON, in hundredths of a cent."""
        return {"low": round(self.low, 4), "expected": round(self.expected, 4), "high": round(self.high, 4)}


@dataclass(frozen=True)
class Price:
    """US dollars for one unit, with source and date. `spread` has the factors for the lowest and the highest price."""

    usd: float
    unit: str
    source: str
    read: str
    confirmed: bool
    spread: tuple[float, float] = (1.0, 1.0)

    @property
    def unit_usd(self) -> CostRange:
        """US dollars for one unit, not rounded."""
        return {"low": self.usd * self.spread[0], "expected": self.usd, "high": self.usd * self.spread[1]}

    def of(self, amount: Amount) -> Cost:
        """Return the cost of `amount` units."""
        low, high = self.spread
        return Cost(amount.low * self.usd * low, amount.expected * self.usd, amount.high * self.usd * high)


@dataclass(frozen=True)
class SpotPrice:
    """US dollars an hour that Spot instances of one type cost: over the zones of a region, and over some days."""

    lowest: float
    now: float  # mean of the zones
    highest: float
    zones: int


@dataclass(frozen=True)
class ApiPrices:
    """Today's prices in one region, by name of the book or instance type."""

    region: str
    prices: dict[str, Price]
    refused: tuple[str, ...] = ()  # too far from the book's to be prices of the same thing


@dataclass
class PriceBook:
    """Prices of one region; `unconfirmed` and `guessed` collect the names of used prices that are doubtful.

    `instances` has the price per hour of each family's large, and of each type with a price that does not follow from
    its size.
    """

    prices: dict[str, Price]
    instances: dict[str, Price]
    region: str = BOOK_REGION
    of_api: ApiPrices | None = None
    spot: dict[str, SpotPrice] = field(default_factory=dict)  # by instance type, if EC2 returned it
    unconfirmed: set[str] = field(default_factory=set)
    guessed: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)  # used, though of another region
    _known: dict[str, Price] = field(default_factory=dict)

    def for_region(self, region: str) -> "PriceBook":
        """Return the book as it applies in `region`, without doubts yet."""
        return PriceBook(self.prices, self.instances, region, self.of_api, self.spot)

    def refreshed(self, region: str, usd: Mapping[str, float], read: str) -> "PriceBook":
        """Return the book with prices of `region` that were read just now. They have no wider range and no warning.

        A price that differs from the book's by more than the factor UNBELIEVABLE is refused.
        """
        believed: dict[str, Price] = {}
        refused: list[str] = []
        for name, now_usd in usd.items():
            booked = self.prices[name] if name in self.prices else self.for_region(BOOK_REGION).instance_hour(name)
            if booked.usd / UNBELIEVABLE <= now_usd <= booked.usd * UNBELIEVABLE:
                believed[name] = Price(now_usd, booked.unit, "AWS Pricing API", read, confirmed=True)
            else:
                refused.append(name)
        return PriceBook(self.prices, self.instances, region, ApiPrices(region, believed, tuple(refused)), self.spot)

    def with_spot(self, prices: Mapping[str, SpotPrice]) -> "PriceBook":
        """Return the book with Spot prices of its region. Prices outside of BELIEVABLE_SPOT are refused."""
        least, most = BELIEVABLE_SPOT
        believed = {
            name: price
            for name, price in prices.items()
            if least <= price.now / self.instance_hour(name).usd <= most and price.lowest > 0
        }
        return PriceBook(self.prices, self.instances, self.region, self.of_api, believed)

    def spot_hour(self, instance_type: str) -> Cost:
        """Return the cost of a Spot hour: from the price history if known, else shares of the on-demand price."""
        on_demand = self.instance_hour(instance_type).of(Amount.exactly(1.0))
        known = self.spot.get(instance_type)
        if known is None:
            low, expected, high = SPOT_SHARE
            return Cost(on_demand.low * low, on_demand.expected * expected, on_demand.high * high)
        return Cost(known.lowest, known.now, max(on_demand.high, known.highest))

    def _api_price(self, name: str) -> Price | None:
        return self.of_api.prices.get(name) if self.of_api and self.of_api.region == self.region else None

    def sources(self) -> str:
        """Return the sources of the used prices in words."""
        of_api = [name for name in self._known if self._api_price(name)]
        months = [price.read for price in (*self.prices.values(), *self.instances.values())]
        of_book = f"the price list of {min(months)} to {max(months)}"
        if not of_api:
            return f"all prices are from {of_book}: the Pricing API was not asked or gave none"
        today = max(self._known[name].read for name in of_api)
        return (
            f"{len(of_api)} of {len(self._known)} prices are from the Pricing API ({today}), the others from {of_book}"
        )

    def price(self, name: str) -> Price:
        """Return a price by its name in prices.json."""
        if name not in self._known:
            self._known[name] = self._api_price(name) or self._judged(name, self.prices[name])
        return self._known[name]

    def instance_hour(self, instance_type: str) -> Price:
        """Return the on-demand price of an hour of Linux; of an unknown family or an unknown .metal, a guess."""
        if instance_type not in self._known:
            self._known[instance_type] = self._api_price(instance_type) or self._instance_hour(instance_type)
        return self._known[instance_type]

    def _instance_hour(self, instance_type: str) -> Price:
        if instance_type in self.instances:
            return self._judged(instance_type, self.instances[instance_type])
        family, _, size = instance_type.partition(".")
        price = self.instances.get(family)
        factor = size_factor(size)
        if price is not None and not size.startswith("metal"):
            name = f"instance family {family}"
            scaled = Price(price.usd * factor, price.unit, price.source, price.read, price.confirmed)
            return self._judged(name, scaled)
        usd = (price.usd if price else _guess_of_large(family)) * factor
        self.guessed.add(instance_type)
        return Price(usd, "hour", "estimate", "", confirmed=False, spread=GUESSED)

    def warnings(self) -> list[PlanWarning]:
        """Return the warnings about used prices that may be far off; `assumptions` has what only widens the range."""
        doubts: list[tuple[str, str]] = []
        if self.of_api and self.of_api.refused:
            names = ", ".join(self.of_api.refused)
            doubts.append(
                (names, "the Pricing API's answer is too far from the book to be believed; the book's is used")
            )
        if self.guessed:
            names = ", ".join(sorted(self.guessed))
            doubts.append(
                (names, "no price in the book: a guess from family letter and size, so half or double may be true")
            )
        return [
            {"path": "prices", "value": names, "message": message, "weight": Weight.MONEY} for names, message in doubts
        ]

    @property
    def doubtful(self) -> list[str]:
        """Names of used prices that AWS's price list may correct."""
        return sorted(self.unconfirmed | self.guessed | self.elsewhere)

    def assumptions(self) -> Iterator[str]:
        """Yield what widens the range of costs."""
        if self.elsewhere:
            yield f"prices are those of {BOOK_REGION}; the range is widened for {self.region}"
        if self.unconfirmed:
            names = ", ".join(sorted(self.unconfirmed))
            yield f"prices that nobody has confirmed widen the range, 25% down and 50% up: {names}"

    def _judged(self, name: str, price: Price) -> Price:
        low, high = price.spread
        if not price.confirmed:
            self.unconfirmed.add(name)
            low, high = low * UNCONFIRMED[0], high * UNCONFIRMED[1]
        if self.region != BOOK_REGION:
            self.elsewhere.add(name)
            low, high = low * OTHER_REGION[0], high * OTHER_REGION[1]
        return Price(price.usd, price.unit, price.source, price.read, price.confirmed, (low, high))


@lru_cache(maxsize=1)
def _published() -> tuple[dict[str, Price], dict[str, Price]]:
    book, table = (json.loads((_HERE / name).read_text(encoding="utf-8")) for name in _BOOKS)
    others = {f"{family}.{size}": usd for family, sizes in table["others"].items() for size, usd in sizes.items()}
    return (
        {name: Price(**entry) for name, entry in book["prices"].items()},
        {
            name: Price(usd, "hour", table["source"], table["read"], confirmed=True)
            for name, usd in {**table["large"], **others}.items()
        },
    )


def published_prices() -> PriceBook:
    """Return the price book of this package."""
    prices, instances = _published()
    return PriceBook(prices, instances)


def size_factor(size: str) -> float:
    """Return the price of a size as a multiple of the family's large."""
    if size in SIZES:
        return SIZES[size]
    if size.startswith("metal"):
        number = "".join(filter(str.isdigit, size))
        return 2.0 * int(number) if number else METAL_AS_LARGE
    return 2.0 * int(size.removesuffix("xlarge"))


def _guess_of_large(family: str) -> float:
    """Return a guessed price per hour of an unknown family's `large`, from the family's first letter."""
    by_class = {"t": 0.08, "m": 0.1, "c": 0.09, "r": 0.13, "x": 0.17, "z": 0.19, "i": 0.16, "d": 0.16, "h": 0.15}
    return by_class.get(family[0], 0.5)  # accelerated and high-memory families


def instances_cost(
    book: PriceBook,
    instance_type: str,
    count: int,
    each_s: Amount,
    *,
    is_spot: bool = False,
    work_volume: Volume | None = None,
) -> Cost:
    """Return the cost of `count` instances for `each_s` seconds each, with addresses, root and work volumes."""
    charges = instance_charges(instance_type, count, each_s, work_volume)
    if not is_spot:
        return charges_cost(book, charges)
    hours, hour = next(charges).amount, book.spot_hour(instance_type)
    machines = Cost(hour.low * hours.low, hour.expected * hours.expected, hour.high * hours.high)
    return charges_cost(book, charges, machines)


@dataclass(frozen=True)
class CellRates:
    """Rates of one instance of a cell and its volumes, in US dollars per hour."""

    instance_hour: float  # with its public address
    root_volume_hour: float
    data_volume_hour: float  # of one volume: a stripe has several
    work_volume_hour: float  # 0 without one

    def to_document(self) -> MachineRates:
        """Return the rates as JSON."""
        rates: MachineRates = {
            "instance_hour": round(self.instance_hour, 8),
            "root_volume_hour": round(self.root_volume_hour, 8),
            "data_volume_hour": round(self.data_volume_hour, 8),
        }
        if self.work_volume_hour:
            rates["work_volume_hour"] = round(self.work_volume_hour, 8)
        return rates


def volume_hours(book: PriceBook, storage: Storage, work_volume: Volume | None = None) -> tuple[float, float]:
    """Return US dollars per hour of (one measured volume, one work volume). 0 if instances have no such volume."""
    hour_s = Amount.exactly(HOUR_S)
    of_work = charges_cost(book, [volume_charge(work_volume, hour_s)] if work_volume else [])
    return volumes_cost(book, storage, 1, hour_s).expected, of_work.expected


def machine_rates(
    book: PriceBook, instance_type: str, volumes_usd: tuple[float, float] = (0.0, 0.0), *, is_spot: bool = False
) -> CellRates:
    """Return the rates of one instance, its root volume and its volumes (`volume_hours`). Spot: the expected price."""
    usd = book.spot_hour(instance_type).expected if is_spot else book.instance_hour(instance_type).usd
    of_root = book.price("ebs_gp3_gib_month").usd * ROOT_VOLUME_GIB * HOUR_S / MONTH_S
    return CellRates(usd + book.price("public_ipv4_hour").usd, of_root, *volumes_usd)


def file_system_cost(book: PriceBook, storage: Storage, usage: Usage) -> Cost:
    """Return the cost of a shared file system. EBS volumes count in their cells and not here."""
    return charges_cost(book, storage.charges(usage))


def volumes_cost(book: PriceBook, storage: Storage, count: int, each_s: Amount) -> Cost:
    """Return the cost of `count` volumes of a storage that each exist `each_s` seconds. 0 if it has no volumes."""
    return charges_cost(book, storage.volume_charges(count, each_s))


def charges_cost(book: PriceBook, charges: Iterable[Charge], cost: Cost = Cost()) -> Cost:
    """Return the cost of the charges, in addition to `cost`."""
    low, expected, high = cost.low, cost.expected, cost.high
    for name, amount in charges:
        # Instance types have a point in their names, prices of the book have none.
        price = book.instance_hour(name) if "." in name else book.price(name)
        low += amount.low * price.usd * price.spread[0]
        expected += amount.expected * price.usd
        high += amount.high * price.usd * price.spread[1]
    return Cost(low, expected, high)


def orchestration_cost(book: PriceBook, *, poll_turns: Amount, steps: int, instances: int, each_s: Amount) -> Cost:
    """Return the cost of Step Functions, Lambda and S3 for one cell: cents, but thousands of cells add up."""
    # A turn: Wait for fleet, Poll fleet, Fleet finished?; around them about 30 transitions of the cell.
    transitions = poll_turns.times(3).plus(30)
    # Each instance: its objects of each step and of the run, and its heartbeats. A listing costs as a PUT does.
    puts = each_s.times(instances / HEARTBEAT_S)
    objects = (OBJECTS_A_STEP * steps + OBJECTS_ONCE) * instances
    # A poll lists the gates, the ready marks of two steps, and five names of each instance, 1,000 a page; an instance
    # of a fleet lists the ready marks of each step.
    lists = poll_turns.times(4 + instances * 7 / 1_000).plus(steps * instances if instances > 1 else 0)
    # Polls of a second; around them 8 calls of a second and an analysis of 10 s.
    calls = poll_turns.times(POLL_MB / UNIT_MB).plus((8 * MAX_MB + 10 * ANALYSE_MB) / UNIT_MB)
    gets = each_s.times(instances)  # one poll of the gate a second on average: two while it waits, none while it works
    charges = [
        Charge("step_functions_transition", transitions),
        Charge("lambda_call_of_1_s", calls.and_also(COLD_STARTS)),
        Charge("s3_put", puts.plus(objects).and_also(lists)),
        Charge("s3_get", Amount(0.0, gets.expected / 2, gets.high)),
    ]
    return charges_cost(book, charges)
