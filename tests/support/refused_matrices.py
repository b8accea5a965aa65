"""Matrices that break one rule, as tables: what is written, the path of the problem, and its code.

Figures are from functions/matrix/fields/limits.py and the services' API models. tests/sentences.md has the sentence of
each row.
"""

from typing import Any

from support.matrices import (
    BUILD,
    COMMAND,
    DD,
    EBS,
    EFS,
    FILE_SERVER,
    FIO,
    FLEET,
    FSX,
    INSTANCE_STORE,
    METADATA,
    OBJECTS,
    READ,
    S3,
    S3_FILES,
    TOUCH,
    TPS,
    TRANSFER,
    YOCTO,
)

Document = dict[str, Any]
Row = tuple[Document, str, str]
OF_FLEET = {"instanceType", "count", "placement", "quorum", "bandwidthWeighting"}
GP2 = {"type": "ebs", "volumeType": "gp2", "sizeGiB": 100}
GP3 = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 100}
IO1 = {"type": "ebs", "volumeType": "io1", "sizeGiB": 100}
IO2 = {"type": "ebs", "volumeType": "io2", "sizeGiB": 100, "iops": 3000}
ST1 = {"type": "ebs", "volumeType": "st1", "sizeGiB": 124}
MULTI_AZ = FSX | {"deploymentType": "MULTI_AZ_1"}
TIERED = {
    "type": "fsx-openzfs",
    "deploymentType": "MULTI_AZ_1",
    "storageType": "INTELLIGENT_TIERING",
    "throughputCapacityMBps": 320,
    "readCacheGiB": 512,
}
LUSTRE = {"type": "fsx-lustre", "storageCapacityGiB": 1200}
PERSISTENT = {
    "type": "fsx-lustre",
    "deploymentType": "PERSISTENT_2",
    "storageCapacityGiB": 2400,
    "throughputMBpsPerTiB": 250,
}
LUSTRE_TIERED = {
    "type": "fsx-lustre",
    "deploymentType": "PERSISTENT_2",
    "storageType": "INTELLIGENT_TIERING",
    "throughputCapacityMBps": 8000,
    "readCacheGiB": 512,
    "metadataIops": 6000,
}
# A write-ahead log: each write is on the storage before the next.
LOGGED = {"type": "fio", "rw": "write", "bs": "8k", "size": "1G", "fdatasync": 1, "time_based": 1}
ONTAP = {"type": "fsx-ontap", "storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536}
ONTAP_MULTI = ONTAP | {"deploymentType": "MULTI_AZ_2"}
ONTAP_TWO = ONTAP | {"haPairs": 2, "storageCapacityGiB": 2048, "volumeStyle": "FLEXGROUP"}
NFS = {"type": "nfs", "source": "files.example.com:/export/builds"}
MOUNTPOINT = {"type": "mountpoint"}
IN_ONE_ZONE = MOUNTPOINT | {"bucket": "tables--use1-az4--x-s3", "prefix": "letters/2026"}
BY_COMMAND = {"type": "s3", "client": "command"}
THEIRS = BY_COMMAND | {"bucket": "theirs", "prefix": "letters/2026"}
LOCALLY = COMMAND | {"workDirectory": "local"}
READER = COMMAND | {"objectSize": "1GiB", "objects": 4, "primaryMetric": "mb_per_s"}
VOLUME = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8, "volumeId": "vol-0123456789abcdef0"}
EXISTING = EFS | {"fileSystemId": "fs-0123456789abcdef0"}  # pragma: allowlist secret
SNAPSHOT = {"snapshotId": "snap-0123456789abcdef0"}
NEW_FILES = {"type": "fio", "rw": "write", "bs": "256k", "size": "1g", "create_on_open": 1, "fallocate": "none"}
LOOKS = METADATA | {"phases": ["stat", "open-read", "list"]}
ANY_BYTE = {"access": "random", "offsets": "bytes", "caching": "cached"}


def without(document: Document, field: str) -> Document:
    return {key: value for key, value in document.items() if key != field}


def changed(**changes: Any) -> Document:
    """What is changed of the smallest matrix; a field of a fleet is one of its fleet."""
    of_fleet = {name: changes.pop(name) for name in OF_FLEET & changes.keys()}
    alone = {name: [changes[name]] for name in ("storage", "workload") if isinstance(changes.get(name), dict)}
    return changes | alone | ({"fleet": [FLEET | of_fleet]} if of_fleet else {})


def row(path: str, code: str, **changes: Any) -> Row:
    """A row of the tables below."""
    return changed(**changes), path, code


