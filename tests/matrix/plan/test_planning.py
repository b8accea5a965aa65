"""Plans: which cells, in which order, with which ids."""

import json
import re
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from support.matrices import BUILD, DD, EBS, EFS, FIO, FLEET, FSX, METADATA, READ, TOUCH, TRANSFER, YOCTO, matrix

from matrix.check.read import read_matrix
from matrix.plan.planning import plan
from matrix.price.book import PriceBook, file_system_cost, instances_cost, published_prices
from matrix.published.figures import rows_of, sources
from matrix.terms.charges import Amount, Usage
from matrix.terms.names import point_labels

ROOT = Path(__file__).parents[3]
STORAGES = [EBS, EFS, FSX, EFS | {"performanceMode": "maxIO", "throughputMode": "bursting"}]
WORKLOADS = [TOUCH, DD, FIO]
FLEETS = [{"instanceType": ["m6i.large", "m7g.large"], "count": [1, 4, 10]}]


def planned(**changes):
    return plan(matrix(**({"storage": STORAGES, "workload": WORKLOADS, "fleet": FLEETS} | changes))).to_document()


def test_the_cells_are_the_product_of_the_axes():
    totals = planned()["totals"]

    assert totals["cells"] == 4 * 3 * 6
    assert totals["instances"] == 4 * 3 * 2 * (1 + 4 + 10)
    assert totals["points"] == 4 * 6 * (2 + 1 + 2)
    assert totals["steps"] == 3 * totals["points"]


def test_ids_are_readable():
    provisioned = {"performanceMode": "maxIO", "throughputMode": "provisioned", "provisionedThroughputMiBps": 1024}
    fsx = {"type": "fsx-openzfs", "storageCapacityGiB": 1024, "throughputCapacityMBps": 4096}
    ids = [one["id"] for one in planned(storage=[EBS, EFS, EFS | provisioned, fsx], order="as-written")["file_systems"]]

    assert ids == [
        "ebs-gp3-200gib-3000iops",
        "efs-elastic",
        "efs-maxio-provisioned-1024",
        "fsx-single-az-1-1024gib-4096mbps",
    ]
    fleet = [{"instanceType": "m6i.4xlarge", "count": 10}]
    assert plan(matrix(storage=[EFS], fleet=fleet)).cells[0].id == "efs-elastic.touch.m6i.4xlarge-x10"


def test_points_of_two_workloads_that_would_be_called_the_same_are_called_by_what_differs():
    writes = FIO | {"rw": "write", "bs": "1m"}
    workloads = [writes | {"end_fsync": 1}, writes | {"fsync_on_close": 1}, TOUCH, TOUCH | {"files": 2048}, DD]

    cells = planned(storage=[EFS], workload=workloads, fleet=[FLEET])["cells"]
    labels = [label for cell in cells for label in point_labels(cell["points"]).values()]

    assert len(set(labels)) == len(labels)
    assert all(any(words in label for label in labels) for words in ("end fsync 1", "fsync on close 1", "files 2048"))
    assert all("label" not in point for cell in cells if cell["workload"] == DD for point in cell["points"])


def test_ids_that_would_collide_get_a_short_hash():
    cells = planned(storage=[EFS], workload=[TOUCH, TOUCH | {"files": 2048}], fleet=[FLEET])["cells"]

    assert len({cell["id"] for cell in cells}) == 2
    assert all(re.fullmatch(r"efs-elastic\.touch-[0-9a-f]{6}\.m6i\.large-x1", cell["id"]) for cell in cells)


def test_as_written_means_as_written():
    document_ = planned(order="as-written")

    assert [one["storage"]["type"] for one in document_["file_systems"]] == ["ebs", "efs", "fsx-openzfs", "efs"]
    first = document_["cells"][:6]
    assert [cell["fleet"]["count"] for cell in first] == [1, 4, 10, 1, 4, 10]
    assert [cell["fleet"]["architecture"] for cell in first] == ["x86_64"] * 3 + ["arm64"] * 3
    assert first[0]["steps"] == [
        {"point": point, "repetition": repetition} for repetition in (1, 2, 3) for point in ("p01", "p02")
    ]


