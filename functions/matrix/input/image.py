"""What instances boot, and what is installed on them beside the tools of the workloads."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from matrix.input.fields import InputModel

Os = Literal["al2023", "ubuntu-22.04"]


# What the container image of a Dockerfile is called; nobody pulls it.
BUILT = "storage-matrix/build"

Architecture = Literal["arm64", "x86_64"]


PackageName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.+_-]{0,99}$")]


ContainerName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][A-Za-z0-9._:/@-]{0,254}$")]


# An id, or the name of a parameter below a path, of which Systems Manager takes fifteen steps:
# https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
AmiName = Annotated[
    str, StringConstraints(pattern=r"^(ami-[0-9a-f]{8,17}|(/[A-Za-z0-9_.-]{1,200}){2,15})$", max_length=1_000)
]


class Image(InputModel):
    """What the instances boot, and what is installed on them beside the tools of the workloads."""

    ami: Annotated[AmiName | None, Field(examples=["ami-0123456789abcdef0", "/golden/al2023"])] = None
    """A machine image of yours in place of the newest of `os`: its id, or the name of a parameter of Systems Manager
    that holds it. `os` then says what it was made from."""
    os: Os = "al2023"
    """Operating system: the newest Amazon Linux 2023 or Ubuntu 22.04, for arm64 or x86-64 by the instance type."""
    bake: bool = False
    """Make a machine image once with all that is installed, and keep it for later runs; else each instance installs."""
    packages: Annotated[list[PackageName], Field(max_length=100, examples=[["gcc", "make"]])] = Field(default=[])
    """Packages of the operating system to install beside those that the workloads need."""
    containers: Annotated[list[ContainerName], Field(max_length=20, examples=[["debian:12"]])] = Field(default=[])
    """Container images to pull (Docker)."""
    dockerfile: Annotated[str | None, Field(max_length=16_000, examples=["FROM debian:12\nRUN apt-get update"])] = None
    """Container image to build from this Dockerfile, without a context; it is named storage-matrix/build."""
