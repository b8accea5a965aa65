"""Which limit held a cell back? Results whose cause is known, made by the code that makes results."""

import pytest
from support.bottleneck_cells import MIB, START, Document, cell, found, measured, rate, received, watched
from support.matrices import EBS, EFS, FSX

from matrix.answer import bottleneck
from matrix.answer.results import cell_result
from matrix.published.figures import rows_of

ONE_ZONE = {"type": "efs", "throughputMode": "elastic", "deployment": "oneZone", "tls": True}
PROVISIONED = EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 100}
NFS = {"type": "nfs", "source": "files.example.com:/export"}
FSX_IOPS = FSX["storageCapacityGiB"] * 3 if FSX.get("iops") is None else FSX["iops"]


@pytest.mark.parametrize(
    ("storage", "count", "used", "name", "reached"),
    [
        (EBS, 2, {"disk_read_bytes": 20 * MIB, "disk_write_bytes": 103 * MIB}, "volume throughput",
         ((129.0, 131.1, "MB/s"), None)),
        # A page cache took what no volume can.
        (EBS, 2, {"disk_read_bytes": 0.0, "disk_write_bytes": 3_000 * MIB}, "not known", None),
        (EFS, 1, {"nfs_read_bytes": 490 * MIB, "nfs_write_bytes": 0.0}, "EFS per-client cap",
         ((490.0, 500.0, "MiB/s"), "client")),
        (ONE_ZONE, 1, {"nfs_read_bytes": 490 * MIB, "nfs_write_bytes": 0.0}, "EFS per-client cap",
         ((490.0, 500.0, "MiB/s"), "client")),
        # Elastic throughput ends where its region does, not at a gibibyte.
        (EFS, 10, {"nfs_read_bytes": 50 * MIB, "nfs_write_bytes": 50 * MIB}, "not saturated", None),
        # Requests that its cache may have answered are no use of its disks.
        (FSX, 1, {"nfs_read_operations": 0.95 * FSX_IOPS, "nfs_read_bytes": 0.0, "nfs_write_bytes": 0.0},
         "not saturated", None),
        ({"type": "s3"}, 8, {"metrics": {"requests_per_s": 680.0}}, "S3 requests of a prefix",
         ((5_440.0, 5_500.0, "IOPS"), None)),
        # Nobody knows what an instance store can do.
        ({"type": "instance-store"}, 2, {"disk_write_operations": 30_000.0}, "not known", None),
        # Without CloudWatch, EFS is held against its provisioned throughput, and reads take a third of it.
        (PROVISIONED, 4, {"nfs_read_bytes": 0.0, "nfs_write_bytes": 24.5 * MIB}, "EFS permitted throughput", None),
        (PROVISIONED, 4, {"nfs_read_bytes": 24.5 * MIB, "nfs_write_bytes": 0.0}, "not saturated", None),
        # Of two limits the fuller one is named: 98.0 and 99.6 % are used, then 99.7 and 97.6 %.
        (EBS, 2, {"disk_write_operations": 2_940.0, "disk_read_bytes": 0.0, "disk_write_bytes": 124.5 * MIB},
         "volume throughput", None),
        (EBS, 2, {"disk_write_operations": 2_990.0, "disk_read_bytes": 0.0, "disk_write_bytes": 122.0 * MIB},
         "volume IOPS", None),
        # The instance's network on credits at its maximum, and one TCP connection at 5 Gbit/s.
        ({"type": "s3"}, 1, received(11.9), "instance network allowance", ((11.9, 12.5, "Gbit/s"), "maximum")),
        (FSX, 1, received(4.7), "TCP connections", ((4.7, 5.0, "Gbit/s"), "connections")),
        (FSX | {"nconnect": 16}, 1, received(4.7), "not known", None),
        (NFS, 1, received(4.7), "TCP connections", ((4.7, 5.0, "Gbit/s"), "connections")),
        (NFS | {"options": "nfsvers=4.1,nconnect=2,hard"}, 1, received(4.7), "not known", None),
    ],
)  # fmt: skip
def test_the_limit_that_counters_reach_is_named_with_its_use(storage, count, used, name, reached):
    said = found(measured(cell(storage, count=count), used))

    assert said["name"] == name
    assert reached is None or [(rate(use), use.get("of")) for use in said["uses"]] == [reached]


@pytest.mark.parametrize(
    ("storage", "count", "larger"),
    [
        # 4,096 MB/s to one instance are 32.8 Gbit/s, and 16.4 to each of two.
        (FSX | {"throughputCapacityMBps": 4096, "nconnect": 16}, 1, "m6i.24xlarge"),
        (FSX | {"throughputCapacityMBps": 4096, "nconnect": 16}, 2, "m6i.12xlarge"),
        # 500 MiB/s of each client, of 1,024 MiB/s of EFS.
        (EFS, 1, "m6i.4xlarge"),
        # It reads faster than it writes, so the type that carries its writes is no help.
        (EFS, 100, "m6i.xlarge"),
        # Nobody knows how fast these are, or no type is as fast.
        (NFS, 1, None), ({"type": "s3"}, 1, None),
    ],
)  # fmt: skip
def test_an_instance_at_its_network_limit_is_told_the_type_that_is_as_fast_as_the_storage(storage, count, larger):
    said = found(measured(cell(storage, count=count), received(12.2)))

    assert said["next"].get("larger_type") == larger


