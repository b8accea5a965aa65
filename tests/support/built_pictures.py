"""Draw the AWS resources for a fleet on EBS, EFS and FSx as docs/built-*.svg (`make built`).

All data come from code. Network, security groups, buckets and table are those of template.yaml as CloudFormation
resolves it. The zones of a fleet come from a plan of `events/yocto-builds.json`. The functions create file systems and
mount targets in moto, whose API then returns them.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import boto3
from judge.template import REGION, our_resources
from moto import mock_aws

from aws.ec2.volume_mappings import mappings_of
from aws.stack import clients, network
from matrix.check.read import check_matrix
from matrix.input.storage_names import storage_label
from matrix.plan.placing import resolved, shares
from matrix.report.html import Markup, tag
from storages.efs import cloud as efs
from storages.fsx_openzfs import cloud as fsx_openzfs

ROOT = Path(__file__).parents[2]
EVENT = ROOT / "events/yocto-builds.json"
PAGES = {kind: ROOT / f"docs/built-{kind}.svg" for kind in ("ebs", "efs", "fsx-openzfs")}
SUBNETS = ("SubnetA", "SubnetB", "SubnetC")
ZONE_PX, GAP_PX, TOP_PX, LEFT_PX = 206, 10, 104, 34
STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: #16191d; }
.title { font-size: 16px; font-weight: 600; } .small { font-size: 10.5px; fill: #4a515b; } .strong { font-weight: 600; }
rect { fill: #ffffff; stroke: #7f8894; stroke-width: 1.5px; } .ground { stroke: none; } .vpc { fill: #f6f7f9; }
.zone { fill: none; stroke-dasharray: 5 4; } .fleet { stroke: #d55e00; }
.storage { stroke: #1a7570; stroke-width: 2.5px; }
path { fill: none; stroke: #4a515b; stroke-width: 1.5px; marker-end: url(#arrow); }
marker path { fill: #4a515b; stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8eaed; } .small { fill: #a3abb5; } rect { fill: #1d2126; } .ground, .vpc { fill: #14171b; }
  path { stroke: #a3abb5; } marker path { fill: #a3abb5; }
}
"""
Resources = Mapping[str, Any]


@dataclass(frozen=True)
class Built:
    """The resources of one cell: instances, volumes and mount targets by zone, and the zones of its file system."""

    storage: Mapping[str, Any]
    instance_type: str
    zones: Sequence[str]
    instances: Sequence[int]
    volumes: int
    targets: Sequence[str]
    homes: Sequence[str]


def built() -> dict[str, Built]:
    """Return by kind the resources of the largest fleet of the published builds, on the first storage of its kind."""
    matrix = check_matrix(json.loads(EVENT.read_text())).matrix
    [fleet] = matrix.fleet
    zones = [_of("Subnet", name)["AvailabilityZone"] for name in SUBNETS]
    pictured: dict[str, Built] = {}
    for kind in PAGES:
        storage = next(each.document for each in matrix.storage if each.document["type"] == kind)
        count = max(fleet.count)
        placed = shares(resolved(fleet.placement, storage), count, len(zones))
        volumes = len(mappings_of(storage, fleet.instance_type[0])) if kind == "ebs" else 0
        targets, homes = _created(storage, zones)
        instances = [*placed, *[0] * (len(zones) - len(placed))]
        pictured[kind] = Built(storage, fleet.instance_type[0], zones, instances, volumes, targets, homes)
    return pictured


def _of(kind: str, name: str) -> dict[str, Any]:
    resource = our_resources("own")[name]
    assert resource["Type"] == f"AWS::EC2::{kind}"
    return dict(resource["Properties"])


def _created(storage: Mapping[str, Any], zones: Sequence[str]) -> tuple[list[str], list[str]]:
    """Create a file system by the functions' own code, and return the zones of its mount targets and of its own."""
    if storage["type"] == "ebs":
        return [], []
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": REGION}
    with mock_aws(), mock.patch.dict(os.environ, keys):
        for cached in (clients.session, clients.client, network.availability_zone):
            cached.cache_clear()
        ec2 = boto3.client("ec2")
        vpc = ec2.create_vpc(CidrBlock="10.83.0.0/16")["Vpc"]["VpcId"]
        zone_of = {}
        for at, zone in enumerate(zones):
            made = ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.83.{at}.0/24", AvailabilityZone=zone)
            zone_of[made["Subnet"]["SubnetId"]] = zone
        group = ec2.create_security_group(GroupName="files", Description="files", VpcId=vpc)["GroupId"]
        with mock.patch.dict(os.environ, SUBNET_IDS=",".join(zone_of), FILE_SYSTEM_SECURITY_GROUP_ID=group):
            module = efs if storage["type"] == "efs" else fsx_openzfs
            id_ = module.create("token", dict(storage), [], "run", "name", 0)
            if storage["type"] == "efs":
                efs.is_ready(id_, dict(storage))  # creates its mount targets
                targets = boto3.client("efs").describe_mount_targets(FileSystemId=id_)["MountTargets"]
                return sorted(target["AvailabilityZoneName"] for target in targets), []
            [file_system] = boto3.client("fsx").describe_file_systems(FileSystemIds=[id_])["FileSystems"]
            return [], [zone_of[subnet] for subnet in file_system["SubnetIds"]]


