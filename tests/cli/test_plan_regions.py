"""`matrix plan --region all`: moto's EC2 says what each region offers, a price list of the test what it costs."""

import csv
import io
import json
from collections import Counter
from types import SimpleNamespace

import boto3
import pytest
from moto import mock_aws
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from support.refusals import refusing

from cli.target.deployment import Deployment
from matrix.price.book import published_prices

# moto: the first three have m6i.large and are enabled, eu-south-2 is not enabled.
PRICED = {"us-east-1": 1.0, "us-east-2": 0.9, "eu-west-1": 1.2, "eu-south-2": 0.8}
UNPRICED = "ap-south-1"
EBS = [
    ("AmazonEC2", {"productFamily": "Storage", "volumeApiName": "gp3"}, "EBS:VolumeUsage.gp3", "ebs_gp3_gib_month", 1),
    ("AmazonEC2", {"productFamily": "System Operation", "volumeApiName": "gp3"}, "EBS:VolumeP-IOPS.gp3",
     "ebs_gp3_iops_month", 1),
    ("AmazonEC2", {"productFamily": "Provisioned Throughput", "volumeApiName": "gp3"}, "EBS:VolumeP-Throughput.gp3",
     "ebs_gp3_mibps_month", 1024),
]  # fmt: skip
DISKS = {"productFamily": "Storage", "fileSystemType": "Lustre"}
LUSTRE = {"type": "fsx-lustre", "deploymentType": "SCRATCH_2", "storageCapacityGiB": 1200}


def product(region, usd, attributes, usage, location="AWS Region"):
    """A product as GetProducts answers it."""
    dimension = {"pricePerUnit": {"USD": str(usd)}, "beginRange": "0"}
    attributes = {**attributes, "regionCode": region, "usagetype": f"X-{usage}", "locationType": location}
    terms = {"OnDemand": {"a": {"priceDimensions": {"b": dimension}}}}
    return {"product": {"attributes": attributes}, "terms": terms}


class FakePriceList:
    """Products, filtered by all attributes but the region, in pages of two."""

    def __init__(self):
        self.calls = Counter()
        self.products = []
        book = published_prices()
        for region, factor in PRICED.items():
            for service, attributes, usage, name, unit in EBS:
                usd = book.price(name).usd * factor * unit
                self.products.append((service, product(region, usd, attributes, usage)))
            usd = book.instance_hour("m6i.large").usd * factor
            sold = {"instanceType": "m6i.large", "operatingSystem": "Linux", "tenancy": "Shared",
                    "preInstalledSw": "NA", "capacitystatus": "Used", "licenseModel": "No License required",
                    "marketoption": "OnDemand"}  # fmt: skip
            self.products.append(("AmazonEC2", product(region, usd, sold, "BoxUsage:m6i.large")))
            # A Local Zone of the region costs more, and is not the region.
            dearer = product(region, 3 * usd, sold, "BoxUsage:m6i.large", "AWS Local Zone")
            self.products.append(("AmazonEC2", dearer))

    def get_paginator(self, name):
        assert name == "get_products"
        return self

    def paginate(self, ServiceCode, Filters, PaginationConfig):  # noqa: N803 - as boto3 calls it
        assert PaginationConfig["PageSize"] <= 100  # most that GetProducts takes
        self.calls[ServiceCode] += 1
        wanted = {each["Field"]: each["Value"] for each in Filters}
        fitting = [
            json.dumps(each)
            for service, each in self.products
            if service == ServiceCode and wanted.items() <= each["product"]["attributes"].items()
        ]
        for start in range(0, max(1, len(fitting)), 2):
            yield {"PriceList": fitting[start : start + 2]}


