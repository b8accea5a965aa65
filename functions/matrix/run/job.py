"""What an instance is told: its job on the blackboard, and the user data that gets it there."""

import math
import shlex
from typing import Any

from matrix.terms.keys import Board

# The Step Functions poll opens a gate; agents look at it this often, and the start lies far enough ahead of the
# opening for each of them to have seen it: one look, one S3 request, and some milliseconds of clock difference.
GATE_LOOKS_PER_MARGIN = 5
HEARTBEAT_S = 30
# EC2 refuses more than 16 KiB of raw user data.
USER_DATA_MAX_BYTES = 16 * 1024

_USER_DATA = """\
#!/bin/bash
# Storage Matrix: run one job, then end this instance.
AGENT_URI={agent_uri}
JOB_URI={job_uri}
WATCHDOG_MINUTES={watchdog_minutes}
export AWS_DEFAULT_REGION={region} HOME=/root  # cloud-init gives scripts no HOME

# Armed first: whatever hangs below, the instance ends. Its shutdown behaviour is terminate.
shutdown -h +"$WATCHDOG_MINUTES"
trap 'shutdown -h now' EXIT

# Ubuntu updates itself and its snaps after each boot: that would hold the packages' lock, and disturb what is measured.
if command -v apt-get >/dev/null; then
  systemctl disable --now apt-daily.timer apt-daily-upgrade.timer unattended-upgrades.service
  systemctl stop apt-daily.service apt-daily-upgrade.service snapd.socket snapd.service
fi 2>/dev/null
# Amazon Linux 2023 and Ubuntu both carry boto3 as a package, neither has it installed; a baked image has.
if ! python3 -c 'import boto3' 2>/dev/null; then
  if command -v dnf >/dev/null; then dnf install -y python3-boto3; else
    export DEBIAN_FRONTEND=noninteractive
    apt-get update && apt-get -o DPkg::Lock::Timeout=300 install -y python3-boto3
  fi
fi
install -d -m 700 /opt/storage-matrix
cd /opt/storage-matrix || exit 1
python3 - "$AGENT_URI" agent.pyz <<'END' || exit 1
import sys, boto3
bucket, key = sys.argv[1].removeprefix("s3://").split("/", 1)
boto3.client("s3").download_file(bucket, key, sys.argv[2])
END
echo "${{AGENT_URI##*/}}" | sed 's/\\.pyz$/  agent.pyz/' | sha256sum --check || exit 1
python3 agent.pyz "$JOB_URI"
"""


def user_data(*, bucket: str, agent_key: str, job_key: str, region: str, lifetime_s: float) -> str:
    """Return the script that an instance runs at its first boot. It holds no secret: who may read is up to the role.

    `lifetime_s` is how long the instance may live at the most; the operating system's own shutdown ends it then.
    """
    text = _USER_DATA.format(
        agent_uri=shlex.quote(f"s3://{bucket}/{agent_key}"),
        job_uri=shlex.quote(f"s3://{bucket}/{job_key}"),
        watchdog_minutes=math.ceil(lifetime_s / 60),
        region=shlex.quote(region),
    )
    if len(text.encode()) > USER_DATA_MAX_BYTES:
        raise ValueError(f"user data has {len(text.encode())} bytes, EC2 takes {USER_DATA_MAX_BYTES}")
    return text


def measuring_job(
    *, run: str, cell: dict[str, Any], mount: dict[str, Any], bucket: str, environment: str, now: float,
    gate_margin_s: float,
) -> dict[str, Any]:  # fmt: skip
    """Return the job of a cell's fleet: every instance runs the same steps. `now` and all times are epoch seconds."""
    count = cell["fleet"]["count"]
    return _job(
        run=run,
        cell=cell,
        mount=mount,
        bucket=bucket,
        environment=environment,
        now=now,
        prefix=Board.of_cell(run, cell["id"]).prefix,
    ) | {
        "kind": "measure",
        "instances": count,
        # An instance alone waits for nobody. The others wait as long as the slowest of them may take.
        "barrier": {"poll_s": gate_margin_s / GATE_LOOKS_PER_MARGIN, "timeout_s": cell["deadline_s"]}
        if count > 1
        else None,
        "points": cell["points"],
        "steps": cell["steps"],
    }


# An instance that works by itself, of which nothing is measured.
ALONE: dict[str, Any] = {"instances": 1, "barrier": None, "points": [], "steps": []}


def populating_job(*, run: str, file_system: str, cell: dict[str, Any], **common: Any) -> dict[str, Any]:
    """Return the job of the one instance that fills the cache which the workload of `cell` reads.

    `common`, here and below, is what every job is made from: mount, bucket, environment, now.
    """
    job = _job(run=run, cell=cell, prefix=Board.of_cache(run, file_system).prefix, **common)
    return job | ALONE | {"kind": "populate", "points": cell["points"][:1]}


def baking_job(*, run: str, cell: dict[str, Any], recipe: dict[str, Any], **common: Any) -> dict[str, Any]:
    """Return the job of the one instance from which a machine image is made: install what the recipe says."""
    job = _job(run=run, cell=cell, prefix=Board.of_image(run, cell["id"]).prefix, **common)
    return job | ALONE | {"kind": "bake", "provisions": recipe}


def serving_job(*, run: str, file_system: str, cell: dict[str, Any], **common: Any) -> dict[str, Any]:
    """Return the job of the instance that serves its storage to the fleets of a file system."""
    job = _job(run=run, cell=cell, prefix=Board.of_server(run, file_system).prefix, **common)
    return job | ALONE | {"kind": "serve", "provisions": {}}


def _job(
    *, run: str, cell: dict[str, Any], mount: dict[str, Any], bucket: str, environment: str, now: float, prefix: str
) -> dict[str, Any]:
    return {
        "schema": 1,
        "run": run,
        "cell": cell["id"],
        "environment": environment,
        "bucket": bucket,
        "prefix": prefix,
        "deadline_at": now + cell["deadline_s"],
        "heartbeat_s": HEARTBEAT_S,
        "ready_within_s": cell["ready_within_s"],
        "storage": cell["storage"],
        "mount": mount,
        "workload": cell["workload"],
        **({"emulation": cell["emulation"]} if cell.get("emulation") else {}),
    }
