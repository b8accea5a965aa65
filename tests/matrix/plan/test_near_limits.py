"""Warnings of limits: only where the plan's own figures come near them, and by their weight."""

import pytest
from support.matrices import COMMAND, DD, EBS, EFS, FLEET, FSX, METADATA, READ, S3, TOUCH, matrix

from matrix.plan.document import apart, warning_of
from matrix.plan.planning import plan
from matrix.terms.problems import Problem, Weight, check

DIRECT = {"type": "fio", "ioengine": "libaio", "direct": 1, "size": "4g", "time_based": 1, "runtime": 60}
SMALL = DIRECT | {"rw": "randwrite", "bs": "4k", "iodepth": 64}
LARGE = DIRECT | {"rw": "write", "bs": "1m", "iodepth": 64, "numjobs": 4}
# Three repetitions of these use up the 5 minutes of a network's credits, or the 30 of EBS's.
LONG, HOURS = {"runtime": 600}, {"runtime": 3_600}
GP2 = {"type": "ebs", "volumeType": "gp2", "sizeGiB": 100}
ST1 = {"type": "ebs", "volumeType": "st1", "sizeGiB": 500}
PROVISIONED = EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 60}


def warnings(storage, workload, instance_type="m6i.large", count=1, **more):
    fleet = [FLEET | {"instanceType": instance_type, "count": count}]
    return plan(matrix(storage=[storage], workload=[workload], fleet=fleet, **more)).warnings


def found(*of, **more):
    return [warning.get("code", warning["path"]) for warning in warnings(*of, **more)]


@pytest.mark.parametrize(
    ("storage", "workload", "instance_type", "is_near"),
    [
        # m6i.large has 97.6 MB/s of the network always, and 1,562 for 5 minutes at least.
        (EFS, LARGE | LONG, "m6i.large", True),
        (EFS, LARGE, "m6i.large", False),
        (S3, READ | {"requestSize": "8MiB", "requests": 40_000, "threads": 16}, "m6i.large", True),
        (S3, READ | {"requestSize": "8MiB", "requests": 40, "threads": 4}, "m6i.large", False),
        # 60 MiB/s are 63 MB/s, 65 % of what it has always.
        (PROVISIONED, LARGE | HOURS, "m6i.large", False),
        # 32 threads of S3 are more than the 12.5 Gbit/s that it has at most, however short. The largest has no larger.
        (S3, READ | {"requestSize": "8MiB", "requests": 64, "threads": 32}, "m6i.large", True),
        (S3, READ | {"requestSize": "8MiB", "requests": 128, "threads": 128}, "m6i.32xlarge", False),
        # Empty files, whatever the storage could carry.
        (EFS, TOUCH | {"threads": 64}, "m6i.large", False),
        (EFS, METADATA | {"threads": 64}, "m6i.large", False),
        (EFS, {"type": "delete"}, "m6i.large", False),
        # A network without credits.
        (EFS, LARGE, "m6i.32xlarge", False),
    ],
)
def test_the_network_is_warned_of_where_the_plan_comes_near_its_baseline(storage, workload, instance_type, is_near):
    assert ("network-is-sustained" in found(storage, workload, instance_type)) == is_near


@pytest.mark.parametrize(
    ("storage", "workload", "between"),
    [
        # 60 MiB/s are 1,920 writes of 32 KiB a second, so 7.5 MiB/s of 4 KiB; three times as many reads.
        (PROVISIONED, SMALL, ("7.50", "60.0")),
        (PROVISIONED, SMALL | {"rw": "randread"}, ("22.5", "60.0")),
        (EFS | {"throughputMode": "bursting"}, SMALL, ("12.5", "27.3")),
        (PROVISIONED, SMALL | {"bs": "32k"}, None),
        (EFS, SMALL, None),
        (EBS, SMALL, None),
    ],
)
def test_small_requests_move_between_what_their_bytes_and_their_least_sizes_allow(storage, workload, between):
    """EFS guide: TotalIOBytes includes minimums; whether the limits of throughput do is not said."""
    code = "small-requests-use-up-throughput"

    told = [each["message"] for each in warnings(storage, workload, "m6i.xlarge", 4) if each.get("code") == code]

    assert [f"between {between[0]} and {between[1]} MiB/s" in each for each in told] == [True] * bool(between)


