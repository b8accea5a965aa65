"""Emulated storages: the truth that follows from what is provisioned, what is refused, the mark on everything."""

import pytest
from support.matrices import EBS, EFS, FSX, matrix, problems_of

from matrix.answer.comparing import NotComparable, compare
from matrix.answer.values import values_of
from matrix.input.emulation import environment_of, truth
from matrix.input.storage_names import storage_label
from matrix.plan.planning import plan
from matrix.plan.resume import earlier_cells
from matrix.storages.base import Storage
from matrix.storages.models import MODELS
from matrix.terms.problems import InvalidMatrix

MIB = 2**20
ONTAP = {"type": "fsx-ontap", "storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536}
TWO_PAIRS = ONTAP | {"haPairs": 2, "storageCapacityGiB": 2048, "volumeStyle": "FLEXGROUP"}
HDD = {"type": "ebs", "volumeType": "st1", "sizeGiB": 1024}


@pytest.mark.parametrize(
    ("storage", "shared", "iops", "bytes_per_s", "unit_bytes"),
    [
        (EBS | {"iops": 4000, "throughputMiBps": 250}, False, 4000, 250 * MIB, 256 * 1024),
        (EBS | {"raid0": 2}, False, 6000, 250 * MIB, 256 * 1024),
        (HDD, False, 250, 250 * MIB, MIB),
        (EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 8}, True, 25_000, 8 * MIB, MIB),
        (FSX, True, 20_000, 4096e6, MIB),
        (ONTAP, True, 3_072, 1536e6, MIB),
        (TWO_PAIRS, True, 6_144, 3072e6, MIB),
        (TWO_PAIRS | {"volumeStyle": "FLEXVOL"}, True, 3_072, 1536e6, MIB),
    ],
)
def test_the_truth_of_a_storage_is_what_the_matrix_provisions(storage, shared, iops, bytes_per_s, unit_bytes):
    found = truth(matrix(storage=[storage]).matrix.storage[0])

    names = ("shared", "iops", "bytes_per_s", "unit_bytes", "create_operations")
    assert [found[name] for name in names] == [shared, iops, bytes_per_s, unit_bytes, int(shared)]
    assert 0 < found["read_s"] <= found["write_s"]


@pytest.mark.parametrize(
    ("storage", "reads", "writes"),
    [
        (EFS, (250_000, 20 * 1024 * MIB), (50_000, 1024 * MIB)),
        (EFS | {"deployment": "oneZone"}, (35_000, 3 * 1024 * MIB), (7_000, 1024 * MIB)),
        (EFS | {"throughputMode": "bursting"}, (35_000, 300 * MIB), (7_000, 100 * MIB)),
        (
            EFS | {"throughputMode": "provisioned", "provisionedThroughputMiBps": 8},
            (55_000, 24 * MIB),
            (25_000, 8 * MIB),
        ),
        (EBS, (3_000, 125 * MIB), (3_000, 125 * MIB)),
        (FSX, (20_000, 4096e6), (20_000, 4096e6)),
        # Its IOPS are of the metadata servers.
        ({"type": "fsx-lustre", "storageCapacityGiB": 1200}, (None, 120e6), (None, 120e6)),
    ],
)
def test_reads_have_the_limits_that_aws_documents_for_them(storage, reads, writes):
    found = truth(matrix(storage=[storage]).matrix.storage[0])

    assert (found["read_iops"], found["read_bytes_per_s"]) == (reads[0], pytest.approx(reads[1], rel=0.1))
    assert (found["write_iops"], found["bytes_per_s"]) == (writes[0], pytest.approx(writes[1], rel=0.1))