# --- the picture ------------------------------------------------------------------------------------------------------


def picture(there: Built) -> str:
    """Return a picture as SVG: the VPC with its zones at the left, resources outside of a VPC at the right."""
    kind = there.storage["type"]
    label = storage_label(dict(there.storage))
    rules = list(_rules(kind))
    bottom = TOP_PX + (310 if there.targets else 240)
    height = bottom + 58 + 16 * len(rules)
    right = LEFT_PX + 3 * (ZONE_PX + GAP_PX)
    parts = [
        tag("rect", width="100%", height="100%", class_="ground"),
        _text(16, 28, f"{sum(there.instances)} × {there.instance_type} on {label}", "title"),
        _box(20, 44, right - 20, bottom - 44, "vpc"),
        _text(34, 64, f"VPC {_of('VPC', 'Vpc')['CidrBlock']}", "strong"),
        _text(34, 82, _routes(), "small"),
        *(part for at, zone in enumerate(there.zones) for part in _zone(there, at, zone)),
        *_shared(there, bottom),
        *_outside(right),
        _text(20, bottom + 28, "Security groups", "strong"),
        *(_text(20, bottom + 48 + 16 * row, rule, "small") for row, rule in enumerate(rules)),
    ]
    arrow = tag("marker", tag("path", d="M0 0L8 4L0 8Z"), id="arrow", viewBox="0 0 8 8", refX="7", refY="4",
                markerWidth="8", markerHeight="8", orient="auto")  # fmt: skip
    title = tag("title", f"What is built on AWS: {label}")
    svg = tag("svg", title, tag("style", Markup(STYLE)), tag("defs", arrow), *parts,
              xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 960 {height}", width="960", height=str(height),
              role="img")  # fmt: skip
    return f"{svg.text}\n"


def _zone(there: Built, at: int, zone: str) -> Iterator[Markup]:
    left = LEFT_PX + at * (ZONE_PX + GAP_PX)
    subnet = _of("Subnet", SUBNETS[at])
    yield _box(left, TOP_PX - 8, ZONE_PX, 230, "zone")
    yield _text(left + 10, TOP_PX + 12, f"Zone {zone}", "strong")
    yield _text(left + 10, TOP_PX + 28, f"subnet {subnet['CidrBlock']}", "small")
    if count := there.instances[at]:
        yield from _named(left + 12, TOP_PX + 42, 182, "fleet", f"{count} × {there.instance_type}",
                          "FleetSecurityGroup")  # fmt: skip
    if there.volumes and there.instances[at]:
        yield _arrow(left + 103, TOP_PX + 92, left + 103, TOP_PX + 148)
        yield _text(left + 112, TOP_PX + 124, "NVMe", "small")
        of_zone = f"{there.instances[at] * there.volumes} volumes"
        yield from _named(left + 12, TOP_PX + 150, 182, "storage", of_zone, "made and deleted with them")
    if zone in there.targets:
        yield _arrow(left + 103, TOP_PX + 92, left + 103, TOP_PX + 148)
        yield _text(left + 112, TOP_PX + 124, "NFS 4.1", "small")
        yield from _named(left + 12, TOP_PX + 150, 182, "storage", "Mount target", "FileSystemSecurityGroup")


def _shared(there: Built, bottom: int) -> Iterator[Markup]:
    """Yield the file system in its place, and the lines to it."""
    label, _, words = storage_label(dict(there.storage)).partition(" (")
    if there.targets:
        places = [LEFT_PX + there.zones.index(zone) * (ZONE_PX + GAP_PX) for zone in there.targets]
        yield from _named(places[0], bottom - 66, places[-1] - places[0] + ZONE_PX, "storage", f"{label} file system",
                          words.removesuffix(")"))  # fmt: skip
        yield from (_arrow(left + 103, TOP_PX + 200, left + 103, bottom - 68) for left in places)
    for zone in there.homes:
        left = LEFT_PX + there.zones.index(zone) * (ZONE_PX + GAP_PX)
        yield from _named(left + 12, TOP_PX + 150, 182, "storage", label, "FileSystemSecurityGroup")
        for at, count in enumerate(there.instances):
            start = LEFT_PX + at * (ZONE_PX + GAP_PX) + 103
            if count:
                yield _arrow(start, TOP_PX + 92, left + 103 + min(60, start - left - 103), TOP_PX + 148)
        yield _text(left + 112, TOP_PX + 124, f"NFS {there.storage.get('nfsVersion', '')}".strip(), "small")


