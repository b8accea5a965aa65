"""Where an instance is slower than its volumes, which type would carry them, and which blocks reach both limits."""

import pytest
from moto.ec2.models.instance_types import INSTANCE_TYPES
from support.matrices import EBS, FILE_SERVER, READ, TOUCH, matrix

from matrix.input import instance_types
from matrix.plan import instance_limits
from matrix.plan.instance_limits import EbsLimits, StorageVolumes
from matrix.plan.planning import plan
from matrix.storages.base import AttachedVolumes

MIB = 2**20
GP3 = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 202, "iops": 4000, "throughputMiBps": 1000}
FAST = GP3 | {"name": "fast", "iops": 16000}
IO2 = {"type": "ebs", "name": "io2", "volumeType": "io2", "sizeGiB": 54, "iops": 16000}


# They ask for all IOPS and all bytes of a volume, for longer than the 30 minutes of an instance's credits.
DIRECT = {"type": "fio", "ioengine": "libaio", "iodepth": 64, "numjobs": 8, "direct": 1, "size": "1g"}
DIRECT |= {"time_based": 1, "runtime": 3_600}
SMALL_AND_LARGE = [DIRECT | {"rw": "randread", "bs": "4k"}, DIRECT | {"rw": "read", "bs": "1m"}]


def slower(**changes):
    """The warnings of a plan about instances that are slower than their volumes."""
    warnings = plan(matrix(workload=SMALL_AND_LARGE, **changes)).to_document()["warnings"]
    return [warning["message"] for warning in warnings if " is slower than " in warning["message"]]


def fleet(instance_type, count=1):
    return [{"instanceType": instance_type, "count": count}]


@pytest.mark.parametrize("volume", [{}, {"volumeId": "vol-0123456789abcdef0", "mayWrite": True}])
def test_no_network_carries_an_own_volume_whoever_made_it(volume):
    warnings = plan(matrix(workload=[TOUCH], storage=[FAST | volume], fleet=fleet("m6i.large"))).to_document()[
        "warnings"
    ]

    assert not any("of the network" in warning["message"] for warning in warnings)


def test_a_volume_faster_than_its_instance_is_warned_of_once():
    # m6i.large: 81.25 MB/s (77 MiB/s) and 3,600 IOPS always, 1,250 MB/s and 40,000 IOPS at times.
    # By 125 MiB/s a full balance lasts for 11 hours.
    [of_fast] = slower(storage=[FAST, EBS], fleet=fleet("m6i.large", [1, 2]))

    assert of_fast == (
        "m6i.large is slower than the volume of fast: 16,000 IOPS of the volume, 3,600 of the instance beyond"
        " 30 minutes a day; 1,000 MiB/s of the volume, 77 of the instance beyond 30 minutes a day;"
        " this measures the instance, not the storage;"
        " the smallest of its family that carries that always is m6i.8xlarge"
    )


def test_the_volumes_of_a_raid_0_count_together():
    raid = GP3 | {"name": "raid", "raid0": 2}

    assert slower(storage=[GP3], fleet=fleet("m6i.12xlarge")) == []
    assert slower(storage=[raid], fleet=fleet("m6i.16xlarge")) == []
    [message] = slower(storage=[raid], fleet=fleet("m6i.12xlarge"))
    # 15 Gbit/s are 1,875 MB/s, that is 1,788 MiB/s.
    assert "slower than the 2 volumes of raid: 2,000 MiB/s of the volumes, 1,788 of the instance" in message
    assert message.endswith("the smallest of its family that carries that always is m6i.16xlarge")


def test_io2_counts_with_the_throughput_that_its_iops_bring():
    [message] = slower(storage=[IO2], fleet=fleet("r5b.large"))

    # 16,000 IOPS of 256 KiB each are 4,000 MiB/s; 1,250 MB/s are 1,192 MiB/s.
    assert "16,000 IOPS of the volume, 5,417 of the instance beyond 30 minutes a day" in message
    assert "4,000 MiB/s of the volume, 1,192 of the instance;" in message
    assert message.endswith("carries that always is r5b.16xlarge")