# Each alone with a workload that all file systems can do: (storage, field, code).
STORAGES = [
    (GP3 | {"sizeGiB": 10, "iops": 20000}, "iops", "iops-fit-the-size"),  # 20,000 / 500 = 40 GiB
    (GP3 | {"sizeGiB": 7, "iops": 3501}, "iops", "iops-fit-the-size"),  # 7 * 500 = 3,500
    (GP3 | {"iops": 2999}, "iops", "iops-are-offered"),
    (GP3 | {"sizeGiB": 200, "iops": 80001}, "iops", "iops-are-offered"),
    (GP3 | {"throughputMiBps": 124}, "throughputMiBps", "throughput-is-offered"),
    (GP3 | {"throughputMiBps": 751}, "throughputMiBps", "throughput-fits-the-iops"),  # 751 / 0.25 = 3,004 IOPS
    (GP3 | {"iops": 8100, "throughputMiBps": 2001}, "throughputMiBps", "throughput-is-offered"),
    (GP3 | {"sizeGiB": 0}, "sizeGiB", "size-is-offered"),
    (GP3 | {"sizeGiB": 65537}, "sizeGiB", "size-is-offered"),
    (GP2 | {"iops": 300}, "iops", "iops-are-offered"),
    (GP2 | {"sizeGiB": 16385}, "sizeGiB", "size-is-offered"),
    (ST1, "sizeGiB", "size-is-offered"),
    (IO1, "iops", "iops-are-offered"),
    (IO1 | {"iops": 5001}, "iops", "iops-fit-the-size"),  # 50 / GiB
    (IO2 | {"iops": None}, "iops", "iops-are-offered"),
    (IO2 | {"sizeGiB": 10, "iops": 10001}, "iops", "iops-fit-the-size"),  # 1,000 / GiB
    (IO2 | {"sizeGiB": 1000, "iops": 256001}, "iops", "iops-are-offered"),
    (IO2 | {"throughputMiBps": 500}, "throughputMiBps", "throughput-is-offered"),
    (GP3 | SNAPSHOT | {"raid0": 2}, "snapshotId", "snapshot-is-of-one-volume"),
    (GP3 | {"snapshotId": "vol-0123456789abcdef0"}, "snapshotId", "string-pattern-mismatch"),
    (GP3 | {"volumeInitializationRate": 300}, "volumeInitializationRate", "snapshot-is-of-one-volume"),
    (GP3 | {"fastSnapshotRestore": True}, "fastSnapshotRestore", "snapshot-is-of-one-volume"),
    (GP3 | SNAPSHOT | {"volumeInitializationRate": 99}, "volumeInitializationRate", "snapshot-is-of-one-volume"),
    (GP3 | SNAPSHOT | {"volumeInitializationRate": 301}, "volumeInitializationRate", "snapshot-is-of-one-volume"),
    (
        GP3 | SNAPSHOT | {"volumeInitializationRate": 300, "fastSnapshotRestore": True},
        "volumeInitializationRate",
        "snapshot-is-of-one-volume",
    ),
    (GP3 | {"mayWrite": True}, "mayWrite", "what-exists-is-one-volume"),
    (EFS | {"performanceMode": "maxIO"}, "performanceMode", "performance-mode-goes-with-throughput"),
    (
        EFS | {"performanceMode": "maxIO", "throughputMode": "bursting", "deployment": "oneZone"},
        "deployment",
        "performance-mode-goes-with-deployment",
    ),
    (EFS | {"throughputMode": "provisioned"}, "provisionedThroughputMiBps", "provisioned-has-its-figure"),
    (EFS | {"provisionedThroughputMiBps": 100}, "provisionedThroughputMiBps", "provisioned-has-its-figure"),
    (
        EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 3415},
        "provisionedThroughputMiBps",
        "provisioned-is-offered",
    ),
    (EFS | {"iam": True}, "iam", "iam-has-tls"),
    (EFS | {"fileSystemId": "home"}, "fileSystemId", "string-pattern-mismatch"),
    (EFS | {"fileSystems": 2}, "fileSystems", "extra-forbidden"),
    (FSX | {"throughputCapacityMBps": 300}, "throughputCapacityMBps", "throughput-is-offered"),  # 256 is nearest
    (FSX | {"throughputCapacityMBps": 320}, "throughputCapacityMBps", "throughput-is-offered"),  # others have it
    (MULTI_AZ, "throughputCapacityMBps", "throughput-is-offered"),  # 4,096 is SINGLE_AZ_1's
    (FSX | {"storageCapacityGiB": 10, "iops": None}, "storageCapacityGiB", "capacity-is-offered"),
    (FSX | {"iops": 3071}, "iops", "iops-are-offered"),  # 3 * 1,024
    (FSX | {"iops": 160_001}, "iops", "iops-are-offered"),  # SINGLE_AZ_1
    (MULTI_AZ | {"throughputCapacityMBps": 10_240, "iops": 400_001}, "iops", "iops-are-offered"),
    (FSX | {"storageCapacityGiB": 100, "iops": 100_001}, "iops", "iops-are-offered"),  # 1,000 / GiB
    (FSX | {"recordSizeKiB": 100}, "recordSizeKiB", "record-size-is-offered"),
    (TIERED | {"deploymentType": "SINGLE_AZ_2"}, "deploymentType", "storage-type-has-its-fields"),
    (TIERED | {"storageCapacityGiB": 1024}, "storageCapacityGiB", "storage-type-has-its-fields"),
    (TIERED | {"iops": 3000}, "iops", "storage-type-has-its-fields"),
    (TIERED | {"throughputCapacityMBps": 300}, "throughputCapacityMBps", "throughput-is-offered"),
    (without(TIERED, "readCacheGiB"), "readCacheGiB", "storage-type-has-its-fields"),
    (FSX | {"readCacheGiB": 512}, "readCacheGiB", "storage-type-has-its-fields"),
    (without(FSX, "storageCapacityGiB"), "storageCapacityGiB", "storage-type-has-its-fields"),
    (MULTI_AZ | {"throughputCapacityMBps": 5120, "fileSystems": 2}, "fileSystems", "several-are-in-one-zone-each"),
    (FSX | {"fileSystems": 7}, "fileSystems", "less-than-equal"),
    (FSX | {"fileSystems": 2, "fileSystemId": "fs-0123456789abcdef0"}, "fileSystems", "several-are-in-one-zone-each"),
    (LUSTRE | {"storageCapacityGiB": 600}, "storageCapacityGiB", "capacity-is-offered"),
    (LUSTRE | {"storageCapacityGiB": 3600}, "storageCapacityGiB", "capacity-is-offered"),
    (LUSTRE | {"throughputMBpsPerTiB": 125}, "throughputMBpsPerTiB", "throughput-goes-with-deployment"),
    (LUSTRE | {"deploymentType": "PERSISTENT_2"}, "throughputMBpsPerTiB", "throughput-goes-with-deployment"),
    (LUSTRE | {"metadataIops": 1500}, "metadataIops", "metadata-iops-are-offered"),
    (PERSISTENT | {"metadataIops": 2000}, "metadataIops", "metadata-iops-are-offered"),
    (PERSISTENT | {"metadataIops": 200_000}, "metadataIops", "metadata-iops-are-offered"),
    (PERSISTENT | {"stripeCount": 0}, "stripeCount", "stripes-are-some"),
    (without(LUSTRE, "storageCapacityGiB"), "storageCapacityGiB", "storage-class-has-its-fields"),
    (LUSTRE | {"throughputCapacityMBps": 4000}, "throughputCapacityMBps", "storage-class-has-its-fields"),
    (LUSTRE | {"readCacheGiB": 0}, "readCacheGiB", "storage-class-has-its-fields"),
    (LUSTRE | {"importPath": "s3://b"}, "importPath", "extra-forbidden"),
    (without(LUSTRE_TIERED, "deploymentType"), "deploymentType", "storage-class-has-its-fields"),
    (LUSTRE_TIERED | {"storageCapacityGiB": 1200}, "storageCapacityGiB", "storage-class-has-its-fields"),
    (LUSTRE_TIERED | {"throughputMBpsPerTiB": 125}, "throughputMBpsPerTiB", "storage-class-has-its-fields"),
    (without(LUSTRE_TIERED, "throughputCapacityMBps"), "throughputCapacityMBps", "storage-class-has-its-fields"),
    (LUSTRE_TIERED | {"throughputCapacityMBps": 6000}, "throughputCapacityMBps", "tiering-is-offered"),
    (LUSTRE_TIERED | {"throughputCapacityMBps": 0}, "throughputCapacityMBps", "tiering-is-offered"),
    (LUSTRE_TIERED | {"throughputCapacityMBps": 2_004_000}, "throughputCapacityMBps", "tiering-is-offered"),
    (without(LUSTRE_TIERED, "readCacheGiB"), "readCacheGiB", "storage-class-has-its-fields"),
    (LUSTRE_TIERED | {"readCacheGiB": 32}, "readCacheGiB", "tiering-is-offered"),
    (LUSTRE_TIERED | {"readCacheGiB": 262_145}, "readCacheGiB", "tiering-is-offered"),
    (without(LUSTRE_TIERED, "metadataIops"), "metadataIops", "storage-class-has-its-fields"),
    (LUSTRE_TIERED | {"metadataIops": 24_000}, "metadataIops", "metadata-iops-are-offered"),
    *[
        (ONTAP | {"deploymentType": of_aws}, "deploymentType", "literal-error")
        for of_aws in ("SINGLE_AZ_3", "MULTI_AZ_1")
    ],
    (ONTAP | {"throughputMBpsPerHaPair": 384}, "throughputMBpsPerHaPair", "throughput-is-offered"),
    (ONTAP_MULTI | {"throughputMBpsPerHaPair": 500}, "throughputMBpsPerHaPair", "throughput-is-offered"),
    (ONTAP | {"storageCapacityGiB": 512}, "storageCapacityGiB", "capacity-is-offered"),
    (ONTAP_TWO | {"storageCapacityGiB": 1024}, "storageCapacityGiB", "capacity-is-offered"),
    (ONTAP_MULTI | {"haPairs": 2, "storageCapacityGiB": 2048}, "haPairs", "pairs-are-offered"),
    (ONTAP | {"iops": 1000}, "iops", "iops-are-offered"),
    (ONTAP | {"iops": 200_001}, "iops", "iops-are-offered"),
    (ONTAP | {"iops": 51_201}, "iops", "iops-are-offered"),  # 50 / GiB
    (ONTAP | {"fileSystemId": "fs-0123456789abcdef0"}, "junctionPath", "what-exists-is-named-whole"),
    (ONTAP | {"junctionPath": "/vol1"}, "junctionPath", "what-exists-is-named-whole"),
    *[
        (NFS | {"source": source}, "source", "string-pattern-mismatch")
        for source in ("/export", "files", "files:export", "files:/../etc", "f:/a/.hidden", "f:/a b", "-o:/x", "a;b:/")
    ],
    *[(NFS | {"options": options}, "options", "options-are-known") for options in ("rw", "hard,bg", "fsc", "exec")],
    *[
        (NFS | {"options": f"hard,{options}"}, "options", "connections-are-possible")
        for options in ("nconnect", "nconnect=0", "nconnect=17", "nconnect=four", "nconnect=4.5")
    ],
    (NFS | {"options": "nfsvers=4.1,x-systemd.automount"}, "options", "string-pattern-mismatch"),
    (MOUNTPOINT | {"prefix": "letters"}, "bucket", "what-exists-is-named-whole"),
    (MOUNTPOINT | {"incrementalUpload": True}, "incrementalUpload", "uploads-are-incremental-where-objects-grow"),
    (MOUNTPOINT | {"writePartSize": "4MiB"}, "writePartSize", "parts-are-those-of-s3"),  # S3 takes 5 MiB to 5 GiB
    (MOUNTPOINT | {"writePartSize": "6GiB"}, "writePartSize", "parts-are-those-of-s3"),
    (MOUNTPOINT | {"readPartSize": 1024}, "readPartSize", "parts-are-those-of-s3"),
    (MOUNTPOINT | {"cacheMiB": 8193}, "cacheMiB", "less-than-equal"),
    (FILE_SERVER | {"instanceType": "large"}, "instanceType", "string-pattern-mismatch"),
    (FILE_SERVER | {"sizeGiB": 0}, "sizeGiB", "greater-than-equal"),
]