def _outside(right: int) -> Iterator[Markup]:
    """Yield resources outside of a VPC: buckets, behind the endpoint, and resources that only functions use."""
    resources = our_resources("own")
    kinds = [resource["Type"] for resource in resources.values()]
    # The endpoint of S3 Express One Zone is for a storage that none of the pictures shows.
    [endpoint] = [
        each
        for each in resources.values()
        if each["Type"] == "AWS::EC2::VPCEndpoint" and each["Properties"]["ServiceName"].endswith(".s3")
    ]
    service = endpoint["Properties"]["ServiceName"].rpartition(".")[2].upper()
    buckets = [name for name, each in resources.items() if each["Type"] == "AWS::S3::Bucket"]
    functions = [each for each in resources.values() if each["Type"] == "AWS::Lambda::Function"]
    # They are drawn outside.
    assert not any("VpcConfig" in each["Properties"] for each in functions)
    x = right + 46
    yield _arrow(right - 8, TOP_PX + 67, x - 2, TOP_PX + 67)
    yield _text(right - 2, TOP_PX + 30, f"{endpoint['Properties']['VpcEndpointType']} endpoint of {service}", "small")
    for row, name in enumerate(buckets):
        words = "jobs, gates, samples, report" if name == "ResultsBucket" else "data of s3 storages"
        yield from _named(x, TOP_PX + 42 + 62 * row, 204, "", f"S3: {name}", words)
    y = TOP_PX + 42 + 62 * len(buckets) + 4
    machines = kinds.count("AWS::StepFunctions::StateMachine")
    tables = [name for name, each in resources.items() if each["Type"] == "AWS::DynamoDB::Table"]
    yield from _named(x, y, 204, "", "Step Functions, Lambda", f"{machines} state machine, {len(functions)} functions")
    yield _arrow(x + 102, y + 48, x + 102, y + 62)
    yield from _named(x, y + 64, 204, "", f"DynamoDB: {', '.join(tables)}", "asked by functions only")


def _routes() -> str:
    resources = our_resources("own")
    is_public = all(_of("Subnet", name)["MapPublicIpOnLaunch"] for name in SUBNETS)
    has_nat = any(each["Type"] == "AWS::EC2::NatGateway" for each in resources.values())
    to = resources["DefaultRoute"]["Properties"]["DestinationCidrBlock"]
    return (f"{'public' if is_public else 'private'} subnets, {to} by an internet gateway, "
            f"{'a' if has_nat else 'no'} NAT gateway")  # fmt: skip


def _rules(kind: str) -> Iterator[str]:
    """Yield the allowed traffic into and out of each group that this storage needs."""
    resources = our_resources("own")
    groups = ["FleetSecurityGroup"] + (["FileSystemSecurityGroup"] if kind != "ebs" else [])
    for group in groups:
        own = resources[group]["Properties"].get("SecurityGroupEgress", [])
        ways = {
            way: [each["Properties"] for each in resources.values()
                  if each["Type"] == f"AWS::EC2::SecurityGroup{way}" and each["Properties"]["GroupId"] == _id_of(group)]
            for way in ("Ingress", "Egress")
        }  # fmt: skip
        # To an instance itself is nowhere.
        outwards = [rule for rule in own if rule["CidrIp"] != "127.0.0.1/32"] + ways["Egress"]
        yield f"{group}: in {_ports(ways['Ingress'])}; out {_ports(outwards)}"


def _id_of(group: str) -> str:
    ingress = our_resources("own")["NfsFromFleet"]["Properties"]
    return str(ingress["GroupId"] if group == "FileSystemSecurityGroup" else ingress["SourceSecurityGroupId"])


def _ports(rules: Sequence[Mapping[str, Any]]) -> str:
    ends = [dict.fromkeys([str(rule["FromPort"]), str(rule["ToPort"])]) for rule in rules]
    words = dict.fromkeys("-".join(ports) for ports in ends)
    return f"tcp {', '.join(words)}" if words else "nothing"


# --- marks ------------------------------------------------------------------------------------------------------------


def _box(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    return tag("rect", x=f"{x:g}", y=f"{y:g}", width=f"{width:g}", height=f"{height:g}", rx="8", class_=class_ or None)


def _text(x: float, y: float, words: str, class_: str = "") -> Markup:
    return tag("text", words, x=f"{x:g}", y=f"{y:g}", class_=class_ or None)


def _named(x: float, y: float, width: float, class_: str, name: str, words: str) -> Iterator[Markup]:
    yield _box(x, y, width, 48, class_)
    yield _text(x + 10, y + 20, name, "strong")
    yield _text(x + 10, y + 38, words, "small")


def _arrow(x0: float, y0: float, x1: float, y1: float) -> Markup:
    return tag("path", d=f"M{x0:g} {y0:g}L{x1:g} {y1:g}")


if __name__ == "__main__":
    for kind, there in built().items():
        PAGES[kind].write_text(picture(there), encoding="utf-8")
