"""The run's money in the table: set aside atomically, settled once, and what was created noted whatever crashed."""

import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from support.function_events import RUN, load_event
from support.refusals import refusal, refusing

import admit_cell
import create_file_system
import delete_file_system
import plan_matrix
import record_failed_file_system
import stop_fleet
from aws.account import prices, standing
from aws.account import quotas as account
from aws.ec2 import instances as fleets
from aws.records import bucket, table
from aws.records.plans import cell_of, file_system_of
from aws.results import analysing
from aws.run import budget
from aws.stack import clock
from aws.stack.clients import listed
from aws.teardown import copies, inventory, receipts
from contract import keys
from matrix.check.read import check_matrix, read_matrix
from matrix.plan.account import DEFAULTS, account_needs
from matrix.plan.planning import plan
from matrix.samples.file import SampleFile
from matrix.terms.errors import DeadlinePassed, OverBudget, QuotaExceeded
from matrix.terms.keys import Board
from matrix.terms.sentences import error_text

EFS = "efs-elastic"


def first_cell(plan, file_system=EFS):
    return cell_of(plan, file_system_of(plan, file_system)["cells"][0])


def launch(plan, cell, **changes):
    facts = {"file_system": cell["file_system"], "cell": cell["id"], "storage": cell["storage"]}
    fleet = {"instanceType": "m6i.large", "count": 2}
    boot = fleets.Boot("ami-12c6146b", "/dev/xvda")
    return fleets.launch(plan=plan, fleet=fleet, user_data="x", boot=boot, **(facts | changes)).instances


def money(run=RUN):
    row = table.run_row(run)
    return float(row["committed_usd"]), {name: float(usd) for name, usd in row["reserved"].items()}


# --- the budget ---


def test_what_is_set_aside_for_one_is_not_there_for_another(planned):
    assert [table.reserve(RUN, "cell a", 0.6, 1.0) for _ in range(2)] == [True, True]  # again after a crash
    assert not table.reserve(RUN, "cell b", 0.6, 1.0)
    assert table.reserve(RUN, "cell c", 0.4, 1.0)
    assert money() == (pytest.approx(1.0), {"cell a": 0.6, "cell c": 0.4})


def test_a_result_stands_though_its_budget_cannot_be_settled(planned, monkeypatch):
    cell = first_cell(planned)
    table.reserve(RUN, f"cell {cell['id']}", 0.6, 1.0)
    monkeypatch.setattr(budget, "settle_cell", refusing("ThrottlingException"))

    analysing.write_result(cell, analysing.uploads_of(RUN, cell["id"]), [], error={"name": "X", "message": "y"})

    assert bucket.get(Board.of_cell(RUN, cell["id"]).result)["state"] == "failed"
    assert money()[0] == pytest.approx(0.6)


def test_without_a_budget_everything_is_admitted_and_still_counted(planned):
    assert table.reserve(RUN, "cell a", 1e6, None)
    assert money()[0] == pytest.approx(1e6)


def test_what_it_took_replaces_what_was_set_aside_once(planned):
    table.reserve(RUN, "cell a", 0.6, 1.0)

    for _ in range(2):
        table.settle(RUN, "cell a", 0.1, metered_usd=0.02)

    assert money() == (pytest.approx(0.1), {})
    assert float(table.run_row(RUN)["metered_usd"]) == pytest.approx(0.02)
    assert table.reserve(RUN, "cell b", 0.9, 1.0)


def test_a_cell_that_does_not_fit_gets_its_result_as_skipped(planned, context):
    cell = first_cell(planned)
    planned["budget_usd"] = cell["reserve_usd"] - 0.0001

    assert admit_cell.handler({"run": RUN, "cell": cell["id"]}, context)["state"] == "skipped"

    result = bucket.get(Board.of_cell(RUN, cell["id"]).result)
    assert (result["state"], result["error"]["name"]) == ("skipped", "skipped: budget")
    assert table.cell_row(RUN, cell["id"])["state"] == "skipped"
    planned["budget_usd"] = cell["reserve_usd"] + 0.0001
    assert admit_cell.handler({"run": RUN, "cell": cell["id"]}, context)["state"] == "admitted"


def test_a_cell_is_not_begun_past_the_runs_deadline(planned, context, monkeypatch):
    monkeypatch.setattr(budget, "now", lambda: planned["deadline_at"] - 1)

    answer = admit_cell.handler({"run": RUN, "cell": first_cell(planned)["id"]}, context)

    assert answer["state"] == "skipped"
    assert money() == (0, {})


