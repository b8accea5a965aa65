"""AWS's limits, in one dated table, so that an engineer can correct one in a minute.

A firm limit makes a problem. If sources disagree or only second-hand reports exist, the limit is not firm and makes a
warning: AWS decides when the resource is created.

Sources: "model" is the service model in botocore 1.43.11 (read November 2026), "EBS guide", "EFS guide", "FSx guide"
the AWS user guides, "report" second-hand. Dates say when the source was read. The guides, below
https://docs.aws.amazon.com: ebs/latest/userguide/ebs-volume-types.html, efs/latest/ug/limits.html,
efs/latest/ug/performance.html, fsx/latest/OpenZFSGuide/performance-ssd.html,
step-functions/latest/dg/service-quotas.html, tag-editor/latest/userguide/best-practices-and-strats.html,
ec2/latest/devguide/ec2-api-throttling.html.
"""

from dataclasses import dataclass

READ = "2026-11"


@dataclass(frozen=True)
class Limit:
    """A bound with its unit and where it was read; not firm means that sources disagree."""

    value: float
    unit: str
    source: str
    read: str = READ
    is_firm: bool = True


@dataclass(frozen=True)
class Span:
    """Smallest and largest allowed value."""

    least: int
    most: int
    unit: str
    source: str
    read: str = READ
    is_firm: bool = True


# --- EBS: model, CreateVolume -----------------------------------------------------------------------------------------
EBS_SIZE_GIB = {
    "gp2": Span(1, 16_384, "GiB", "model, CreateVolume Size"),
    "gp3": Span(1, 65_536, "GiB", "model, CreateVolume Size"),
    "io1": Span(4, 16_384, "GiB", "model, CreateVolume Size"),
    "io2": Span(4, 65_536, "GiB", "model, CreateVolume Size"),
    "st1": Span(125, 16_384, "GiB", "model, CreateVolume Size"),
    "sc1": Span(125, 16_384, "GiB", "model, CreateVolume Size"),
}
EBS_IOPS = {
    "gp3": Span(3_000, 80_000, "IOPS", "model, CreateVolume Iops"),
    "io1": Span(100, 64_000, "IOPS", "model, CreateVolume Iops"),
    "io2": Span(100, 256_000, "IOPS", "model, CreateVolume Iops"),
}
# Reports dispute gp3's ratio beyond the old 16,000 IOPS. The guide has had 500 per GiB since 2020, so it is firm.
EBS_IOPS_PER_GIB = {
    "gp3": Limit(500, "IOPS/GiB", "EBS guide, gp3 volume performance"),
    "io1": Limit(50, "IOPS/GiB", "EBS guide, Provisioned IOPS SSD volumes"),
    "io2": Limit(1_000, "IOPS/GiB", "EBS guide, io2 Block Express volumes"),
}
GP3_BASE_IOPS = Limit(3_000, "IOPS", "EBS guide, gp3: included at any size")
GP3_BASE_THROUGHPUT = Limit(125, "MiB/s", "EBS guide, gp3: included at any size")
GP3_THROUGHPUT_MIBPS = Span(125, 2_000, "MiB/s", "model, CreateVolume Throughput")
GP3_MIBPS_PER_IOPS = Limit(0.25, "MiB/s per IOPS", "EBS guide, gp3 volume performance")

# Volumes from a snapshot: the rate at which blocks come from S3, and how much of it a region may have at once.
EBS_INITIALIZATION_MIBPS = Span(100, 300, "MiB/s", "model, EbsBlockDevice VolumeInitializationRate")
EBS_INITIALIZATION_MIBPS_AT_ONCE = Limit(5_000, "MiB/s", "EBS guide, quotas", is_firm=False)
# Without a rate EBS promises none: terraform-aws-github-runner, issue 5163.
EBS_LAZY_MIBPS = Limit(5, "MiB/s", "report", is_firm=False)
# A fast restored volume takes one credit of its snapshot and zone: there are 1,024 / GiB, from 1 to 10.
EBS_FAST_RESTORE_GIB = Limit(1_024, "GiB per credit", "EBS guide, volume creation credits")
MAX_EBS_FAST_RESTORES = Limit(10, "volumes", "EBS guide, volume creation credits")

