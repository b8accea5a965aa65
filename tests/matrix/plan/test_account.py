"""What an account must have for a plan, said without asking it."""

from pathlib import Path

import botocore.session
import pytest
from moto.ec2.models.instance_types import INSTANCE_TYPES
from support.matrices import EBS, EFS, FSX, matrix

from matrix.check.read import read_matrix
from matrix.plan import account, quotas
from matrix.plan.planning import plan

EVENTS = Path(__file__).resolve().parents[3] / "events"
# Sold to those who have had them since before 2014, and by no rule.
OLD = ("c1", "m1", "m2", "t1")


def beyond(document, at_once=4):
    return {need.quota.code: need.amount for need in account.account_needs(document, at_once) if need.is_beyond}


def test_the_published_builds_need_five_quotas_above_the_default_which_are_named_at_once():
    document = plan(read_matrix((EVENTS / "published/yocto-builds.json").read_text())).to_document()

    # Two storages at once: 2 x 200 instances of 16 vCPUs, with 120 and 220 GiB of gp3, 200 of io2 with 3,000 IOPS; or
    # one of FSx with 4,096 MB/s and another that is two of it.
    assert beyond(document, at_once=2) == {
        "L-1216C47A": 6_400, "L-7A658B76": 66.40625, "L-09BD8365": 200 * 200 / 1_024, "L-8D977E7E": 600_000,
        "L-4EDE4065": 3 * 4_096,
    }  # fmt: skip


def test_the_first_run_on_aws_needs_no_more_than_an_account_has_that_was_opened_today():
    checked = read_matrix((EVENTS / "first-aws.json").read_text())

    assert beyond(plan(checked).to_document(), checked.matrix.max_concurrent_file_systems) == {}


def test_a_class_of_instances_without_a_known_default_is_asked_for():
    document = plan(matrix(fleet=[{"instanceType": "g5.xlarge", "count": 2}])).to_document()

    assert beyond(document)["L-DB2E81BA"] == 8


def test_functions_and_addresses_count_too():
    launches = plan(
        matrix(storage=[EBS, EFS, FSX], fleet=[{"instanceType": "m6i.large", "count": [1, 10]}], launches=5)
    ).to_document()

    functions = {need.quota: need.amount for need in account.account_needs(launches, 2)}[account.CONCURRENCY]
    assert functions == 3  # one of each file system, and the sweep
    assert account.addresses(launches, 2) == 20
    assert account.addresses(launches, 4) == 30


def test_the_line_that_asks_for_more_is_one_that_aws_takes():
    words = quotas.request_line(quotas.EBS_STORAGE["gp3"], 62.5).split()

    service = botocore.session.get_session().get_service_model("service-quotas")
    assert words[:3] == ["aws", "service-quotas", "request-service-quota-increase"]
    assert set(service.operation_model("RequestServiceQuotaIncrease").input_shape.required_members) == {
        "ServiceCode", "QuotaCode", "DesiredValue"}  # fmt: skip
    assert words[3:] == ["--service-code", "ebs", "--quota-code", "L-7A658B76", "--desired-value", "63"]


def test_vcpus_are_those_of_ec2_but_for_bare_metal_of_which_they_are_about():
    described = {name: each for name, each in INSTANCE_TYPES.items() if not name.startswith(OLD)}
    vcpus = {name: each["VCpuInfo"]["DefaultVCpus"] for name, each in described.items()}

    assert len(vcpus) > 1_000
    wrong = {name: count for name, count in vcpus.items() if account.vcpus_of(name) != count}
    assert {name for name in wrong if not name.endswith(".metal")} == set()
    assert account.vcpus_of("m6i.metal") == 128


@pytest.mark.parametrize("service", sorted({quota.service for quota in account.DEFAULTS}))
def test_services_are_those_of_botocore_or_parts_of_ec2(service):
    known = {"elasticfilesystem": "efs", "ebs": "ec2"}

    assert known.get(service, service) in botocore.session.get_session().get_available_services()