@pytest.mark.parametrize(
    ("error", "facts"),
    [(OverBudget, {"budget_usd": 0.0, "reserve_usd": 0.5}), (DeadlinePassed, {"deadline_at": 0.0})],
)
def test_a_file_system_that_may_not_begin_is_not_created_and_its_cells_are_skipped(planned, context, error, facts):
    planned |= {key: value for key, value in facts.items() if key in planned}
    file_system_of(planned, EFS).update({key: value for key, value in facts.items() if key == "reserve_usd"})

    with pytest.raises(error) as refused:
        create_file_system.handler({"run": RUN, "file_system": EFS}, context)

    assert boto3.client("efs").describe_file_systems()["FileSystems"] == []
    failure = {"Error": error.__name__, "Cause": f'{{"errorMessage": "{refused.value}"}}'}
    record_failed_file_system.handler({"run": RUN, "file_system": EFS, "failure": failure}, context)
    cell = first_cell(planned)["id"]
    assert table.cell_row(RUN, cell)["state"] == "skipped"
    # The cell's error names what was refused; the file system's own is about itself.
    of_cell = bucket.get(Board.of_cell(RUN, cell).result)["error"]
    [of_system] = [row["error"] for row in table.file_systems(RUN) if row["file_system"] == EFS]
    assert (of_cell["subject"], "subject" in of_system) == (f"file system {EFS}", False)
    assert (error_text(of_cell).count(EFS), error_text(of_system).count(EFS)) == (1, 0)


def test_a_cell_is_settled_by_the_time_of_its_instances_volumes_and_file_system(planned, monkeypatch):
    cell = first_cell(planned)
    budget.admit_cell(RUN, planned, cell)
    began = clock.now()
    table.set_cell(RUN, cell["id"], "launching", started_at=began)
    for kind, name in (("instance", "i-1"), ("instance", "i-2"), ("volume", "vol-1")):
        facts = {"file_system": EFS, "cell": cell["id"], "created_at": began}
        table.record_resource(RUN, kind, name, **facts)
    file_system_of(planned, EFS)["rates_usd"]["hour"] = 2.0
    monkeypatch.setattr(budget, "now", lambda: began + 1800)

    budget.settle_cell(RUN, planned, cell, {"low": 0.1, "expected": 0.2, "high": 0.3})

    rates = cell["rates_usd"]
    by_hand = (2 * rates["instance_hour"] + rates["root_volume_hour"] + 2.0) / 2 + 0.3
    assert money() == (pytest.approx(by_hand, abs=1e-5), {})
    assert float(table.run_row(RUN)["metered_usd"]) == pytest.approx(0.2)


@pytest.mark.parametrize("reporting", [2, 1, 0])
def test_a_cell_is_settled_by_what_its_mounts_counted_if_each_of_them_reports_it(planned, reporting):
    cell = first_cell(planned)
    budget.admit_cell(RUN, planned, cell)
    table.set_cell(RUN, cell["id"], "launching", started_at=clock.now())
    board, sample = Board.of_cell(RUN, cell["id"]), {"repetition": 1, "step": 0, "started_at": 1.0, "ended_at": 2.0}
    sample |= {"point": "p01", "metrics": {"duration_s": 1.0}, "tool": {}}
    moved = {"nfs_read_bytes": 100 * 2**30, "nfs_read_operations": 102_400, "nfs_write_bytes": 0}
    files = []
    for number in range(2):
        table.record_resource(RUN, "instance", f"i-{number}", file_system=EFS, cell=cell["id"], created_at=clock.now())
        uploaded = {"run": RUN, "cell": cell["id"], "instance": {"id": f"i-{number}", "type": "m6i.large"}}
        files.append(SampleFile.model_validate(uploaded | {"samples": [sample]}))
        bundle = {"steps": {}, "moved": moved if number < reporting else {}}
        bucket.put(f"{board.instances}AROA1:i-{number}/{keys.bundle(0)}", bundle)

    analysing.write_result(cell, analysing.uploads_of(RUN, cell["id"]), files, error=None)

    # 200 GiB at 0.03 USD; without a word of one of them as planned.
    metered = bucket.get(board.result)["metered_usd"]
    others = cell["metered_usd"]["expected"] - sum(use["cost_usd"]["expected"] for use in cell["by_use"])
    by_hand = 6.0 + others if reporting == 2 else cell["metered_usd"]["expected"]
    assert metered["expected"] == pytest.approx(by_hand, abs=2e-4)
    row = table.run_row(RUN)
    assert float(row["metered_usd"]) == pytest.approx(by_hand, abs=2e-4)
    assert float(row["committed_usd"]) == pytest.approx(metered["high"], abs=0.01)
    assert float(table.cell_row(RUN, cell["id"])["metered_usd"]["high"]) == metered["high"]


