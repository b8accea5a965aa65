"""The receipt: hours and money worked out by hand."""

import pytest
from support.matrices import EBS, EFS, FILE_SERVER, FLEET, FSX, READ, TRANSFER, matrix

from matrix.plan.planning import plan
from matrix.report import markdown
from matrix.run.receipt import BUILDERS, SERVER, cost_usd, hours_of, not_ours, rate_usd, receipt
from matrix.terms.sentences import why_incomplete

START = 1_000_000.0


def planned(**changes):
    return plan(matrix(**changes)).to_document()


def made(document, rows, **changes):
    facts = {"run": "r", "plan": document, "rows": rows, "metered_usd": 0.01, "now": START + 3600, "sweep": None}
    return receipt(**(facts | {"unasked": []} | changes))


def row(kind, name, **facts):
    return {"kind": kind, "id": name, "created_at": START, "file_system": "ebs-gp3-200gib", **facts}


def test_each_resource_has_its_hours_and_the_cost_of_the_plans_prices():
    copy = TRANSFER | {"sourceVolumeType": "gp2", "sourceVolumeGiB": 40}
    fleet = [{"instanceType": "c5.2xlarge", "count": 1}]
    document = planned(storage=[EBS | {"name": "e"}], workload=[copy], fleet=fleet)
    cell = document["cells"][0]["id"]
    of_cell = {"file_system": "e", "cell": cell}
    gone = {"gone_at": START + 1800, "verified": "EC2 DescribeInstances: terminated"}
    rows = [
        row("instance", "i-1", **of_cell, **gone),
        row("volume", "vol-root", **of_cell, **gone, is_data=False),
        row("volume", "vol-data", **of_cell, **gone, is_data=True),
        row("volume", "vol-work", **of_cell, **gone, is_data=False, is_work=True),
        row("volume", "vol-bin", **of_cell, **gone, is_data=True, binned_until=START + 1800 + 48 * 3600),
    ]

    made_ = made(document, rows)

    cost = {one["id"]: one["cost_usd"] for one in made_["resources"]}
    assert {one["id"]: one["hours"] for one in made_["resources"]} == dict.fromkeys(cost, 0.5) | {"vol-bin": 48.5}
    # c5.2xlarge 0.34 and a public address 0.005 an hour; 20 GiB and 200 GiB at 0.08 a month of 730 hours.
    assert cost["i-1"] == pytest.approx(0.345 / 2)
    assert cost["vol-root"] == pytest.approx(20 * 0.08 / 730 / 2, abs=1e-6)
    assert cost["vol-data"] == pytest.approx(200 * 0.08 / 730 / 2, abs=1e-6)
    assert cost["vol-work"] == pytest.approx(40 * 0.10 / 730 / 2, abs=1e-6)  # gp2
    assert cost["vol-bin"] == pytest.approx(200 * 0.08 / 730 * 48.5, abs=1e-6)
    totals = made_["totals"]
    assert (totals["gone"], totals["binned"]) == (5, 1)
    assert totals["binned_usd"] == pytest.approx(200 * 0.08 / 730 * 48, abs=1e-6)
    assert made_["totals"]["cost_usd"] == pytest.approx(sum(cost.values()) + 0.01, abs=1e-4)


def test_a_file_system_costs_what_it_provisions_and_what_is_there_still_until_now():
    document = planned(storage=[FSX | {"name": "f"}])

    [one] = made(document, [row("fsx-openzfs", "fs-1", file_system="f")])["resources"]

    assert (one["gone_at"], one["hours"]) == (None, 1.0)
    assert one["cost_usd"] == pytest.approx((1024 * 0.09 + 4096 * 0.26 + 16928 * 0.006) / 730, rel=1e-4)


def test_the_instance_that_fills_a_cache_is_priced_as_the_cells():
    build = {"type": "build", "build": "make", "populate": "fetch", "expectedSeconds": 60}
    document = planned(storage=[EFS | {"name": "e"}], workload=[build])

    [one] = made(document, [row("instance", "i-1", file_system="e", cell="cache")])["resources"]

    assert one["cost_usd"] == document["cells"][0]["rates_usd"]["instance_hour"]


