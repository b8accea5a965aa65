"""The deployment of Storage Matrix: the local cloud on this machine, or a CloudFormation stack on AWS.

Only this module builds boto3 clients; for the local cloud only their endpoint differs.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal
from urllib.parse import urlsplit

from cli.messages.errors import NoAws, NoDeployment, NoLocalCloud
from cli.target.workdir import cloud_file
from contract import retryable
from local.programs.liveness import is_alive

DEFAULT_STACK = "storage-matrix"
OUTPUTS = ("StateMachineArn", "BucketName", "TableName", "ReapFunctionName", "FunctionLogGroupName")

# A network may recover. The local cloud does not, and a command must report that within 5 s: a retry waits up to 1 s.
ATTEMPTS = {"aws": 5, "local": 2}
# How a client sends a request. "once" is never sent again: an invocation whose response is late would start the
# function twice. A function may run for 15 minutes; its response gets one more.
Manner = Literal["retried", "once"]
TIMEOUTS: dict[Manner, dict[str, Any]] = {
    "retried": {},
    "once": {"read_timeout": 960},
}
# User settings that botocore reads, by their names in its configuration, the environment and defaults: here none.
WITHOUT_PROFILE = {
    "profile": (None, None, None, None),
    "config_file": (None, None, os.devnull, None),
    "credentials_file": (None, None, os.devnull, None),
}


@dataclass(frozen=True)
class Deployment:
    """One deployed stack and how to reach it."""

    environment: Literal["local", "aws"]
    stack: str
    region: str | None
    endpoint: str | None
    outputs: dict[str, str] = field(default_factory=dict)
    # The key of the local cloud. None on AWS: boto3 then uses AWS's usual places for credentials.
    access_key: str | None = None
    secret_key: str | None = field(default=None, repr=False)
    # The process of the local cloud: its id and its start time.
    process: tuple[int, int] | None = None
    # A local cloud that this command has started.
    ends_with_command: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether this was a local cloud that has ended."""
        return self.process is not None and not is_alive(*self.process)

    @property
    def flag(self) -> str:
        """The option that chooses this deployment, for commands that messages suggest."""
        if self.environment == "local":
            return "--local"
        region = f" --region {self.region}" if self.region else ""
        return f"--stack {self.stack}{region}"

    def client(self, service: str, *, manner: Manner = "retried") -> Any:
        """Return a boto3 client of this deployment."""
        with _MAKING:
            session = session_of(self.environment, self.access_key, self.secret_key)
            return client_of(session, service, self.region, self.endpoint, self.environment, manner)

    def objects(self, prefix: str) -> Iterator[dict[str, Any]]:
        """Yield what S3 lists of each object of the results bucket below a prefix."""
        pages = self.client("s3").get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self.outputs["BucketName"], Prefix=prefix):
            yield from page.get("Contents", [])


# Threads may use one client, but must not make clients of one session at the same time.
_MAKING = Lock()


@cache
def session_of(environment: str, access_key: str | None, secret_key: str | None) -> Any:
    """Return the session of a deployment's key, kept because each one reads the models of AWS anew: 0.3 s for EC2."""
    # boto3 takes half a second to import, so `matrix --help` and `matrix plan` must not import it.
    import boto3
    import botocore.session

    # The user's settings for AWS do not apply to the local cloud, and its own key keeps the user's from it.
    core = botocore.session.Session(WITHOUT_PROFILE) if environment == "local" else None
    return boto3.Session(aws_access_key_id=access_key, aws_secret_access_key=secret_key, botocore_session=core)


@cache
def client_of(
    session: Any, service: str, region: str | None, endpoint: str | None, environment: str, manner: Manner
) -> Any:
    """Return a client, kept like its session."""
    from botocore.config import Config

    # IAM throttles its simulator, which `matrix verify` asks some 330 times; this mode slows down to its rate.
    attempts = 1 if manner == "once" else ATTEMPTS[environment]
    config = Config(
        retries={"mode": "adaptive" if service == "iam" else "standard", "total_max_attempts": attempts},
        **TIMEOUTS[manner],
    )
    if environment == "local":
        # No request to this machine may use a proxy.
        config = config.merge(Config(proxies={}, use_fips_endpoint=False, use_dualstack_endpoint=False))
    client = session.client(service, region_name=region, endpoint_url=endpoint, config=config)
    # The local cloud answers at once or has ended, and the command reports that at once.
    return retryable.log_retries(client, _asked_again, _answered) if environment == "aws" else client


def _asked_again(call: str, reason: str) -> None:
    print(f"{call} is asked again: {reason}", file=sys.stderr)


def _answered(call: str, attempts: int) -> None:
    print(f"{call} is answered at attempt {attempts}", file=sys.stderr)


def prepare_clients() -> None:
    """Import boto3 and load the data of the clients that follow a local run; sends no request."""
    from local.programs import service_models

    service_models.read_quickly()
    nowhere = Deployment("local", "", "us-east-1", "http://127.0.0.1", access_key="none", secret_key="none")  # noqa: S106
    for service in ("stepfunctions", "dynamodb"):
        nowhere.client(service)