# On a volume: (workload, field, code).
WORKLOADS = [
    (TOUCH | {"files": 0}, "files", "greater-than-equal"),
    (TOUCH | {"files": 1000, "threads": 3}, "files", "files-divide-by-threads"),
    (TOUCH | {"threads": [4, 4]}, "threads", "values-are-different"),
    (TOUCH | {"tool": "rm"}, "tool", "literal-error"),
    (TOUCH | {"tool": ["engine", "parallel"], "sync": "each"}, "sync", "only-the-engine-syncs"),
    (TOUCH | {"name": "a/b"}, "name", "string-pattern-mismatch"),
    (
        TOUCH | {"tool": "touch", "ratePerSecondPerInstance": 100},
        "ratePerSecondPerInstance",
        "only-the-engine-keeps-a-rate",
    ),
    (TOUCH | {"sync": "end", "ratePerSecondPerInstance": 100}, "sync", "only-the-engine-keeps-a-rate"),
    (TOUCH | {"p99AtMostMs": 10}, "p99AtMostMs", "a-limit-has-its-rates"),
    (READ | {"p99AtMostMs": 10}, "p99AtMostMs", "a-limit-has-its-rates"),
    (METADATA | {"files": 1000, "threads": 3}, "files", "files-divide-by-threads"),
    (METADATA | {"phases": ["create"]}, "phases[0]", "literal-error"),  # always measured
    (METADATA | {"phases": ["stat", "stat"]}, "phases", "values-are-different"),
    (METADATA | {"fileSize": 3901, "sync": ["each", "end"]}, "sync", "contents-are-not-synced-at-the-end"),
    (DD | {"dataSize": "64MiB", "threads": 3}, "dataSize", "blocks-fill-the-total"),
    (DD | {"dataSize": "1MB"}, "dataSize", "blocks-fill-the-total"),  # 10^6 is not a multiple of 2^20
    (DD | {"blockSize": "2GiB", "dataSize": "2GiB"}, "blockSize", "blocks-fit-into-memory"),
    *[(DD | {"dataSize": size}, "dataSize", "value-error") for size in ("64 mib", "-1MiB", 1.5, True)],
    (DD | {"tool": ["engine", "dd"], "verify": True}, "verify", "only-the-engine-verifies"),
    (DD | {"verify": "yes", "tool": "engine"}, "verify", "bool-type"),
    (DD | {"tool": "engine", "verify": True, "blockSize": 32}, "blockSize", "only-the-engine-verifies"),
    (BUILD | {"build": "  "}, "build", "commands-are-not-blank"),
    (BUILD | {"build": "a\0b"}, "build", "string-pattern-mismatch"),
    *[(BUILD | {"cachePath": path}, "cachePath", "string-pattern-mismatch") for path in ("../cache", "/cache", "a;b")],
    (BUILD | {"expectedSeconds": {"1": 0}}, "expectedSeconds.1", "greater-than-equal"),
    (METADATA | {"sizes": "exponential"}, "sizes", "sizes-have-bounds"),
    (METADATA | {"sizes": "exponential", "fileSize": 200_000}, "fileSize", "sizes-have-bounds"),
    (METADATA | {"sizes": {"weights": {"4KiB": 1, "2MiB": 1}}}, "sizes", "sizes-have-bounds"),
    (METADATA | {"sizes": {"weights": {"4KiB": 1, "1MiB": 1}}, "fileSize": 1}, "fileSize", "sizes-have-bounds"),
    (METADATA | {"sizes": {"lognormal": 9}, "fileSize": 1}, "sizes", "sizes"),
    (TRANSFER | {"tool": ["cp", "cp"]}, "tool", "values-are-different"),
    (TRANSFER | {"tool": "rclone"}, "tool", "literal-error"),
    *[(workload | {"sizes": "exponential"}, "sizes", "extra-forbidden") for workload in (TOUCH, READ)],
    (TRANSFER | {"fileSize": "1 mb"}, "fileSize", "value-error"),
    (
        {"type": "transfer", "tool": "cp", "sizes": {"weights": {"1TiB": 1, "1KiB": 9}}},
        "files",
        "data-fits-on-its-volume",
    ),
    (TRANSFER | {"files": 11_000}, "files", "data-fits-on-its-volume"),  # of 1 MB; half of 20 GiB are 10,737 MB
    (
        TRANSFER | {"files": 1_000_000, "fileSize": ["1", "2", "3"]},
        "files",
        "data-fits-on-its-volume",
    ),  # a byte takes a block
    (TRANSFER | {"files": [5_000, 6_000]}, "files", "data-fits-on-its-volume"),  # both are made once and kept
    *[(YOCTO | {"image": image}, "image", "string-pattern-mismatch") for image in ("-c", "a b")],
    (YOCTO | {"release": "--upload-pack=x"}, "release", "string-pattern-mismatch"),
    (YOCTO | {"container": "--privileged"}, "container", "string-pattern-mismatch"),
    (YOCTO | {"cachePath": "a/../../b"}, "cachePath", "string-pattern-mismatch"),
    (YOCTO | {"expectedSeconds": {}}, "expectedSeconds", "too-short"),
    (YOCTO | {"expectedSeconds": {"ebs": 100}}, "expectedSeconds", "expected-for-any-storage"),
    (YOCTO | {"expectedSeconds": {"0": 100}}, "expectedSeconds", "string-pattern-mismatch"),
    ({"type": "delete", "files": 10, "directories": 3}, "files", "files-divide-by-directories"),
    *[
        (FIO | changes, field, "fio-accepts-each-point")
        for changes, field in (
            ({"size": "80%"}, "size"),
            ({"offset": "10%"}, "offset"),
            ({"rw": ["write", "randrw"], "create_on_open": 1}, "create_on_open"),
            ({"filesize": "1m", "offset": "1m"}, "offset"),
            ({"size": "1m", "bs": "64k", "nrfiles": [1, 64]}, "size"),
            ({"rate": "1m", "rate_iops": 100}, "rate"),
        )
    ],
    (DD | {"dataSize": 0}, "dataSize", "value-error"),
    (DD | {"dataSize": ["1GiB", "1024MiB"]}, "dataSize", "values-are-different"),
    (READ | {"requestSize": 32, "caching": "cached"}, "requestSize", "requests-fit-into-memory"),
    (READ | {"requestSize": "128MiB"}, "requestSize", "requests-fit-into-memory"),
    (READ | {"requestSize": 10_000}, "requestSize", "direct-reads-are-aligned"),
    (READ | {"requests": 127, "threads": 2}, "requests", "requests-are-shared-equally"),
    (READ | {"pagesPerRequest": 128}, "pagesPerRequest", "extra-forbidden"),
    (READ | ANY_BYTE | {"access": "sequential"}, "offsets", "byte-offsets-are-random-and-cached"),
    (READ | ANY_BYTE | {"caching": "direct"}, "offsets", "byte-offsets-are-random-and-cached"),
    (
        READ | ANY_BYTE | {"requestSize": 8192, "threads": 8, "dataSize": "32KiB"},
        "dataSize",
        "byte-offsets-are-random-and-cached",
    ),
    (READ | {"dataSize": "4MiB"}, "dataSize", "data-holds-the-requests"),
    (READ | {"dataSize": 8388608 + 8192}, "dataSize", "data-holds-the-requests"),
    (COMMAND | {"command": " "}, "command", "commands-are-not-blank"),
    (COMMAND | {"expectedReadGiB": 1}, "expectedWriteGiB", "bytes-are-known-both-ways"),
    (BUILD | {"expectedWriteGiB": 0}, "expectedReadGiB", "bytes-are-known-both-ways"),
    (COMMAND | {"on": "leader", "container": "docker.io/library/postgres:17"}, "container", "a-leader-is-no-container"),
    (COMMAND | {"metrics": {"iops": TPS}}, "metrics.iops", "metrics-can-be-found"),
    (COMMAND | {"metrics": {"a": TPS | {"jsonField": "x"}}}, "metrics.a", "metrics-can-be-found"),
    (COMMAND | {"metrics": {"a": {"unit": "s", "better": "lower"}}}, "metrics.a", "metrics-can-be-found"),
    *[
        (COMMAND | {"metrics": {"a": TPS | {"pattern": pattern}}}, "metrics.a.pattern", "metrics-can-be-found")
        for pattern in ("(", "a", "(a)++", "(?>a)(b)", "[[:alpha:]](a)")
    ],
    (COMMAND | {"metrics": {"a": TPS | {"unit": "=1+1"}}}, "metrics.a.unit", "string-pattern-mismatch"),
    (COMMAND | {"metrics": {"Tps": TPS}}, "metrics.Tps", "string-pattern-mismatch"),
    (COMMAND | {"metrics": {f"m{n}": TPS for n in range(21)}}, "metrics", "too-long"),
    (COMMAND | {"primaryMetric": "tps"}, "primaryMetric", "primary-is-measured"),
    (COMMAND | {"objects": 4}, "objects", "objects-can-be-made"),
]

