"""Amazon S3 Files: a bucket as a file system that all instances of a cell mount."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from matrix.fields.types import SizeOrNone
from matrix.storages.base import FILE_SYSTEM_ID, BlockTimes, CeilingWords, Limit, ServiceLimits, Storage, Traits, Words
from matrix.storages.directory_buckets import OBJECT_SERVICE
from matrix.storages.metrics import MINUTE_S, ClientCap, StorageMetrics, metrics_table
from matrix.terms.charges import METERED_METADATA_BYTES, Amount, Charge, Usage, metered_by_mounts
from matrix.terms.documents.parts import StorageFields
from matrix.terms.use import Use, nfs_operations, total

# S3 user guide, S3 Files performance (read in November 2026): of a file system, and of one client.
READ_IOPS, WRITE_IOPS = 250_000, 50_000
READ_BYTES_PER_S = 1e12  # "terabytes per second"
MIN_WRITE_GIBPS, MOST_WRITE_GIBPS, CLIENT_READ_GIBPS = 1.0, 5.0, 3.0
# "The minimum billable file size on high-performance storage is 10 KiB" (S3 Files metering, read in November 2026).
MIN_FILE_BYTES = 10 * 2**10
# The FileSystemId of CreateFileSystem's model; EFS's ids are shorter.
FileSystemId = Annotated[str, StringConstraints(pattern=r"^fs-[0-9a-f]{17,40}$")]


# Ages and pending exports show whether written data had reached the bucket by then.
_OF_FILE_SYSTEM = metrics_table(
    "AWS/S3/Files",
    ("FileSystemId",),
    MINUTE_S,
    """
    DataReadBytes      Sum     bytes
    DataWriteBytes     Sum     bytes
    MetadataReadBytes  Sum     bytes
    MetadataWriteBytes Sum     bytes
    PendingExports     Maximum files
    ExportAge          Maximum s
    ExportFailures     Sum     files
    ImportFailures     Sum     files
    LostAndFoundFiles  Maximum files
    ClientConnections  Sum     connections
    """,
)


class S3FilesMetrics(StorageMetrics):
    """Counts of S3 Files by CloudWatch and the kernel's NFS client (S3 user guide, read in November 2026)."""

    of_file_system = _OF_FILE_SYSTEM
    bytes = {
        "read": ("AWS/S3/Files DataReadBytes", None),
        "written": ("AWS/S3/Files DataWriteBytes", None),
        "metadata": ("AWS/S3/Files MetadataReadBytes", None),
    }
    counters = {"s3-files": "nfs"}
    operations_unit = "writes/s, as which requests count"

    def operations_of(self, storage: StorageFields, use: Use) -> float | None:
        """Return requests per second in units of writes: the file system allows five times as many reads.

        No source gives the part of a metadata request; it counts as a read.
        """
        del storage
        if nfs_operations(use) is None:
            return None
        others = total(use, ("nfs_read_operations_per_s", "nfs_other_operations_per_s")) or 0.0
        return use.get("nfs_write_operations_per_s", 0.0) + others * WRITE_IOPS / READ_IOPS

    def client_cap(self, storage: StorageFields) -> ClientCap:
        """Return 3 GiB/s, which AWS gives for reads only."""
        del storage
        return ClientCap("S3 Files per-client cap", CLIENT_READ_GIBPS * 2**30, "spread the work over more instances")


