"""Write what is known of instance types: limits to EBS, and disks.

They are EC2's own answers to DescribeInstanceTypes, of which moto has a copy.
"""

import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

FUNCTIONS = Path(__file__).parents[2] / "functions/matrix"
EBS_LIMITS = FUNCTIONS / "input/ebs_limits.json"
INSTANCE_STORES = FUNCTIONS / "input/instance_stores.json"

Families = dict[str, dict[str, Any]]


def ebs_limits() -> dict[str, Any]:
    """What EC2 allows on the way to EBS."""
    return {
        "about": "What EC2 allows an instance on its way to EBS, by family and size, smallest first: MB/s (10^6 bytes)"
        " always and at the most, IOPS always and at the most",
        "source": f"EC2 DescribeInstanceTypes, EbsInfo.EbsOptimizedInfo ({_copy()})",
        "types": _by_family(_limits),
    }


def instance_stores() -> dict[str, Any]:
    """Which types have NVMe disks."""
    return {
        "about": "NVMe instance store by instance family and size: number of disks, and GB (10^9 bytes) of each",
        "source": f"EC2 DescribeInstanceTypes, InstanceStorageInfo, SSD with NvmeSupport required ({_copy()})",
        "types": _by_family(_disks),
    }


def rendered(table: Mapping[str, Any]) -> str:
    """A table as its file has it: a line for each family."""
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
    """What is said of each type, by family and size; types of which it says nothing are left out."""
    families: Families = {}
    for name in sorted(INSTANCE_TYPES, key=_place):
        family, _, size = name.partition(".")
        said = of(INSTANCE_TYPES[name])
        if said is not None:
            families.setdefault(family, {})[size] = said
    return families


def _place(name: str) -> tuple[Any, ...]:
    """Families by name, and the types of one from small to large, the bare ones last."""
    described = INSTANCE_TYPES[name]
    size = described["VCpuInfo"]["DefaultVCpus"], described["MemoryInfo"]["SizeInMiB"]
    return name.partition(".")[0], described["BareMetal"], *size, name


def _limits(described: Mapping[str, Any]) -> list[float] | None:
    optimized = described["EbsInfo"].get("EbsOptimizedInfo", {})
    names = ("BaselineThroughputInMBps", "MaximumThroughputInMBps", "BaselineIops", "MaximumIops")
    return [_plain(optimized[name]) for name in names] if optimized else None


def _disks(described: Mapping[str, Any]) -> list[int] | None:
    store = described.get("InstanceStorageInfo", {})
    if store.get("NvmeSupport") != "required":
        return None
    [disk] = store["Disks"]
    return [disk["Count"], disk["SizeInGB"]] if disk["Type"] == "ssd" else None


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value


def main() -> None:
    """Write both tables."""
    EBS_LIMITS.write_text(rendered(ebs_limits()), encoding="utf-8")
    INSTANCE_STORES.write_text(rendered(instance_stores()), encoding="utf-8")


if __name__ == "__main__":
    main()
