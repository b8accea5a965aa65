"""A cloud for the agent on this machine: a real S3 and STS server (moto), a metadata service, agents as processes."""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from agent.job import Job
from agent.job_check import parse
from agent.unpack import unpack
from agent_client import carry
from aws.records import agent_package

ROOT = Path(__file__).parents[2]
# The Python of the agents; `make test-old` names Debian 11's, which has no packages but the agent's own.
PYTHON_VARIABLE = "STORAGE_MATRIX_AGENT_PYTHON"
PYTHON = os.environ.get(PYTHON_VARIABLE) or sys.executable
# The name by which a command on an instance calls its Python.
COMMAND_PYTHON = sys.executable if sys.executable == PYTHON else "python3"
REGION = "eu-west-1"
BUCKET = "storage-matrix-agent-tests"
RUN, CELL = "run-1", "ebs-gp3.touch.m6i.4xlarge-x1"
PREFIX = f"runs/{RUN}/cells/{CELL}"
TOKEN = "a-session-token"
PAUSE_S = 0.02
# The rule of the start barrier here, and the secret name of its launch.
BARRIER = {"poll_s": 0.05, "margin_s": 0.3, "request_s": 5, "timeout_s": 30}
NONCE = "0123456789abcdef" * 2


@functools.cache
def delivered() -> Path:
    """The folder of an unpacked zip: exactly the modules that an agent and its engines import on an instance."""
    content = agent_package.build(ROOT / "agent", carry.MADE)
    archive = ROOT / ".local" / f"agent-{hashlib.sha256(content).hexdigest()[:16]}.pyz"
    partial = archive.with_suffix(f".{os.getpid()}")
    partial.write_bytes(content)
    partial.rename(archive)
    return unpack(archive)


class MetadataService(ThreadingHTTPServer):
    """The service at 169.254.169.254 for an instance, below its own path as in the local cloud."""

    def __init__(self, instance_id: str, role: dict[str, str] | None) -> None:
        super().__init__(("127.0.0.1", 0), MetadataHandler)
        self.instance_id = instance_id
        self.role = role
        self.requests_seen: list[str] = []
        self.status: int | None = None  # the response of a broken service to all requests
        threading.Thread(target=self.serve_forever, args=(PAUSE_S,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}/{self.instance_id}/"

    def answer(self, path: str) -> str | None:
        entries = {
            "instance-id": self.instance_id,
            "instance-type": "m6i.4xlarge",
            "ami-id": "ami-0123456789abcdef0",
            "placement/availability-zone": f"{REGION}a",
            "placement/region": REGION,
        }
        if self.role is not None:
            entries["iam/security-credentials/"] = "fleet-role"
            entries["iam/security-credentials/fleet-role"] = json.dumps(self.role)
        root = f"/{self.instance_id}/latest/meta-data/"
        return entries.get(path.removeprefix(root)) if path.startswith(root) else None


class MetadataHandler(BaseHTTPRequestHandler):
    """IMDSv2: without the token there is no answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: MetadataService

    def do_PUT(self) -> None:
        is_token = self.path == f"/{self.server.instance_id}/latest/api/token"
        has_lifetime = int(self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", 0)) > 0
        self._say(200 if is_token and has_lifetime else 400, TOKEN)

    def do_GET(self) -> None:
        has_token = self.headers.get("X-aws-ec2-metadata-token") == TOKEN
        self.server.requests_seen.append(f"{'v2' if has_token else 'v1'} {self.path}")
        body = self.server.answer(self.path)
        if not has_token:
            self._say(401, "")
        else:
            self._say(200 if body is not None else 404, body or "")

    def _say(self, status: int, text: str) -> None:
        self.send_response(self.server.status or status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        pass


class Cloud:
    """S3 and STS, and the objects in the cell's folder."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        keys = {"region_name": REGION, "aws_access_key_id": "test", "aws_secret_access_key": "test"}
        self.s3 = boto3.client("s3", endpoint_url=endpoint, **keys)
        self.sts = boto3.client("sts", endpoint_url=endpoint, **keys)

    def empty(self) -> None:
        try:
            self.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        except ClientError:
            for entry in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", []):
                self.s3.delete_object(Bucket=BUCKET, Key=entry["Key"])

    def put(self, name: str, document: dict[str, Any]) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=f"{PREFIX}/{name}", Body=json.dumps(document).encode())

    def meet(self, instances: Iterable[str]) -> None:
        """Write the roster of instances, as Launch fleet does."""
        self.put(f"meet/{NONCE}/roster.json", {"instances": list(instances)})

    def names(self) -> list[str]:
        entries = self.s3.list_objects_v2(Bucket=BUCKET, Prefix=PREFIX).get("Contents", [])
        return [entry["Key"].removeprefix(f"{PREFIX}/") for entry in entries]

    def read(self, name: str) -> bytes:
        body = self.s3.get_object(Bucket=BUCKET, Key=f"{PREFIX}/{name}")["Body"].read()
        return gzip.decompress(body) if name.endswith(".gz") else body

    def wait_for(self, is_there: Callable[[list[str]], bool], timeout_s: float = 20) -> None:
        give_up_at = time.monotonic() + timeout_s
        while not is_there(self.names()):
            assert time.monotonic() < give_up_at, f"not there within {timeout_s} s: {self.names()}"
            time.sleep(PAUSE_S)