def test_the_volume_of_a_file_server_is_held_against_the_server_and_not_against_the_fleet():
    document = plan(matrix(storage=[FILE_SERVER], workload=[READ])).to_document()
    attached = instance_limits.volumes_of(document["cells"])
    slow = EbsLimits(200e6, 200e6, 1000, 2000)

    [warning] = instance_limits.warnings(attached, {"m6i.xlarge": slow})

    assert warning["message"].startswith("m6i.xlarge is slower than the volume of File server: 3,000 IOPS")
    assert instance_limits.warnings(attached, {"m6i.large": slow}) == []


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (EbsLimits(200e6, 200e6, 1000, 2000), ["3,000 IOPS of the volume, 2,000 of the instance;"]),
        (EbsLimits(900e6, 900e6, 9000, 9000), []),
        (None, []),
    ],
)
def test_a_volume_above_the_instances_maximum_and_one_below_its_baseline(limits, words):
    volumes = StorageVolumes("ebs", AttachedVolumes("x9.large", 1, 3000, 125 * MIB))

    messages = [warning["message"] for warning in instance_limits.warnings([volumes], {"x9.large": limits})]

    assert len(messages) == len(words)
    assert all(word in message for word, message in zip(words, messages, strict=True))
    assert all(message.endswith("no type of its family that is known here carries that always") for message in messages)


def test_an_emulated_volume_has_no_instance_to_be_slower_than():
    emulated = plan(matrix(storage=[FAST], emulate=True, workload=[TOUCH | {"tool": "engine"}])).to_document()

    assert not [warning for warning in emulated["warnings"] if "is slower than" in warning["message"]]
    assert instance_limits.volumes_of(emulated["cells"]) == []


def test_hdds_are_held_against_the_throughput_only_and_have_no_block_of_both():
    st1 = {"type": "ebs", "volumeType": "st1", "sizeGiB": 2048}

    [message] = slower(storage=[st1], fleet=fleet("m6i.large"))

    assert "IOPS" not in message
    assert "500 MiB/s of the volume, 77 of the instance" in message


@pytest.mark.parametrize(
    ("storage", "instance_type", "said"),
    [
        ({"volumeType": "io2", "iops": 64_000}, "m4.16xlarge", ["32,000 IOPS and 500 MiB/s"]),
        ({"volumeType": "io1", "iops": 32_001}, "x1.32xlarge", ["32,000 IOPS and 500 MiB/s"]),
        ({"volumeType": "io2", "iops": 64_000}, "t2.large", ["32,000 IOPS and 500 MiB/s", "are not known here"]),
        ({"volumeType": "io2", "iops": 2_000}, "c3.8xlarge", ["are not known here"]),
        ({"volumeType": "io2", "iops": 64_000}, "r5b.24xlarge", []),
        ({"volumeType": "io2", "iops": 2_000}, "m4.16xlarge", []),
        ({"volumeType": "io2", "iops": 64_000}, "m5.metal", []),
    ],
)
def test_volumes_outside_of_nitro_and_types_that_are_not_known_are_told(storage, instance_type, said):
    volume = {"type": "ebs", "sizeGiB": 1024, **storage}

    planned = plan(matrix(storage=[volume], fleet=fleet(instance_type))).to_document()["warnings"]

    messages = [each["message"] for each in planned if each["path"] == "fleet" and each["value"] == instance_type]
    told = [words for words in ("32,000 IOPS and 500 MiB/s", "are not known here") if any(words in m for m in messages)]
    assert told == said


def test_what_the_project_says_of_nitro_credits_and_the_network_is_what_ec2_says():
    for name, described in INSTANCE_TYPES.items():
        assert instance_types.is_nitro(name) is (described.get("Hypervisor") != "xen" or described["BareMetal"]), name
        assert bool(instance_types.burstable(name)) is bool(described["BurstablePerformanceSupported"]), name
        [card, *_] = described["NetworkInfo"]["NetworkCards"]
        gbps = card["BaselineBandwidthInGbps"], card["PeakBandwidthInGbps"]
        assert instance_types.network_of(name) == tuple(125e6 * each for each in gbps), name
        assert instance_types.can_be_weighted(name) is ("BandwidthWeightings" in described["NetworkInfo"]), name
    assert instance_types.network_of("m99g.large") is None


def test_the_plan_says_which_blocks_reach_both_limits_of_a_volume():
    # The source's own sum: 1,000 MiB/s * 1024 / 16,000 = 64 KiB.
    attached = [
        StorageVolumes("fast", AttachedVolumes("r5b.large", 1, 16_000, 1000 * MIB)),
        StorageVolumes("disk", AttachedVolumes("r5b.large", 1, None, 500 * MIB)),
    ]

    assert list(instance_limits.describe_block(attached)) == [
        "volumes reach both their IOPS and their throughput with blocks of: fast 64 KiB (1,000 MiB/s / 16,000 IOPS)"
    ]
    assert list(instance_limits.describe_block([])) == []
    assumptions = plan(matrix(storage=[FAST])).to_document()["assumptions"]
    assert any("fast 64 KiB (1,000 MiB/s / 16,000 IOPS)" in line for line in assumptions)