# Above its baseline (3 IOPS per GiB, at least 100) a gp2 volume pays from I/O credits; it begins with 5.4 million.
GP2_IOPS_PER_GIB = Limit(3, "IOPS/GiB", "EBS guide, gp2 volume performance")
GP2_LEAST_IOPS = Limit(100, "IOPS", "EBS guide, gp2 volume performance")
GP2_MOST_IOPS = Limit(16_000, "IOPS", "EBS guide, gp2 volume performance")
GP2_BURST_IOPS = Limit(3_000, "IOPS", "EBS guide, gp2 volume performance")
GP2_CREDITS = Limit(5.4e6, "I/O credits", "EBS guide, I/O credits and burst performance")
# MiB/s per TiB always, MiB/s per TiB and at the most in a burst; a full balance is 1 TiB for each TiB of volume.
HDD_MIBPS_PER_TIB = {"st1": (40, 250, 500), "sc1": (12, 80, 250)}

# --- EFS: model, CreateFileSystem; EFS guide, quotas ------------------------------------------------------------------
EFS_PROVISIONED_MIBPS = Span(1, 3_414, "MiB/s", "model, CreateFileSystem ProvisionedThroughputInMibps")
# Above 1,024 MiB/s the quota depends on the region and may have to be raised.
EFS_PROVISIONED_USUAL_MIBPS = Limit(1_024, "MiB/s", "EFS guide, quotas that you can increase", is_firm=False)
EFS_CLIENT_MIBPS = Limit(500, "MiB/s", "EFS guide, performance: one client without efs-utils 2.0")
EFS_CLIENT_ELASTIC_MIBPS = Limit(1_500, "MiB/s", "EFS guide, performance: one client, elastic, efs-utils 2.0")
# Bursting: 50 KiB/s per GiB stored, at least 1 MiB/s; 100 MiB/s from credits, of which there are 2.1 TiB at first.
EFS_MIBPS_PER_TIB = Limit(50, "MiB/s per TiB", "EFS guide, throughput modes: bursting")
EFS_LEAST_MIBPS = Limit(1, "MiB/s", "EFS guide, throughput modes: bursting")
EFS_BURST_MIBPS = Limit(100, "MiB/s", "EFS guide, throughput modes: bursting")
EFS_CREDITS_TIB = Limit(2.1, "TiB", "EFS guide, throughput modes: credits of a new file system")

# --- FSx for OpenZFS: model, CreateFileSystemOpenZFSConfiguration -----------------------------------------------------
FSX_STORAGE_GIB = Span(64, 524_288, "GiB", "model, CreateFileSystem StorageCapacity")
_FIRST_GENERATION = (64, 128, 256, 512, 1_024, 2_048, 3_072, 4_096)
_SECOND_GENERATION = (160, 320, 640, 1_280, 2_560, 3_840, 5_120, 7_680, 10_240)
FSX_THROUGHPUT_MBPS = {
    "SINGLE_AZ_1": _FIRST_GENERATION,
    "SINGLE_AZ_HA_1": _FIRST_GENERATION,
    "SINGLE_AZ_2": _SECOND_GENERATION,
    "SINGLE_AZ_HA_2": _SECOND_GENERATION,
    "MULTI_AZ_1": _SECOND_GENERATION,
}
# The model lists the values for SINGLE_AZ_1, SINGLE_AZ_2 and MULTI_AZ_1; for the HA types it gives only the range.
FSX_THROUGHPUT_LISTED = frozenset({"SINGLE_AZ_1", "SINGLE_AZ_2", "MULTI_AZ_1"})
# The model has 64 MB/s as the minimum; according to a report HA starts at 128.
FSX_HA_1_LEAST_MBPS = Limit(128, "MB/s", "report", is_firm=False)
FSX_IOPS_PER_GIB = Limit(3, "IOPS/GiB", "model, DiskIopsConfiguration")
FSX_MOST_IOPS_PER_GIB = Limit(1_000, "IOPS/GiB", "FSx guide, SSD IOPS and performance")
# The regions with fewer (FSx guide, the note there).
FSX_FEW_IOPS_PER_GIB = Limit(50, "IOPS/GiB", "FSx guide, SSD IOPS and performance, note")
FSX_FEW_IOPS_REGIONS = frozenset({
    "af-south-1", "ap-east-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2", "ap-southeast-3",
    "ca-central-1", "eu-north-1", "eu-south-1", "eu-west-2", "eu-west-3", "il-central-1", "me-central-1", "me-south-1",
    "sa-east-1",
})  # fmt: skip
FSX_RECORD_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1_024)
# By throughput capacity in MB/s: GB of the server's cache, in memory and (Single-AZ 2) on NVMe, burst MB/s of its
# disks, burst and baseline MB/s of its network. The baseline of its disks is the capacity. Source: FSx guide, SSD
# storage. If hardware differs between regions, the larger figure, so that nothing sustained is called burst or cached.
FSX_SERVERS = {
    "first": {
        64: (3, 1_024, 3_200, 200), 128: (11.2, 1_024, 3_200, 400), 256: (22.4, 1_024, 3_200, 800),
        512: (44.8, 1_024, 3_200, 1_600), 1_024: (89.6, 1_024, 3_200, 3_200), 2_048: (179.2, 2_048, 6_400, 6_400),
        3_072: (268.8, 3_072, 9_600, 9_600), 4_096: (358.4, 4_096, 12_800, 12_800),
    },
    "second": {
        160: (43, 3_125, 3_125, 375), 320: (91.2, 3_125, 3_750, 775), 640: (182.4, 3_125, 5_000, 1_550),
        1_280: (364.8, 3_125, 6_250, 3_125), 2_560: (729.6, 2_560, 6_250, 6_250), 3_840: (1_094.4, 3_840, 9_375, 9_375),
        5_120: (1_459.2, 5_120, 12_500, 12_500), 7_680: (2_188.8, 7_680, 18_750, 18_750),
        10_240: (2_918.4, 10_240, 21_000, 21_000),
    },
    # Intelligent-Tiering also has a read cache of its own size, and its reads are limited to its capacity.
    "tiering": {
        160: (3, 160, 3_125, 375), 320: (11.2, 320, 3_750, 775), 640: (22.4, 640, 5_000, 1_550),
        1_280: (44.8, 1_280, 6_250, 3_125), 2_560: (89.6, 2_560, 6_250, 6_250), 3_840: (134.4, 3_840, 9_375, 9_375),
        5_120: (179.2, 5_120, 12_500, 12_500), 7_680: (268.8, 7_680, 18_750, 18_750),
        10_240: (358.4, 10_240, 21_000, 21_000),
    },
    "multi-az": {
        160: (11.2, 3_125, 3_125, 400), 320: (22.4, 3_125, 3_750, 800), 640: (44.8, 3_125, 5_000, 1_600),
        1_280: (89.6, 3_125, 6_250, 3_200), 2_560: (179.2, 2_560, 6_400, 6_400), 3_840: (268.8, 3_840, 9_600, 9_600),
        5_120: (358.4, 5_120, 12_800, 12_800), 7_680: (268.8, 7_680, 18_750, 18_750),
        10_240: (358.4, 10_240, 21_000, 21_000),
    },
}  # fmt: skip

