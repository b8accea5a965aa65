"""Amazon S3: a prefix of the stack's data bucket, read by a client or a command of the user's choice."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import BucketName, ObjectPrefix, Rule
from matrix.storages.base import (
    BEYOND_ANY_FLEET_BYTES_PER_S,
    OF_A_PREFIX,
    CeilingWords,
    ServiceLimits,
    Storage,
    Traits,
    Words,
)
from matrix.storages.directory_buckets import OBJECT_SERVICE, is_directory_bucket
from matrix.storages.metrics import StorageMetrics
from matrix.terms.charges import Charge, Usage
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problems
from matrix.terms.use import Use

# Programs of its clients, except botocore, which each instance has.
_PROGRAMS = {"crt": {"awscrt"}}


class S3Metrics(StorageMetrics):
    """Counts of objects: requests, by the agent's engine. CloudWatch's metrics of requests cost extra."""

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return requests per second."""
        del storage
        return use.get("requests_per_s")


class S3Storage(Storage):
    """Objects in Amazon S3 (Standard), each instance's below its own prefix; for reads, and for commands that read."""

    traits: ClassVar[Traits] = Traits(
        is_only_read=True,
        keeps_objects=True,
        # "One concurrent request for each 85–90 MB/s of desired network throughput" (S3 user guide, performance).
        stream_bytes_per_s=90e6,
        existing_fields=("bucket", "prefix"),
        # Seconds for recording the prefix's owner and deleting its objects: expected, and at most.
        create_and_delete_s=10.0,
        create_and_delete_most_s=900.0,
        words=Words(
            "S3",
            "S3 by",
            {"client": "client {}", "bucket": "of {}", "prefix": "below {}"},
            in_names={"client": "{}"},
            in_ids={"client": "{}", "bucket": "{}"},
            named_by=("client",),
            supposed={"client": "boto3"},
        ),
        ceilings=CeilingWords(
            "S3 requests of a prefix",
            "S3 throughput",
            "spread the objects over more prefixes, or ask for larger ranges",
            "",
            # A fleet reaches the network limits of its instances before any throughput limit of S3.
            is_throughput_bounded=False,
        ),
        metrics=S3Metrics(),
        is_billed_by_use=True,
        # Of a GET. Published: 669 records/s by 7 threads, random, S3A.
        read_latency_s=0.0105,
        # Of a PUT. S3 user guide, performance: 100 to 200 ms at worst; usual is less.
        create_latency_s=0.03,
        sync_latency_s=0.03,
    )

    type: Literal["s3"]
    """Kind of storage."""
    client: Literal["boto3", "crt", "command"] = "boto3"
    """Who reads: boto3 or the AWS Common Runtime by ranged GETs, or a workload `command`."""
    bucket: Annotated[BucketName | None, Field(examples=["my-tables"])] = None
    """A bucket of yours in the stack's region, whose objects commands read. Nothing is written, tagged or deleted."""
    prefix: Annotated[ObjectPrefix | None, Field(examples=["sales/2026"])] = None
    """Prefix of these objects."""

    @property
    def only_workloads(self) -> tuple[str, ...]:
        """`command` if that is its client, else `read`, and `objects` if each request can be counted."""
        return {"command": ("command",), "boto3": ("read", "objects")}.get(self.client, ("read",))

    def refused_by_image(self, os: str) -> tuple[str, str] | None:
        """Return that Ubuntu lacks a package that client crt needs."""
        if self.client != "crt" or os != "ubuntu-22.04":
            return None
        rule = "has no package of the Common Runtime (python3-awscrt), which client crt needs"
        return rule, "write al2023, or client boto3"

    @property
    def gateway_service(self) -> str:
        return OBJECT_SERVICE

    @property
    def bandwidth_bytes_per_s(self) -> float:
        return BEYOND_ANY_FLEET_BYTES_PER_S

    @property
    def effective_iops(self) -> int:
        """GETs per second of a prefix."""
        return int(OF_A_PREFIX.read.requests_per_s)

    @property
    def service_limits(self) -> ServiceLimits:
        return OF_A_PREFIX

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield its stored data and its requests."""
        yield Charge("s3_gib_month", usage.kept_gib_months)
        yield Charge("s3_get", usage.read_requests)
        yield Charge("s3_put", usage.write_requests)

    @classmethod
    def tools(cls, document: StorageFields) -> frozenset[str]:
        """Return its client's programs, except boto3."""
        return frozenset(_PROGRAMS.get(str(document.get("client")), ()))

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (what_exists_is_named_whole_and_read_by_commands, no_directory_bucket)


def what_exists_is_named_whole_and_read_by_commands(part: S3Storage) -> Problems:
    """Yield a problem for a prefix without a bucket, and for a client that would write its own data there."""
    if part.bucket and not part.prefix:
        yield part.problem("prefix", "is missing: only what lies below one is read", "write one")
    if part.prefix and not part.bucket:
        yield part.problem("bucket", "is missing: the stack's own bucket has other prefixes", "write it, or no prefix")
    if part.bucket and part.client != "command":
        rule = f"{part.client} reads what the run has written, and nothing is written to a bucket of yours"
        yield part.problem("client", rule, "write command, or leave out bucket and prefix")


def no_directory_bucket(part: S3Storage) -> Problems:
    """Yield a problem for a bucket of S3 Express One Zone, by its name."""
    if part.bucket and is_directory_bucket(part.bucket):
        rule = (
            "is a directory bucket of S3 Express One Zone, which is not S3 Standard and takes requests in sessions only"
            " (CreateSession)"
        )
        yield part.problem("bucket", rule, "write a general purpose bucket, or storage type mountpoint")