def test_the_published_raid_0_ended_at_what_its_instance_may_move_to_ebs():
    # Known truth: what the source of ebs-fio counted, 4 to 256 KiB, on r5b.large, which EC2 gives 1,250 MB/s to EBS.
    raid = EBS | {"iops": 4000, "throughputMiBps": 1000, "raid0": 2}
    of_raid = [row for [row] in rows_of("ebs-fio") if row.storage.get("raid0") == 2]
    iops = {row.part("param")["options"]["bs"]: row.figures["iops"] for row in of_raid}
    used = [{"iops": each, "disk_write_operations": each, "disk_read_operations": 0.0,
             "disk_write_bytes": each * int(size.removesuffix("k")) * 1024, "disk_read_bytes": 0.0}
            for size, each in iops.items()]  # fmt: skip
    limits = {"ebs_iops": {"baseline": 5_417.0, "maximum": 43_333.0},
              "ebs_bytes_per_s": {"baseline": 156.25e6, "maximum": 1_250e6}}  # fmt: skip
    planned = cell(raid, tuple({"options": {"bs": size}} for size in iops), count=1)
    planned["fleet"]["instanceType"] = of_raid[0].texts["instanceType"]

    sweep = found(measured(planned, *used, instance_limits=limits))
    largest = found(measured(planned | {"points": planned["points"][:1]}, used[-1], instance_limits=limits))

    # Small blocks meet the 8,000 IOPS of both volumes, the largest their instance and not their 2,097 MB/s.
    assert set(list(sweep["points"].values())[:-1]) == {"volume IOPS"}
    assert sweep["points"]["p07"] == "instance EBS allowance"
    most = ((1_380.0, 1_250.0, "MB/s"), "maximum")
    of_instance = [other["use"] for other in sweep["others"] if other["name"] == "instance EBS allowance"]
    assert most in [(rate(use), use["of"]) for use in of_instance]
    assert 5_417.0 not in [use["limit"] for use in of_instance]
    assert largest["name"] == "instance EBS allowance"
    assert most in [(rate(use), use["of"]) for use in largest["uses"]]
    assert largest["next"] == {"code": "raise", "larger_type": "r5b.8xlarge"}


def test_awss_own_word_on_the_instance_goes_before_the_volumes_figures():
    result = measured(cell(), {"disk_read_operations": 0.0, "disk_write_operations": 2_970.0})
    result["cloudwatch"] = watched({"AWS/EC2 InstanceEBSIOPSExceededCheck": [1.0]}, InstanceId="i-0")

    said = found(result)

    assert said["name"] == "instance EBS allowance"
    check = "AWS/EC2 InstanceEBSIOPSExceededCheck"
    assert said["uses"] == [{"code": "throttled", "metric": check, "resources": ["i-0"], "first_at": START}]
    assert said["next"]["metric"] == check


@pytest.mark.parametrize(
    ("metric", "value", "name"),
    [
        ("AWS/EBS VolumeIOPSExceededCheck", 1.0, "volume IOPS"),
        ("AWS/EBS VolumeThroughputExceededCheck", 1.0, "volume throughput"),
        ("AWS/EBS BurstBalance", 0.4, "volume burst credits"),
        ("AWS/EC2 EBSByteBalance%", 0.0, "instance EBS allowance"),
        ("AWS/EFS PercentIOLimit", 99.0, "EFS IOPS limit"),
        ("AWS/FSx NetworkThroughputUtilization", 97.0, "FSx network"),
        ("AWS/FSx FileServerDiskThroughputUtilization", 96.0, "FSx disk"),
        ("AWS/FSx DiskIopsUtilization", 100.0, "FSx disk"),
        ("AWS/FSx CPUUtilization", 95.0, "FSx CPU"),
        ("AWS/EBS VolumeIOPSExceededCheck", 0.0, "not saturated"),
        ("AWS/EBS BurstBalance", 60.0, "not saturated"),
        ("AWS/FSx DiskIopsUtilization", 40.0, "not saturated"),
        ("AWS/EC2 CPUUtilization", 100.0, "not saturated"),
    ],
)
def test_each_metric_names_the_limit_that_it_tells_to_be_reached(metric: str, value: float, name: str):
    storage = {"AWS/EFS": {"type": "efs"}, "AWS/FSx": {"type": "fsx-openzfs"}}.get(metric.partition(" ")[0], EBS)
    result = measured(cell(storage), {"disk_read_bytes": 0.0, "disk_write_bytes": MIB})

    assert found(result | {"cloudwatch": watched({metric: [value]})})["name"] == name


