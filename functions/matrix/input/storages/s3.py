"""Amazon S3: a prefix of the stack's data bucket, read by a client of the user's choice."""

from typing import ClassVar, Literal

from matrix.input.fields import InputModel, Name


class S3Storage(InputModel):
    """Objects in Amazon S3 (Standard), each instance's below its own prefix; for reads."""

    # Seconds that writing down whose the prefix is and deleting its objects takes, and may take.
    create_and_delete_s: ClassVar[float] = 10.0
    create_and_delete_most_s: ClassVar[float] = 900.0

    type: Literal["s3"]
    """Kind of storage."""
    name: Name | None = None
    """Your own name for it, used in ids and tables."""
    client: Literal["boto3", "crt", "mountpoint"] = "boto3"
    """Ranged GETs by boto3 or by the AWS Common Runtime, or files through Mountpoint for Amazon S3."""

    @property
    def is_shared(self) -> bool:
        """Whether the instances of a cell share it."""
        return True

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second of all clients together: no fleet reaches a bound, so what 1,000 instances can."""
        return 1_000 * 625e6

    @property
    def effective_iops(self) -> int:
        """GETs per second of a prefix that S3 has not split yet (S3 user guide, performance)."""
        return 5_500

    @property
    def read_latency_s(self) -> float:
        """Seconds that one GET takes beside its bytes (published: 669 records/s by 7 threads, random, S3A)."""
        return 0.0105

    @property
    def create_latency_s(self) -> float:
        """Seconds that one PUT of nothing takes (S3 user guide, performance: 100 to 200 ms at worst; usual is less)."""
        return 0.03

    @property
    def sync_latency_s(self) -> float:
        """Seconds that one PUT takes beside its bytes."""
        return 0.03

    @property
    def slug(self) -> str:
        """Readable id."""
        return f"s3-{self.client}"


RULES = ()
