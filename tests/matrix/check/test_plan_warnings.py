"""Advice of warnings of a plan: who follows it is warned no longer."""

import re

import pytest
from support.matrices import COMMAND, EBS, EFS, FIO, FSX, matrix

SMALL_CACHE = FSX | {"throughputCapacityMBps": 64, "iops": None}


def found(code, **changes):
    return [one for one in matrix(**changes).warnings if one.code == code]


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize("data", ["own", "shared"])
def test_who_writes_the_size_that_a_cache_needs_is_not_warned_again(data, count, jobs):
    work = {"type": "fio", "rw": "randread", "direct": 1, "data": [data], "numjobs": jobs, "randrepeat": 0}
    work |= {"time_based": 1, "runtime": 30}
    more = {"storage": [SMALL_CACHE], "fleet": [{"instanceType": "m6i.large", "count": count}]}

    [warning] = found("data-exceeds-the-servers-cache", workload=[work | {"size": "100m"}], **more)
    gib = int(re.search(r'write size "(\d+)GiB"', warning.fix)[1])

    # A GiB less of each file, and half of the reads may come from the cache.
    copies = (count if data == "own" else 1) * jobs
    assert (gib - 1) * 2**30 * copies < 2 * 3e9 <= gib * 2**30 * copies
    assert not found("data-exceeds-the-servers-cache", workload=[work | {"size": f"{gib}g"}], **more)


def test_sizes_that_are_no_whole_units_are_rounded_for_people():
    work = FIO | {"rw": "randread", "direct": 1, "data": ["shared"], "size": "1g"}
    fleet = [{"instanceType": "m6i.large", "count": 3}]

    [warning] = found("data-exceeds-the-servers-cache", storage=[FSX], workload=[work], fleet=fleet)

    assert not re.search(r"[0-9]{6}", f"{warning.value} {warning.rule}")
    assert warning.value == "1 GiB"


def test_all_storages_that_are_laid_out_full_are_named():
    work = FIO | {"rw": "read", "size": "600G", "direct": 1}

    [warning] = found("much-is-laid-out", storage=[EFS, EBS | {"sizeGiB": 1_000}], workload=[work])

    assert "EFS elastic" in warning.rule
    assert "EBS gp3" in warning.rule


@pytest.mark.parametrize("on", ["leader", "each"])
def test_the_names_of_other_hosts_are_told_to_leaders_and_to_others(on):
    [warning] = found("variables-are-set", workload=[COMMAND | {"command": "mpirun $HOSTFILE", "on": on}])

    assert all(name in warning.fix for name in ("HOSTS", "LEADER", "ON_HOST"))
