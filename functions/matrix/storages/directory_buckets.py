"""Zones that offer directory buckets, and the names of these buckets."""

from collections.abc import Mapping

from matrix.storages.base import Limit, ServiceLimits

# S3 user guide, "S3 Express One Zone Availability Zones and Regions", read in November 2026.
ZONES: Mapping[str, tuple[str, ...]] = {
    "us-east-1": ("use1-az4", "use1-az5", "use1-az6"),
    "us-east-2": ("use2-az1", "use2-az2"),
    "us-west-2": ("usw2-az1", "usw2-az3", "usw2-az4"),
    "ap-south-1": ("aps1-az1", "aps1-az3"),
    "ap-northeast-1": ("apne1-az1", "apne1-az4"),
    "eu-west-1": ("euw1-az1", "euw1-az3"),
    "eu-north-1": ("eun1-az1", "eun1-az2", "eun1-az3"),
}
# The end of names of directory buckets; no other bucket's name ends so (S3 user guide, directory bucket naming rules).
ENDING = "--x-s3"
GATEWAY_SERVICE = "s3express"
# The service of general purpose buckets.
OBJECT_SERVICE = "s3"
# Seconds of a write and a read in a directory bucket: AWS says "single-digit milliseconds", so this is the middle.
REQUEST_S = 0.005
# By default (S3 user guide, performance).
OF_A_DIRECTORY_BUCKET = ServiceLimits(Limit(requests_per_s=200_000), Limit(requests_per_s=100_000))


def is_directory_bucket(name: str) -> bool:
    return name.endswith(ENDING)


def zone_of(name: str) -> str:
    """Return the id of the Availability Zone of a directory bucket: `use1-az4` of `tables--use1-az4--x-s3`."""
    return name.removesuffix(ENDING).rpartition("--")[2]
