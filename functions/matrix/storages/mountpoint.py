"""A bucket of Amazon S3, mounted by Mountpoint: files that are written once, from start to end.

It is the stack's bucket of S3 Standard, a directory bucket of S3 Express One Zone that the run creates, or a user's
bucket that is only read.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import BucketName, ObjectPrefix, Rule, Size
from matrix.storages.base import (
    BEYOND_ANY_FLEET_BYTES_PER_S,
    OF_A_PREFIX,
    Ability,
    CeilingWords,
    ServiceLimits,
    Storage,
    Traits,
    Words,
)
from matrix.storages.directory_buckets import (
    GATEWAY_SERVICE,
    OBJECT_SERVICE,
    OF_A_DIRECTORY_BUCKET,
    ZONES,
    is_directory_bucket,
)
from matrix.storages.metrics import StorageMetrics
from matrix.terms.charges import Amount, Charge, Usage
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problems, Weight
from matrix.terms.sizes import UNITS, format_size

# Mountpoint's configuration guide, performance: the size of one request's read or write.
PART_BYTES = 8 * UNITS["MiB"]
LEAST_READ_BYTES = 4_096
MIN_PART_BYTES, MAX_PART_BYTES = 5 * UNITS["MiB"], 5 * UNITS["GiB"]  # S3 user guide, multipart upload limits
# The cache is on the root volume of 20 GiB, which also has the system and the output of steps.
MAX_CACHE_MIB = 8_192
# "Mountpoint for Amazon S3 file system behavior", version 1.23, file operations, by the ability that is lacking.
LACKS: Mapping[Ability, str] = {
    Ability.WRITE_ANYWHERE: "Mountpoint writes new files only, each once and from its beginning to its end",
    Ability.SYNC_MIDWAY: "a sync completes the upload, and nothing more can be written to the file",
    Ability.SYNC_NAMES: "Mountpoint has no fsync of directories",
    Ability.ALLOCATE: "Mountpoint has no fallocate",
    Ability.RENAME: "S3 cannot rename an object of a general purpose bucket",
    Ability.SEE_OTHERS: "each instance mounts a prefix of its own",
    Ability.EVERYTHING: (
        "Mountpoint has no links, permissions, locks and renames of directories, and empty directories vanish"
    ),
}
# Mountpoint renames the objects of directory buckets since June 2025 (awslabs/mountpoint-s3, pull request 1468).
LACKS_EXPRESS: Mapping[Ability, str] = {
    ability: rule for ability, rule in LACKS.items() if ability is not Ability.RENAME
}
EXPRESS = "EXPRESS_ONEZONE"


class MountpointMetrics(StorageMetrics):
    """Metrics of a mounted bucket: no kernel counts its requests, and CloudWatch does so only for a fee."""

    def is_limited_by_operations(self, storage: StorageFields) -> bool:
        """Return False: Mountpoint requests parts, so the rate of operations does not determine that of requests."""
        del storage
        return False


class MountpointStorage(Storage):
    """A bucket of Amazon S3 mounted by Mountpoint, each instance its own prefix: new files, reads, deletes."""

    traits: ClassVar[Traits] = Traits(
        existing_fields=("bucket", "prefix"),
        # Seconds for recording the prefix's owner and deleting its objects: expected, and at most.
        create_and_delete_s=10.0,
        create_and_delete_most_s=900.0,
        words=Words(
            "Mountpoint",
            "Mountpoint",
            {
                "storageClass": {EXPRESS: "S3 Express One Zone"},
                "bucket": "of {}",
                "prefix": "below {}",
                "incrementalUpload": {True: "incremental upload"},
                "cacheMiB": "cache of {} MiB",
                "readPartSize": "reads parts of {}",
                "writePartSize": "writes parts of {}",
            },
        ),
        ceilings=CeilingWords(
            "S3 requests of a prefix",
            "S3 throughput",
            "use fewer and larger files",
            "",
            # A fleet reaches the network limits of its instances before any throughput limit of S3.
            is_throughput_bounded=False,
        ),
        assumption=(
            "Mountpoint asks S3 for whole parts where it reads and writes large files, and for one object and its"
            " listing where it reads or writes a small one"
        ),
        metrics=MountpointMetrics(),
        is_billed_by_use=True,
        # To the first byte of a read, and to create a file of one byte: medians of 30 of Mountpoint's own benchmark
        # runs until August 2026 (time_to_first_byte_read). For directory buckets the properties below have those of
        # small files, because the large file's 1 ms is shorter than a request. A sync completes an upload.
        read_latency_s=0.016,
        create_latency_s=0.036,
        sync_latency_s=0.036,
        tools=frozenset({"mount-s3"}),
    )

    type: Literal["mountpoint"]
    """Kind of storage."""
    storage_class: Annotated[Literal["EXPRESS_ONEZONE"] | None, Field(examples=["EXPRESS_ONEZONE"])] = None
    """EXPRESS_ONEZONE mounts a directory bucket that the run makes in the fleet's zone; S3 Standard unless given."""
    bucket: Annotated[BucketName | None, Field(examples=["my-tables"])] = None
    """A bucket of yours in the stack's region, mounted read-only. Nothing is written, tagged or deleted."""
    prefix: Annotated[ObjectPrefix | None, Field(examples=["sales/2026"])] = None
    """Prefix of the bucket to mount."""
    incremental_upload: bool | None = None
    """Upload while a file is written, part by part (`--incremental-upload`); for EXPRESS_ONEZONE only."""
    cache_mib: Annotated[int | None, Field(ge=1, le=MAX_CACHE_MIB, alias="cacheMiB", examples=[4096])] = None
    """Read cache in MiB on the instance's root volume, emptied before each step. Default: none."""
    read_part_size: Annotated[Size | None, Field(examples=["16MiB"])] = None
    """Largest part that it asks for in one GET. Default: 8 MiB."""
    write_part_size: Annotated[Size | None, Field(examples=["16MiB"])] = None
    """Part that it uploads in one request. Default: 8 MiB, which allows files of 78.1 GiB."""

    @property
    def lacks(self) -> Mapping[Ability, str]:
        """Abilities that Mountpoint's documentation excludes."""
        return LACKS_EXPRESS if self._is_express else LACKS

    @property
    def _is_express(self) -> bool:
        return self.storage_class == EXPRESS or (self.bucket is not None and is_directory_bucket(self.bucket))

    @classmethod
    def is_written_in(cls, document: StorageFields) -> bool:
        """Return False for an existing bucket."""
        return "bucket" not in document

    @classmethod
    def is_in_one_zone(cls, document: StorageFields) -> bool:
        """Return whether it is a directory bucket."""
        return "storageClass" in document or is_directory_bucket(document.get("bucket", ""))

    @property
    def offered_zones(self) -> Mapping[str, tuple[str, ...]] | None:
        """The zones that offer S3 Express One Zone, for a new directory bucket."""
        return ZONES if self.storage_class == EXPRESS else None

    @property
    def lacks_own_key(self) -> bool:
        """Whether it is a directory bucket of the run."""
        return self.storage_class == EXPRESS

    @property
    def gateway_service(self) -> str:
        """The gateway service of its kind of bucket."""
        return GATEWAY_SERVICE if self._is_express else OBJECT_SERVICE

    @property
    def bandwidth_bytes_per_s(self) -> float:
        return BEYOND_ANY_FLEET_BYTES_PER_S

    @property
    def effective_iops(self) -> int:
        """PUTs and deletes per second of a prefix, or of a directory bucket."""
        return int(self.service_limits.written.requests_per_s)

    @property
    def service_limits(self) -> ServiceLimits:
        return OF_A_DIRECTORY_BUCKET if self._is_express else OF_A_PREFIX

    @property
    def read_latency_s(self) -> float:
        return 0.006 if self._is_express else self.traits.read_latency_s

    @property
    def create_latency_s(self) -> float:
        return 0.007 if self._is_express else self.traits.create_latency_s

    @property
    def sync_latency_s(self) -> float:
        return self.create_latency_s

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield its stored data and its requests.

        Sequential reads are one GET per part, random reads one GET per read. Writes are one PUT per file and part.
        Before it, a HEAD and a LIST, which S3 bills as a PUT, look the file up. A directory bucket is also charged for
        each GiB that is read or written.
        """
        of_class = "s3_express_{}" if self._is_express else "s3_{}"
        yield Charge(of_class.format("gib_month"), usage.kept_gib_months)
        parts = usage.read_bytes.times(1 / (self.read_part_size or PART_BYTES))
        gets = [max(pair) for pair in zip(usage.read_requests, parts, strict=True)]
        yield Charge(of_class.format("get"), Amount(parts.low, (parts.expected + gets[1]) / 2, gets[2]))
        parts = usage.written_bytes.times(1 / (self.write_part_size or PART_BYTES))
        puts = [max(pair) for pair in zip(usage.write_requests, parts, strict=True)]
        yield Charge(of_class.format("put"), Amount(puts[0], 2 * puts[1], 3 * puts[2]))
        if self._is_express:
            yield Charge("s3_express_read_gib", usage.read_bytes.times(1 / 2**30))
            yield Charge("s3_express_write_gib", usage.written_bytes.times(1 / 2**30))

    @property
    def slug(self) -> str:
        words = ["mountpoint"] + (["express"] if self.storage_class else []) + ([self.bucket] if self.bucket else [])
        words += ["incremental"] if self.incremental_upload else []
        words += [f"cache{self.cache_mib}"] if self.cache_mib else []
        for word, size in (("read", self.read_part_size), ("write", self.write_part_size)):
            words += [f"{word}{size // UNITS['MiB']}mib"] if size else []
        return "-".join(words)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            parts_are_those_of_s3,
            what_exists_is_named_whole,
            uploads_are_incremental_where_objects_grow,
            a_cache_is_as_fast_as_its_disk,
        )


def a_cache_is_as_fast_as_its_disk(part: MountpointStorage) -> Problems:
    """Yield a warning for a cache, because the root volume may be slower than S3."""
    if part.cache_mib:
        rule = "the cache is on the root volume, a gp3 with 125 MiB/s and 3,000 IOPS: what it answers is no faster"
        yield part.problem("cacheMiB", rule, "leave it out to measure S3 alone", weight=Weight.UNFAIR)


def what_exists_is_named_whole(part: MountpointStorage) -> Problems:
    """Yield a problem for a prefix without a bucket, and for a storage class that the bucket's kind excludes."""
    if part.bucket and not part.prefix:
        yield part.problem("prefix", "is missing: only what lies below one is mounted", "write one")
    if part.prefix and not part.bucket:
        yield part.problem("bucket", "is missing: the run's own bucket has other prefixes", "write it, or no prefix")
    if part.bucket and part.storage_class:
        yield part.problem("storageClass", "is that of a bucket that the run makes; yours has its own", "leave it out")


def uploads_are_incremental_where_objects_grow(part: MountpointStorage) -> Problems:
    """Yield a problem if Mountpoint would refuse the option, or if nothing is written."""
    if part.incremental_upload and not part.storage_class:
        rule = "only directory buckets that the run makes can have it: other objects cannot be appended to"
        yield part.problem("incrementalUpload", rule, f'write storageClass "{EXPRESS}" beside it, or leave it out')


def parts_are_those_of_s3(part: MountpointStorage) -> Problems:
    """Yield a problem for part sizes that S3 does not accept."""
    for field, size in (("readPartSize", part.read_part_size), ("writePartSize", part.write_part_size)):
        least = MIN_PART_BYTES if field == "writePartSize" else LEAST_READ_BYTES
        if size is not None and not least <= size <= MAX_PART_BYTES:
            rule = f"must be from {format_size(least)} to 5GiB, as S3 takes and Mountpoint asks for"
            yield part.problem(field, rule, f'write "{format_size(PART_BYTES)}", or leave it out')
