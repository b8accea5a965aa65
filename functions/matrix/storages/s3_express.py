"""Amazon S3 Express One Zone: a directory bucket in one Availability Zone, which each run creates for itself."""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from matrix.storages.base import BEYOND_ANY_FLEET_BYTES_PER_S, CeilingWords, ServiceLimits, Storage, Traits, Words
from matrix.storages.directory_buckets import GATEWAY_SERVICE, OF_A_DIRECTORY_BUCKET, REQUEST_S, ZONES
from matrix.storages.s3 import S3Metrics
from matrix.terms.charges import Charge, Usage


class S3ExpressStorage(Storage):
    """Objects in a directory bucket of S3 Express One Zone, in the fleet's zone; each instance's below its own name."""

    traits: ClassVar[Traits] = Traits(
        is_only_read=True,
        keeps_objects=True,
        # Seconds for creating the bucket, and for deleting it with its objects: expected, and at most.
        create_and_delete_s=15.0,
        create_and_delete_most_s=900.0,
        words=Words(
            "S3 Express One Zone",
            "S3 Express by",
            {"client": "client {}"},
            in_names={"client": "{}"},
            in_ids={"client": "{}"},
            named_by=("client",),
            supposed={"client": "boto3"},
        ),
        ceilings=CeilingWords(
            "S3 Express requests of a directory bucket",
            "S3 throughput",
            "ask AWS Support for more requests per second of the bucket, or for larger ranges",
            "",
            # A fleet reaches the network limits of its instances before any throughput limit of S3.
            is_throughput_bounded=False,
        ),
        assumption=(
            "a GET or PUT of S3 Express One Zone takes 5 ms beside its bytes: AWS says single-digit milliseconds"
        ),
        metrics=S3Metrics(),
        is_billed_by_use=True,
        read_latency_s=REQUEST_S,
        create_latency_s=REQUEST_S,
        sync_latency_s=REQUEST_S,
        # A directory bucket is in one zone.
        is_in_one_zone=True,
    )

    type: Literal["s3-express"]
    """Kind of storage."""
    client: Literal["boto3", "command"] = "boto3"
    """Who reads and writes: boto3, for workloads `read` and `objects`, or a workload `command`."""

    @property
    def only_workloads(self) -> tuple[str, ...]:
        """`command` if that is its client, else `read` and `objects`."""
        return ("command",) if self.client == "command" else ("read", "objects")

    @property
    def bandwidth_bytes_per_s(self) -> float:
        return BEYOND_ANY_FLEET_BYTES_PER_S

    @property
    def effective_iops(self) -> int:
        """Writes per second of a directory bucket."""
        return int(OF_A_DIRECTORY_BUCKET.written.requests_per_s)

    @property
    def service_limits(self) -> ServiceLimits:
        return OF_A_DIRECTORY_BUCKET

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield its stored data, its requests, and each GiB that is written or read (S3 pricing since April 2025)."""
        yield Charge("s3_express_gib_month", usage.kept_gib_months)
        yield Charge("s3_express_get", usage.read_requests)
        yield Charge("s3_express_put", usage.write_requests)
        yield Charge("s3_express_read_gib", usage.read_bytes.times(1 / 2**30))
        yield Charge("s3_express_write_gib", usage.written_bytes.times(1 / 2**30))

    @property
    def lacks_own_key(self) -> bool:
        return True

    @property
    def gateway_service(self) -> str:
        """The gateway service of directory buckets."""
        return GATEWAY_SERVICE

    @property
    def offered_zones(self) -> Mapping[str, tuple[str, ...]]:
        """The zones that offer S3 Express One Zone."""
        return ZONES