def test_a_minute_is_billed_at_least_and_a_leak_has_no_price():
    document = planned()
    brief = row("instance", "i-1", cell=document["cells"][0]["id"], gone_at=START + 5, verified="x")

    backup, instance = made(document, [brief, row("fsx-backup", "backup-1")])["resources"]

    assert instance["hours"] == pytest.approx(1 / 60, abs=1e-4)
    assert backup["cost_usd"] is None


@pytest.mark.parametrize(
    ("gone", "sweep", "unasked", "is_complete"),
    [
        (True, None, [], False),  # the sweep after the run is still to come
        (True, {"at": START, "remaining": 1}, [], False),
        (False, {"at": START, "remaining": 0}, [], False),
        (True, {"at": START, "remaining": 0}, ["ebs-snapshot: denied"], False),
        (True, {"at": START, "remaining": 0}, [], True),
    ],
)
def test_complete_is_a_receipt_when_all_is_gone_and_a_sweep_found_nothing_more(gone, sweep, unasked, is_complete):
    facts = {"gone_at": START + 60, "verified": "seen"} if gone else {}

    document = made(planned(), [row("instance", "i-1", **facts)], sweep=sweep, unasked=unasked)

    assert document["is_complete"] is is_complete
    assert (why_incomplete(document) == []) is is_complete


def test_the_report_lists_what_is_still_there_first_and_who_saw_the_rest_go():
    rows = [
        row("instance", "i-gone", gone_at=START + 60, verified="EC2 DescribeInstances: terminated"),
        row("fsx-backup", "backup-1"),
    ]
    document = made(
        planned(), rows, sweep={"at": START + 99, "remaining": 1}, unasked=["efs-recovery-point: no answer"]
    )

    text = markdown.to_markdown({"run": "r", "cells": [], "receipt": document})

    assert "2 resources were created, 1 gone; 1 resource still there" in text
    assert text.index("| fsx-backup | `backup-1` |") < text.index("| instance | `i-gone` |")
    assert "**still there**" in text
    assert "EC2 DescribeInstances: terminated" in text
    assert "not searched: efs-recovery-point: no answer" in text


def test_each_of_several_file_systems_has_its_part_of_their_price():
    document = planned(storage=[FSX | {"name": "f", "fileSystems": 2}], fleet=[FLEET | {"count": 2}])
    rows = [row("fsx-openzfs", name, file_system="f") for name in ("fs-1", "fs-2")]

    costs = [one["cost_usd"] for one in made(document, rows)["resources"]]

    assert costs == [pytest.approx((1024 * 0.09 + 4096 * 0.26 + 16928 * 0.006) / 730, rel=1e-4)] * 2


def test_what_is_kept_on_purpose_is_complete_and_costs_nothing_of_the_run():
    images = [
        {
            "id": name,
            "rates_usd": {"instance_hour": 0.1 * n},
            "kept_usd_month": {"low": n, "expected": 2 * n, "high": 4 * n},
        }
        for name, n in (("one", 1.0), ("two", 10.0), ("three", 100.0))
    ]
    document = planned() | {"images": images}
    rows = [
        *(row("image", f"ami-{name}", file_system=BUILDERS, cell=name, kept=True) for name in ("one", "two")),
        row("snapshot", "snap-3", file_system=BUILDERS, cell="three", kept=True),
        # Kept at first, then deleted by somebody: it is gone.
        row("image", "ami-4", file_system=BUILDERS, cell="three", kept=True, gone_at=START + 60),
    ]
    swept = {"at": START + 99, "remaining": 0}

    made_ = made(document, rows, sweep=swept)

    assert made_["is_complete"]
    assert (made_["totals"]["gone"], made_["totals"]["kept"]) == (1, 3)
    assert made_["totals"]["kept_usd_month"] == {"low": 11.0, "expected": 22.0, "high": 44.0}
    assert [line["cost_usd"] for line in made_["resources"] if line["kept"]] == [0.0] * 3
    assert not made(document, rows, sweep=swept, unfinished=["the instances of c"])["is_complete"]
    assert made(planned(), [], sweep=swept)["totals"]["kept_usd_month"] is None
    assert rate_usd(row("instance", "i-1", file_system=BUILDERS, cell="two"), document) == 1.0