# Disk IOPS of the same servers, of both storage classes: always for each MB/s (2,500 at 64, 6,250 at 160), and in a
# burst, which larger servers than 512 or 1,280 MB/s have always.
FSX_SERVER_IOPS_PER_MBPS = Limit(39.0625, "IOPS per MB/s", "FSx guide, data access from disk")
FSX_SERVER_BURST_IOPS = {"first": 40_000, "second": 100_000, "tiering": 100_000, "multi-az": 100_000}
# Of 10,240 MB/s a Multi-AZ file system writes only these (FSx guide, data access from disk, note).
FSX_MULTI_AZ_WRITE_MBPS = Limit(7_500, "MB/s", "FSx guide, data access from disk, note")
# Intelligent-Tiering: the share of its capacity for writes (FSx guide, Intelligent-Tiering).
FSX_TIERING_WRITE_SHARE = Limit(0.75, "of the capacity", "FSx guide, Intelligent-Tiering, up to 3,840 MB/s")
FSX_TIERING_WRITE_MBPS = Limit(3_200, "MB/s", "FSx guide, Intelligent-Tiering, above 3,840 MB/s")
FSX_TIERING_SHARED_UP_TO_MBPS = Limit(3_840, "MB/s", "FSx guide, Intelligent-Tiering: the last that writes 75 %")

# --- Step Functions: service quotas -----------------------------------------------------------------------------------
# --- Tags: the service models have the lengths, the guide of EC2 the number -------------------------------------------
TAGS_PER_RESOURCE = Limit(50, "tags", "Tagging guide, tag naming limits; model, FSx Tags")
TAG_KEY_CHARACTERS = Limit(128, "characters", "model, EFS and FSx TagKey")
TAG_VALUE_CHARACTERS = Limit(256, "characters", "model, EFS and FSx TagValue")

SFN_INPUT_BYTES = Limit(262_144, "bytes", "Step Functions guide, quotas: state input and output")
SFN_EVENTS = Limit(25_000, "events", "Step Functions guide, quotas: history of one execution")

# --- EC2 --------------------------------------------------------------------------------------------------------------
# No quota: a fleet above it has not been seen to work with one RunInstances bucket of 1,000 (refilled at 2 per second).
EC2_AT_ONCE = Limit(2_000, "instances", "EC2 guide, request throttling: RunInstances resource bucket", is_firm=False)