# A fio job file: (text, path below the workload, code).
FIO_JOB_FILES = [
    ("rw=read\n[a]\nrw=read\nsize=1m\n", "jobFile", "sections-are-jobs"),
    ("[global]\nrw=read\nsize=1m\n", "jobFile", "sections-are-jobs"),
    ("[global]\nrw=read\nsize=1m\n[a]\n[a]\n", "jobFile", "sections-are-jobs"),
    ("[a]\nrw=read\nsize=1k\n", "jobFile.a.size", "fio-accepts-each-point"),
    ("[a]\nrw=read\nsize=1m\nruntime=5 parsecs\n", "jobFile.a.runtime", "option-value"),
    ("[a]\nrw=read\nsize=1m\niodept=4\n", "jobFile.a.iodept", "option-unknown"),
    ("[a]\nrw=read\nsize=1m\nbs=4k\nverify=md5\n", "jobFile.a.verify", "fio-accepts-each-point"),
    ("[a]\nrw=read\nsize=1m\ninclude other.fio\n", "jobFile.a.include", "option-owned"),
    ("[a]\nrw=read\nsize=1m\nread_iolog=trace.log\n", "jobFile.a.read_iolog", "options-are-passed-on"),
    ("[a]\nrw=read\nsize=1m\nexec_prerun=reboot\n", "jobFile.a.exec_prerun", "options-are-passed-on"),
    ("[a]\nrw=read\nsize=1m\nnumjobs=${JOBS}\n", "jobFile.a.numjobs", "option-value"),
    ("[a]\nrw=read\nsize=1m\nfilename=${HOME}/x\n", "jobFile.a.filename", "options-are-passed-on"),
    ("[a]\nrw=read\nsize=1m\nfilename=/dev/zero\n", "jobFile", "targets-are-of-the-storage"),
    ("[global]\nsize=1m\n[a]\nfilename=/dev/sdb\n[b]\nfilename=x\n", "jobFile", "targets-are-of-the-storage"),
    ("[global]\nsize=1m\n[a]\nfilename=/dev/sdb\n[b]\nfilename=/dev/sdc\n", "jobFile", "targets-are-of-the-storage"),
    ("[a]\nfilename=/dev/sdb:/dev/sdc\n", "jobFile", "named-disks-are-the-storages"),
    ("[a]\nrw=read\nsize=1m\nioengine=rados\npool=x\n", "jobFile.a.ioengine", "options-are-passed-on"),
    ("[]\nrw=read\nsize=1m\nname=b\n", "jobFile", "sections-are-jobs"),
    ("[a]\nrw=read\nsize=1T\n", "jobFile", "data-fits-on-the-storage"),
    ("[a]\nrw=read\nsize=1m\ntype=touch\n", "jobFile.a.type", "option-unknown"),
    ("[global]\nrw=read\nsize=1m\n[a]\n[b]\n[c]\nwait_for=a\n", "jobFile", "sections-are-jobs"),
]

PASSED_ON = "options-are-passed-on"
# A fio workload with one option: (option, value, code). The problem is at the option.
FIO_OPTIONS = [
    ("options", {"rw": "read"}, "option-unknown"),
    *[("bs", value, "option-value") for value in ({"a": 1}, None, "4k;x")],
    *[("bs", value, PASSED_ON) for value in ("banana", "4kk", ["4k", "-4k"], 0, ",", "3.5k")],
    ("bs", [], "too-short"),
    ("bs", ["4k", "4k"], "option-values-are-different"),
    ("time_based", True, "option-switch"),
    *[("size", value, PASSED_ON) for value in ("10Q", "-1G", "101%")],
    *[
        (name, value, PASSED_ON)
        for name, value in {
            "bssplit": "4k:banana",
            "rate": "banana",
            "rate_iops": ["100", "-1"],
            "offset": "-3",
            "thinktime": "abc",
            "direct": 2,
            "iodepth_batch": -1,
            "random_distribution": "zipff:1.2",
            "steadystate": "lat:5%",
            "fallocate": "maybe",
        }.items()
    ],
    *[("runtime", value, PASSED_ON) for value in (0.5, "0.5m", 86_401)],
    ("numjobs", -1, PASSED_ON),
    ("wait_for", "x", PASSED_ON),
    *[("ramp_time", value, PASSED_ON) for value in ("soon", -1)],
    *[("rwmixread", value, PASSED_ON) for value in (101, [50, 1000])],
    ("rw", "randwrit", PASSED_ON),
    *[("ioengine", value, PASSED_ON) for value in ("rados", "null", "filecreate", "nix")],
    # What leaves the storage or the job, or has no figure.
    *[
        (name, value, PASSED_ON)
        for name, value in {
            "rw": ["randtrim", "trimwrite"],  # fio trims no file: "trim not supported"
            "exec_prerun": "reboot",
            "read_iolog": "trace",
            "iomem": "mmap:/etc/passwd",
            "gtod_reduce": 1,
            "zonemode": "zbd",
        }.items()
    ],
    *[("filename", value, "targets-are-of-the-storage") for value in ("/dev/null", ["/dev/sda", "a"])],
    *[(name, 1, "option-owned") for name in ("client", "output")],
    ("iodept", 4, "option-unknown"),
]

# On S3: (changes of the workload, field, code).
ON_S3 = [
    (OBJECTS | {"operation": "copy"}, "operation", "literal-error"),
    (OBJECTS | {"mix": {"get": 1, "put": 1}}, "mix", "a-mix-is-asked-for"),
    (OBJECTS | {"operation": "mix", "mix": {"get": 1}}, "mix", "too-short"),
    (OBJECTS | {"operation": "mix", "mix": {"get": 1, "copy": 1}}, "mix", "literal-error"),
    (OBJECTS | {"operation": "put", "keysPerDelete": 10}, "keysPerDelete", "only-deletes-are-batched"),
    (
        OBJECTS | {"operation": "mix", "mix": {"get": 1, "put": 1}, "keysPerDelete": 10},
        "keysPerDelete",
        "only-deletes-are-batched",
    ),
    (OBJECTS | {"requests": 3}, "requests", "each-thread-has-a-request"),
    (OBJECTS | {"objects": 4, "prefixes": [1, 5]}, "objects", "each-prefix-has-an-object"),
    (OBJECTS | {"objectSize": "65MiB"}, "objectSize", "what-is-sent-fits-into-memory"),
    (
        OBJECTS | {"sizes": "exponential", "objectSize": "7MiB", "partSize": "5MiB"},
        "partSize",
        "drawn-objects-have-no-parts",
    ),
    (OBJECTS | {"sizes": "exponential", "objectSize": "9MiB"}, "objectSize", "what-is-sent-fits-into-memory"),
    (
        OBJECTS | {"sizes": {"weights": {"4KiB": 1, "65MiB": 1}}},
        "sizes",
        "what-is-sent-fits-into-memory",
    ),
    (
        OBJECTS | {"sizes": {"weights": {"1KiB": 1, "2KiB": 1}}, "objectSize": "4KiB"},
        "objectSize",
        "a-list-stands-alone",
    ),
    *[
        (OBJECTS | {"sizes": sizes}, "sizes", "sizes")
        for sizes in (
            "normal",
            "lognormal 9",
            {"lognormal": 0},
            {"lognormal": True},
            {"lognormal": 1.5, "weights": {"1KiB": 1, "2KiB": 1}},
            {"lognormal": 1.5, "seed": -1},
            {"exponential": 4},
            {"pareto": 2},
            {"weights": {"1KiB": 1}},
            {"weights": {"1KiB": 1, "2KiB": -1}},
            {"weights": {"1KiB": 0, "2KiB": 0}},
            {"weights": {"1KiB": True, "2KiB": 1}},
            {"weights": {"1KiB": 1, "1024": 1}},
            {"weights": {"1KiB": 1, "0": 1}},
            {"seed": 3},
        )
    ],
    (OBJECTS | {"objectSize": "1GiB", "partSize": "65MiB"}, "partSize", "what-is-sent-fits-into-memory"),
    (OBJECTS | {"objectSize": "1GiB", "partSize": "4MiB"}, "partSize", "parts-are-those-of-s3"),
    (OBJECTS | {"objectSize": "8MiB", "partSize": "8MiB"}, "partSize", "parts-are-those-of-s3"),
    (OBJECTS | {"objectSize": "100GiB", "partSize": "8MiB"}, "partSize", "parts-are-those-of-s3"),
    (OBJECTS | {"p99AtMostMs": 10}, "p99AtMostMs", "a-limit-has-its-rates"),
]
OF_COMMANDS_ON_S3 = [
    (READER | {"populate": "true"}, "populate", "objects-are-in-a-bucket"),
    (READER | {"objectSize": 5000}, "objectSize", "objects-can-be-made"),
    (READER | {"objectSize": "1TiB"}, "objectSize", "objects-can-be-made"),
    (COMMAND | {"primaryMetric": "mb_per_s"}, "primaryMetric", "primary-is-measured"),
]
# On Mountpoint each needs what it cannot do.
ON_MOUNTPOINT = [
    (workload, field, "storage-has-the-abilities")
    for workload, field in (
        (NEW_FILES | {"rw": ["write", "randwrite"]}, "rw"),
        (NEW_FILES | {"time_based": 1, "runtime": 30}, "time_based"),
        (NEW_FILES | {"loops": [1, 2]}, "loops"),
        (NEW_FILES | {"offset": "1m"}, "offset"),
        (NEW_FILES | {"fdatasync": 1}, "fdatasync"),
        (NEW_FILES | {"sync": 1}, "sync"),
        (NEW_FILES | {"ioengine": "libaio", "iodepth": [1, 8]}, "iodepth"),
        (NEW_FILES | {"ioengine": "mmap"}, "ioengine"),
        (NEW_FILES | {"create_on_open": 0}, "create_on_open"),
        (without(NEW_FILES, "create_on_open"), "create_on_open"),
        (NEW_FILES | {"fallocate": "posix"}, "fallocate"),
        ({"type": "fio", "jobFile": "[a]\nrw=randwrite\nsize=1m\ncreate_on_open=1\n"}, "jobFile.a.rw"),
        (DD | {"sync": ["end", "block"]}, "sync"),
        (METADATA, "phases"),
        (LOOKS | {"directories": "fleet"}, "directories"),
        (LOOKS | {"sync": "end"}, "sync"),
        (TOUCH | {"sync": "end"}, "sync"),
        (READ | {"data": ["own", "neighbour"]}, "data"),
        (COMMAND | {"populate": "true"}, "populate"),
        (TOUCH | {"tool": "parallel", "threads": 1}, "tool"),
        ({"type": "delete", "tool": "parallel"}, "tool"),
        (BUILD, "type"),
        (TRANSFER, "type"),
    )
]