def test_in_random_order_every_repetition_still_has_every_point_once():
    for cell in planned(repetitions=5)["cells"]:
        points = sorted(point["id"] for point in cell["points"])
        for repetition in range(1, 6):
            at = (repetition - 1) * len(points)
            steps = cell["steps"][at : at + len(points)]
            assert sorted(step["point"] for step in steps) == points
            assert {step["repetition"] for step in steps} == {repetition}


def test_phases_stay_together_in_their_order_however_random_the_rest_is():
    orders = set()
    workload = METADATA | {"threads": [1, 2, 4, 8]}
    for seed in range(5):
        [cell] = planned(storage=[EBS], workload=[workload], fleet=[FLEET], seed=seed, repetitions=2)["cells"]
        steps = [step["point"] for step in cell["steps"]]
        rows = [tuple(steps[first : first + 6]) for first in range(0, len(steps), 6)]
        assert len(steps) == 2 * 4 * 6
        assert {row[0]: row for row in rows} == {
            f"p{first:02d}": tuple(f"p{first + n:02d}" for n in range(6)) for first in (1, 7, 13, 19)
        }
        orders.add(tuple(row[0] for row in rows))
    assert len(orders) > 1


def test_each_run_of_a_matrix_has_an_order_of_its_own_unless_a_seed_says_which():
    def order(run, **changes):
        checked = matrix(**({"storage": STORAGES, "workload": WORKLOADS, "fleet": FLEETS} | changes))
        document_ = plan(checked, run=run).to_document()
        return document_["seed"], tuple(cell["id"] for cell in document_["cells"])

    assert order("r-1") == order("r-1")
    assert len({order(f"r-{number}") for number in range(5)}) == 5
    assert order("r-1", seed=7) == order("r-2", seed=7)


def test_cells_of_one_storage_stay_together():
    document_ = planned(seed=3)

    assert [cell["id"] for cell in document_["cells"]] == [
        cell for file_system in document_["file_systems"] for cell in file_system["cells"]
    ]


def test_a_cache_is_populated_once_on_a_shared_file_system_and_not_on_volumes():
    build = BUILD | {"populate": "fetch"}
    document_ = planned(storage=[EBS, EFS], workload=[build], order="as-written")
    ebs, efs = document_["file_systems"]

    assert ebs["populate"] is None
    assert efs["populate"]["workload"]["populate"] == "fetch"
    assert efs["populate"]["cell"] in efs["cells"]


def test_a_fleet_that_fills_caches_of_its_own_has_the_time_for_it_in_its_plan():
    yocto = YOCTO | {"expectedSeconds": 6000, "expectedFetchSeconds": 900}
    ebs, efs = planned(storage=[EBS, EFS], workload=[yocto], fleet=[FLEET], repetitions=1, order="as-written")["cells"]

    assert ebs["expected_s"] - efs["expected_s"] == 900
    # 15 minutes to boot, and three times what filling is expected to take.
    assert (ebs["ready_within_s"], efs["ready_within_s"]) == (900 + 3 * 900, 900)
    assert ebs["deadline_s"] - efs["deadline_s"] == 3 * 900
    # Built on the volume that is measured, or on one of its own of 100 GiB beside the root volume of 20.
    assert "work_volume" not in ebs
    assert efs["work_volume"] == {"volumeType": "gp3", "sizeGiB": 100}
    assert (ebs["root_volume_gib"], efs["root_volume_gib"]) == (20, 20)
    rates = efs["rates_usd"]
    assert rates["work_volume_hour"] == pytest.approx(5 * rates["root_volume_hour"], rel=1e-4)
    assert "work_volume_hour" not in ebs["rates_usd"]


