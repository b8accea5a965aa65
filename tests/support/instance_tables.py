"""Write the data of instance types: limits to EBS, cards, weights, disks, and, given their source, prices.

Limits are EC2's own answers to DescribeInstanceTypes, of which moto has a copy. Prices are those in Karpenter's
releases: AWS's price list of us-east-1, as its generator read it. `go mod download -json MODULE` prints the module's
folder, and the file is pkg/providers/pricing/zz_generated.pricing_aws.go in it.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

from matrix.price.book import size_factor

FUNCTIONS = Path(__file__).parents[2] / "functions/matrix"
INSTANCE_LIMITS = FUNCTIONS / "input/instance_limits.json"
INSTANCE_STORES = FUNCTIONS / "storages/instance_stores.json"
PRICES = FUNCTIONS / "price/instance_prices.json"
MODULE = "github.com/aws/karpenter-provider-aws"
REGION = "us-east-1"
# On-demand prices are proportional to sizes, except for rounding; a type that differs by more has its own price.
ROUNDING = 0.01

Families = dict[str, dict[str, Any]]


def instance_limits() -> dict[str, Any]:
    """EC2's limits of the connection to EBS."""
    return {
        "about": "What EC2 allows an instance on its way to EBS, by family and size, smallest first: MB/s (10^6 bytes)"
        " always and at the most, IOPS always and at the most. cards: types whose limits are those of several EBS"
        " cards together, and how many, each with an equal part. network_gbps: Gbit/s of the first network card, always"
        " and, where that is more, for some minutes. weightable: families whose bandwidth can be weighted",
        "source": f"EC2 DescribeInstanceTypes, EbsInfo and NetworkInfo ({_copy()})",
        "types": _by_family(_limits),
        "cards": _by_family(_cards),
        "network_gbps": _by_family(_network),
        "weightable": list(_by_family(_weightings)),
    }


def instance_stores() -> dict[str, Any]:
    return {
        "about": "NVMe instance store by instance family and size: number of disks, and GB (10^9 bytes) of each",
        "source": f"EC2 DescribeInstanceTypes, InstanceStorageInfo, SSD with NvmeSupport required ({_copy()})",
        "types": _by_family(_disks),
    }


def prices(source: Path) -> dict[str, Any]:
    """On-demand prices of Linux: of each family's large, and of types whose price is not proportional to it."""
    text = source.read_text(encoding="utf-8")
    [release] = re.findall(r"karpenter-provider-aws@(v[0-9.]+)", str(source))
    [read] = re.findall(rf"^// generated at (\S+) for {REGION}$", text, re.MULTILINE)
    [of_region] = re.findall(rf'^\t"{REGION}": {{$(.*?)^\t}},$', text, re.MULTILINE | re.DOTALL)
    families: dict[str, dict[str, float]] = {}
    for family, size, usd in re.findall(r'"([a-z0-9-]+)\.([a-z0-9-]+)":\s*([0-9.]+)', of_region):
        families.setdefault(family, {})[size] = float(usd)
    large = {family: usd for family, sizes in families.items() if (usd := _large_of(sizes))}
    return {
        "about": "US dollars per hour of Linux, on demand: of each family's large, to which sizes are proportional,"
        " and of each type of which that is not so",
        "region": REGION,
        "source": f"AWS Pricing API, as {MODULE} {release} has its answers (pkg/providers/pricing/{source.name})",
        "read": read[: len("2026-07")],
        "large": large,
        "others": {
            family: others
            for family, sizes in families.items()
            if (others := {size: usd for size, usd in sizes.items() if not _is_near(usd, large.get(family), size)})
        },
    }


def rendered(table: Mapping[str, Any]) -> str:
    """A table in its file's form: a line for each family."""
    lines = []
    for name, value in table.items():
        text = json.dumps(value)
        if isinstance(value, dict):
            families = ",\n".join(f"    {json.dumps(family)}: {json.dumps(sizes)}" for family, sizes in value.items())
            text = f"{{\n{families}\n  }}"
        lines.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _copy() -> str:
    return f"the copy of its answers in moto {version('moto')}"


