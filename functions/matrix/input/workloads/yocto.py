"""Yocto builds: bitbake of an image, with all of its sources in a download cache on the storage."""

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from matrix.fields.types import Rule
from matrix.input.image import BUILT
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.expected import ALONE, ExpectedSeconds, expected_for_any_storage, seconds_of
from matrix.input.workloads.shell import CachePath
from matrix.input.workloads.sweeps import Footprint, Params
from matrix.storages.base import Storage
from matrix.storages.models import how_many
from matrix.terms.documents.parts import Volume

# Each becomes an argument of bitbake, git or docker and must not have the form of their options.
Image = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$")]
Release = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$")]
ContainerImage = Annotated[str, StringConstraints(max_length=255, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$")]

# Assumed, not measured: sources of core-image-sato-sdk with the mirror tarballs of their git repositories, which each
# build reads once, and the other data that a build writes.
DOWNLOADS_BYTES = 15e9
BUILD_BYTES = 80e9


class YoctoWorkload(Workload):
    """Builds a Yocto image with bitbake, its sources on the storage; primary metric duration_s."""

    primary_metric: ClassVar[str] = "duration_s"
    yields: ClassVar[frozenset[str]] = frozenset({"fetch_s"})
    tools: ClassVar[frozenset[str]] = frozenset({"docker"})
    size_field: ClassVar[str] = "image"
    assumption: ClassVar[str] = (
        "a Yocto build takes its expectedSeconds, reads 15 GB of sources and writes 80 GB beside them"
    )

    type: Literal["yocto"]
    """Kind of workload."""
    image: Annotated[Image, Field(examples=["core-image-sato-sdk"])]
    """Image that bitbake builds; poky's qemux86-64 unless the release says otherwise."""
    release: Release = "kirkstone"
    """Branch or tag of poky."""
    container: ContainerImage = "crops/poky:ubuntu-22.04"
    """Container image with Yocto's host tools, fetched before the time. storage-matrix/build: from image.dockerfile."""
    cache_path: CachePath = "cache"
    """Folder of the cache, relative to the root of the storage: poky itself and DL_DIR."""
    build_disk_gib: Annotated[int, Field(alias="buildDiskGiB", ge=50, le=1_000)] = 100
    """Size of the gp3 volume that the build is on beside shared storage, as Yocto cannot build on NFS."""
    expected_seconds: Annotated[ExpectedSeconds, Field(examples=[{"1": 6000, "200": 11000}])] = Field(
        default={ALONE: 6_000}
    )
    """About how many seconds one build takes, or a map by fleet size: it sets deadline and cost of a cell."""
    expected_fetch_seconds: Annotated[int, Field(ge=1, le=86_400)] = 900
    """About how many seconds fetching all sources takes: once per shared file system, or on each instance with EBS."""

    @property
    def populate_seconds(self) -> float:
        """Estimated seconds to fill the cache."""
        return float(self.expected_fetch_seconds)

    @property
    def containers(self) -> tuple[str, ...]:
        """The container with Yocto's host tools."""
        return () if self.container == BUILT else (self.container,)

    def work_volume(self, storage: Storage) -> Volume | None:
        """Return the volume of the build; None if the build is on the storage, because that is the instance's own."""
        return {"volumeType": "gp3", "sizeGiB": self.build_disk_gib} if storage.traits.is_shared else None

    def points(self) -> list[Params]:
        params = {"image": self.image, "release": self.release, "container": self.container}
        return [params | {"cache_path": self.cache_path}]

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance for one step."""
        del params
        on_each = math.ceil(clients.count / how_many(storage.document))
        seconds = seconds_of(self.expected_seconds, storage.type, on_each)
        if storage.traits.is_shared:
            # The sources are stored once, for any number of builds.
            share = DOWNLOADS_BYTES / clients.count
            return Footprint(seconds, read_bytes=DOWNLOADS_BYTES, stored_bytes=share, longest_s=seconds)
        stored = DOWNLOADS_BYTES + BUILD_BYTES
        return Footprint(seconds, DOWNLOADS_BYTES + BUILD_BYTES, BUILD_BYTES, stored, longest_s=seconds)

    @property
    def slug(self) -> str:
        return self.name or f"{self.type}-{self.image}".lower().replace("_", "-").replace("+", "-").replace(".", "-")

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (expected_for_any_storage,)
