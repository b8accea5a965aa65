"""What is put on an image, what tells two images apart, and what baking does to a plan."""

import pytest
from support.matrices import BUILD, EBS, EFS, EVENTS, FSX, TOUCH, event_id, matrix

from agent import mounts, workloads
from agent.programs import tools
from aws.storages.ebs import cloud as ebs
from matrix.check.read import read_matrix
from matrix.plan import images
from matrix.plan.images import fingerprint
from matrix.plan.planning import plan

# On every image of Amazon Linux 2023 and Ubuntu 22.04.
EVERYWHERE = {"bash", "touch", "seq", "dd", "cp", "sync", "find", "blkid"}
FIO = {"type": "fio", "rw": "randwrite", "size": "1G", "bs": "4k"}
DD = {"type": "dd", "dataSize": "1MiB", "tool": ["dd", "parallel"]}
TRANSFER = {"type": "transfer", "tool": ["rsync", "cp", "fpsync", "cp+parallel", "fpart+cpio+parallel"]}


def images_of(**changes):
    return plan(matrix(**changes)).to_document()["images"]


@pytest.mark.parametrize("workload", [TOUCH | {"tool": ["engine", "touch", "parallel"]}, DD, FIO, BUILD, TRANSFER])
def test_the_table_of_tools_names_all_that_the_agent_calls_for(workload):
    document = plan(matrix(workload=[workload])).to_document()

    for cell in document["cells"]:
        for point in cell["points"]:
            wanted = workloads.tools(workload["type"], point["params"]) - EVERYWHERE
            assert wanted <= images.tools_of_cell(cell["storage"], cell["workload"], [point["params"]])


@pytest.mark.parametrize(
    ("storage", "mount"),
    [
        (EBS, ebs.mount("", EBS)),
        (EBS | {"raid0": 2}, ebs.mount("", EBS | {"raid0": 2})),
        (EFS, {"kind": "nfs"}),
        (FSX, {"kind": "nfs"}),
    ],
)
def test_the_table_of_tools_names_what_a_mount_calls_for(storage, mount):
    assert mounts.tools(mount) - EVERYWHERE <= images.tools_of_cell(storage, TOUCH, [])


FOR_AWS = [path for path in EVENTS if path.parent.name != "local"]


@pytest.mark.parametrize("event", FOR_AWS, ids=event_id)
def test_no_matrix_for_aws_depends_on_packages_that_amazon_linux_may_lack(event):
    document = plan(read_matrix(event.read_bytes())).to_document()

    for image in document["images"]:
        lacking = {name for name in image["recipe"]["tools"] if tools.TOOLS[name].supplementary}
        assert not lacking or image["recipe"]["os"] == "ubuntu-22.04", lacking


def test_one_image_for_each_architecture_with_what_its_cells_need():
    fleets = [{"instanceType": ["m6i.large", "m7g.large"], "count": [1, 2]}]
    found = {one["id"]: one for one in images_of(storage=[EBS, EFS], workload=[FIO], fleet=fleets)}

    assert set(found) == {"al2023-x86_64", "al2023-arm64"}
    assert set(found["al2023-arm64"]["recipe"]["tools"]) == {"fio", "mkfs.xfs", "mount.nfs"}
    assert found["al2023-arm64"]["base_parameter"].endswith("-arm64")


def test_the_container_of_a_workload_is_on_the_image():
    yocto = {"type": "yocto", "image": "core-image-minimal"}

    [found] = images_of(workload=[yocto], image={"bake": True, "containers": ["debian:12"]})

    assert found["recipe"]["containers"] == ["crops/poky:ubuntu-22.04", "debian:12"]
    assert "docker" in found["recipe"]["tools"]


def test_a_fingerprint_changes_with_whatever_is_on_the_image_and_with_nothing_else():
    base = images_of(image={"bake": True})[0]["recipe"]
    same = images_of(image={"bake": True}, name="another", budgetUsd=3, workload=[TOUCH | {"files": 8}])[0]["recipe"]
    others = [
        images_of(image={"bake": True, **change})[0]["recipe"]
        for change in ({"packages": ["gcc"]}, {"os": "ubuntu-22.04"}, {"containers": ["a"]}, {"dockerfile": "FROM a"})
    ]

    prints = [fingerprint(one, "ami-1") for one in (base, *others)] + [fingerprint(base, "ami-2")]
    assert len(set(prints)) == len(prints)
    assert fingerprint(same, "ami-1") == prints[0]


def test_baking_costs_nothing_where_the_image_is_there_and_is_in_budget_time_and_words():
    plain, baked = plan(matrix()).to_document(), plan(matrix(image={"bake": True})).to_document()

    [image] = baked["images"]
    assert image["cost_usd"]["low"] == 0.0
    assert 0 < image["cost_usd"]["expected"] < image["cost_usd"]["high"] < 0.2
    difference = baked["totals"]["cost_usd"]["high"] - plain["totals"]["cost_usd"]["high"]
    assert difference == pytest.approx(image["reserve_usd"], abs=0.001)
    assert baked["totals"]["deadline_s"] == plain["totals"]["deadline_s"] + 3600
    assert any("0.10 to 1.00 USD a month" in line for line in baked["assumptions"])
    assert plain["images"][0]["cost_usd"]["high"] == 0.0


def test_another_operating_system_is_measured_anew():
    from matrix.plan.resume import earlier_cells

    before = plan(matrix()).to_document()
    found = earlier_cells("old", before, lambda _: {"state": "measured"}, lambda _: 0)

    baked = plan(matrix(image={"bake": True}), earlier=found).to_document()
    ubuntu = plan(matrix(image={"os": "ubuntu-22.04"}), earlier=found).to_document()

    assert baked["totals"]["taken_over"] == 1
    assert "taken_over" not in ubuntu["totals"]
    assert baked["images"] == []


def messages(**changes):
    document = plan(matrix(**changes)).to_document()
    return [w["message"] for w in document["warnings"] if w["path"].startswith("image.")]


@pytest.mark.parametrize(
    ("tool", "os", "named"),
    [("fpsync", "al2023", "fpsync"), ("fpart+cpio+parallel", "al2023", "fpart"), ("cp+parallel", "al2023", None),
     ("fpsync", "ubuntu-22.04", None)],
)  # fmt: skip
def test_only_what_amazon_linux_may_lack_is_warned_of(tool, os, named):
    said = messages(workload=[{"type": "transfer", "tool": tool}], image={"os": os})

    assert [message.split(":")[0] for message in said] == ([named] if named else [])


@pytest.mark.parametrize(
    ("tls", "os", "bake", "count", "is_warned"),
    [(True, "ubuntu-22.04", False, 2, True), (True, "ubuntu-22.04", False, 1, False),
     (True, "ubuntu-22.04", True, 2, False), (True, "al2023", False, 2, False),
     (False, "ubuntu-22.04", False, 2, False)],
)  # fmt: skip
def test_a_fleet_that_compiles_the_mount_helper_is_warned_of(tls, os, bake, count, is_warned):
    fleet = [{"instanceType": "m6i.large", "count": [count]}]
    said = messages(storage=[EFS | {"tls": tls}], fleet=fleet, image={"os": os, "bake": bake})

    assert any('"bake": true' in message for message in said) is is_warned


def test_packages_of_a_baked_image_are_warned_of_and_installed_ones_are_not():
    assert "first read" in messages(image={"bake": True, "packages": ["gcc"]})[0]
    assert messages(image={"bake": False, "packages": ["gcc"]}) == messages(image={"bake": True}) == []