class S3FilesStorage(Storage):
    """An Amazon S3 Files file system, shared by the instances of a cell; it shows objects of a bucket as files."""

    traits: ClassVar[Traits] = Traits(
        existing_fields=(FILE_SYSTEM_ID,),
        bursts_by="directReads",
        limits_count=", of writes",
        # Seconds that creating and deleting it takes, and may take: mount targets "up to about 5 minutes" (its guide).
        create_and_delete_s=420.0,
        create_and_delete_most_s=2_700.0,
        words=Words(
            "S3 Files",
            "S3 Files",
            {
                "directReads": {False: "no direct reads"},
                "importTrigger": "import {}",
                "importBelow": "imports below {}",
                "expireAfterDays": "expires after {} days",
                "fileSystemId": "{}",
            },
            in_ids={
                "directReads": {False: "indirect"},
                "importTrigger": {"onFileAccess": "on-file"},
                "importBelow": "below{}",
                "expireAfterDays": "{}d",
                "fileSystemId": "{}",
            },
            usual={"importTrigger": "onDirectoryFirstAccess", "importBelow": "128KiB", "expireAfterDays": 30},
        ),
        ceilings=CeilingWords(
            "S3 Files IOPS limit",
            "S3 Files throughput",
            "use fewer and larger files",
            "spread the work over several buckets, each with a file system",
        ),
        assumption=(
            "creating and deleting an S3 Files file system takes 7 minutes; creates and syncs take as long as on EFS,"
            " on which it runs; its reads cost between nothing (all straight from S3) and the price of its hot storage"
        ),
        metrics=S3FilesMetrics(),
        is_billed_by_use=True,
        # Those of EFS, on which it runs, because none are published for S3 Files.
        create_latency_s=0.012,
        sync_latency_s=0.04,
        tools=frozenset({"mount.nfs", "mount.s3files"}),
    )

    type: Literal["s3-files"]
    """Kind of storage."""
    direct_reads: bool = True
    """Read large data straight from S3 where S3 has them; false: all reads go through the file system."""
    import_trigger: Literal["onDirectoryFirstAccess", "onFileAccess"] = "onDirectoryFirstAccess"
    """When data of objects are imported to the hot storage: with their directory, or with the file itself."""
    import_below: Annotated[SizeOrNone, Field(le=52_673_613_135_872, examples=["1MiB"])] = 131_072
    """Only objects below this size are imported; larger ones are read from S3."""
    expire_after_days: Annotated[int, Field(ge=1, le=365, examples=[1])] = 30
    """Days without access after which the hot storage drops data that S3 has."""
    file_system_id: Annotated[FileSystemId | None, Field(examples=["fs-0123456789abcdef0"])] = None
    """Id of a file system that exists. The run works in a folder of its own and leaves the file system as it was."""

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second that all clients together may write in the slowest regions (1 to 5 GiB/s by region)."""
        return MIN_WRITE_GIBPS * 2**30

    @property
    def service_limits(self) -> ServiceLimits:
        """Terabytes per second of reads are beyond any fleet."""
        return ServiceLimits(Limit(requests_per_s=READ_IOPS), Limit(MOST_WRITE_GIBPS * 2**30, WRITE_IOPS))

    @property
    def effective_iops(self) -> int:
        """Writes per second of the whole file system."""
        return WRITE_IOPS

    @property
    def is_throughput_published(self) -> bool:
        """No limit holds everywhere: AWS says terabytes per second of reads and 1 to 5 GiB/s of writes, by region."""
        return False

    def metered_bytes(
        self, counted: Mapping[str, float], a_byte: tuple[float | None, float | None]
    ) -> tuple[Amount, Amount] | None:
        """Return what it meters at the most with direct reads, as reads from S3 cost less."""
        return metered_by_mounts(counted, a_byte)

    @property
    def gateway_service(self) -> str:
        """S3, from which instances read large data directly."""
        return OBJECT_SERVICE if self.direct_reads else ""

    def gateway_bytes(self, usage: Usage) -> Amount:
        """Return the bytes of reads; small ones may come from the file system."""
        return usage.read_bytes._replace(low=0.0)

    def refused_by_image(self, os: str) -> tuple[str, str] | None:
        """Return that Ubuntu 22.04 cannot build the mount helper."""
        if os != "ubuntu-22.04":
            return None
        rule = "has no package of amazon-efs-utils 3, which needs Rust 1.91 to be built, and this release has 1.75"
        return rule, "write al2023, which has the package"

    @property
    def block_times(self) -> BlockTimes | None:
        """EFS's latencies for a block, because it runs on EFS: about 1 ms and 2.7 ms (EFS guide, performance)."""
        return BlockTimes(0.001, 0.002_7, 2**20, read_iops=READ_IOPS, read_bytes_per_s=READ_BYTES_PER_S)

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield hot storage, its reads and writes, and the exported objects (S3 Files metering).

        Written data are exported once: read with their metadata, and put. Objects keep a version of each export.
        """
        files, stored = usage.write_requests, usage.stored_bytes
        # A file may be billed as larger than it is; how many there are at once is not known.
        hot = usage._replace(stored_bytes=stored._replace(high=stored.high + files.high * MIN_FILE_BYTES))
        written = usage.written_bytes.and_also(usage.written_padding)
        yield Charge("s3_files_gib_month", hot.varying_gib_months)
        yield Charge("s3_gib_month", usage.varying_gib_months)
        # Each read of a file is one of metadata, too, wherever its data are; how many there are is known at most.
        looked_up = Amount(0.0, 0.0, usage.read_requests.high * METERED_METADATA_BYTES)
        data = usage.read_bytes.and_also(usage.read_padding)
        # A file that is deleted before its export, a minute after its last change, is never exported.
        exported = written.and_also(files.times(METERED_METADATA_BYTES))._replace(low=0.0)
        through = data._replace(low=0.0 if self.direct_reads else data.low)
        yield Charge("s3_files_read_gib", through.and_also(looked_up).and_also(exported).times(1 / 2**30))
        yield Charge("s3_files_write_gib", written.times(1 / 2**30))
        yield Charge("s3_put", files._replace(low=0.0))