def test_a_network_that_nobody_knows_is_warned_of_if_data_pass_it():
    assert "network-is-sustained" in found(EFS, DD, "m99g.large")
    assert "network-is-sustained" not in found(EFS, TOUCH, "m99g.large")


def test_the_network_that_is_advised_is_no_larger_than_what_one_client_gets():
    # 500 MiB/s are 4.2 Gbit/s, which m6i.4xlarge has always (6.25), and m6i.2xlarge not (3.1).
    [warning] = [each for each in warnings(EFS, LARGE | LONG) if each.get("code") == "network-is-sustained"]

    assert warning["message"].endswith("take m6i.4xlarge")


@pytest.mark.parametrize(
    ("storage", "instance_type", "is_near"),
    [
        (EFS, "m6i.32xlarge", True),
        # Its 1,500 MiB/s are more than EFS writes for all.
        (EFS | {"tls": True}, "m6i.32xlarge", False),
        (EFS, "m6i.large", False),
        (PROVISIONED, "m6i.32xlarge", False),
        (FSX | {"nconnect": 16}, "m6i.32xlarge", False),
    ],
)
def test_what_one_client_gets_of_efs_is_told_before_a_larger_one_is_paid(storage, instance_type, is_near):
    workload = LARGE | {"numjobs": 16}

    assert ("one-client-is-enough" in found(storage, workload, instance_type)) == is_near


def test_a_fleet_that_has_less_than_the_cap_each_is_not_warned_of_it():
    # Of 1,024 MiB/s each of four has 256.
    shared = PROVISIONED | {"provisionedThroughputMiBps": 1_024}

    assert "one-client-is-enough" in found(shared, LARGE, "m6i.32xlarge")
    assert "one-client-is-enough" not in found(shared, LARGE, "m6i.32xlarge", count=4)


@pytest.mark.parametrize(
    ("storage", "workload", "is_near"),
    [
        (GP2, SMALL, True),  # 300 IOPS always
        (GP2, SMALL | {"rate_iops": 200}, False),
        (GP2, COMMAND, False),
        (EBS, SMALL, False),
        ({"type": "ebs", "volumeType": "sc1", "sizeGiB": 1024}, LARGE, True),  # 12 MiB/s always
        (EFS | {"throughputMode": "bursting"}, LARGE, True),
        (EFS, LARGE, False),
        # The server has 2,500 disk IOPS and 64 MB/s always.
        (FSX | {"throughputCapacityMBps": 64}, SMALL, True),
        (FSX | {"throughputCapacityMBps": 64}, SMALL | {"rate_iops": 1_000}, False),
    ],
)
def test_credits_of_a_storage_are_warned_of_where_the_plan_uses_them(storage, workload, is_near):
    assert ("storage-has-no-burst" in found(storage, workload)) == is_near


@pytest.mark.parametrize(
    ("storage", "workload", "is_near"),
    [
        # One in flight of 1 ms makes 1,000 a second; 8 make half of 16,000.
        (EBS | {"iops": 16_000}, SMALL | {"iodepth": 1}, True),
        (EBS | {"iops": 16_000}, SMALL | {"iodepth": 7}, True),
        (EBS | {"iops": 16_000}, SMALL | {"iodepth": 8}, False),
        (EBS | {"iops": 16_000}, SMALL | {"iodepth": 2, "numjobs": 4}, False),
        (EBS | {"iops": 16_000}, SMALL | {"ioengine": "psync", "iodepth": 32}, True),
        (EBS | {"iops": 16_000}, READ | {"access": "random", "threads": 1}, True),
        # What is included, of buffered writes, and of work whose operations nobody knows.
        (EBS, SMALL | {"iodepth": 1}, False),
        (EBS | {"iops": 16_000}, SMALL | {"iodepth": 1, "direct": 0, "ioengine": "psync"}, False),
        (EBS | {"iops": 16_000}, COMMAND, False),
        (FSX | {"iops": 20_000}, SMALL | {"iodepth": 1}, True),
        (FSX | {"iops": None}, SMALL | {"iodepth": 1}, False),
    ],
)
def test_iops_that_are_paid_for_and_not_asked_for_are_told_before_money_is_spent(storage, workload, is_near):
    assert ("paid-iops-are-used" in found(storage, workload, "m6i.4xlarge")) == is_near