@pytest.fixture
def price_list(monkeypatch):
    """Answer calls of boto3 by moto, and those to the price list by the test's."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # moto would make 1,100 images in each region: 0.15 s
    # Each of its regions has a backend of its own: 33 of them take 60 MB and most of the time.
    few = [each for each in RegionsAndZonesBackend.regions if each.name in {*PRICED, UNPRICED}]
    monkeypatch.setattr(RegionsAndZonesBackend, "regions", few)
    fake = FakePriceList()
    real = Deployment.client
    monkeypatch.setattr(
        Deployment, "client",
        lambda self, service, **how: fake if service == "pricing" else real(self, service, **how),
    )  # fmt: skip
    with mock_aws():
        yield fake


def rows(shown):
    return {each["region"]: each for each in json.loads(shown.stdout)["regions"]}


def test_every_region_is_listed_the_cheapest_that_can_be_used_first(matrix, scenario, price_list):
    shown = matrix("plan", scenario(), "--region", "all", "--json")

    assert shown.exit_code == 0, shown.stderr
    # One query for all regions: the instance type, and size, IOPS and throughput of gp3.
    assert price_list.calls == {"AmazonEC2": 4}
    document = json.loads(shown.stdout)
    names = [each["region"] for each in document["regions"]]
    assert sorted(names) == sorted([*PRICED, UNPRICED])
    assert names[:3] == ["us-east-2", "us-east-1", "eu-west-1"]
    assert document["cheapest"] == names[0]
    # A price is that of the region and not of its Local Zones.
    usd = {name: row["cost_usd"]["expected"] for name, row in rows(shown).items() if row["cost_usd"]}
    of_book = json.loads(matrix("plan", scenario(), "--json").stdout)["totals"]["cost_usd"]["expected"]
    assert usd["us-east-1"] == pytest.approx(of_book, rel=0.01)
    assert usd["us-east-2"] < usd["us-east-1"] < usd["eu-west-1"]
    assert usd["eu-south-2"] > 0
    assert rows(shown)["eu-south-2"]["reason"] == "not enabled for this account"


def test_a_region_without_the_instance_type_says_so(matrix, scenario, price_list):
    fleet = [{"instanceType": "m6i.large", "count": 1}, {"instanceType": "u-24tb1.112xlarge", "count": 1}]
    row = rows(matrix("plan", scenario(fleet=fleet), "--region", "all", "--json"))["eu-west-1"]

    ec2 = boto3.client("ec2", "eu-west-1")
    asked = [{"Name": "instance-type", "Values": ["u-24tb1.112xlarge"]}]
    assert not ec2.describe_instance_type_offerings(LocationType="region", Filters=asked)["InstanceTypeOfferings"]
    assert (row["missing"], row["cost_usd"]) == (["u-24tb1.112xlarge"], None)


def test_a_region_whose_price_list_lacks_a_storage_says_so_if_other_regions_have_it(matrix, scenario, price_list):
    path = scenario(storage=[LUSTRE])
    before = json.loads(matrix("plan", path, "--region", "all", "--json").stdout)
    price_list.products.append(("AmazonFSx", product("us-east-1", 0.14, DISKS, "Storage.Lustre")))

    after = json.loads(matrix("plan", path, "--region", "all", "--json").stdout)

    # A product that no region has is one that we call by a wrong name: nobody lacks it, and the table says so.
    assert not any("FSx Lustre" in each["missing"] for each in before["regions"])
    assert [name.split(" (")[0] for name in before["unchecked"]] == [before["unchecked"][0]]
    assert after["unchecked"] == []
    lacking = {each["region"] for each in after["regions"] if each["missing"] == before["unchecked"]}
    assert "us-east-1" not in lacking
    assert {"us-east-2", "eu-west-1"} <= lacking


def test_a_region_that_refuses_is_listed_with_the_refusal(matrix, scenario, price_list, monkeypatch):
    own = Deployment.client

    denied = SimpleNamespace(get_paginator=refusing("UnauthorizedOperation", "DescribeInstanceTypeOfferings"))
    monkeypatch.setattr(
        Deployment, "client",
        lambda self, service, **how: denied if self.region == "eu-west-1" else own(self, service, **how),
    )  # fmt: skip

    shown = matrix("plan", scenario(), "--region", "all", "--json")

    row = rows(shown)["eu-west-1"]
    assert row["reason"] == "DescribeInstanceTypeOfferings is refused: UnauthorizedOperation"
    assert row["cost_usd"]["expected"] > 0
    assert json.loads(shown.stdout)["cheapest"] == "us-east-2"


def test_without_the_price_list_there_is_no_table(matrix, scenario, price_list):
    price_list.paginate = refusing("AccessDeniedException")

    shown = matrix("plan", scenario(), "--region", "all")

    assert shown.exit_code == 1
    assert shown.stdout == ""


def test_the_table_and_its_csv_have_a_row_for_each_region(matrix, scenario, price_list):
    table = matrix("plan", scenario(), "--region", "all").stdout.splitlines()
    lines = list(csv.DictReader(io.StringIO(matrix("plan", scenario(), "--region", "all", "--format", "csv").stdout)))

    assert table[0].split() == ["Region", "Low", "Expected", "High", *table[0].split()[4:]]
    assert [line["region"] for line in lines] == [line.split()[0] for line in table[1 : len(lines) + 1]]
    assert lines[0]["region"] == "us-east-2"
    assert float(lines[0]["low_usd"]) < float(lines[0]["expected_usd"]) < float(lines[0]["high_usd"])
    assert table[-1].startswith("Cheapest: us-east-2.")


@pytest.mark.parametrize(
    "changes",
    [{"repetitions": 0}, {"storage": [{"type": "efs", "fileSystemId": "fs-0123456789abcdef0"}]}],
    ids=["a mistake", "a storage of one region"],
)
def test_what_cannot_be_compared_is_refused_before_aws_is_asked(matrix, scenario, price_list, changes):
    shown = matrix("plan", scenario(**changes), "--region", "all")

    assert (shown.exit_code, dict(price_list.calls)) == (2, {})


def test_a_csv_of_one_region_is_refused(matrix, scenario):
    assert matrix("plan", scenario(), "--format", "csv").exit_code == 2
