"""The account's Recycle Bin: the plan tells what its rules would keep, the receipt what it keeps and for how much."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest
from support.function_events import RUN, plan_run
from support.matrices import EBS, FIO, FLEET
from support.refusals import refusing

from aws.account import quotas, recycle_bin
from aws.ec2 import recycle_bin as kept
from aws.records import table
from aws.stack import clock
from aws.teardown import receipts
from matrix.plan.quotas import needs
from matrix.terms.problems import InvalidMatrix
from matrix.terms.sentences import receipt_sentence

OURS, OTHER = "storage-matrix:stack", {"ResourceTagKey": "CostCenter", "ResourceTagValue": "4712"}
DAYS = 7


def rule(days=DAYS, kind="EBS_VOLUME", **tags):
    """A rule of the account."""
    period = {"RetentionPeriodValue": days, "RetentionPeriodUnit": "DAYS"}
    return boto3.client("rbin").create_rule(RetentionPeriod=period, ResourceType=kind, **tags)["Identifier"]


def tag(key, value):
    return [{"ResourceTagKey": key, "ResourceTagValue": value}]


def deleted(one):
    """Create a volume, or a snapshot of it, of the run, and delete it; its id."""
    ec2 = boto3.client("ec2")
    tags = [{"Key": OURS, "Value": "storage-matrix"}, {"Key": "storage-matrix:run", "Value": RUN}]
    marked = {"TagSpecifications": [{"ResourceType": one, "Tags": tags}]}
    volume = {"AvailabilityZone": "us-east-1a", "Size": 200, "VolumeType": "gp3"}
    if one == "volume":
        name = ec2.create_volume(**volume, **marked)["VolumeId"]
        ec2.delete_volume(VolumeId=name)
    else:
        name = ec2.create_snapshot(VolumeId=ec2.create_volume(**volume)["VolumeId"], **marked)["SnapshotId"]
        ec2.delete_snapshot(SnapshotId=name)
    table.record_resource(RUN, "volume" if one == "volume" else "ebs-snapshot", name, is_data=True)
    return name


@pytest.mark.parametrize(("one", "kind"), [("volume", "EBS_VOLUME"), ("snapshot", "EBS_SNAPSHOT")])
@pytest.mark.parametrize("is_excluded", [False, True])
def test_what_the_bin_keeps_is_not_said_to_be_gone_and_is_billed_until_it_leaves(planned, one, kind, is_excluded):
    rule(kind=kind, **({"ExcludeResourceTags": tag(OURS, "storage-matrix")} if is_excluded else {}))
    name = deleted(one)

    receipt = receipts.make(RUN, sweep={"at": clock.now(), "remaining": 0})

    [line] = [each for each in receipt["resources"] if each["id"] == name]
    assert receipt["is_complete"]  # nobody can take it out of the bin
    assert receipts.still_there(receipt) == []
    if is_excluded:
        assert (line["binned_until"], receipt["totals"]["binned"]) == (None, 0)
        assert "all gone" in receipt_sentence(receipt) or "now gone" in receipt_sentence(receipt)
        return
    assert line["binned_until"] == pytest.approx(clock.now() + DAYS * 86_400, abs=60)
    assert line["hours"] == pytest.approx(DAYS * 24, abs=0.1)
    assert receipt["totals"]["binned"] == 1
    until = datetime.now(UTC) + timedelta(days=DAYS)
    assert f"kept in the Recycle Bin until {until:%Y-%m-%d}" in receipt_sentence(receipt)
    assert "all gone" not in receipt_sentence(receipt)


def test_a_bin_that_nobody_may_look_into_leaves_the_receipt_incomplete(planned, monkeypatch):
    name = deleted("volume")
    denied = refusing("UnauthorizedOperation", "ListVolumesInRecycleBin")
    monkeypatch.setattr(kept, "kept", denied)

    receipt = receipts.make(RUN, sweep={"at": clock.now(), "remaining": 0})

    assert name in {each["id"] for each in receipt["resources"]}
    assert not receipt["is_complete"]
    assert "UnauthorizedOperation" in receipt["unasked"][0]


def warnings_of(plan):
    return [each for each in plan["warnings"] if each["path"] == "Recycle Bin"]


ON_EBS = {"storage": [EBS], "workload": [FIO], "fleet": [FLEET | {"count": 10}]}
# Ten instances, each with a root volume of 20 GiB and a data volume of 200, at 0.08 USD a month of 730 hours.
KEPT_USD = 10 * 220 * 0.08 * 24 * DAYS / 730


@pytest.mark.parametrize(
    ("given", "is_kept"),
    [
        ({}, True),
        ({"ExcludeResourceTags": tag(OURS, "storage-matrix")}, False),
        ({"ExcludeResourceTags": tag(OURS, "another-stack")}, True),
        ({"ResourceTags": [OTHER]}, True),
        ({"ResourceTags": tag("CostCenter", "4711")}, False),
        ({"ResourceTags": tag("storage-matrix:run", RUN)}, True),
    ],
)
def test_a_plan_tells_what_a_rule_would_keep_and_for_how_much(stack, context, given, is_kept):
    rule(days=1)
    longest = rule(**given)

    found = warnings_of(plan_run(context, **ON_EBS, tags={"CostCenter": "4712"}))

    days, usd, name = (DAYS, KEPT_USD, longest) if is_kept else (1, KEPT_USD / DAYS, None)
    [warning] = found
    assert f"for {days} day" in warning["message"]
    assert f"about {usd:.2f} USD" in warning["message"]
    assert name in (None, warning["value"])


def test_without_rules_and_with_rules_of_other_kinds_a_plan_says_nothing(stack, context):
    assert warnings_of(plan_run(context, **ON_EBS)) == []
    rule(kind="EBS_SNAPSHOT")
    assert warnings_of(plan_run(context, **ON_EBS)) == []
    [warning] = warnings_of(plan_run(context, **ON_EBS, image={"bake": True}))
    assert "reap --images" in warning["message"]


def test_a_budget_below_what_is_kept_is_refused_before_anything_exists(stack, context):
    cost_usd = plan_run(context, **ON_EBS)["totals"]["cost_usd"]["expected"]
    rule()

    with pytest.raises(InvalidMatrix) as refused:
        plan_run(context, **ON_EBS, budgetUsd=cost_usd + 0.9 * KEPT_USD)

    [problem] = refused.value.problems
    assert problem.path == "budgetUsd"
    assert f"{cost_usd + KEPT_USD:.2f} USD" in problem.rule
    assert warnings_of(plan_run(context, **ON_EBS, budgetUsd=cost_usd + 1.1 * KEPT_USD))


def test_rules_that_cannot_be_asked_for_are_a_warning(stack, context, monkeypatch):
    monkeypatch.setattr(recycle_bin, "rules", refusing("AccessDeniedException", "ListRules"))

    plan = plan_run(context, **ON_EBS)

    [warning] = warnings_of(plan)
    assert "AccessDeniedException" in warning["message"]
    assert plan["recycle_bin_days"] == {"volume": None, "ebs-snapshot": None}


@pytest.mark.parametrize("are_rules_known", [True, False])
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_receipt_waits_until_a_bin_with_a_rule_shows_what_was_deleted(
    stack, context, monkeypatch, are_rules_known, is_kept
):
    rule(**({} if is_kept else {"ExcludeResourceTags": tag(OURS, "storage-matrix")}))
    with monkeypatch.context() as denied:
        if not are_rules_known:
            denied.setattr(recycle_bin, "rules", refusing("AccessDeniedException", "ListRules"))
        plan_run(context, **ON_EBS)
    name = deleted("volume")
    sweep = {"at": clock.now(), "remaining": 0}

    with monkeypatch.context() as late:
        late.setattr(kept, "kept", lambda _: iter(()))
        early = receipts.make(RUN, sweep=sweep)

    assert early["is_complete"] is (are_rules_known and not is_kept)
    assert (early["binning_until"] is None) is early["is_complete"]
    if not early["is_complete"]:
        assert early["binning_until"] == pytest.approx(clock.now() + 300, abs=60)
        assert "may appear in the Recycle Bin until" in receipt_sentence(early)
        assert receipts.still_there(early) == []
    if not is_kept:
        real = clock.now
        monkeypatch.setattr(receipts, "now", lambda: real() + 301)
    settled = receipts.make(RUN, sweep=sweep)
    assert (settled["is_complete"], settled["binning_until"]) == (True, None)
    assert [each["id"] for each in settled["resources"] if each["binned_until"]] == ([name] if is_kept else [])


def test_volumes_in_the_bin_count_against_the_quotas_of_volumes(stack, context):
    two_cells = ON_EBS | {"fleet": [FLEET | {"count": [10, 5]}]}
    code = "L-7A658B76"
    asked = {need.quota.code: need for need in needs_of(plan_run(context, **two_cells))}
    assert (asked[code].amount, quotas._in_use(asked[code])) == (10 * 220 / 1024, 0)

    rule()
    deleted("volume")

    asked = {need.quota.code: need for need in needs_of(plan_run(context, **two_cells))}
    # Its own volumes of both fleets, one after the other, and those of 200 GiB that somebody has deleted.
    assert asked[code].amount == pytest.approx(15 * 220 / 1024)
    assert "Recycle Bin" in asked[code].fix
    assert quotas._in_use(asked[code]) == 200 / 1024


def needs_of(plan):
    return needs(plan, {}, 4)
