"""Fleets: instance type, number of instances, placement and processor architecture."""

import re
from functools import cache, cached_property
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from matrix.fields.types import InputModel, Rule, Sweep, repeated
from matrix.terms.problems import Problems

MAX_INSTANCES = 1_000

_SIZES = "nano|micro|small|medium|large|xlarge|[0-9]{1,3}xlarge|metal|metal-[0-9]{1,3}xl"
INSTANCE_TYPE = rf"^[a-z][a-z0-9-]{{1,19}}\.({_SIZES})$"
InstanceType = Annotated[str, StringConstraints(pattern=INSTANCE_TYPE)]
Count = Annotated[int, Field(ge=1, le=MAX_INSTANCES)]

# Graviton: a g after the generation (m7g, c6gn, im4gn, is4gen, t4g, x2gd), and a1, the first. Not g4dn, g5 (GPUs).
_GRAVITON = re.compile(r"(a1|g5g|hpc7g|[a-z]+[0-9]+g[a-z]*)(-.*)?")


BandwidthWeighting = Literal["ebs-1", "vpc-1"]
Share = Annotated[float, Field(gt=0, le=1_000)]
Placement = Literal["spread", "same-az"] | Annotated[list[Share], Field(min_length=1, max_length=10)]
Quorum = Annotated[float, Field(gt=0, lt=1)] | Annotated[int, Field(ge=1, le=MAX_INSTANCES)]


@cache
def architecture_of(instance_type: str) -> Literal["arm64", "x86_64"]:
    """Return the instruction set of an instance type's processors."""
    family = instance_type.partition(".")[0]
    return "arm64" if _GRAVITON.fullmatch(family) else "x86_64"


class _Launch(InputModel):
    """How the instances of a fleet are launched."""

    placement: Annotated[Placement | None, Field(examples=["same-az", [1, 1]])] = None
    """Availability Zones: "spread" over all, "same-az" as the file system, or shares, the file system's zone first."""
    spot: Annotated[bool, Field(examples=[True])] = False
    """Use Spot Instances. They are cheaper, but EC2 can take them back, and the cell then fails."""
    quorum: Annotated[Quorum | None, Field(examples=[0.9])] = None
    """Smallest fleet to measure if EC2 has too few instances: a share of `count` or a number. Default: all."""
    bandwidth_weighting: Annotated[BandwidthWeighting | None, Field(examples=["ebs-1"])] = None
    """EC2 bandwidth weighting: "ebs-1" moves bandwidth from the network to EBS, "vpc-1" from EBS to the network."""


class Fleet(_Launch):
    """The fleet of one cell: instances of one type that start at the same moment."""

    instance_type: Annotated[InstanceType, Field(examples=["m6i.4xlarge"])]
    """EC2 instance type."""
    count: Annotated[Count, Field(examples=[10])]
    """Number of instances."""

    @property
    def architecture(self) -> Literal["arm64", "x86_64"]:
        """Instruction set of its processors."""
        return architecture_of(self.instance_type)

    @cached_property
    def slug(self) -> str:
        """Readable id, such as `m6i.4xlarge-x10`."""
        words = [f"{self.instance_type}-x{self.count}"]
        if isinstance(self.placement, list):
            words += ["az", *(f"{share:g}" for share in self.placement)]
        elif self.placement:
            words += [self.placement]
        words += ["spot"] if self.spot else []
        words += [f"quorum-{self.quorum:g}"] if self.quorum else []
        words += [self.bandwidth_weighting] if self.bandwidth_weighting else []
        return "-".join(words)


class FleetAxis(_Launch):
    """Fleets of a matrix: every instance type with every count."""

    instance_type: Annotated[Sweep[InstanceType], Field(examples=["m6i.4xlarge"])]
    """EC2 instance type, or a list of them."""
    count: Annotated[Sweep[Count], Field(examples=[[1, 10, 100]])] = Field(default=[1])
    """Number of instances, which start each step together, or a list of numbers."""

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        """Return the rule for its lists."""
        return (fleets_are_different,)

    def fleets(self) -> list[Fleet]:
        """Return every fleet of this entry."""
        return [
            Fleet(
                instance_type=instance_type,
                count=count,
                placement=self.placement,
                spot=self.spot,
                quorum=self.quorum,
                bandwidth_weighting=self.bandwidth_weighting,
            )
            for instance_type in self.instance_type
            for count in self.count
        ]


def fleets_are_different(part: FleetAxis) -> Problems:
    """Yield a problem for each list with the same value twice: its cells would be duplicates."""
    for name, values in (("instanceType", part.instance_type), ("count", part.count)):
        if (twice := repeated(values)) is not None:
            yield part.problem(name, f"{twice} is given twice: its cells would be duplicates", "give each value once")