def test_what_a_cell_costs_has_its_work_volume_in_it():
    """A month of gp2 costs 0.10 USD a GiB, of gp3 0.08; a month has 730 hours."""
    of_20, of_120 = (
        planned(storage=[EFS], workload=[TRANSFER | {"sourceVolumeType": "gp2", "sourceVolumeGiB": size}],
                fleet=[FLEET], repetitions=1)["cells"][0]
        for size in (20, 120)
    )  # fmt: skip

    hours = FLEET["count"] * (of_20["expected_s"] + 30) / 3600
    more = of_120["cost_usd"]["expected"] - of_20["cost_usd"]["expected"]
    assert more == pytest.approx(100 * 0.10 / 730 * hours, abs=0.0001)  # as the plan is rounded
    assert of_20["rates_usd"]["work_volume_hour"] == pytest.approx(20 * 0.10 / 730, rel=1e-4)


def test_a_build_takes_the_time_that_its_matrix_says_for_so_many_instances_or_such_a_storage():
    times = {"1": 6000, "10": 6900, "100": 7000, "ebs": 5000}
    fleets = [FLEET | {"count": count} for count in (1, 4, 100, 200)]
    cells = planned(
        storage=[EBS, EFS], workload=[YOCTO | {"expectedSeconds": times}], fleet=fleets, repetitions=1,
        order="as-written",
    )["cells"]  # fmt: skip
    flat = planned(
        storage=[EFS], workload=[YOCTO | {"expectedSeconds": 5000}], fleet=fleets, repetitions=1, order="as-written"
    )["cells"]

    # Of the same fleet all but the build takes as long. 4 is a third of the way from 1 to 10; 200 is as long as 100.
    beyond = [cell["expected_s"] - other["expected_s"] for cell, other in zip(cells[4:], flat, strict=True)]
    assert beyond == pytest.approx([1000, 1300, 2000, 2000])
    own = [cell["expected_s"] - other["expected_s"] - 900 for cell, other in zip(cells[:4], flat, strict=True)]
    assert own == pytest.approx([0, 0, 0, 0])


def test_the_plan_of_the_published_builds_takes_the_sources_own_durations():
    """The median over its shared storages of each size; its note marks a row that it got wrong."""
    matrix_ = json.loads((ROOT / "events/published" / "yocto-builds.json").read_text())
    published: dict[str, list[float]] = {}
    for [row] in rows_of("yocto-builds"):
        if (
            row.texts["run"] == "yocto"
            and "suspect" not in row.texts
            and (median_s := row.figures.get("duration_s.p50"))
        ):
            key = "ebs" if row.texts["storage"] == "ebs" else row.texts["instances"]
            published.setdefault(key, []).append(median_s)

    [times] = {json.dumps(part["workload"]["expectedSeconds"]) for part in matrix_["include"]}
    assert json.loads(times) == matrix_["workload"][0]["expectedSeconds"]
    assert json.loads(times) == pytest.approx({key: median(values) for key, values in published.items()}, rel=0.005)


def test_the_published_builds_run_on_the_published_image_with_its_packages():
    matrix_ = read_matrix((ROOT / "events/published" / "yocto-builds.json").read_bytes())
    [image] = plan(matrix_).to_document()["images"]
    recipe, published = image["recipe"], sources()["yocto-builds"]["facts"]["dockerfile"]

    assert (image["bake"], recipe["os"], recipe["containers"]) == (True, "ubuntu-22.04", [])
    assert "docker" in recipe["tools"]
    assert recipe["dockerfile"].startswith(f"FROM {published['from']}\n")
    installed = re.search(r"apt-get install --yes ([^&]*) && locale-gen", recipe["dockerfile"])
    assert installed[1].split() == published["packages"]


def test_the_run_ends_when_the_matrix_says():
    assert plan(matrix(deadlineHours=2)).deadline_s == 7200
    assert plan(matrix()).deadline_s >= sum(cell.deadline_s for cell in plan(matrix()).cells)
    warnings = plan(matrix(deadlineHours=0.01)).to_document()["warnings"]
    assert "deadlineHours" in [warning["path"] for warning in warnings]