def test_the_table_has_what_ec2_says_of_each_type():
    # moto's file is EC2's own answer to DescribeInstanceTypes.
    said = {
        name: limits
        for name, described in INSTANCE_TYPES.items()
        if (limits := instance_limits.limits_of(described["EbsInfo"].get("EbsOptimizedInfo", {})))
    }

    assert instance_limits.known_limits() == said

    # The source of the published rows ran on r5b.large: 10 Gbit/s to EBS at the most.
    assert instance_limits.known_limits()["r5b.large"] == EbsLimits(156.25e6, 1250e6, 5417, 43333)
    assert instance_limits.limits_of({}) is None


def test_a_bare_machine_is_named_only_where_no_other_of_its_family_carries_the_volumes():
    raid = GP3 | {"name": "raid", "raid0": 4}

    [message] = slower(storage=[raid], fleet=fleet("m8g.24xlarge"))

    assert message.endswith("the smallest of its family that carries that always is m8g.48xlarge")


@pytest.mark.parametrize(
    # m8g.large: 78.75 MB/s to EBS and 0.937 Gbit/s of the network always. A quarter more is 98.4 MB/s (94 MiB/s); a
    # quarter of the network is 29.3 MB/s, which leaves 49.5 (47 MiB/s). IOPS stay.
    ("weighting", "instance", "mibps"),
    [(None, "m8g.large", 75), ("ebs-1", "m8g.large (weighted ebs-1)", 94), ("vpc-1", "m8g.large (weighted vpc-1)", 47)],
)
def test_a_volume_is_held_against_what_the_weighting_leaves_for_ebs(weighting, instance, mibps):
    weighted = {"bandwidthWeighting": weighting} if weighting else {}

    [message] = slower(storage=[FAST], fleet=[{"instanceType": "m8g.large"} | weighted])

    assert message.startswith(f"{instance} is slower than the volume of fast: 16,000 IOPS of the volume, 3,600 of the")
    assert f"1,000 MiB/s of the volume, {mibps} of the instance beyond 30 minutes a day" in message


@pytest.mark.parametrize(("weighting", "carrying"), [(None, "m8g.8xlarge"), ("ebs-1", "m8g.4xlarge")])
def test_a_smaller_type_carries_the_volumes_if_weighted_towards_ebs(weighting, carrying):
    # 700 MiB/s are 734 MB/s; m8g.4xlarge has 625 always, a quarter more is 781.
    volumes = AttachedVolumes("m8g.large", 1, 4000, 700 * MIB)

    assert instance_limits.smallest_that_carries(volumes, weighting) == carrying


def test_the_weighting_of_a_fleet_is_not_that_of_its_file_server():
    weighted = [{"instanceType": "m8g.large", "bandwidthWeighting": "ebs-1"}]
    document = plan(matrix(storage=[FILE_SERVER, EBS], workload=[READ], fleet=weighted)).to_document()

    of = {
        attached.volumes.instance_type: attached.weighting for attached in instance_limits.volumes_of(document["cells"])
    }

    assert of == {"m6i.xlarge": None, "m8g.large": "ebs-1"}


def test_a_stripe_reaches_as_much_of_an_instance_as_its_fullest_ebs_card_has():
    # c8gn.48xlarge: two cards of 240,000 IOPS and 7,500 MB/s. Of three volumes two are on one card, so they reach three
    # quarters of both.
    io2 = IO2 | {"sizeGiB": 160, "iops": 150_000, "raid0": 3}
    gp3 = GP3 | {"iops": 80_000, "throughputMiBps": 2000, "raid0": 4}

    [message] = slower(storage=[io2], fleet=fleet("c8gn.48xlarge"))

    assert message.startswith("c8gn.48xlarge (2 of its 2 EBS cards) is slower than the 3 volumes of io2: 450,000 IOPS")
    assert "450,000 IOPS of the volumes, 360,000 of the instance" in message
    assert slower(storage=[gp3], fleet=fleet("c8gn.48xlarge")) == []
