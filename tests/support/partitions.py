"""Regions of the usual partition, of China and GovCloud, by botocore's data, with the domain of their names."""

import json
from pathlib import Path

import botocore

_DATA = Path(botocore.__file__).parent / "data" / "partitions.json"


def regions() -> dict[str, str]:
    """The partition of each region that botocore knows."""
    return {
        region: partition["id"]
        for partition in json.loads(_DATA.read_text())["partitions"]
        for region in partition["regions"]
        if not region.startswith("aws-")  # aws-cn-global is not a region
    }


def domains() -> dict[str, str]:
    """The domain of AWS's names by region."""
    partitions = json.loads(_DATA.read_text())["partitions"]
    return {
        region: partition["outputs"]["dnsSuffix"]
        for partition in partitions
        if partition["id"] in ("aws", "aws-cn", "aws-us-gov")
        for region in partition["regions"]
        if not region.startswith("aws-")  # aws-cn-global is not a region
    }