def test_money_is_rounded_to_a_millionth_and_the_sum_to_a_hundredth_of_a_cent():
    document = planned(storage=[FSX | {"name": "f"}])
    rows = [row("fsx-openzfs", "fs-1", file_system="f", gone_at=START + 1_000)]

    totals = made(document, rows, metered_usd=0.123_456_789)["totals"]

    exact = (1024 * 0.09 + 4096 * 0.26 + 16928 * 0.006) / 730 * 1_000 / 3600
    assert totals["metered_usd"] == 0.123457
    assert totals["resources_usd"] == round(exact, 6)
    assert totals["cost_usd"] == round(round(exact, 6) + 0.123_456_789, 4)


EXISTING = {"type": "efs", "fileSystemId": "fs-0123456789abcdef0"}


def test_a_storage_that_was_there_before_may_have_a_folder_of_instances_that_did_not_end():
    plan_ = {
        "file_systems": [
            {"id": "theirs", "storage": EXISTING},
            {"id": "ours", "storage": {"type": "efs"}},
            {"id": "read", "storage": {"type": "s3", "bucket": "theirs", "prefix": "data/"}},
        ]
    }
    rows = [
        row("instance", "i-1", file_system="theirs"),
        row("instance", "i-2", file_system="theirs"),
        row("instance", "i-3", file_system="ours"),
        row("volume", "vol-1", file_system="theirs"),
    ]

    def folders(ended):
        return {entry["file_system"]: entry["folder"] for entry in not_ours(plan_, "r", rows, ended)}

    open_, shut = folders({"i-1"}), folders({"i-1", "i-2"})
    assert "r" in open_["theirs"]
    assert shut["theirs"] is None
    assert "ours" not in open_
    [entry, *_] = not_ours(plan_, "r", rows, ())
    assert (entry["kind"], entry["id"]) == ("efs", EXISTING["fileSystemId"])


def test_volumes_of_a_file_server_are_in_its_own_price_and_a_leak_has_none():
    document = planned()
    name = document["file_systems"][0]["id"]
    other = {"kind": "volume", "id": "vol-9", "created_at": START}

    assert rate_usd({**other, "file_system": name, "cell": SERVER}, document) == 0.0
    assert rate_usd({**other, "file_system": "unknown", "cell": SERVER}, document) is None
    assert rate_usd({**other, "file_system": name, "cell": "unknown"}, document) is None
    served = planned(storage=[FILE_SERVER | {"name": "s"}], workload=[READ])
    server = row("instance", "i-1", file_system="s", cell=SERVER)
    assert rate_usd(server, served) == served["file_systems"][0]["rates_usd"]["hour"] > 0


@pytest.mark.parametrize("populate", [{}, {"populate": "fetch"}])
def test_each_cell_has_the_rates_of_its_own_instances(populate):
    fleet = [{"instanceType": kind, "count": 1} for kind in ("m6i.large", "c5.2xlarge")]
    build = {"type": "build", "build": "make", "expectedSeconds": 60}
    document = planned(fleet=fleet, storage=[EFS], workload=[build | populate])
    name = document["file_systems"][0]["id"]

    rates = {
        cell["fleet"]["instanceType"]: rate_usd(row("instance", "i-1", file_system=name, cell=cell["id"]), document)
        for cell in document["cells"]
    }

    assert rates == {"m6i.large": pytest.approx(0.096 + 0.005), "c5.2xlarge": pytest.approx(0.34 + 0.005)}


def test_what_a_run_has_cost_so_far_is_hours_times_rates():
    document = planned()
    name, cell = document["file_systems"][0]["id"], document["cells"][0]["id"]
    of_cell = {"file_system": name, "cell": cell}
    rows = [row("instance", "i-1", **of_cell), row("instance", "i-2", **of_cell, gone_at=START + 900), row("odd", "x")]
    hour = document["cells"][0]["rates_usd"]["instance_hour"]

    assert cost_usd(rows, document, START + 7200) == pytest.approx(2.25 * hour)
    assert hours_of(row("instance", "i-1"), START) == 1 / 60