def running_local_cloud() -> Deployment:
    """Return the local cloud whose address is in `.local/cloud.json`."""
    cloud = _read_cloud_file()
    if cloud is None:
        raise NoLocalCloud(
            f"no local cloud is running ({cloud_file()} is not there, or its process has ended)",
            "start one in another terminal: `matrix local up`; `matrix run FILE --local` starts its own",
        )
    return from_cloud_document(cloud)


def is_local_cloud_running() -> bool:
    return _read_cloud_file() is not None


def from_cloud_document(cloud: dict[str, Any]) -> Deployment:
    """Read the document that the local cloud prints when it is ready."""
    return Deployment(
        "local",
        cloud.get("stack", DEFAULT_STACK),
        cloud["region"],
        cloud["endpoint"],
        cloud.get("outputs", {}),
        cloud["access_key"],
        cloud["secret_key"],
        (cloud["pid"], cloud["started_ticks"]),
    )


def _read_cloud_file() -> dict[str, Any] | None:
    """Return the description of a running cloud of this user; None for any other, which may send runs elsewhere."""
    try:
        text = cloud_file().read_text() if _is_private(cloud_file()) else "{}"
        cloud: dict[str, Any] = json.loads(text)
        is_whole = cloud.keys() >= {"pid", "started_ticks", "region", "endpoint", "access_key", "secret_key"}
        is_here = is_whole and urlsplit(cloud["endpoint"]).hostname in ("127.0.0.1", "localhost")
    except (FileNotFoundError, ValueError, AttributeError):
        return None
    return cloud if is_here and is_alive(cloud["pid"], cloud["started_ticks"]) and _is_own(cloud["pid"]) else None


def _is_private(path: Path) -> bool:
    """Whether a file is of this user, no link, and not writable for others, who could replace it in its folder."""
    file, folder = path.lstat(), path.parent.stat()
    return (
        stat.S_ISREG(file.st_mode)
        and all(each.st_uid == os.getuid() for each in (file, folder))
        and not file.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        and not folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def _is_own(pid: int) -> bool:
    """Whether a process is of this user. Not process 1: it always runs, and anybody can guess when it started."""
    try:
        return pid > 1 and Path(f"/proc/{pid}").stat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


def chosen_region(region: str | None) -> str | None:
    """Return the region that option, environment or AWS profile choose; None if none does. Does not call AWS."""
    import boto3

    # boto3 reads only AWS_DEFAULT_REGION and profiles, but the other AWS tools read AWS_REGION too.
    return region or os.environ.get("AWS_REGION") or boto3.Session().region_name


def refuse_without_aws(region: str | None, otherwise: str = "") -> None:
    """Raise CommandError with all that AWS needs and that is not set up here; `otherwise` is what works without."""
    import boto3

    lacking = {}
    if not chosen_region(region):
        lacking["no region"] = "add --region REGION, or `aws configure set region REGION`"
    if boto3.Session().get_credentials() is None:
        lacking["no credentials"] = "`aws configure` (keys) or `aws sso login`; check by `aws sts get-caller-identity`"
    if lacking:
        fixes = [fix if len(lacking) == 1 else f"{i}. {fix}" for i, fix in enumerate(lacking.values(), start=1)]
        advice = "; ".join(filter(None, [*fixes, otherwise]))
        raise NoAws(f"AWS is not set up here: {', '.join(lacking)}", advice)


def deployed_stack(stack: str, region: str | None) -> Deployment:
    """Return the stack as CloudFormation describes it."""
    from botocore.exceptions import ClientError

    refuse_without_aws(region, "or without an account: --local")
    unread = Deployment("aws", stack, chosen_region(region), endpoint=None)
    client = unread.client("cloudformation")
    try:
        described = client.describe_stacks(StackName=stack)["Stacks"][0]
    except ClientError as error:
        if "does not exist" not in str(error):
            raise
        raise NoDeployment(
            f"there is no stack {stack} in {client.meta.region_name}",
            "deploy it first: `sam build && sam deploy --guided`; or choose --stack NAME and --region REGION; "
            "or try without AWS: --local",
        ) from error
    outputs = {output["OutputKey"]: output["OutputValue"] for output in described.get("Outputs", [])}
    _require_outputs(stack, described["StackStatus"], outputs)
    return Deployment("aws", stack, client.meta.region_name, endpoint=None, outputs=outputs)


def _require_outputs(stack: str, status: str, outputs: dict[str, str]) -> None:
    missing = [name for name in OUTPUTS if name not in outputs]
    if missing:
        from cli.messages.aws_errors import cause_of

        cause, advice = cause_of("", status) or (
            "not Storage Matrix, or not deployed yet",
            "deploy it: `sam build && sam deploy --guided`, or choose another --stack",
        )
        advice = advice.replace("STACK", stack)
        raise NoDeployment(f"the stack {stack} ({status}) has no output {', '.join(missing)}: {cause}", advice)
