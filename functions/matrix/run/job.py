"""The job of an instance on the blackboard, and the user data that starts its agent."""

import math
import shlex
from typing import Literal, Protocol

from typing_extensions import TypedDict, Unpack

from matrix.input.pace import HEARTBEAT_S
from matrix.run import gates
from matrix.terms.documents.job import JobCell, JobDocument, Mount
from matrix.terms.documents.parts import Provisions
from matrix.terms.documents.plan import PlanCell
from matrix.terms.keys import Board

# EC2 refuses more than 16 KiB of raw user data.
USER_DATA_MAX_BYTES = 16 * 1024

_USER_DATA = """\
#!/bin/bash
# Storage Matrix: run one job, then end this instance.
AGENT_URI={agent_uri}
JOB_URI={job_uri}
NONCE={nonce}
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
install -d -m 700 /opt/storage-matrix
cd /opt/storage-matrix || exit 1
python3 - "$AGENT_URI" agent.pyz <<'END' || exit 1
{fetch}END
echo "${{AGENT_URI##*/}}" | sed 's/\\.pyz$/  agent.pyz/' | sha256sum --check || exit 1
python3 agent.pyz "$JOB_URI" "$NONCE"
"""

# Gets one object by the role's keys with nothing but Python 3.9. The request is signed here (Signature Version 4): no
# client that all images have knows the role, and a presigned address would end with the session that signed it, and be
# readable in the user data. `services/domain` is amazonaws.com or that of another partition.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-metadata.html
FETCH = """\
import hashlib, hmac, json, os, random, sys, time, urllib.parse
from urllib.request import ProxyHandler, Request, build_opener, urlopen

bucket, key = sys.argv[1][len("s3://"):].split("/", 1)
region = os.environ["AWS_DEFAULT_REGION"]
endpoint = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or "http://169.254.169.254"
asked = build_opener(ProxyHandler({})).open

def metadata(path):
    root = endpoint.rstrip("/") + "/latest/"
    wanted = Request(root + "api/token", b"", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, method="PUT")
    token = asked(wanted, timeout=5).read().decode()
    wanted = Request(root + "meta-data/" + path, headers={"X-aws-ec2-metadata-token": token})
    return asked(wanted, timeout=5).read().decode()

def fetch():
    role = metadata("iam/security-credentials/").split()[0]
    keys = json.loads(metadata("iam/security-credentials/" + role))
    url = os.environ.get("AWS_ENDPOINT_URL")
    url = f"{url}/{bucket}" if url else f"https://{bucket}.s3.{region}.{metadata('services/domain')}"
    url = urllib.parse.urlsplit(f"{url}/{urllib.parse.quote(key)}")
    at, nothing = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), hashlib.sha256().hexdigest()
    headers = {"host": url.netloc, "x-amz-content-sha256": nothing, "x-amz-date": at}
    headers["x-amz-security-token"] = keys["Token"]
    names = ";".join(headers)
    lines = ["GET", url.path, "", *(f"{name}:{headers[name]}" for name in headers), "", names, nothing]
    scope = [at[:8], region, "s3", "aws4_request"]
    digest = hashlib.sha256("\\n".join(lines).encode()).hexdigest()
    signature = ("AWS4" + keys["SecretAccessKey"]).encode()
    for text in [*scope, "\\n".join(["AWS4-HMAC-SHA256", at, "/".join(scope), digest])]:
        signature = hmac.new(signature, text.encode(), "sha256").digest()
    credential = "/".join([keys["AccessKeyId"], *scope])
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credential},SignedHeaders={names},Signature={signature.hex()}"
    )
    with urlopen(Request(url.geturl(), headers=headers), timeout=30) as answer, open(sys.argv[2], "wb") as file:
        file.write(answer.read())

# Together about two minutes, for a network that comes up late, a role that is new, or a fleet that asks all at once.
for pause_s in (1, 2, 4, 8, 16, 30, 30, 30, None):
    try:
        fetch()
        break
    except Exception as err:
        why = err.read(600).decode(errors="replace") if hasattr(err, "read") else ""
        print(f"{sys.argv[1]} was not fetched: {err!r}", *why.split(), file=sys.stderr, flush=True)
        if pause_s is None:
            sys.exit(1)
        time.sleep(pause_s * random.uniform(0.5, 1))
"""


def user_data(*, bucket: str, agent_key: str, job_key: str, region: str, lifetime_s: float, nonce: str = "") -> str:
    """Return the script that an instance runs at its first boot.

    `nonce` is the random part of the keys of this launch's start barriers. It keeps fleets apart, but is no secret: all
    who can read the account's user data can see it. The role limits other reads.

    `lifetime_s`: after this time the operating system shuts the instance down.
    """
    text = _USER_DATA.format(
        fetch=FETCH,
        agent_uri=shlex.quote(f"s3://{bucket}/{agent_key}"),
        job_uri=shlex.quote(f"s3://{bucket}/{job_key}"),
        nonce=shlex.quote(nonce),
        watchdog_minutes=math.ceil(lifetime_s / 60),
        region=shlex.quote(region),
    )
    if len(text.encode()) > USER_DATA_MAX_BYTES:
        raise ValueError(f"user data has {len(text.encode())} bytes, EC2 takes {USER_DATA_MAX_BYTES}")
    return text


class JobSetting(TypedDict):
    """Common settings of jobs: run, upload location, and start (epoch seconds)."""

    run: str
    mount: Mount
    bucket: str
    environment: str
    now: float


class JobMaker(Protocol):
    """Makes the job of a launch from its setting."""

    def __call__(self, **setting: Unpack[JobSetting]) -> JobDocument:
        """Return the job."""
        ...


def measuring_job(*, cell: PlanCell, gate_margin_s: float, **setting: Unpack[JobSetting]) -> JobDocument:
    """Return the job of a cell's fleet: every instance runs the same steps."""
    count = cell["fleet"]["count"]
    job = _job("measure", cell, Board.of_cell(setting["run"], cell["id"]), **setting)
    if count > 1:
        # A single instance needs no barrier; instances of a fleet wait as long as the slowest may take.
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
    """Return the job of the instance from which a machine image is made: install the software of the recipe."""
    job = _job("bake", cell, Board.of_image(setting["run"], cell["id"]), **setting)
    job["provisions"] = recipe
    return job


def serving_job(*, cell: JobCell, **setting: Unpack[JobSetting]) -> JobDocument:
    """Return the job of the instance that serves its storage to the fleets of a file system."""
    return _job("serve", cell, Board.of_server(setting["run"], cell["file_system"]), **setting)


def _job(
    kind: Literal["measure", "populate", "serve", "bake"], cell: JobCell, board: Board, **setting: Unpack[JobSetting]
) -> JobDocument:
    """Return the job of an instance that works alone and measures nothing."""
    job: JobDocument = {
        "schema": 1,
        "kind": kind,
        "run": setting["run"],
        "cell": cell["id"],
        "environment": setting["environment"],
        "bucket": setting["bucket"],
        "prefix": board.prefix,
        "deadline_at": setting["now"] + cell["deadline_s"],
        "heartbeat_s": HEARTBEAT_S,
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