@pytest.mark.parametrize(
    ("workload", "is_near"),
    [
        (SMALL | {"rw": "randread", "bs": "16k"}, True),
        (SMALL | {"rw": "randread", "bs": "1m"}, False),
        (SMALL | {"rw": "read", "bs": "16k"}, False),
        (SMALL | {"rw": "randread", "bs": "16k", "rate_iops": 50}, False),
        (READ | {"access": "random", "requestSize": "16KiB"}, True),
        (READ | {"access": "sequential", "requestSize": "16KiB"}, False),
    ],
)
def test_small_random_requests_use_up_the_operations_of_an_hdd(workload, is_near):
    assert ("random-requests-are-large-on-hdd" in found(ST1, workload)) == is_near
    assert "random-requests-are-large-on-hdd" not in found(EBS, workload)


def test_an_hdd_merges_sequential_requests_to_its_throughput():
    # 500 GiB of st1 have 122 MiB/s in a burst: 64 GiB in sequence take 9 minutes, and 4 Mi requests 9 hours.
    whole = {name: value for name, value in SMALL.items() if name not in {"time_based", "runtime"}}
    in_sequence, at_random = (
        plan(matrix(storage=[ST1], workload=[whole | {"rw": rw, "bs": "16k", "size": "64g"}], repetitions=1)).expected_s
        for rw in ("read", "randread")
    )

    assert in_sequence < 7_200
    assert at_random > 9 * 3_600


def test_who_wrote_the_hours_of_the_job_has_the_decision_count_them():
    objective = {"metric": "mb_per_s", "atLeast": 1}
    told = [
        ["jobHours" in each["message"] for each in warnings(GP2, SMALL, objective=asked, repetitions=3)
         if each.get("code") == "storage-has-no-burst"]
        for asked in (objective, objective | {"jobHours": 8}, {"jobHours": 8})
    ]  # fmt: skip

    assert told == [[True], [], []]


def test_the_instance_is_held_against_its_volumes_where_the_plan_asks_for_them():
    fast = EBS | {"iops": 16_000, "throughputMiBps": 1_000}

    assert "instance-carries-the-volumes" in found(fast, SMALL | HOURS)
    assert "instance-carries-the-volumes" in found(fast, LARGE | HOURS)
    # Within its 30 minutes a day m6i.large has 40,000 IOPS and 1,192 MiB/s, of which io2 has more.
    assert "instance-carries-the-volumes" not in found(fast, SMALL)
    assert "instance-carries-the-volumes" in found(EBS | {"volumeType": "io2", "iops": 16_000}, LARGE)
    assert "instance-carries-the-volumes" not in found(fast, TOUCH)
    assert "instance-carries-the-volumes" not in found(fast, SMALL | HOURS | {"rate_iops": 1_000})


def test_warnings_come_by_their_weight_unfair_undecided_money_and_then_others():
    every = plan(
        matrix(
            storage=[EBS, EFS, {"type": "nfs", "source": "files.example.com:/export", "options": "soft"}],
            workload=[TOUCH, COMMAND],
            fleet=[FLEET | {"instanceType": "t3.large", "count": 2}],
            budgetUsd=1_000,
        )
    ).warnings
    weights = [Weight(warning["weight"]) for warning in every]

    assert list(dict.fromkeys(weights)) == list(Weight)


def test_a_rule_says_itself_how_its_warning_weighs():
    def a_new_rule(parsed):
        yield Problem("fleet", None, "r", "f", weight=Weight.MONEY)

    (new,) = check([a_new_rule], None)
    others = [Problem("", None, "r", "f", weight=weight) for weight in (Weight.NOTE, Weight.UNFAIR)]

    warnings, assumptions = apart(map(warning_of, [*others, new]), {})
    assert ([each["weight"] for each in warnings], assumptions) == (["unfair", "money", "note"], [])


def test_what_is_intended_by_its_code_is_an_assumption_with_its_reason_and_nothing_else_is():
    given = {"storage": [EBS], "workload": [SMALL | {"rate_iops": 100}], "fleet": [FLEET | {"count": 1}]}
    told = plan(matrix(**given, intended={"paid-iops-are-used": "never warned of"}))
    own = EFS | {"throughputMode": "bursting"}
    meant = plan(matrix(storage=[own], workload=[LARGE], intended={"storage-has-no-burst": "bursts are my question"}))

    assert not any("never warned of" in line for line in told.assumptions)
    assert "storage-has-no-burst" not in [warning.get("code") for warning in meant.warnings]
    assert len([line for line in meant.assumptions if "bursts are my question" in line]) == 1