def test_a_run_that_could_take_months_is_given_up_after_the_days_that_a_matrix_may_say():
    workload = BUILD | {"expectedSeconds": 86_000}

    planned = plan(matrix(storage=[EFS], workload=[workload], fleet=[FLEET | {"count": [1, 2, 4]}], repetitions=9))

    assert planned.deadline_s == 720 * 3600
    assert planned.expected_s < planned.deadline_s
    # The history of an execution has no room for a poll each minute of so many days.
    assert "repetitions" in [warning["path"] for warning in planned.warnings]
    assert "repetitions" not in [warning["path"] for warning in plan(matrix()).warnings]


def test_architectures_follow_from_the_family():
    arm = [
        "a1.large",
        "m6g.large",
        "m7gd.large",
        "c6gn.large",
        "im4gn.large",
        "is4gen.large",
        "t4g.micro",
        "x2gd.large",
    ]
    intel_or_gpu = ["m6i.large", "c5.large", "g4dn.xlarge", "g5.xlarge", "i3en.large", "m7a.large", "g6.xlarge"]
    fleets = [{"instanceType": arm + intel_or_gpu, "count": 1}]
    cells = planned(storage=[EBS], workload=[TOUCH], fleet=fleets, order="as-written")["cells"]

    assert [cell["fleet"]["architecture"] for cell in cells] == ["arm64"] * 8 + ["x86_64"] * 7


def test_excluded_cells_are_left_out_of_the_product_and_included_ones_added():
    exclude = [{"storage": {"type": "ebs"}, "fleet": {"count": 4}}]
    include = [{"storage": EBS, "workload": BUILD, "fleet": FLEET | {"count": count}} for count in (1, 2)]

    # Of 72 cells EBS has three workloads on four instances of two types.
    assert planned(exclude=exclude, include=include)["totals"]["cells"] == 72 - 3 * 2 + 2


def test_what_gp3_includes_is_filled_in_so_that_writing_it_changes_nothing():
    explicit = EBS | {"iops": 3000, "throughputMiBps": 125}
    cell = planned(storage=[EBS], fleet=[FLEET])["cells"][0]

    assert cell["storage"] == explicit
    assert planned(storage=[explicit], fleet=[FLEET]) == planned(storage=[EBS], fleet=[FLEET])
    excluded = planned(storage=[EBS, EFS], fleet=[FLEET], exclude=[{"storage": {"iops": 3000}}])
    assert [one["id"] for one in excluded["file_systems"]] == ["efs-elastic"]


def test_bytes_that_a_plan_pays_for_are_those_of_all_instances_in_all_repetitions():
    book = published_prices()
    free = PriceBook(book.prices | {"efs_elastic_read_gib": replace(book.prices["efs_elastic_read_gib"], usd=0.0)},
                     book.instances)  # fmt: skip

    def read_usd(count, repetitions):
        wanted = matrix(storage=[EFS], workload=[READ], fleet=[FLEET | {"count": count}], repetitions=repetitions)
        paid, unpaid = (plan(wanted, prices=prices).cells[0].metered_cost.expected for prices in (book, free))
        return paid - unpaid

    assert read_usd(1, 1) > 0
    assert read_usd(4, 3) == pytest.approx(12 * read_usd(1, 1))


def test_the_worst_case_of_filling_a_cache_is_three_times_its_work_for_instance_and_file_system():
    def planned(seconds):
        work = BUILD | {"populate": "fetch", "expectedSeconds": seconds}
        checked = matrix(storage=[FSX], workload=[work])
        made = plan(checked)
        return checked.matrix.storage[0], made.file_systems[0].reserve_usd, made.cells[0].work_volume

    (storage, short_usd, volume), (_, long_usd, _) = planned(600), planned(1_200)

    def instance_usd(seconds):
        each_s = Amount.exactly(seconds)
        return instances_cost(published_prices(), FLEET["instanceType"], 1, each_s, work_volume=volume).high

    used = Usage(Amount.exactly(3 * 600.0), *3 * [Amount.exactly(0.0)])
    of_system = file_system_cost(published_prices(), storage, used).high
    assert long_usd - short_usd == pytest.approx(
        of_system + instance_usd(900 + 3 * 1_200) - instance_usd(900 + 3 * 600)
    )