def test_a_plan_marks_every_emulated_storage_so_that_none_equals_a_measured_one():
    emulated, measured = (plan(matrix(emulate=flag)).to_document() for flag in (True, False))

    [cell] = emulated["cells"]
    assert emulated["emulated"] is True
    assert cell["id"] == "ebs-gp3-200gib-3000iops-emulated.touch.m6i.large-x1"
    assert (
        cell["storage"]
        == emulated["file_systems"][0]["storage"]
        == measured["cells"][0]["storage"] | {"emulated": True}
    )
    assert cell["emulation"]["iops"] == 3000
    assert storage_label(cell["storage"]) == "EBS (EMULATED; gp3; 200 GiB; 3000 IOPS; 125 MiB/s)"
    assert "emulation" not in measured["cells"][0]


def test_a_number_slows_every_limit_and_latency_down_alike_and_marks_the_storages():
    [slow], [usual] = (plan(matrix(emulate=by)).to_document()["cells"] for by in (8, True))

    truths = slow["emulation"], usual["emulation"]
    assert {name: truths[1][name] / value for name, value in truths[0].items() if name.endswith("iops")} == {
        "iops": 8, "read_iops": 8, "write_iops": 8,
    }  # fmt: skip
    for name, ratio in (("bytes_per_s", 8), ("read_bytes_per_s", 8), ("create_s", 1 / 8), ("read_s", 1 / 8)):
        assert truths[1][name] / truths[0][name] == pytest.approx(ratio)
    assert truths[0].keys() == truths[1].keys()
    assert slow["storage"]["emulated"] == {"slowdown": 8}
    for wrong in (1, 65, 2.5, "8"):
        assert any(path.startswith("emulate") for path in problems_of(emulate=wrong))


def test_quirks_are_those_of_the_storage_with_that_name_and_mark_it():
    storages = [FSX | {"name": "calm"}, FSX | {"name": "stalling"}]

    document = plan(matrix(storage=storages, emulate={"stalling": {"stallEvery": 300, "stallS": 1}})).to_document()

    calm, stalling = sorted(document["cells"], key=lambda cell: cell["storage"]["name"])
    assert not {"stall_every", "stall_s", "times"} & set(calm["emulation"])
    assert (stalling["emulation"]["stall_every"], stalling["emulation"]["stall_s"]) == (300, 1)
    # Another truth is another storage: neither resumed from the calm one, nor compared with it.
    assert (calm["storage"]["emulated"], stalling["storage"]["emulated"]) == (True, {"stall_every": 300, "stall_s": 1})


def test_an_emulated_cell_is_not_taken_for_the_same_as_a_measured_one_when_resuming():
    emulated = plan(matrix(emulate=True)).to_document()
    earlier = earlier_cells("r-1", emulated, lambda _: {"state": "measured"}, lambda _: 1)

    again, measured = (plan(matrix(emulate=flag), earlier=earlier).cells[0] for flag in (True, False))

    assert (again.reused_from, measured.reused_from) == ({"run": "r-1", "cell": again.id}, None)


def test_storages_that_cannot_be_emulated_are_refused_with_those_that_can():
    found = problems_of(emulate=True, storage=[{"type": "mountpoint"}])

    named = found["storage[0].type"].rule.partition("; can be: ")[2].split(", ")
    # A model that has times of its own for a block can be.
    assert named == [kind for kind in MODELS if MODELS[kind].block_times is not Storage.block_times]
    assert {"ebs", "efs", "fsx-openzfs"} <= set(named)


@pytest.mark.parametrize("name", ["aws", "local-vm"])
def test_emulation_is_refused_where_storages_are_real(name):
    assert environment_of(name, is_emulated=False) == name
    with pytest.raises(InvalidMatrix, match="only local runs can emulate"):
        environment_of(name, is_emulated=True)


def test_emulated_figures_carry_an_environment_of_their_own():
    assert environment_of("local", is_emulated=True) == "emulated"


@pytest.mark.parametrize("environments", [("emulated", "local"), ("aws", "emulated")])
def test_an_emulated_run_is_not_compared_with_a_measured_one(environments):
    base, run = ({"run": name, "environment": name, "cells": []} for name in environments)

    with pytest.raises(NotComparable, match="the storages of emulated were emulated, those of"):
        compare(values_of(base), values_of(run), threshold=0.05)
