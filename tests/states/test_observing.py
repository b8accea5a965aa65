"""What is read of a cell beside its samples: real boto3 calls of CloudWatch and EC2, answered by moto."""

from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from aws.records import table
from aws.results import observing
from matrix.samples.file import SampleFile

START = 1_763_683_200.0
MIB = 2**20
RUN = "r1"
CELL = {
    "id": "c",
    "file_system": "fs",
    "storage": {"type": "ebs", "volumeType": "gp3"},
    "fleet": {"instanceType": "m6i.large", "count": 1},
}


def files(seconds: float = 150.0) -> list[SampleFile]:
    """One instance that measured for so long."""
    taken = {"point": "p01", "repetition": 1, "step": 0, "metrics": {"iops": 1.0},
             "started_at": START + 30, "ended_at": START + 30 + seconds}  # fmt: skip
    return [SampleFile.model_validate({"run": RUN, "cell": "c", "instance": {"id": "i-1", "type": "m6i.large"},
                                       "samples": [taken]})]  # fmt: skip


def publish(namespace: str, name: str, dimensions: dict[str, str], *values: float) -> None:
    """Put a value for each minute from the start on."""
    boto3.client("cloudwatch").put_metric_data(
        Namespace=namespace,
        MetricData=[
            {
                "MetricName": name, "Value": value, "Timestamp": datetime.fromtimestamp(START + 60 * minute, UTC),
                "Dimensions": [{"Name": key, "Value": of} for key, of in dimensions.items()],
            }
            for minute, value in enumerate(values)
        ],
    )  # fmt: skip


@pytest.mark.usefixtures("stack")
def test_the_metrics_of_a_cells_volumes_are_copied_and_what_has_no_value_is_named():
    table.record_resource(RUN, "volume", "vol-1", file_system="fs", cell="c", is_data=True, instance="i-1")
    table.record_resource(RUN, "volume", "vol-root", file_system="fs", cell="c", is_data=False, instance="i-1")
    publish("AWS/EBS", "VolumeWriteBytes", {"VolumeId": "vol-1"}, 60 * MIB, 600 * MIB, 60 * MIB, 7 * MIB)
    publish("AWS/EBS", "VolumeIOPSExceededCheck", {"VolumeId": "vol-1", "InstanceId": "i-1"}, 0, 1)
    publish("AWS/EBS", "VolumeWriteBytes", {"VolumeId": "vol-other"}, 5 * MIB)

    kept, _ = observing.observe(RUN, CELL, files())

    series = {one["metric"]: one for one in kept["series"]}
    # The fourth minute is after the last sample, so it is none of the cell's.
    assert series["VolumeWriteBytes"]["values"] == [60 * MIB, 600 * MIB, 60 * MIB]
    assert series["VolumeWriteBytes"]["at"] == [START, START + 60, START + 120]
    assert series["VolumeWriteBytes"]["resource"] == {"VolumeId": "vol-1"}
    assert series["VolumeIOPSExceededCheck"]["values"] == [0, 1]
    assert "AWS/EBS VolumeReadBytes" in kept["absent"]
    assert "AWS/EBS VolumeWriteBytes" not in kept["absent"]
    assert kept["unasked"] is None
    assert kept["resources"]["volumes"] == {"vol-1": "i-1"}


@pytest.mark.usefixtures("stack")
def test_a_file_systems_metrics_are_read_by_its_id():
    cell = CELL | {"storage": {"type": "efs"}}
    table.record_resource(RUN, "efs", "fs-1", file_system="fs")
    table.record_resource(RUN, "efs", "fs-2", file_system="another")
    publish("AWS/EFS", "PercentIOLimit", {"FileSystemId": "fs-1"}, 55.0, 98.5)
    publish("AWS/EFS", "PercentIOLimit", {"FileSystemId": "fs-2"}, 11.0)

    kept, _ = observing.observe(RUN, cell, files())

    assert [one["values"] for one in kept["series"]] == [[55.0, 98.5]]


@pytest.mark.usefixtures("stack")
def test_the_limits_of_the_instance_type_are_ec2s():
    _, limits = observing.observe(RUN, CELL, files())

    # m6i.large: 650 Mbit/s and 3,600 IOPS always, 10 Gbit/s and 40,000 IOPS with credits (EC2 guide).
    assert limits["ebs_iops"] == {"baseline": 3_600.0, "maximum": 40_000.0}
    assert limits["ebs_bytes_per_s"] == {"baseline": 81.25e6, "maximum": 1_250e6}
    assert limits["network_bytes_per_s"]["maximum"] == pytest.approx(12.5 * 125e6)


@pytest.mark.usefixtures("stack")
def test_the_limits_that_are_kept_are_those_of_a_weighted_fleet():
    fleet = {"instanceType": "m8g.large", "count": 1, "bandwidthWeighting": "ebs-1"}

    _, limits = observing.observe(RUN, CELL | {"fleet": fleet}, files())

    # m8g.large: 78.75 MB/s to EBS, of which a quarter comes from its 0.937 Gbit/s of the network.
    assert limits["ebs_bytes_per_s"] == {"baseline": 1.25 * 78.75e6, "maximum": 1_250e6}
    assert limits["network_bytes_per_s"]["baseline"] == pytest.approx(0.937 * 125e6 - 0.25 * 78.75e6)
    assert limits["ebs_iops"] == {"baseline": 3_600.0, "maximum": 40_000.0}


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(("raid0", "iops"), [(None, 240_000), (2, 480_000), (3, 360_000)])
def test_the_limits_that_are_kept_are_those_of_the_ebs_cards_that_the_volumes_are_on(raid0, iops):
    cell = CELL | {
        "fleet": {"instanceType": "c8gn.48xlarge", "count": 1},
        "storage": CELL["storage"] | {"raid0": raid0},
    }

    _, limits = observing.observe(RUN, cell, files())

    assert limits["ebs_iops"] == {"baseline": iops, "maximum": iops}


class Refusing:
    """CloudWatch where it may not be asked."""

    def get_paginator(self, operation: str) -> Any:
        """Refuse."""
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, operation)


def test_where_cloudwatch_may_not_be_asked_that_is_kept_and_nothing_fails():
    about = {"type": "efs", "volume_type": None, "instance_type": "m6i.large", "instances": ["i-1"], "of": 1,
             "volumes": {}, "file_systems": ["fs-1"]}  # fmt: skip

    kept = observing.read_metrics(Refusing(), about, START, START + 60)

    assert kept["unasked"] == "AccessDenied"
    assert kept["series"] == []


@pytest.mark.usefixtures("stack")
def test_of_several_file_systems_each_is_asked_for():
    cell = CELL | {"storage": {"type": "fsx-openzfs", "fileSystems": 2}}
    for number, values in enumerate([(55.0, 98.5), (11.0, 12.0)], start=1):
        table.record_resource(RUN, "fsx-openzfs", f"fs-{number}", file_system="fs")
        publish("AWS/FSx", "DiskIopsUtilization", {"FileSystemId": f"fs-{number}"}, *values)

    kept, _ = observing.observe(RUN, cell, files())

    assert kept["resources"]["file_systems"] == ["fs-1", "fs-2"]
    assert [(one["resource"], one["values"]) for one in kept["series"]] == [
        ({"FileSystemId": "fs-1"}, [55.0, 98.5]), ({"FileSystemId": "fs-2"}, [11.0, 12.0]),
    ]  # fmt: skip
