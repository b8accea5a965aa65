"""What an instance is told: its job on the blackboard, and the user data that gets it there."""

import math
import shlex
from typing import Literal, Protocol

from typing_extensions import TypedDict, Unpack

from matrix.run import gates
from matrix.terms.documents.job import JobCell, JobDocument, Mount
from matrix.terms.documents.parts import Provisions
from matrix.terms.documents.plan import PlanCell
from matrix.terms.keys import Board

# Each is a PUT. Locally it costs nothing, and people look on; emulated machines take long for one.
HEARTBEAT_S, LOCAL_HEARTBEAT_S = 30, 5
# EC2 refuses more than 16 KiB of raw user data.
USER_DATA_MAX_BYTES = 16 * 1024

_USER_DATA = """\
#!/bin/bash
# Storage Matrix: run one job, then end this instance.
AGENT_URI={agent_uri}
JOB_URI={job_uri}
MEETING={meeting}
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
    # A fleet asks a mirror all at once; dnf asks 10 times by itself.
    export DEBIAN_FRONTEND=noninteractive
    apt-get -o Acquire::Retries=5 update &&
      apt-get -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 install -y python3-boto3
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
python3 agent.pyz "$JOB_URI" "$MEETING"
"""


def user_data(*, bucket: str, agent_key: str, job_key: str, region: str, lifetime_s: float, meeting: str = "") -> str:
    """Return the script that an instance runs at its first boot.

    `meeting` is the nonce below which the instances of this launch meet: other fleets do not learn it. It keeps them
    apart and is no secret from those who may read the account's user data; whatever else may be read is up to the role.

    `lifetime_s` is how long the instance may live at the most; the operating system's own shutdown ends it then.
    """
    text = _USER_DATA.format(
        agent_uri=shlex.quote(f"s3://{bucket}/{agent_key}"),
        job_uri=shlex.quote(f"s3://{bucket}/{job_key}"),
        meeting=shlex.quote(meeting),
        watchdog_minutes=math.ceil(lifetime_s / 60),
        region=shlex.quote(region),
    )
    if len(text.encode()) > USER_DATA_MAX_BYTES:
        raise ValueError(f"user data has {len(text.encode())} bytes, EC2 takes {USER_DATA_MAX_BYTES}")
    return text


class JobSetting(TypedDict):
    """What every job is made from: where it runs and uploads to, and since when (epoch seconds)."""

    run: str
    mount: Mount
    bucket: str
    environment: str
    now: float


class JobMaker(Protocol):
    """What makes the job of a launch from its setting."""

    def __call__(self, **setting: Unpack[JobSetting]) -> JobDocument:
        """Return the job."""
        ...


def measuring_job(*, cell: PlanCell, gate_margin_s: float, **setting: Unpack[JobSetting]) -> JobDocument:
    """Return the job of a cell's fleet: every instance runs the same steps."""
    count = cell["fleet"]["count"]
    job = _job("measure", cell, Board.of_cell(setting["run"], cell["id"]), **setting)
    if count > 1:
        # A single instance waits for nobody; instances of a fleet wait as long as the slowest may take.
        job["barrier"] = gates.rule(count, gate_margin_s, cell["deadline_s"])
    job["instances"] = count
    job["points"] = cell["points"]
    job["steps"] = cell["steps"]
    return job


def populating_job(*, cell: PlanCell, **setting: Unpack[JobSetting]) -> JobDocument:
    """Return the job of the one instance that fills the cache which the workload of `cell` reads."""
    job = _job("populate", cell, Board.of_cache(setting["run"], cell["file_system"]), **setting)
    job["points"] = cell["points"][:1]
    return job


def baking_job(*, cell: JobCell, recipe: Provisions, **setting: Unpack[JobSetting]) -> JobDocument:
    """Return the job of the one instance from which a machine image is made: install what the recipe says."""
    job = _job("bake", cell, Board.of_image(setting["run"], cell["id"]), **setting)
    job["provisions"] = recipe
    return job


def serving_job(*, cell: JobCell, **setting: Unpack[JobSetting]) -> JobDocument:
    """Return the job of the instance that serves its storage to the fleets of a file system."""
    return _job("serve", cell, Board.of_server(setting["run"], cell["file_system"]), **setting)


def _job(
    kind: Literal["measure", "populate", "serve", "bake"], cell: JobCell, board: Board, **setting: Unpack[JobSetting]
) -> JobDocument:
    """Return the job of an instance that works by itself and measures nothing."""
    job: JobDocument = {
        "schema": 1,
        "kind": kind,
        "run": setting["run"],
        "cell": cell["id"],
        "environment": setting["environment"],
        "bucket": setting["bucket"],
        "prefix": board.prefix,
        "deadline_at": setting["now"] + cell["deadline_s"],
        "heartbeat_s": LOCAL_HEARTBEAT_S if setting["environment"] == "local" else HEARTBEAT_S,
        "ready_within_s": cell["ready_within_s"],
        "storage": cell["storage"],
        "mount": setting["mount"],
        "workload": cell["workload"],
        "instances": 1,
        "barrier": None,
        "points": [],
        "steps": [],
        "provisions": {},
    }
    if "emulation" in cell:
        job["emulation"] = cell["emulation"]
    return job
