"""Matrices for tests: the smallest valid one, and changes to it."""

import json
from pathlib import Path
from typing import Any

from matrix.check.read import CheckedMatrix, read_matrix
from matrix.terms.problems import InvalidMatrix

# The shipped matrices.
EVENTS = sorted((Path(__file__).parents[2] / "events").rglob("*.json"))
EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 200}
EFS = {"type": "efs"}
FSX = {"type": "fsx-openzfs", "storageCapacityGiB": 1024, "throughputCapacityMBps": 4096, "iops": 20000}
FILE_SERVER = {"type": "file-server", "instanceType": "m6i.xlarge"}
INSTANCE_STORE = {"type": "instance-store"}
TOUCH = {"type": "touch", "files": 1024, "threads": [1, 4]}
METADATA = {"type": "metadata", "files": 1024, "threads": [1, 4]}
DD = {"type": "dd", "dataSize": "64MiB"}
FIO = {"type": "fio", "rw": "randwrite", "bs": ["4k", "8k"], "size": "1G", "time_based": 1, "runtime": 10}
READ = {"type": "read", "requestSize": "64KiB", "requests": 128}
BUILD = {"type": "build", "build": "make"}
COMMAND = {"type": "command", "name": "bench", "command": "pgbench bench"}
TPS = {"unit": "tx/s", "better": "higher", "pattern": "^tps = ([0-9.]+)"}
OBJECTS = {"type": "objects", "requests": 1000, "threads": 4}
S3_FILES = {"type": "s3-files"}
S3 = {"type": "s3"}
TRANSFER = {"type": "transfer", "tool": ["cp", "cp+parallel"]}
YOCTO = {"type": "yocto", "image": "core-image-sato-sdk"}
FLEET = {"instanceType": "m6i.large", "count": 1}


def event_id(path: Path) -> str:
    """A shipped matrix as the id of a test: those of one name are in different folders."""
    return f"{path.parent.name}-{path.stem}"


def document(**changes: Any) -> dict[str, Any]:
    """The smallest valid matrix, as a document, with some keys replaced."""
    return {"name": "test", "storage": [EBS], "workload": [TOUCH], "fleet": [FLEET]} | changes


def matrix(**changes: Any) -> CheckedMatrix:
    """The smallest valid matrix, read, with some keys replaced."""
    return read_matrix(json.dumps(document(**changes)))


def problems_of(**changes: Any) -> dict[str, Any]:
    """The problems of a matrix by their paths; none if it is valid."""
    return problems_of_text(json.dumps(document(**changes)))


def problems_of_text(text: str | bytes) -> dict[str, Any]:
    """The problems of a text by their paths; none if it is a valid matrix."""
    try:
        read_matrix(text)
    except InvalidMatrix as error:
        return {problem.path: problem for problem in error.problems}
    return {}