def test_reads_that_miss_the_file_servers_cache_are_bound_by_the_cache():
    metrics = {
        "AWS/FSx FileServerDiskThroughputUtilization": [97.0],
        "AWS/FSx FileServerCacheHitRatio": [35.0],
        "AWS/FSx DataReadBytes": [9e9],
        "AWS/FSx DataWriteBytes": [1e6],
    }

    said = found(measured(cell(FSX), {}) | {"cloudwatch": watched(metrics, FileSystemId="fs-1")})
    writing = found(measured(cell(FSX), {}) | {"cloudwatch": watched(metrics | {"AWS/FSx DataWriteBytes": [9e10]})})

    assert said["name"] == "FSx cache"
    assert said["uses"][0]["cache_hits_percent"] == 35.0
    assert writing["name"] == "FSx disk"


def test_efs_is_held_against_what_it_permitted_in_the_same_minute():
    metrics = {"AWS/EFS MeteredIOBytes": [60 * 99 * MIB], "AWS/EFS PermittedThroughput": [100 * MIB],
               "AWS/EFS BurstCreditBalance": [2e12]}  # fmt: skip
    bursting = cell(EFS | {"throughputMode": "bursting"})

    said = found(measured(bursting, {}) | {"cloudwatch": watched(metrics, FileSystemId="fs-1")})
    spent = found(measured(bursting, {}) | {"cloudwatch": watched(metrics | {"AWS/EFS BurstCreditBalance": [5e8]})})

    assert said["name"] == "EFS permitted throughput"
    assert [(rate(use), use["of"]) for use in said["uses"]] == [((99.0, 100.0, "MiB/s"), "permitted")]
    assert said["uses"][0]["credits_left_bytes"] == 2e12
    assert spent["name"] == "EFS burst credits"


@pytest.mark.parametrize(
    ("storage", "operations", "name"),
    [
        # 35,000 reads or 7,000 writes a second, or a part of each, of four instances together.
        ({"throughputMode": "bursting"}, {"nfs_read_operations": 1_700.0}, "not saturated"),
        ({"throughputMode": "bursting"}, {"nfs_read_operations": 8_600.0}, "EFS IOPS limit"),
        ({"throughputMode": "bursting"}, {"nfs_write_operations": 1_700.0}, "EFS IOPS limit"),
        (
            {"throughputMode": "bursting"},
            {"nfs_write_operations": 850.0, "nfs_read_operations": 4_250.0},
            "EFS IOPS limit",
        ),
        ({"deployment": "oneZone"}, {"nfs_write_operations": 1_700.0}, "EFS IOPS limit"),
        ({}, {"nfs_write_operations": 1_700.0}, "not saturated"),
    ],
)
def test_reads_take_less_than_writes_of_the_operations_that_efs_allows(storage, operations, name):
    shape = {"throughputMode": "elastic"} | storage

    said = found(measured(cell({"type": "efs"} | shape, count=4), {"nfs_other_operations": 0.0} | operations))

    assert said["name"] == name


TIERED_LUSTRE = {
    "deploymentType": "PERSISTENT_2", "storageType": "INTELLIGENT_TIERING", "throughputCapacityMBps": 4000,
    "readCacheGiB": 0, "metadataIops": 6000,
}  # fmt: skip


@pytest.mark.parametrize(
    ("deployment", "counters", "name"),
    [
        # 1,500 metadata IOPS carry 3,000 creates or 1,500 deletes a second, of two instances together.
        ({"deploymentType": "PERSISTENT_2", "throughputMBpsPerTiB": 125}, {"lustre_creates": 1_450.0},
         "FSx metadata IOPS"),
        ({"deploymentType": "PERSISTENT_2", "throughputMBpsPerTiB": 125}, {"lustre_unlinks": 725.0},
         "FSx metadata IOPS"),
        ({"deploymentType": "PERSISTENT_2", "throughputMBpsPerTiB": 125}, {"lustre_creates": 700.0}, "not saturated"),
        ({"deploymentType": "SCRATCH_2"}, {"lustre_creates": 1_450.0}, "not saturated"),
        # 1.2 TiB write 120 MB/s and read twice as much.
        ({"deploymentType": "SCRATCH_2"}, {"lustre_write_bytes": 58e6}, "FSx disk throughput"),
        ({"deploymentType": "SCRATCH_2"}, {"lustre_read_bytes": 58e6}, "not saturated"),
        ({"deploymentType": "SCRATCH_2"}, {"lustre_read_bytes": 116e6}, "FSx disk throughput"),
        # 4,000 MB/s read and written, and 6,000 metadata IOPS.
        (TIERED_LUSTRE, {"lustre_read_bytes": 1_000e6, "lustre_write_bytes": 950e6}, "FSx disk throughput"),
        (TIERED_LUSTRE, {"lustre_read_bytes": 950e6}, "not saturated"),
        (TIERED_LUSTRE, {"lustre_creates": 5_900.0}, "FSx metadata IOPS"),
    ],
)  # fmt: skip
def test_lustre_is_held_against_its_metadata_iops_and_its_disks(deployment, counters, name):
    capacity = {} if "storageType" in deployment else {"storageCapacityGiB": 1200}
    storage = {"type": "fsx-lustre", **capacity, **deployment}
    none = dict.fromkeys(("lustre_creates", "lustre_unlinks", "lustre_directories", "lustre_rmdirs",
                          "lustre_read_bytes", "lustre_write_bytes"), 0.0)  # fmt: skip

    assert found(measured(cell(storage), none | counters))["name"] == name