def _on(storage: Document, rows: list[Row]) -> list[Row]:
    return [row(f"workload[0].{field}", code, storage=storage, workload=workload) for workload, field, code in rows]


FIO_READ = FIO | {"rw": "randread"}
SHARED_ALIAS = {"type": "fio", "data": "shared", "jobFile": "[a]\nsize=1m\nreadwrite=write\n"}
SHARED_SECTIONS = {"type": "fio", "data": "shared", "jobFile": "[global]\nsize=1m\n[a]\nrw=read\n[b]\nrw=write\n"}
OF_NEIGHBOURS = READ | {"data": ["own", "neighbour"]}
# (changes of the smallest matrix, path, code).
REFUSED: list[Row] = [
    *[row(f"storage[0].{field}", code, storage=storage) for storage, field, code in STORAGES],
    *_on(EBS, WORKLOADS),
    *_on(EBS, [(FIO | {name: value}, name, code) for name, value, code in FIO_OPTIONS]),
    *_on(EBS, [({"type": "fio", "jobFile": text}, path, code) for text, path, code in FIO_JOB_FILES]),
    *_on(EBS, [(FIO | {"bs": ["4k", ["8k"]]}, "bs[1]", "option-value")]),
    *_on(S3, ON_S3),
    *_on(BY_COMMAND, OF_COMMANDS_ON_S3),
    *_on(MOUNTPOINT, ON_MOUNTPOINT),
    # Which storage can do what.
    row("workload", "storage-is-for-the-workload", storage=[EBS, S3], workload=[READ, TOUCH]),
    row("workload", "storage-is-for-the-workload", storage=BY_COMMAND, workload=READ),
    row("workload", "storage-is-for-the-workload", storage=S3, workload=COMMAND),
    row("workload", "storage-is-for-the-workload", storage=S3 | {"client": "crt"}, workload=OBJECTS),
    row("workload", "storage-is-for-the-workload", storage=FILE_SERVER, workload=TOUCH),
    row("workload", "storage-is-for-the-workload", storage={"type": "s3-express"}, workload=TOUCH),
    row("workload", "requests-are-for-objects", storage=EFS, workload=OBJECTS),
    row("workload[0].objectSize", "objects-are-in-a-bucket", storage=EBS, workload=READER),
    row("workload[0].objectSize", "objects-are-in-a-bucket", storage=THEIRS, workload=READER),
    row("workload[0].device", "device-is-an-empty-disk", storage=EFS, workload=FIO | {"device": True}),
    row(
        "workload[0].device",
        "device-is-an-empty-disk",
        storage=INSTANCE_STORE,
        workload=FIO | {"device": True},
        instanceType="m6id.large",
    ),
    row("workload[0].device", "device-is-an-empty-disk", storage=EBS | SNAPSHOT, workload=FIO | {"device": True}),
    *[
        row(f"workload[0].{field}", "storage-has-the-abilities", storage=EBS, workload=FIO | {"direct": 1} | changes)
        for field, changes in (
            ("bs", {"bs": "4KiB"}),
            ("bs", {"kb_base": 1000}),
            ("offset", {"offset": 100}),
            ("bssplit", {"bssplit": "4k/50:1000/50"}),
        )
    ],
    row("fleet[0].instanceType", "instance-type-can-use-the-storage", storage=[EBS, INSTANCE_STORE]),
    row(
        "image.os",
        "image-has-what-is-needed",
        storage=S3 | {"client": "crt"},
        workload=READ,
        image={"os": "ubuntu-22.04"},
    ),
    row("image.os", "image-has-what-is-needed", storage=LUSTRE, image={"os": "ubuntu-22.04"}),
    row("image.os", "image-has-what-is-needed", storage=S3_FILES, image={"os": "ubuntu-22.04"}),
    row(
        "image.dockerfile",
        "image-has-what-is-needed",
        storage=EFS,
        workload=YOCTO | {"container": "storage-matrix/build"},
    ),
    # Fleets.
    row("fleet[0].bandwidthWeighting", "bandwidth-can-be-weighted", bandwidthWeighting="ebs-1"),
    row(
        "fleet.placement",
        "instances-reach-the-storages-zone",
        storage=EFS | {"deployment": "oneZone"},
        placement="spread",
    ),
    row(
        "fleet.placement",
        "instances-reach-the-storages-zone",
        storage=EFS | {"deployment": "oneZone"},
        placement=[1, 1],
    ),
    row("workload[0].data", "neighbours-can-be-read", workload=OF_NEIGHBOURS, storage=EBS, count=2),
    row("workload[0].data", "neighbours-can-be-read", workload=OF_NEIGHBOURS, storage=EFS),
    *[
        row("workload[0].data", code, workload=reads | {"data": ["own", "shared"]}, storage=storage)
        for reads in (READ, FIO_READ)
        for storage, code in ((EBS, "neighbours-can-be-read"), (MOUNTPOINT, "storage-has-the-abilities"))
    ],
    *[
        row(f"workload[0].{path}", code, workload=FIO_READ | {"data": "shared"} | changes, storage=storage, count=2)
        for storage, changes, path, code in (
            (EFS, {"rw": ["read", "randrw"]}, "rw", "shared-files-are-only-read"),
            (EFS, {"filesize": "1m-2m"}, "filesize", "shared-files-are-only-read"),
            (EBS, {"device": True}, "data", "shared-files-are-only-read"),
            (FSX | {"fileSystems": 2}, {}, "data", "neighbours-can-be-read"),
            (EFS, {"data": "shard"}, "data", "literal-error"),
        )
    ],
    row("workload[0].jobFile.b.rw", "shared-files-are-only-read", workload=SHARED_SECTIONS, storage=EFS, count=2),
    row("workload[0].jobFile.a.rw", "shared-files-are-only-read", workload=SHARED_ALIAS, storage=EFS, count=2),
    row("workload[0].data", "neighbours-can-be-read", workload=OF_NEIGHBOURS, storage=EFS, count=4, quorum=0.5),
    row(
        "workload[0].data", "neighbours-can-be-read", workload=OF_NEIGHBOURS, storage=FSX | {"fileSystems": 2}, count=4
    ),
    *[
        row(
            "fleet[0].placement",
            "several-file-systems-are-used-alike",
            storage=FSX | {"fileSystems": 2},
            count=4,
            placement=placement,
        )
        for placement in ([1, 1, 1], [2, 1], "same-az", "spread")
    ],
    row(
        "workload[0].directories",
        "several-file-systems-are-used-alike",
        storage=FSX | {"fileSystems": 2},
        count=4,
        workload=METADATA | {"directories": "fleet"},
    ),
    # 200 * 32 of 4,000
    row(
        "workload[0].threads",
        "server-takes-the-readers",
        storage=FILE_SERVER,
        count=200,
        workload=READ | {"requestSize": 8192, "requests": 12_800, "threads": 32},
    ),
    row(
        "workload[0].batch",
        "server-takes-the-readers",
        storage=FILE_SERVER,
        workload=READ | {"requests": 10_000, "batch": 2_000},
    ),
    *[
        row("workload[0].batch", "server-takes-the-readers", storage=storage, workload=READ | {"batch": [1, 8]})
        for storage in (EBS, EFS, S3)
    ],
    *[
        row(
            "workload[0].requests",
            "requests-are-shared-equally",
            storage=FILE_SERVER,
            workload=READ | {"batch": batch, "threads": threads},
        )
        for batch, threads in ((3, 1), (16, 3))
    ],
    # Room: 16 jobs of 1 GiB on 10 GiB; of each of 1,000 instances 100 MiB; 95 GB of a Yocto build.
    row("workload[0].size", "data-fits-on-the-storage", storage=EBS | {"sizeGiB": 10}, workload=FIO | {"numjobs": 16}),
    row(
        "workload[0].dataSize",
        "data-fits-on-the-storage",
        storage=FSX | {"storageCapacityGiB": 64, "throughputCapacityMBps": 64, "iops": 192},
        workload=DD | {"dataSize": "100MiB"},
        count=1000,
    ),
    row("workload[0].image", "data-fits-on-the-storage", storage=EBS | {"sizeGiB": 80}, workload=YOCTO),
    row(
        "workload[0].dataSize",
        "data-fits-on-the-storage",
        storage=EBS | {"sizeGiB": 10},
        workload=READ | {"dataSize": "20GiB"},
    ),
    # i4i.large: one disk of 468 GB, 436 GiB
    row(
        "workload[0].dataSize",
        "data-fits-on-the-storage",
        storage=INSTANCE_STORE,
        workload=DD | {"dataSize": "440GiB"},
        instanceType="i4i.large",
        count=9,
    ),
    row(
        "workload",
        "file-systems-are-filled-once",
        storage=EFS,
        workload=[BUILD | {"build": f"make {x}", "populate": f"fetch {x}"} for x in "ab"],
    ),
    row(
        "fleet",
        "history-has-room-for-the-cells",
        storage=EFS,
        instanceType=["m6i.large", "c5.large", "m5.large"],
        count=list(range(1, 101)),
    ),
    # Storages that exist.
    row("storage[0].fileSystemId", "existing-storages-come-to-no-harm", storage=EXISTING, emulate=True),
    row("workload[0].type", "existing-storages-keep-no-cache", storage=EXISTING, workload=YOCTO),
    row(
        "storage[1].fileSystemId",
        "existing-storages-come-to-no-harm",
        storage=[EXISTING, EXISTING | {"tls": True}],
        maxConcurrentFileSystems=2,
    ),
    row(
        "storage[1].source",
        "existing-storages-come-to-no-harm",
        storage=[NFS, NFS | {"options": "hard,ro"}],
        exclude=[{"storage": {"options": "hard,ro"}, "workload": {"type": "touch"}}],
        workload=[TOUCH, LOCALLY],
        maxConcurrentFileSystems=2,
    ),
    row("workload[0].type", "read-only-storages-are-only-read", storage=VOLUME),
    row("workload[0].type", "read-only-storages-are-only-read", storage=VOLUME, workload=COMMAND),
    row("fleet[0].count", "existing-storages-take-the-fleet", storage=VOLUME, workload=LOCALLY, count=2),
    row(
        "storage[1].volumeId",
        "existing-storages-come-to-no-harm",
        storage=[VOLUME, VOLUME | {"name": "b"}],
        workload=LOCALLY,
        maxConcurrentFileSystems=2,
    ),
    row("storage[0].raid0", "what-exists-is-one-volume", storage=VOLUME | {"raid0": 2}, workload=LOCALLY),
    row("storage[0].snapshotId", "what-exists-is-one-volume", storage=VOLUME | SNAPSHOT, workload=LOCALLY),
    row(
        "workload[0].device",
        "device-is-an-empty-disk",
        storage=VOLUME | {"mayWrite": True},
        workload=FIO | {"device": True, "size": "1G", "bs": "4k"},
    ),
    row("workload[0].type", "read-only-storages-are-only-read", storage=IN_ONE_ZONE, workload=READ),
    row("workload[0].type", "read-only-storages-are-only-read", storage=NFS | {"options": "hard,ro"}),
    row("storage[0].prefix", "what-exists-is-named-whole", storage=without(IN_ONE_ZONE, "prefix"), workload=LOCALLY),
    row(
        "storage[0].storageClass",
        "what-exists-is-named-whole",
        storage=IN_ONE_ZONE | {"storageClass": "EXPRESS_ONEZONE"},
        workload=LOCALLY,
    ),
    row(
        "storage[0].incrementalUpload",
        "uploads-are-incremental-where-objects-grow",
        storage=IN_ONE_ZONE | {"incrementalUpload": True},
        workload=LOCALLY,
    ),
    row(
        "storage[0].prefix",
        "what-exists-is-named-whole-and-read-by-commands",
        storage=without(THEIRS, "prefix"),
        workload=COMMAND,
    ),
    row(
        "storage[0].bucket",
        "what-exists-is-named-whole-and-read-by-commands",
        storage=without(THEIRS, "bucket"),
        workload=COMMAND,
    ),
    row(
        "storage[0].client",
        "what-exists-is-named-whole-and-read-by-commands",
        storage=THEIRS | {"client": "crt"},
        workload=READ,
    ),
    row("storage[0].prefix", "string-pattern-mismatch", storage=THEIRS | {"prefix": "a/*"}, workload=COMMAND),
    row("storage[0].bucket", "string-pattern-mismatch", storage=THEIRS | {"bucket": "Theirs"}, workload=COMMAND),
    row(
        "storage[0].bucket",
        "no-directory-bucket",
        storage=THEIRS | {"bucket": "tables--use1-az4--x-s3"},
        workload=COMMAND,
    ),
    # Emulation.
    row("storage[0].type", "storages-can-be-emulated", emulate=True, storage=S3, workload=READ),
    row("storage[0].type", "storages-can-be-emulated", emulate=True, storage=MOUNTPOINT),
    row("workload[0].type", "storages-can-be-emulated", emulate=True, workload=FIO),
    row("workload[0].tool", "storages-can-be-emulated", emulate=True, workload=DD),
    row(
        "workload[0].tool", "storages-can-be-emulated", emulate=True, workload=TOUCH | {"tool": ["engine", "parallel"]}
    ),
    row("emulate.b", "storages-can-be-emulated", emulate={"b": {"noise": 0.1}}, storage=FSX | {"name": "a"}),
    # Objectives.
    *[
        row(path, "objective-can-be-judged", objective=objective)
        for objective, path in (
            ({"metric": "speed", "atMost": 1}, "objective.metric"),
            ({"metric": "iops", "atLeast": 1}, "objective.metric"),
            ({"metric": "files_per_s"}, "objective"),
            ({"atMost": 1}, "objective.metric"),
            ({"percentile": 99}, "objective.metric"),
            ({"metric": "files_per_s", "jobHours": 8}, "objective"),
            ({"metric": "files_per_s", "atMost": 1}, "objective.atMost"),
            ({"metric": "duration_s", "atLeast": 1}, "objective.atLeast"),
            ({"metric": "files_per_s", "atMost": 1, "atLeast": 1}, "objective"),
            ({"metric": "highest_rate_per_s", "atLeast": 100}, "objective.metric"),
            ({"metric": "mb_per_s", "atLeast": 5}, "objective.metric"),
        )
    ],
    row(
        "objective.percentile", "less-than-equal", objective={"metric": "files_per_s", "atLeast": 1, "percentile": 101}
    ),
    row(
        "objective.atMost",
        "objective-can-be-judged",
        workload=COMMAND | {"metrics": {"tps": TPS}, "primaryMetric": "tps"},
        objective={"metric": "tps", "atMost": 5},
    ),
    row(
        "workload[1].metrics.tps",
        "metrics-mean-the-same",
        workload=[COMMAND | {"name": name, "metrics": {"tps": TPS | {"better": name}}} for name in ("higher", "lower")],
    ),
    # Settings and axes.
    *[
        ({name: value}, name, code)
        for name, value, code in (
            ("repetitions", "3", "int-type"),
            ("repetitions", True, "int-type"),
            ("repetitions", 3.5, "int-type"),
            ("dryRun", 1, "bool-type"),
            ("budgetUsd", "2.50", "float-type"),
            ("name", 7, "string-type"),
            ("name", "../x", "string-pattern-mismatch"),
            ("name", "a" * 41, "string-too-long"),
            ("owner", "x\ny", "string-pattern-mismatch"),
            ("storage", EBS, "list-type"),
            ("storage", [], "too-short"),
            ("workload", [], "too-short"),
            ("fleet", [], "too-short"),
            ("seed", -1, "greater-than-equal"),
            ("order", "sorted", "literal-error"),
            ("maxConcurrentFileSystems", 41, "less-than-equal"),
            ("colour", "red", "extra-forbidden"),
        )
    ],
    row("image.packages[0]", "string-pattern-mismatch", image={"packages": ["gcc make"]}),
    row("image.containers[0]", "string-pattern-mismatch", image={"containers": ["debian 12"]}),
    row("storage[0].type", "union-tag-invalid", storage={"type": "fsx-windows"}),
    row("storage[0].type", "union-tag-invalid", storage={"type": "gluster"}),
    row("workload[0].type", "union-tag-invalid", workload={"type": "io500"}),
    row("storage[0].type", "union-tag-invalid", storage=GP3 | {"type": "ebss"}),
    row("storage[0]", "union-tag-not-found", storage={"size": 1}),
    row("workload[0].build", "missing", workload={"type": "build"}),
    row("fleet[0].count", "too-short", count=[]),
    row("fleet[0].count[1]", "int-type", count=[1, True]),
    row("fleet[0].count", "less-than-equal", count=1001),
    row("fleet[0].count", "fleets-are-different", count=[4, 4]),
    row("fleet[0].instanceType", "string-pattern-mismatch", instanceType="m6i.large;reboot"),
    row("fleet[0].instanceType", "string-pattern-mismatch", instanceType="c5.9large"),
    row("exclude[0].storage.type", "exclusions-leave-cells", exclude=[{"storage": {"type": "efs"}}]),
    row(
        "exclude[0].storage.volume_type",
        "exclusions-leave-cells",
        exclude=[{"storage": {"volume_type": "gp3", "type": "ebs"}}],
    ),
    row("exclude[0].fleet.count", "exclusions-leave-cells", exclude=[{"fleet": {"count": 77}}]),
    row("exclude[0].fleet.quorum", "exclusions-leave-cells", exclude=[{"fleet": {"quorum": 1}}]),
    row("exclude[0].fleet.colour", "exclusions-leave-cells", exclude=[{"fleet": {"colour": 1}}]),
    row("exclude[0].workload.threads", "exclusions-leave-cells", exclude=[{"workload": {"threads": 4}}]),
    row("exclude[0].workload.bs", "exclusions-leave-cells", workload=FIO, exclude=[{"workload": {"bs": "4k"}}]),
    row("exclude", "exclusions-leave-cells", exclude=[{}]),
    row("include[0].workload", "missing", include=[{"storage": EBS, "fleet": FLEET}]),
    row(
        "include[0].storage.iops",
        "iops-are-offered",
        include=[{"storage": GP2 | {"iops": 3}, "workload": TOUCH, "fleet": FLEET}],
    ),
    row("include[0]", "cells-are-different", include=[{"storage": EBS, "workload": TOUCH, "fleet": FLEET}]),
    row("storage[1]", "cells-are-different", storage=[EBS, EBS]),
    row("workload[1]", "cells-are-different", workload=[TOUCH, TOUCH]),
    row("fleet[1]", "cells-are-different", fleet=[FLEET, FLEET]),
    row("storage[1].name", "names-are-different", storage=[EBS | {"name": "a"}, EFS | {"name": "a"}]),
    row(
        "workload[0]",
        "cells-can-be-planned",
        repetitions=100,
        workload=TOUCH | {"threads": [2**i for i in range(7)], "files": [1024 * i for i in range(1, 16)]},
    ),
    # Tags.
    *[
        row(path, "tags-are-taken", tags={key: value})
        for key, value, path in (
            ("", "x", 'tags[""]'),
            ("AWS:x", "y", 'tags["AWS:x"]'),
            ("x", "aws:y", "tags.x"),
            ("Name", "mine", "tags.Name"),
            ("storage-matrix:run", "r", 'tags["storage-matrix:run"]'),
            ("storage-matrix:owner", "me", 'tags["storage-matrix:owner"]'),
            ("k", "v" * 257, "tags.k"),
            ("k", "a,b", "tags.k"),
            ("k#", "a", 'tags["k#"]'),
            ("k", "💰", "tags.k"),
        )
    ],
    row("tags.k", "string-type", tags={"k": 4711}),
    row("tags", "dict-type", tags=["CostCenter"]),
    row("tags", "tags-are-taken", tags={f"k{i}": "v" for i in range(44)}),  # of 50, of which 7 are ours
]