def _by_family(of: Callable[[Mapping[str, Any]], Any]) -> Families:
    """The values of each type, by family and size; types without a value are left out."""
    families: Families = {}
    for name in sorted(INSTANCE_TYPES, key=_place):
        family, _, size = name.partition(".")
        said = of(INSTANCE_TYPES[name])
        if said is not None:
            families.setdefault(family, {})[size] = said
    return families


def _place(name: str) -> tuple[Any, ...]:
    """Sort key: families by name, and the types of one from small to large, bare-metal ones last."""
    described = INSTANCE_TYPES[name]
    size = described["VCpuInfo"]["DefaultVCpus"], described["MemoryInfo"]["SizeInMiB"]
    return name.partition(".")[0], described["BareMetal"], *size, name


def _limits(described: Mapping[str, Any]) -> list[float] | None:
    optimized = described["EbsInfo"].get("EbsOptimizedInfo", {})
    names = ("BaselineThroughputInMBps", "MaximumThroughputInMBps", "BaselineIops", "MaximumIops")
    return [_plain(optimized[name]) for name in names] if optimized else None


def _cards(described: Mapping[str, Any]) -> int | None:
    """Number of cards that share the limits of a type; their parts must be equal, as the plan assumes."""
    cards = described["EbsInfo"].get("EbsCards", [])
    if len(cards) < 2:
        return None
    optimized = described["EbsInfo"]["EbsOptimizedInfo"]
    for name, whole in optimized.items():
        assert all(card[name] * len(cards) == whole for card in cards), f"{described['InstanceType']}: unequal cards"
    return len(cards)


def _network(described: Mapping[str, Any]) -> float | list[float]:
    """Of the first network card, as agents use no other."""
    card = described["NetworkInfo"]["NetworkCards"][0]
    always, most = (_plain(card[f"{name}BandwidthInGbps"]) for name in ("Baseline", "Peak"))
    return [always, most] if always < most else always


def _weightings(described: Mapping[str, Any]) -> list[str] | None:
    weightings = described["NetworkInfo"].get("BandwidthWeightings")
    assert weightings is None or set(weightings) == {"default", "ebs-1", "vpc-1"}, described["InstanceType"]
    return weightings


def _disks(described: Mapping[str, Any]) -> list[int] | None:
    store = described.get("InstanceStorageInfo", {})
    if store.get("NvmeSupport") != "required":
        return None
    [disk] = store["Disks"]
    return [disk["Count"], disk["SizeInGB"]] if disk["Type"] == "ssd" else None


def _large_of(sizes: Mapping[str, float]) -> float | None:
    """The price of a family's large, if necessary from its other sizes; None if most sizes are not proportional."""
    virtual = {size: usd for size, usd in sizes.items() if not size.startswith("metal")}
    if not virtual:
        return None
    large = virtual.get("large") or round(median(usd / size_factor(size) for size, usd in virtual.items()), 6)
    near = [size for size, usd in virtual.items() if _is_near(usd, large, size)]
    return large if 2 * len(near) > len(virtual) else None


def _is_near(usd: float, large: float | None, size: str) -> bool:
    return large is not None and not size.startswith("metal") and abs(usd / (large * size_factor(size)) - 1) <= ROUNDING


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value


def main() -> None:
    """Write the tables; that of prices only from the file that is given."""
    INSTANCE_LIMITS.write_text(rendered(instance_limits()), encoding="utf-8")
    INSTANCE_STORES.write_text(rendered(instance_stores()), encoding="utf-8")
    for source in sys.argv[1:]:
        PRICES.write_text(rendered(prices(Path(source))), encoding="utf-8")


if __name__ == "__main__":
    main()
