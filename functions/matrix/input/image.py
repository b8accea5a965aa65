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


class Image(InputModel):
    """What the instances boot, and what is installed on them beside the tools of the workloads."""

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
