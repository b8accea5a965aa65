"""Machine image of the instances, and software to install beside the tools of the workloads."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from matrix.fields.types import InputModel

Os = Literal["al2023", "ubuntu-22.04"]


# Name of the container image that is built from a Dockerfile; it is never pulled.
BUILT = "storage-matrix/build"

PackageName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.+_-]{0,99}$")]


ContainerName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][A-Za-z0-9._:/@-]{0,254}$")]


# An id, or the name of a parameter below a path, of which Systems Manager takes fifteen steps:
# https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
AmiName = Annotated[
    str, StringConstraints(pattern=r"^(ami-[0-9a-f]{8,17}|(/[A-Za-z0-9_.-]{1,200}){2,15})$", max_length=1_000)
]


class Image(InputModel):
    """Machine image of the instances, and software to install beside the tools of the workloads."""

    ami: Annotated[AmiName | None, Field(examples=["ami-0123456789abcdef0", "/golden/al2023"])] = None
    """Your own machine image instead of the newest of `os`: an AMI id, or the name of a Systems Manager parameter that
    holds one. `os` then names the system that it is based on."""
    os: Annotated[Os, Field(examples=["ubuntu-22.04"])] = "al2023"
    """Operating system: the newest Amazon Linux 2023 or Ubuntu 22.04. Its architecture follows the instance type."""
    bake: Annotated[bool, Field(examples=[True])] = False
    """Install once, keep the result as an AMI, and boot it in this run and later ones. Else each instance installs."""
    packages: Annotated[list[PackageName], Field(max_length=100, examples=[["gcc", "make"]])] = Field(default=[])
    """Operating system packages to install in addition to those that the workloads need."""
    containers: Annotated[list[ContainerName], Field(max_length=20, examples=[["debian:12"]])] = Field(default=[])
    """Container images to pull with Docker."""
    dockerfile: Annotated[str | None, Field(max_length=16_000, examples=["FROM debian:12\nRUN apt-get update"])] = None
    """Text of a Dockerfile to build without a build context. The container image is named storage-matrix/build."""