# --- what was created ---


def test_what_a_crashed_launch_has_not_noted_is_found_by_its_tags(planned, context):
    cell = first_cell(planned)
    instances = launch(planned, cell)
    assert table.resources(RUN) == []

    stop_fleet.handler({"run": RUN, "cell": cell["id"]}, context)

    rows = {row["id"]: row for row in table.resources(RUN)}
    assert set(instances) <= set(rows)
    assert {row["kind"] for row in rows.values()} == {"instance", "volume"}
    assert {row["cell"] for row in rows.values()} == {cell["id"]}


def test_a_file_system_that_was_created_but_not_noted_is_in_the_receipt(planned, context, monkeypatch):
    with monkeypatch.context() as crashing:
        crashing.setattr(table, "record_resource", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            create_file_system.handler({"run": RUN, "file_system": EFS}, context)
    for _ in range(2):
        delete_file_system.handler({"run": RUN, "file_system": EFS}, context)

    [resource] = receipts.make(RUN, sweep=None)["resources"]

    assert resource["kind"] == "efs"
    assert resource["verified"] == "EFS DescribeFileSystems: not there"
    assert money()[1] == {}


def test_a_row_keeps_the_time_of_its_first_note(planned):
    table.record_resource(RUN, "instance", "i-1", created_at=100.0)
    table.record_resource(RUN, "instance", "i-1")

    assert [float(row["created_at"]) for row in table.resources(RUN)] == [100.0]


def test_only_what_the_services_no_longer_have_counts_as_gone(planned):
    cell = first_cell(planned)
    alive, ended = launch(planned, cell)
    inventory.record(RUN)
    fleets.terminate([ended])

    left = {row["id"] for row in inventory.verify(RUN)}

    assert alive in left
    assert ended not in left


def test_an_instance_that_ec2_does_not_know_yet_is_not_gone(planned):
    table.record_resource(RUN, "instance", "i-0aa")
    table.record_resource(RUN, "instance", "i-0bb", created_at=time.time() - 3_600)

    assert {row["id"] for row in inventory.verify(RUN)} == {"i-0aa"}


@pytest.mark.usefixtures("stack")
def test_a_file_system_and_a_cell_ask_for_their_own_rows_and_not_for_those_of_thousands_of_others(monkeypatch):
    for file_system, cell in (("ebs", "c"), ("ebs", "c-2"), ("ebs-2", "c"), ("efs", "c")):
        table.record_resource(RUN, "instance", f"i-{file_system}-{cell}", file_system=file_system, cell=cell)
    table.record_resource(RUN, "efs", "fs-1", file_system="efs")
    asked = []
    rows = table._rows
    monkeypatch.setattr(table, "_rows", lambda run, prefix: asked.append(prefix) or rows(run, prefix))

    assert [row["id"] for row in table.resources(RUN, "ebs")] == ["i-ebs-c", "i-ebs-c-2"]
    assert [row["id"] for row in table.resources(RUN, "efs", "")] == ["fs-1"]
    assert table.instances(RUN, "ebs", "c") == ["i-ebs-c"]
    assert asked == ["RESOURCE#ebs#", "RESOURCE#efs##", "RESOURCE#ebs#c#"]


# --- copies that AWS makes ---


def test_a_backup_of_a_file_system_of_the_run_is_a_leak_that_is_found_deleted_and_noted(planned):
    fsx = boto3.client("fsx")
    made = fsx.create_file_system(
        FileSystemType="OPENZFS", StorageCapacity=64, SubnetIds=["subnet-0123456789abcdef0"],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64},
    )["FileSystem"]["FileSystemId"]  # fmt: skip
    table.record_resource(RUN, "fsx-openzfs", made, file_system="fsx")
    backup = fsx.create_backup(FileSystemId=made)["Backup"]["BackupId"]
    fsx.delete_file_system(FileSystemId=made)

    before = receipts.make(RUN, sweep={"at": clock.now(), "remaining": 1})
    after = receipts.make(RUN, sweep={"at": clock.now(), "remaining": 0})

    assert receipts.still_there(before) == [{"kind": "fsx-backup", "id": backup}]
    assert fsx.describe_backups()["Backups"] == []
    assert receipts.still_there(after) == []
    assert after["is_complete"]