# The matrix is planned all the same: (changes, path, code).
WARNED: list[Row] = [
    row("storage[0].snapshotId", "snapshot-is-of-one-volume", storage=EBS | SNAPSHOT),
    row(
        "storage[0].snapshotId", "snapshot-is-of-one-volume", storage=EBS | SNAPSHOT | {"volumeInitializationRate": 200}
    ),
    row("repetitions", "snapshots-are-loaded", storage=EBS | SNAPSHOT, repetitions=3),
    row(
        "storage[0].volumeInitializationRate",
        "snapshots-are-loaded",
        storage=EBS | SNAPSHOT | {"volumeInitializationRate": 300},
        count=17,
    ),
    # 1,024 / 200 GiB are 5 credits at most.
    row("fleet[0].count", "snapshots-are-loaded", storage=EBS | SNAPSHOT | {"fastSnapshotRestore": True}, count=6),
    row(
        "storage[0].throughputCapacityMBps",
        "throughput-is-offered",
        storage=FSX | {"deploymentType": "SINGLE_AZ_HA_1", "throughputCapacityMBps": 64},
    ),
    row("storage[0].iops", "iops-are-offered", storage=FSX | {"throughputCapacityMBps": 512, "iops": 40_001}),
    row(
        "storage[0].provisionedThroughputMiBps",
        "provisioned-is-offered",
        storage=EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 2000},
    ),
    # 50,000 for 1,536 MB/s; 3 * 2,048 GiB * 2 pairs.
    row("storage[0].iops", "iops-are-offered", storage=ONTAP | {"iops": 50_001}),
    row("storage[0].iops", "iops-are-offered", storage=ONTAP_TWO | {"iops": 12_287}),
    row("storage[0].volumeStyle", "the-volume-uses-all-pairs", storage=ONTAP_TWO | {"volumeStyle": "FLEXVOL"}),
    row("storage[0].options", "writes-are-kept", storage=NFS | {"options": "nfsvers=4.1,soft"}),
    row("storage[0].source", "existing-storages-come-to-no-harm", storage=NFS),
    row("storage[0].fileSystemId", "existing-storages-come-to-no-harm", storage=EXISTING),
    row(
        "workload[0].size",
        "much-is-laid-out",
        storage=EFS,
        count=9,
        workload=FIO | {"rw": "read", "size": "40G", "numjobs": 4},
    ),
    row("storage[0].precondition", "fresh-flash-is-known", storage=INSTANCE_STORE, instanceType="m6id.large"),
    # Limits of the instance: credits of its processors and its network, a type that nobody knows, the disk of a cache.
    *[
        row("fleet[0].instanceType", code, storage=EFS, instanceType=name)
        for name, code in (
            ("t3.medium", "processors-have-credits"),
            ("t4g.nano", "processors-have-credits"),
            ("t2.large", "processors-have-credits"),
            ("m99g.large", "instance-types-are-known"),
        )
    ],
    row(
        "workload[0].requestSize",
        "small-reads-of-objects-are-requests",
        storage=S3,
        workload=READ,
    ),
    row(
        "storage[0].cacheMiB", "a-cache-is-as-fast-as-its-disk", storage=MOUNTPOINT | {"cacheMiB": 1024}, workload=READ
    ),
    # A compressor, memory, a cache.
    row(
        "workload[0].source",
        "data-is-incompressible",
        storage=FSX | {"compression": "LZ4"},
        workload=DD | {"source": "zero"},
    ),
    row("workload[0].refill_buffers", "data-is-incompressible", storage=FSX | {"compression": "ZSTD"}, workload=FIO),
    *[
        row(
            f"workload[0].{name}",
            "data-is-incompressible",
            storage=FSX | {"compression": "LZ4"},
            workload=FIO | {"refill_buffers": 1, name: value},
        )
        for name, value in (
            ("zero_buffers", 1),
            ("buffer_compress_percentage", 90),
            ("buffer_compress_percentage", 100),
            ("dedupe_percentage", 90),
            ("buffer_pattern", "0xdeadbeef"),
        )
    ],
    row("workload[0].command", "data-is-incompressible", storage=FSX | {"compression": "LZ4"}, workload=COMMAND),
    row(
        "objective.percentile",
        "objective-can-be-shown",
        objective={"metric": "duration_s", "atMost": 1, "percentile": 100},
    ),
    *[
        ({"objective": {"metric": "duration_s", "atMost": 1}} | few, path, "objective-can-be-shown")
        for few, path in (({"fleet": [FLEET | {"count": [2, 3]}]}, "fleet"), ({"launches": 2}, "launches"))
    ],
    row("workload[0].on", "a-leader-is-launched-again", workload=COMMAND | {"on": "leader"}, count=3),
    *[
        row("workload[0].command", "variables-are-set", workload=COMMAND | {"command": command})
        for command in (
            "mpirun --hostfile $HOSTFILE true",
            "mpirun -H $HOSTS true",
            "a=1; echo ${a} ${b}",
            """awk '{print $NF}' "$FILE" """,
            "for i in 1 2; do echo $i $j; done",
            """echo "it's $X" """,
        )
    ],
    *[
        row("storage[0].source", "servers-of-aws-have-their-type", storage=NFS | {"source": source})
        for source in (
            "fs-0123456789abcdef0.efs.eu-central-1.amazonaws.com:/",
            "fs-0123456789abcdef0.fsx.eu-central-1.amazonaws.com:/fsx",
            "svm-0123456789abcdef0.fs-0123456789abcdef0.fsx.eu-central-1.amazonaws.com:/vol1",
            "eu-central-1a.fs-0123456789abcdef0.efs.eu-central-1.amazonaws.com:/",
        )
    ],
    row("workload[0].sync", "creates-are-alike", storage=[EBS, EFS], workload=TOUCH),
    row("workload[0].sync", "creates-are-alike", storage=[EBS, EFS], workload=METADATA),
    row("workload[0].dataSize", "data-exceeds-the-servers-cache", storage=FSX, workload=READ),
    # 64 MiB of these data are read again and again.
    row(
        "workload[0].dataSize",
        "data-exceeds-the-servers-cache",
        storage=FSX,
        workload=READ | {"access": "sequential", "dataSize": "700GiB"},
    ),
    row(
        "workload[0].size",
        "data-exceeds-the-servers-cache",
        storage=FSX,
        workload=FIO | {"rw": "randread", "direct": 1, "size": "700G", "io_size": "8G"},
    ),
    row(
        "workload[0].size",
        "data-exceeds-the-servers-cache",
        storage=FSX,
        workload=FIO | {"rw": "randread", "direct": 1, "numjobs": 4},
    ),
    *[
        row(path, "fio-measures-the-storage", workload=FIO | {"size": "100G"} | options)
        for options, path in (
            ({"rw": "randwrite", "direct": 1, "iodepth": 16}, "workload[0].iodepth"),
            ({"rw": "write", "ioengine": "libaio", "iodepth": 16, "fdatasync": 1}, "workload[0].iodepth"),
            ({"rw": "randwrite"}, "workload[0].rw"),
            ({"rw": "randread"}, "workload[0].rw"),
            ({"rw": "write", "direct": 1, "io_submit_mode": "offload"}, "workload[0].io_submit_mode"),
            # Its own rate, memory that direct does not pass, and the later option.
            ({"rw": "write", "direct": 1, "rate_iops": 100}, "workload[0].rate_iops"),
            ({"rw": "randread", "direct": 1, "rate": "1m"}, "workload[0].rate"),
            ({"rw": "randrw", "direct": 1, "thinktime": "10ms"}, "workload[0].thinktime"),
            ({"rw": "write", "direct": 1, "rate_iops": 9, "ramp_time": 9, "runtime": 9}, "workload[0].ramp_time"),
            ({"rw": "randread", "direct": 1, "ioengine": "mmap"}, "workload[0].ioengine"),
            ({"rw": "randwrite", "direct": 1, "buffered": 1}, "workload[0].rw"),
            ({"rw": "randwrite", "buffered": 0, "iodepth": 16}, "workload[0].iodepth"),
        )
    ],
    row(
        "workload[0].size",
        "fio-takes-a-second",
        workload={"type": "fio", "rw": "write", "bs": "1m", "size": ["1G", "64M"], "direct": 1},
    ),
    # What no figure could be told from.
    row(
        "workload[0].files",
        "percentiles-have-operations",
        workload=TOUCH | {"files": 364, "ratePerSecondPerInstance": 100},
    ),
    *[
        row(path, "percentiles-have-operations", workload=workload, objective={"metric": metric, "atMost": 10_000})
        for workload, metric, path in (
            (LOGGED | {"runtime": 3}, "sync_lat_p999_us", "workload[0].runtime"),
            (LOGGED | {"runtime": 60, "fdatasync": 64}, "sync_lat_p999_us", "workload[0].runtime"),
            (TOUCH | {"files": 3_680, "threads": [1, 2]}, "create_lat_p999_us", "workload[0].files"),
            (READ | {"requests": 3_680}, "read_lat_p999_us", "workload[0].requests"),
            (METADATA | {"files": 3_680}, "stat_lat_p999_us", "workload[0].files"),
        )
    ],
    row("fleet", "a-difference-can-be-tested", storage=[EBS, EFS]),
    row("repetitions", "a-difference-can-be-tested", storage=[EBS, EFS], count=10, repetitions=2),
    row("launches", "a-difference-can-be-tested", storage=[EBS, EFS], count=10, launches=2),
    # gp3 with 1,000 MiB/s takes up to 596 of an instance (5 Gbit/s), the files come at 125.
    row(
        "workload[0].type",
        "source-is-as-fast-as-the-storage",
        storage=EBS | {"iops": 4_000, "throughputMiBps": 1_000},
        workload=TRANSFER,
    ),
    # 13 * 10 MB/s are more than 128.
    row(
        "storage[0]",
        "storage-is-not-overloaded",
        storage=FSX | {"throughputCapacityMBps": 128},
        workload=COMMAND,
        count=[12, 13, 50],
    ),
    # Amounts.
    row("fleet[0].count", "several-file-systems-are-used-alike", storage=FSX | {"fileSystems": 3}, count=[2, 3]),
    row("maxConcurrentFileSystems", "cells-can-be-planned", storage=[EBS, EFS, FSX], count=1000),
    row(
        "fleet[0].bandwidthWeighting",
        "bandwidth-can-be-weighted",
        instanceType="m99g.large",
        bandwidthWeighting="ebs-1",
    ),
]