FAST = EBS | {"iops": 16_000, "throughputMiBps": 1_000}
HALF_AN_HOUR = {"seconds": 1_800.0, "at": 0.0}
AFTERWARDS = {"at": 1_800.0}


@pytest.mark.parametrize(
    ("storage", "burst", "used", "name", "reached"),
    [
        (FAST, {"disk_write_bytes": 1_240e6}, {"disk_write_bytes": 118e6}, "instance EBS allowance",
         ((118.0, 118.8, "MB/s"), "baseline")),
        (FAST, {"disk_write_operations": 39_900.0}, {"disk_write_operations": 5_950.0}, "instance EBS allowance",
         ((5_950.0, 6_000.0, "IOPS"), "baseline")),
        (EFS, received(12.4), received(1.55), "instance network allowance", ((1.55, 1.562, "Gbit/s"), "baseline")),
        # Half an hour that used no credits, or a few of them.
        (FAST, {"disk_write_bytes": 90e6}, {"disk_write_bytes": 118e6}, "not saturated", None),
        (FAST, {"disk_write_bytes": 600e6}, {"disk_write_bytes": 118e6}, "not saturated", None),
        (EFS, received(1.0), received(1.55), "not saturated", None),
    ],
)  # fmt: skip
def test_a_baseline_holds_an_instance_back_only_when_its_credits_are_used_up(storage, burst, used, name, reached):
    none = dict.fromkeys(("disk_read_bytes", "disk_write_bytes", "disk_read_operations", "disk_write_operations"), 0.0)
    nothing = none if storage is FAST else {"nfs_read_bytes": 0.0, "nfs_write_bytes": 0.0}
    points = ({"bs": "1m"}, {"bs": "2m"})

    said = found(measured(cell(storage, points), nothing | burst | HALF_AN_HOUR, nothing | used | AFTERWARDS))

    assert said["points"]["p02"] == name
    uses = [*said["uses"], *(other["use"] for other in said["others"])]
    assert reached is None or reached in [(rate(use), use.get("of")) for use in uses if use.get("unit")]


@pytest.mark.parametrize(
    ("metrics", "name"),
    [
        ({"AWS/EC2 EBSByteBalance%": [99.0], "AWS/EC2 InstanceEBSThroughputExceededCheck": [0.0]}, "not saturated"),
        ({"AWS/EC2 EBSByteBalance%": [0.0], "AWS/EC2 InstanceEBSThroughputExceededCheck": [0.0]},
         "instance EBS allowance"),
        ({"AWS/EC2 EBSIOBalance%": [0.0], "AWS/EC2 EBSByteBalance%": [40.0]}, "instance EBS allowance"),
        ({}, "not saturated"),
    ],
)  # fmt: skip
def test_aws_knows_whether_the_credits_of_an_instance_are_used_up(metrics, name):
    result = measured(cell(FAST), {"disk_read_bytes": 0.0, "disk_write_bytes": 118e6})

    assert found(result | {"cloudwatch": watched(metrics, InstanceId="i-0")})["name"] == name