def test_snapshots_of_the_runs_volumes_are_found_by_tag_and_by_volume(planned):
    ec2 = boto3.client("ec2")
    ours, theirs = (ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"] for _ in range(2))
    table.record_resource(RUN, "volume", ours)
    wanted = ec2.create_snapshot(VolumeId=ours)["SnapshotId"]
    ec2.create_snapshot(VolumeId=theirs)

    found = copies.find(RUN, table.resources(RUN))

    assert [copy.id for copy in found.copies] == [wanted]
    copies.delete(found.copies)
    assert copies.find(RUN, table.resources(RUN)).copies == []


class Backup:
    """AWS Backup as a client, which moto does not know enough of."""

    def __init__(self, points):
        self.points = points

    def get_paginator(self, _):
        return self

    def paginate(self, **request):
        return [{"RecoveryPoints": [point for point in self.points if point["of"] in request["ResourceArn"]]}]

    def delete_recovery_point(self, **request):
        self.points[:] = [point for point in self.points if point.items() < request.items()]


def test_recovery_points_of_an_efs_are_found_and_deleted(planned, monkeypatch):
    point = {"of": "fs-1", "BackupVaultName": "aws/efs/automatic-backup-vault", "RecoveryPointArn": "arn:point",
             "CreationDate": datetime.now(UTC)}  # fmt: skip
    service = Backup([point])
    monkeypatch.setattr("aws.storages.efs.impatient_client", lambda _: service)
    table.record_resource(RUN, "efs", "fs-1", file_system=EFS)

    assert [copy.id for copy in copies.find(RUN, table.resources(RUN)).copies] == ["arn:point"]
    receipts.make(RUN, sweep={"at": clock.now(), "remaining": 1})
    assert service.points == []
    receipt = receipts.make(RUN, sweep={"at": clock.now(), "remaining": 0})
    assert receipt["unasked"] == []
    assert receipts.still_there(receipt) == []


def test_only_services_that_the_run_was_planned_for_are_asked_for_what_it_has(planned, monkeypatch):
    def asked():
        services = []
        for module in ("efs", "fsx"):
            asking = f"aws.storages.{module}.listed"
            monkeypatch.setattr(
                asking, lambda service, *of, **by: services.append(service) or listed(service, *of, **by)
            )
        list(inventory.of_run(RUN))
        return services

    rows = table.file_systems(RUN)
    assert {row["file_system"]: row["storage_type"] for row in rows} == {
        one["id"]: one["storage"]["type"] for one in planned["file_systems"] if one["cells"]
    }
    assert asked() == ["efs", "fsx"]

    monkeypatch.setattr(table, "file_systems", lambda _: [row for row in rows if row["storage_type"] == "ebs"])
    assert asked() == []


def test_a_service_that_cannot_be_asked_for_copies_is_named_in_the_receipt(planned, monkeypatch):
    refused = refusing("AccessDeniedException", "ListRecoveryPointsByResource")
    monkeypatch.setattr("aws.storages.efs.impatient_client", refused)
    table.record_resource(RUN, "efs", "fs-1", file_system=EFS)

    receipt = receipts.make(RUN, sweep=None)

    assert receipt["unasked"] == ["efs-recovery-point: ListRecoveryPointsByResource answered AccessDeniedException"]


# --- quotas and prices ---

PUBLISHED_BUILDS = Path(__file__).parents[2] / "events/published/yocto-builds.json"


class Quotas:
    """Service Quotas with one value for everything."""

    def __init__(self, value, default=None):
        self.value, self.default = value, default

    def get_service_quota(self, **_):
        return self._answer(self.value)

    def get_aws_default_service_quota(self, **_):
        return self._answer(self.default)

    def _answer(self, value):
        if value is None:
            raise refusal("NoSuchResourceException")
        return {"Quota": {"Value": value}}


def test_above_a_quota_nothing_is_written_and_the_execution_fails_by_its_name(stack, context, monkeypatch):
    monkeypatch.setattr(account, "impatient_client", lambda _: Quotas(1.0))

    with pytest.raises(QuotaExceeded, match=r"L-1216C47A.* is 1 vCPUs"):
        plan_matrix.handler(load_event("plan_matrix"), context)

    assert boto3.client("s3").list_objects_v2(Bucket="results", Prefix="runs/").get("Contents", []) == []
    assert boto3.client("dynamodb").scan(TableName="table")["Items"] == []


@pytest.mark.parametrize(
    ("quotas", "refused"),
    [
        (Quotas(0.0), r"L-1216C47A.*L-7A658B76.*Nothing was created$"),  # all at once
        (Quotas(None, default=1.0), r"L-1216C47A.* is 1 vCPUs"),  # which nobody has raised
    ],
)
def test_every_quota_that_is_too_low_is_named(planned, monkeypatch, quotas, refused):
    monkeypatch.setattr(account, "impatient_client", lambda _: quotas)

    with pytest.raises(QuotaExceeded, match=refused):
        account.check(planned, 4)


def test_the_published_builds_are_refused_on_a_new_account_with_the_five_quotas_that_the_plan_names(stack, monkeypatch):
    document = plan(read_matrix(PUBLISHED_BUILDS.read_text())).to_document()
    defaults = {quota.code: value for quota, value in DEFAULTS.items()}
    monkeypatch.setattr(
        Quotas, "get_service_quota", lambda _, **asked: {"Quota": {"Value": defaults[asked["QuotaCode"]]}}
    )
    monkeypatch.setattr(account, "impatient_client", lambda _: Quotas(None))
    beyond = [need for need in account_needs(document, 2) if need.is_beyond]

    with pytest.raises(QuotaExceeded) as refused:
        account.check(document, 2)

    assert len(beyond) == 5
    assert re.findall(r"--quota-code (\S+)", str(refused.value)) == [need.quota.code for need in beyond]


def test_instances_of_others_count_against_the_quota(planned, monkeypatch):
    theirs = {"CpuOptions": {"CoreCount": 4, "ThreadsPerCore": 2}}
    running = [theirs | {"InstanceType": name} for name in ("m6i.2xlarge", "c6i.2xlarge", "g5.2xlarge")]
    monkeypatch.setattr(fleets, "_describe", lambda _: iter(running))
    monkeypatch.setattr(account, "impatient_client", lambda _: Quotas(17.0))

    # Two of the three are of the Standard class.
    with pytest.raises(QuotaExceeded, match=r"is 17 vCPUs .* beside 16 in use"):
        account.check(planned, 4)


def test_volumes_of_others_count_against_the_quota_of_their_type(planned, monkeypatch):
    zone = "us-east-1a"
    boto3.client("ec2").create_volume(AvailabilityZone=zone, VolumeType="gp3", Size=51_200 - 10)
    boto3.client("ec2").create_volume(AvailabilityZone=zone, VolumeType="gp2", Size=1_000)
    monkeypatch.setattr(account, "impatient_client", lambda _: Quotas(50.0))
    monkeypatch.setattr(fleets, "_describe", lambda _: iter([]))

    with pytest.raises(QuotaExceeded, match=r"\(gp3\) volumes \(ebs L-7A658B76\) is 50 TiB .* beside 50 in use"):
        account.check(planned, 4)


def test_a_quota_that_cannot_be_asked_for_is_a_warning(planned, monkeypatch):
    monkeypatch.setattr(account, "impatient_client", lambda _: Quotas(None))

    [warning] = [one for one in account.check(planned, 4) if one["path"] == "quotas"]

    assert "NoSuchResourceException" in warning["message"]


DENIED = refusing("AccessDeniedException")
UNREACHED = Mock(side_effect=EndpointConnectionError(endpoint_url="https://freetier.us-east-1.api.aws"))


def account_is(monkeypatch, kind="PAID", mode="off"):
    """Let the two services that know what a whole account may not do answer so, or by a call of the test."""
    asked, answer = [], {"accountPlanType": kind, "VpcBlockPublicAccessOptions": {"InternetGatewayBlockMode": mode}}
    services = Mock(
        get_account_plan_state=kind if callable(kind) else Mock(return_value=answer),
        describe_vpc_block_public_access_options=mode if callable(mode) else Mock(return_value=answer),
    )
    monkeypatch.setattr(standing, "impatient_client", lambda *names: asked.append(names) or services)
    return asked


def of_account(warnings):
    return [one["message"] for one in warnings if one["path"] == "account"]


def test_on_the_free_plan_types_that_ec2_does_not_start_there_are_refused_before_anything_exists(
    stack, context, monkeypatch
):
    account_is(monkeypatch, kind="FREE")

    with pytest.raises(QuotaExceeded, match=r"Free plan, where EC2 does not start m6i\.large\. Upgrade .* created$"):
        plan_matrix.handler(load_event("plan_matrix"), context)

    assert boto3.client("s3").list_objects_v2(Bucket="results", Prefix="runs/").get("Contents", []) == []


def test_on_the_free_plan_types_that_are_eligible_are_planned_and_nobody_is_asked(planned, monkeypatch):
    asked = account_is(monkeypatch, kind="FREE")
    for cell in planned["cells"]:
        cell["fleet"]["instanceType"] = "t3.micro"

    assert of_account(account.check(planned, 4)) == []
    assert ("freetier", "us-east-1") not in asked


@pytest.mark.parametrize(
    ("call", "reason"), [(DENIED, "AccessDeniedException"), (UNREACHED, "EndpointConnectionError")]
)
def test_an_account_that_cannot_be_asked_is_planned_with_one_warning(planned, monkeypatch, call, reason):
    account_is(monkeypatch, kind=call, mode=call)

    [message] = of_account(account.check(planned, 4))

    assert f"the account's plan ({reason}); VPC Block Public Access ({reason})" in message


@pytest.mark.parametrize("mode", ["block-bidirectional", "block-ingress"])
def test_a_region_that_blocks_public_access_is_a_warning(planned, monkeypatch, mode):
    account_is(monkeypatch, mode=mode)

    [message] = of_account(account.check(planned, 4))

    assert f"is {mode}: instances in the stack's own VPC cannot reach AWS's APIs" in message


@pytest.mark.parametrize("region", ["us-gov-west-1", "cn-north-1"])
def test_other_partitions_have_no_free_plan_to_ask_for(planned, monkeypatch, region):
    asked = account_is(monkeypatch, kind="FREE")
    monkeypatch.setenv("AWS_REGION", region)

    standing.check({"m6i.large": {"FreeTierEligible": False}})

    assert asked == [("ec2",)]


MATRIX = check_matrix({
    "name": "m", "storage": [{"type": "efs"}], "workload": [{"type": "touch", "files": 8}],
    "fleet": [{"instanceType": "m6i.large"}],
}).matrix  # fmt: skip


def test_prices_are_asked_for_until_the_first_call_that_is_not_answered(monkeypatch, stack, caplog):
    pricing = Mock(get_products=refusing("AccessDeniedException"))
    monkeypatch.setattr(prices, "impatient_client", lambda *_: pricing)

    book = prices.book(MATRIX, "eu-west-1")

    assert pricing.get_products.call_count == 1
    assert book.of_api.prices == {}
    [record] = [record for record in caplog.records if "price book" in record.message]
    assert (record.what, record.levelname) == ("today's prices", "WARNING")
    assert "AccessDeniedException" in record.reason


def test_the_prices_of_the_answer_are_those_of_the_plan(monkeypatch, stack):
    class Pricing:
        def get_products(self, **request):
            wanted = {one["Field"]: one["Value"] for one in request["Filters"]}
            assert wanted["regionCode"] == "eu-west-1"
            if wanted.get("instanceType") != "m6i.large":
                return {"PriceList": []}
            return {"PriceList": [
                '{"product": {"attributes": {"usagetype": "EUW1-BoxUsage:m6i.large"}}, "terms": {"OnDemand": {"a": '
                '{"priceDimensions": {"b": {"beginRange": "0", "pricePerUnit": {"USD": "0.107"}}}}}}}'
            ]}  # fmt: skip

    monkeypatch.setattr(prices, "impatient_client", lambda *_: Pricing())

    assert prices.book(MATRIX, "eu-west-1").instance_hour("m6i.large").usd == 0.107


def test_the_runs_tags_outlive_its_deadline_by_nothing(planned):
    """The deadline that Admit cell and the sweep go by is one and the same."""
    launch(planned, first_cell(planned))
    [tag] = {
        tag["Value"] for one in fleets.of_run(RUN) for tag in one["Tags"] if tag["Key"] == "storage-matrix:deadline"
    }

    deadline = datetime.fromtimestamp(planned["deadline_at"], UTC)
    assert abs(datetime.strptime(tag, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) - deadline) < timedelta(seconds=1)