# Whose plan comes near a limit.
_DIRECT = {"type": "fio", "rw": "write", "bs": "1m", "ioengine": "libaio", "iodepth": 64, "direct": 1, "size": "4g"}
_LASTING = _DIRECT | {"time_based": 1, "runtime": 3_600}
NEAR_LIMITS = [
    row("fleet[0].instanceType", "network-is-sustained", storage=EFS, workload=_LASTING),
    row("fleet[0].instanceType", "network-is-sustained", storage=NFS, workload=DD, instanceType="m99g.large"),
    row("storage[0]", "one-client-is-enough", storage=EFS, workload=_DIRECT, instanceType="m6i.32xlarge"),
    row("storage[0].volumeType", "storage-has-no-burst", storage=GP2, workload=_DIRECT | {"rw": "randwrite"}),
    row("storage[0].throughputMode", "storage-has-no-burst", storage=EFS | {"throughputMode": "bursting"}, workload=DD),
    row(
        "storage[0].iops",
        "paid-iops-are-used",
        storage=EBS | {"iops": 16_000},
        workload=_DIRECT | {"rw": "randread", "bs": "4k", "iodepth": 1},
    ),
    row(
        "workload[0]",
        "random-requests-are-large-on-hdd",
        storage={"type": "ebs", "volumeType": "st1", "sizeGiB": 500},
        workload=_DIRECT | {"rw": "randread", "bs": "16k"},
    ),
    row(
        "fleet",
        "instance-carries-the-volumes",
        storage=EBS | {"iops": 16_000},
        workload=_LASTING | {"rw": "randread", "bs": "4k"},
    ),
]