@pytest.mark.parametrize(
    ("storage", "metric", "used", "without"),
    [
        (EBS, "AWS/EBS VolumeIOPSExceededCheck", {"disk_write_operations": 2_850.0}, "volume IOPS"),
        (EBS, "AWS/EBS VolumeThroughputExceededCheck", {"disk_write_bytes": 124 * MIB}, "volume throughput"),
        (FAST | {"throughputMiBps": 1_250}, "AWS/EC2 InstanceEBSThroughputExceededCheck", {"disk_write_bytes": 1_150e6},
         "instance EBS allowance"),
        ({"type": "efs", "throughputMode": "bursting"}, "AWS/EFS PercentIOLimit", {"nfs_write_operations": 3_400.0},
         "EFS IOPS limit"),
    ],
)  # fmt: skip
def test_awss_word_against_a_limit_counts_as_much_as_its_word_for_it(storage, metric, used, without):
    result = measured(cell(storage), {"nfs_read_operations": 0.0, "nfs_other_operations": 0.0} | used)
    reached = 100.0 if "Percent" in metric else 1.0

    assert found(result)["name"] == without
    assert found(result | {"cloudwatch": watched({metric: [0.4 * reached // 1]})})["name"] == "not saturated"
    assert found(result | {"cloudwatch": watched({metric: [reached]})})["name"] == without


def held(gbit_per_s: float, packets_per_s: float, **more: float) -> Document:
    """Traffic of an instance that mostly reads, of which EC2 held back packets."""
    return {**received(gbit_per_s), "bw_in_allowance_exceeded": packets_per_s, "bw_out_allowance_exceeded": 0.0, **more}


# Of https://github.com/NOFireAI/ravel/issues/845: a client of S3 on r6a.4xlarge with 16, 32, 64 and 128 requests at
# once. Seconds, Gbit/s and packets that EC2 counted; all at the same instance, which the next sweep made faster.
COUNTED_ELSEWHERE = ((67.7, 2.91, 28_637), (31.5, 6.25, 1_306_145), (20.8, 9.41, 5_863_546), (18.0, 10.87, 5_139_312))
OF_R6A = {"network_bytes_per_s": {"baseline": 781.25e6, "maximum": 1_562.5e6}}


def test_packets_held_back_at_rates_that_more_requests_raised_are_no_bottleneck():
    at, used = 0.0, []
    for seconds, gbit_per_s, packets in COUNTED_ELSEWHERE:
        used.append(held(gbit_per_s, packets / seconds, at=at, seconds=seconds))
        at += seconds + 10
    points = tuple({"concurrent": 16 * 2**number} for number in range(4))

    of_sweep = found(measured(cell({"type": "s3"}, points, count=1), *used, instance_limits=OF_R6A))
    each = [found(measured(cell({"type": "s3"}, count=1), one, instance_limits=OF_R6A)) for one in used]

    assert set(of_sweep["points"].values()) == {"not saturated"}
    assert {said["name"] for said in each} == {"not known"}
    # What was counted stands with the other limits, and is no reason for a larger instance.
    packets = [other["use"] for other in each[0]["others"] if other["use"]["code"] == "packets"]
    assert [round(use["per_s"]) for use in packets if use["allowance"] == "bw_in"] == [423]
    assert "larger_type" not in each[0]["next"]


@pytest.mark.parametrize(
    ("used", "name", "codes"),
    [
        # 5,000 of 170,000 packets a second, near the maximum; ten a second are bursts of milliseconds.
        (held(12.0, 5_000.0), "instance network allowance", {"rate", "packets"}),
        (held(12.0, 10.0), "instance network allowance", {"rate"}),
        (held(8.0, 5_000.0), "not saturated", set()),
        # Of 40,000 small packets a second, and in the traffic of which 26 were seen elsewhere at 8.91 Gbit/s.
        (held(0.1, 0.0, network_received_packets=2e4, network_sent_packets=2e4, pps_allowance_exceeded=2_000.0),
         "instance network allowance", {"packets"}),
        (held(8.91, 0.0, network_received_packets=9e4, network_sent_packets=4e4, pps_allowance_exceeded=26.0),
         "not saturated", set()),
        (held(0.1, 0.0, network_received_packets=2e4, network_sent_packets=2e4, conntrack_allowance_exceeded=900.0),
         "instance network allowance", {"packets"}),
    ],
)  # fmt: skip
def test_packets_held_back_count_where_bytes_are_near_a_limit_or_packets_are_the_limit(used, name, codes):
    said = found(measured(cell(EBS, count=1), {"disk_write_bytes": MIB} | used))

    assert said["name"] == name
    assert {use["code"] for use in said["uses"]} == codes


def test_packets_held_back_tell_that_credits_went_where_nothing_was_measured():
    # Ten minutes that no point was measured in, such as those in which data were laid out.
    late = {"at": 600.0}
    points = ({"bs": "1m"}, {"bs": "2m"})

    def names(packets_per_s: float) -> Document:
        used = held(0.2, 0.0), held(1.55, packets_per_s) | late
        return found(measured(cell(EFS, points, count=1), *used))["points"]

    assert names(2_000.0) == {"p01": "not saturated", "p02": "instance network allowance"}
    assert names(12.0) == {"p01": "not saturated", "p02": "not saturated"}


def test_busy_processors_bind_where_the_storage_does_not():
    both = {"cpu_s": 1.9, "steal_s": 0.05, "disk_write_operations": 2_990.0}

    busy = found(measured(cell(), {"cpu_s": 1.9, "steal_s": 0.05, "disk_write_operations": 500.0}))
    alone = found(measured(cell(), {"cpu_s": 1.0, "tool_cpu_s": 0.99, "workers": 1, "disk_write_operations": 500.0}))

    assert busy["name"] == "client CPU"
    assert [use["machine"] for use in busy["uses"]] == [pytest.approx(0.975)]
    assert alone["name"] == "client CPU"
    assert [round(use["worker"], 2) for use in alone["uses"]] == [0.99]
    assert found(measured(cell(), both))["name"] == "volume IOPS"


def test_nobody_is_told_to_buy_larger_instances_for_what_one_machine_computes_in_place_of_all():
    busy = measured(cell(), {"cpu_s": 1.9, "steal_s": 0.0})

    assert found(busy)["next"] == {"code": "raise"}
    assert found(busy, "local-vm")["next"] == {"code": "use-aws"}


def test_workers_that_wait_are_told_from_a_ceiling():
    use = {"iops": 398.0, "workers": 4, "metrics": {"write_lat_p50_us": 10_000.0}, "disk_write_operations": 398.0}

    said = found(measured(cell(), use))

    assert said["name"] == "not saturated"
    assert said["uses"] == []
    nearest = said["others"][0]
    assert (nearest["name"], rate(nearest["use"])) == ("volume IOPS", (398.0, 3_000.0, "IOPS"))
    assert said["waiting"] == {"workers": 4, "latency_s": 0.01, "point": "p01"}
    assert said["next"] == {"code": "load-more"}


def test_the_cell_is_named_after_the_ceiling_of_most_points_and_each_point_after_its_own():
    points = ({"bs": "4k"}, {"bs": "8k"}, {"bs": "1m"}, {"bs": "1k"})
    iops = {"disk_write_operations": 2_990.0, "disk_write_bytes": MIB}

    said = found(measured(cell(points=points), iops, iops, {"disk_write_bytes": 124 * MIB}, {"disk_write_bytes": MIB}))

    assert said["points"] == {
        "p01": "volume IOPS", "p02": "volume IOPS", "p03": "volume throughput", "p04": "not saturated",
    }  # fmt: skip
    assert said["name"] == "volume IOPS"


@pytest.mark.parametrize(
    ("seconds", "checks", "points", "name"),
    [
        # Aligned with the minutes of the clock.
        ((60, 60), [0.0, 1.0], ["not saturated", "volume IOPS"], "volume IOPS"),
        # The idle point had most of the throttled minute, the other one the rest of it.
        ((40, 80), [1.0, 0.0], ["not known", "not saturated"], "volume IOPS"),
        ((40, 80), [1.0, 1.0], ["not known", "volume IOPS"], "volume IOPS"),
        ((57, 3), [1.0], ["volume IOPS", "not known"], "volume IOPS"),
        # Six points of ten seconds: which of them, nobody knows.
        ((10,) * 6, [1.0], ["not known"] * 6, "volume IOPS"),
        ((10,) * 6, [0.0], ["not saturated"] * 6, "not saturated"),
        # Of a single point it can have been no other.
        ((20,), [1.0], ["volume IOPS"], "volume IOPS"),
    ],
)
def test_a_minute_of_cloudwatch_speaks_for_the_point_that_had_nearly_all_of_it(seconds, checks, points, name):
    planned = cell(points=tuple({"bs": f"{number}k"} for number in range(len(seconds))))
    used = [{"at": sum(seconds[:number]), "seconds": each} for number, each in enumerate(seconds)]
    kept = watched({"AWS/EBS VolumeIOPSExceededCheck": checks})

    said = found(measured(planned, *used, cloudwatch=kept))

    assert list(said["points"].values()) == points
    assert said["name"] == name
    assert bool(said["uses"]) is (name == "volume IOPS")


def test_what_is_absent_is_said_and_never_taken_for_zero():
    result = measured(cell(), {})
    late = watched({"AWS/EBS VolumeIOPSExceededCheck": []}, read_after_s=20.0)

    assert found(result)["name"] == "not known"
    assert {"code": "not-read"} in found(result)["unseen"]
    said = found(result | {"cloudwatch": late})
    absent = {"code": "no-values", "metrics": ["AWS/EBS VolumeIOPSExceededCheck"], "may_arrive": True}
    assert absent in said["unseen"]
    assert said["is_provisional"]
    refused = found(result | {"cloudwatch": late | {"unasked": "AccessDenied"}})
    assert {"code": "not-asked", "error": "AccessDenied"} in refused["unseen"]


EMULATION = {"shared": True, "iops": 3_000.0, "bytes_per_s": 131_072_000.0, "unit_bytes": 262_144,
             "create_operations": 1.0}  # fmt: skip


def test_an_emulated_storage_is_held_against_the_limits_that_it_was_given():
    blocks = cell(points=({"block_bytes": 4_096}, {"block_bytes": 1_048_576}))

    said = found(
        measured(
            blocks,
            {"metrics": {"mb_per_s": 1_495 * 4_096 / 1e6}},
            {"metrics": {"mb_per_s": 64.9}},
            emulation=EMULATION,
        ),
        "emulated",
    )

    assert said["points"] == {"p01": "volume IOPS", "p02": "volume throughput"}
    assert (rate(said["uses"][0]), said["uses"][0]["point"]) == ((2_990.0, 3_000.0, "IOPS"), "p01")


@pytest.mark.parametrize(
    ("phase", "create_operations", "operations"),
    [("create", 1.0, 2_990.0), ("delete", 0.0, 0.0), ("stat", 0.0, 2_990.0), ("list", 1.0, 23.4)],
)
def test_a_phase_of_metadata_takes_the_operations_that_the_emulation_counts(phase, create_operations, operations):
    said = found(
        measured(
            cell(points=({"phase": phase},), count=1) | {"workload": {"type": "metadata"}},
            {"metrics": {"files_per_s": 2_990.0}},
            emulation=EMULATION | {"create_operations": create_operations},
        ),
        "emulated",
    )

    # A journal gathers the changes of a volume; a reply lists 128 files.
    uses = [*said["uses"], *(other["use"] for other in said["others"])]
    assert {rate(use) for use in uses if use.get("unit") == "IOPS"} == {(operations, 3_000.0, "IOPS")}


def test_a_cell_without_any_sample_has_no_known_bottleneck():
    nothing = cell_result(cell(), [], error={"name": "FleetFailed"}, actual_s=None)

    assert found(nothing)["name"] == "not known"
    assert found(nothing)["uses"] == []


def test_metrics_that_arrived_late_change_the_name_and_a_refusal_changes_nothing():
    early = watched({"AWS/EBS VolumeIOPSExceededCheck": []}, read_after_s=20.0)
    result = measured(cell(), {}) | {"cloudwatch": early}
    result["bottleneck"] = found(result)
    later = watched({"AWS/EBS VolumeIOPSExceededCheck": [1.0]})
    asked = []

    def read(about: Document, begun: float, ended: float) -> Document:
        asked.append((about, begun, ended))
        return later

    after = bottleneck.refreshed(result, "aws", read)

    assert asked == [(early["resources"], early["from"], early["to"])]
    assert bottleneck.is_late(result)
    assert not bottleneck.is_late(after)
    assert (result["bottleneck"]["name"], after["bottleneck"]["name"]) == ("not known", "volume IOPS")
    refusing = bottleneck.refreshed(result, "aws", lambda *_: later | {"unasked": "AccessDenied"})
    assert refusing["bottleneck"]["name"] == "not known"


def test_metrics_that_cloudwatch_has_thrown_away_since_are_not_lost():
    result = measured(cell(), {})
    result["cloudwatch"] = watched({"AWS/EBS VolumeIOPSExceededCheck": [1.0]}, read_after_s=20.0)
    result["bottleneck"] = found(result)

    after = bottleneck.refreshed(result, "aws", lambda *_: watched({"AWS/EBS VolumeIOPSExceededCheck": []}))

    assert after == result


def test_a_point_near_its_tools_own_ceiling_is_bound_by_the_tool_unless_the_storage_is_reached_too():
    calibration = [{"points": ["p01"], "tool": "fio", "metric": "iops", "params": {}, "value": 4_000.0}]
    slow = {"iops": 2_400.0, "disk_write_operations": 1_000.0}

    said = found(measured(cell(), slow, calibration=calibration))
    both = found(measured(cell(), slow | {"disk_write_operations": 2_950.0}, calibration=calibration))
    far = found(measured(cell(), slow | {"iops": 400.0}, calibration=calibration))

    assert said["name"] == "tool"
    assert said["uses"] == [{"code": "tool", "share": pytest.approx(0.6), "point": "p01"}]
    assert both["name"] == "volume IOPS"
    assert far["name"] == "not saturated"
    assert {"code": "tool-limit"} not in far["unseen"]


@pytest.mark.parametrize(
    ("params", "environment", "name"),
    [
        # 500 GiB of st1 have 122 operations of 1 MiB a second.
        ({"access": "random", "request_bytes": 16_384, "threads": 4}, "aws", "volume IOPS"),
        ({"options": {"rw": "randread", "bs": "16k"}}, "aws", "volume IOPS"),
        # Merged before they count: 122 of 16 KiB are 2 of its 122 MiB/s.
        ({"access": "sequential", "request_bytes": 16_384, "threads": 4}, "aws", "not saturated"),
        ({"options": {"rw": "read", "bs": "16k"}}, "aws", "not saturated"),
    ],
)
def test_an_hdd_is_limited_by_its_operations_at_random_places_only(params, environment, name):
    used = {"disk_read_operations": 122.0, "disk_write_operations": 0.0, "disk_read_bytes": 122 * 16_384.0}
    result = measured(cell({"type": "ebs", "volumeType": "st1", "sizeGiB": 500}), used | {"disk_write_bytes": 0.0})
    result["points"][0]["params"] = params

    assert found(result, environment)["name"] == name


GP2 = {"type": "ebs", "volumeType": "gp2", "sizeGiB": 100}
BURSTING = {"type": "efs", "throughputMode": "bursting"}


@pytest.mark.parametrize(
    ("storage", "used", "of", "sustained", "lasts_s"),
    [
        # 5.4 million credits at 3,000 - 300 operations a second.
        (GP2, {"disk_write_operations": 3_000.0, "disk_read_operations": 0.0}, "volume IOPS", 300.0, 2_000.0),
        # 500 GiB of st1: 500/1,024 TiB of credits, 19.5 MiB/s always; 100 MiB/s spend 80.5 of them a second.
        ({"type": "ebs", "volumeType": "st1", "sizeGiB": 500}, {"disk_read_bytes": 100 * MIB, "disk_write_bytes": 0.0},
         "volume throughput", 20_480_000.0, 512_000 / (100 - 19.53125)),
        # Two instances of 40 MiB/s each: 2.1 TiB at 80 - 1 MiB/s.
        (BURSTING, {"nfs_write_bytes": 40 * MIB, "nfs_read_bytes": 0.0}, "EFS throughput", 1.0 * MIB,
         2.1 * 2**20 / 79),
        (FSX | {"throughputCapacityMBps": 64, "iops": 3_072}, {"nfs_write_bytes": 40e6, "nfs_read_bytes": 0.0},
         "FSx disk throughput", 64e6, None),
        # The file server has 2,500 disk IOPS always and 40,000 in a burst. Two instances of 4,000 requests each.
        (FSX | {"throughputCapacityMBps": 64, "iops": 20_000},
         {"nfs_write_operations": 1_000.0, "nfs_read_operations": 3_000.0}, "FSx disk IOPS", 2_500, None),
        (EFS, {"network_sent_bytes": 500e6, "network_received_bytes": 0.0}, "instance network", 195.25e6,
         (1_562.5e6 - 195.25e6) * 300 / (500e6 - 195.25e6)),
        (EBS | {"iops": 16_000}, {"disk_write_operations": 12_000.0, "disk_read_operations": 0.0}, "instance EBS IOPS",
         6_000.0, (40_000 - 6_000) * 1_800 / (12_000 - 6_000)),
    ],
)  # fmt: skip
def test_what_is_done_on_credits_is_said_with_what_is_sustained_and_how_long_they_last(
    storage, used, of, sustained, lasts_s
):
    [paid] = found(measured(cell(storage), used))["on_credits"]["p01"]

    assert (paid["of"], paid["sustained"]) == (of, pytest.approx(sustained))
    assert paid["lasts_s"] == (None if lasts_s is None else pytest.approx(lasts_s))


@pytest.mark.parametrize(
    ("storage", "used", "environment"),
    [
        (GP2, {"disk_write_operations": 300.0, "disk_read_operations": 0.0}, "aws"),
        (GP2, {"disk_write_operations": 3_000.0, "disk_read_operations": 0.0}, "local"),
        # A page cache answered: no gp2 volume does so many.
        (GP2, {"disk_write_operations": 40_000.0, "disk_read_operations": 0.0}, "aws"),
        (EBS, {"disk_write_operations": 3_000.0, "disk_read_operations": 0.0}, "aws"),
    ],
)
def test_what_can_be_had_always_or_nowhere_is_not_called_a_burst(storage, used, environment):
    result = measured(cell(storage), used, instance_limits={})

    assert found(result, environment)["on_credits"] == {}


def test_reads_that_the_servers_cache_answered_say_how_many():
    used = {"nfs_read_bytes": 100e6, "nfs_write_bytes": 0.0}
    kept = watched(
        {
            "AWS/FSx FileServerCacheHitRatio": [98.0, 20.0],
            "AWS/FSx DataReadBytes": [6e9, 6e9],
            "AWS/FSx DataWriteBytes": [0.0, 9e9],
        },
        FileSystemId="fs-1",
    )

    said = found(measured(cell(FSX, ({}, {})), used, used, cloudwatch=kept))

    # In its minute the second point mostly wrote.
    assert said["server_cache"] == {"p01": 98.0}


def test_of_several_file_systems_the_fullest_is_named_with_the_hits_of_its_own_cache():
    full = {
        "AWS/FSx FileServerDiskThroughputUtilization": [97.0],
        "AWS/FSx FileServerCacheHitRatio": [35.0],
        "AWS/FSx DataReadBytes": [9e9],
        "AWS/FSx DataWriteBytes": [0.0],
    }
    idle = full | {"AWS/FSx FileServerDiskThroughputUtilization": [12.0], "AWS/FSx FileServerCacheHitRatio": [99.0]}
    kept = watched(idle, FileSystemId="fs-1")
    kept["series"] += watched(full, FileSystemId="fs-2")["series"]

    said = found(measured(cell(FSX | {"fileSystems": 2}), {}) | {"cloudwatch": kept})

    assert said["name"] == "FSx cache"
    [use] = said["uses"]
    assert (use["percent"], use["resource"], use["cache_hits_percent"]) == (97.0, "fs-2", 35.0)
    assert said["server_cache"] == {"p01": (99.0 + 35.0) / 2}