class Instance:
    """One agent process, with its own metadata service."""

    def __init__(self, cloud: Cloud, instance_id: str, home: Path) -> None:
        self.cloud, self.id = cloud, instance_id
        granted = cloud.sts.assume_role(
            RoleArn="arn:aws:iam::123456789012:role/fleet-role", RoleSessionName=instance_id
        )
        keys = granted["Credentials"]
        self.metadata = MetadataService(
            instance_id,
            {
                "AccessKeyId": keys["AccessKeyId"],
                "SecretAccessKey": keys["SecretAccessKey"],
                "Token": keys["SessionToken"],
                "Expiration": keys["Expiration"].strftime("%Y-%m-%dT%H:%M:%SZ"),
            },
        )
        # Packages of moto and sam that no instance has, and that take half of boto3's import time.
        for extra in ("awscrt", "OpenSSL"):
            (home / f"{extra}.py").write_text("raise ImportError('an instance does not have it')\n")
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": f"{ROOT}:{ROOT}/functions:{home}" if sys.executable == PYTHON else str(delivered()),
            "AWS_ENDPOINT_URL": cloud.endpoint,
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": self.metadata.url,
        }
        self.process: subprocess.Popen[str] | None = None

    @property
    def userid(self) -> str:
        """The agent's folder. moto draws a new role id at every call, so the folder is found by the instance id."""
        names = {key.split("/")[1] for key in self.cloud.names() if key.startswith("instances/")}
        return next((name for name in names if name.endswith(f":{self.id}")), "nobody")

    def start(self, python: str = PYTHON, **env: str) -> subprocess.Popen[str]:
        self.process = subprocess.Popen(
            [python, "-m", "agent", f"s3://{BUCKET}/{PREFIX}/job.json", NONCE],
            env={**self.env, **env},
            cwd=self.env["HOME"],
            stderr=subprocess.PIPE,
            text=True,
        )
        return self.process

    def run(self, python: str = PYTHON, **env: str) -> int:
        process = self.start(python, **env)
        _, said = process.communicate(timeout=50)
        if process.returncode:
            sys.stderr.write(said)
        return process.returncode

    def has(self, name: str) -> bool:
        return f"instances/{self.userid}/{name}" in self.cloud.names()

    def document(self, name: str) -> dict[str, Any]:
        return json.loads(self.cloud.read(f"instances/{self.userid}/{name}"))

    def log(self) -> str:
        return self.cloud.read(f"instances/{self.userid}/log.gz").decode()

    def samples(self) -> list[dict[str, Any]]:
        return self.document("samples.json")["samples"]

    def raw(self, sample: dict[str, Any], kind: str) -> dict[str, Any]:
        """Return what is kept of a sample in its file of this kind, as `fio.json`; empty if it has none."""
        names = [name for name in sample["raw"] if kind in name]
        return self.document(names[0]) if names else {}

    def histograms(self, sample: dict[str, Any]) -> dict[str, Any]:
        """Return the latencies that were uploaded for a sample."""
        return self.raw(sample, "histograms.json").get("histograms", {})

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.metadata.shutdown()
        self.metadata.server_close()


def touch_params(**changes: Any) -> dict[str, Any]:
    return {"files": 64, "threads": 4, "directories": "own", "tool": "engine", "sync": "none", **changes}


def dd_params(**changes: Any) -> dict[str, Any]:
    whole = {
        "data_bytes": 8 << 20,
        "block_bytes": 1 << 20,
        "sync": "end",
        "threads": 2,
        "tool": "dd",
        "source": "zero",
    }
    return {**whole, **changes}


def parsed(job: dict[str, Any], instance: str = "i-1") -> Job:
    """Return a job as an agent reads it."""
    return parse(json.dumps(job).encode(), instance)


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed (apt-get install {tool})")
