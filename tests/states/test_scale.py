"""Polls of the largest fleets, on a blackboard as it is near their end, within their Timeout and their share of a vCPU.

The answers of S3 and EC2 are made up and go through boto3's parsers; what is measured is processor time. Memory buys
it: "At 1,769 MB, a function has the equivalent of one vCPU" (Lambda guide, memory).
"""

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.awsrequest import AWSResponse
from support.grants import TEMPLATE

import poll_fleet
from aws.records import bucket
from aws.stack.clients import client
from local.corrections.yaml_template import load
from matrix.run.job import measuring_job
from matrix.terms.keys import Board

FUNCTION = load(TEMPLATE.read_text())
PROPERTIES = FUNCTION["Globals"]["Function"] | FUNCTION["Resources"]["PollFleetFunction"]["Properties"]
VCPU_MB, PAGE, STEPS = 1769, 1000, 60
# S3 lists a page, and EC2 describes 200 instances, in less (both are about 0.1 s from Lambda in the same region).
ANSWER_S = 0.2
BOARD = Board.of_cell("r", "c1")
NOW, WRITTEN_AT = 1_800_000_030.0, 1_800_000_000.0
PLACE = BOARD.meet("0" * 32)
# What an agent has put before its last step, in its own folder: two files of raw output for each step, and four more.
NAMES = [
    *(f"raw/{step:04d}.{kind}" for step in range(STEPS - 1) for kind in ("json", "log")),
    "heartbeat", "log.gz", "clock.json", "machine.json",
]  # fmt: skip
CONTENT = (
    "<Contents><Key>{}</Key><LastModified>2027-01-15T08:00:00.000Z</LastModified><ETag>&quot;9b2cf535f27731c974343645a39"
    "85328&quot;</ETag><ChecksumAlgorithm>CRC32</ChecksumAlgorithm><Size>812</Size><StorageClass>STANDARD</StorageClass>"
    "</Contents>"
)
TAGS = "".join(f"<item><key>storage-matrix:{n}</key><value>{'v' * 30}</value></item>" for n in range(6))
INSTANCE = (
    "<item><instanceId>{}</instanceId><imageId>ami-0123456789abcdef0</imageId><instanceState><code>16</code>"
    "<name>running</name></instanceState><instanceType>c5.2xlarge</instanceType><launchTime>2027-01-15T07:00:00.000Z"
    "</launchTime><placement><availabilityZone>eu-west-1a</availabilityZone><tenancy>default</tenancy></placement>"
    "<blockDeviceMapping>" + "<item><deviceName>/dev/sdf</deviceName><ebs><volumeId>vol-0123456789abcdef0</volumeId>"
    "<status>attached</status></ebs></item>" * 2 + f"</blockDeviceMapping><tagSet>{TAGS}</tagSet></item>"
)


class Answers:
    """What S3 and EC2 answer about a fleet, and the processor time that making it up has taken."""

    def __init__(self, count: int) -> None:
        self.instances = [f"i-{number:017x}" for number in range(count)]
        self.requests, self.spent_s = 0, 0.0
        userids = [f"AROAROLE:{instance}" for instance in self.instances]
        self._keys = {
            BOARD.instances: [f"{BOARD.instances}{userid}/{name}" for userid in userids for name in NAMES],
            PLACE.gates: [PLACE.gate(step) for step in range(STEPS - 1)],
            **{PLACE.ready(step): [PLACE.ready(step) + userid for userid in userids] for step in range(STEPS)},
        }

    def page(self, request, **_: object) -> AWSResponse:
        """A page of a listing; the token says how far it has got."""
        began = time.process_time()
        asked = parse_qs(urlsplit(request.url).query)
        keys, begin = self._keys[asked["prefix"][0]], int(asked.get("continuation-token", ["0"])[0])
        end = begin + PAGE
        token = f"<NextContinuationToken>{end}</NextContinuationToken>"
        more = f"<IsTruncated>true</IsTruncated>{token}" if end < len(keys) else ""
        body = "".join(CONTENT.format(key) for key in keys[begin:end])
        return self._answer(began, f"<ListBucketResult>{more}{body}</ListBucketResult>")

    def description(self, request, **_: object) -> AWSResponse:
        """The instances that are asked for."""
        began = time.process_time()
        asked = request.body if isinstance(request.body, str) else request.body.decode()
        described = "".join(INSTANCE.format(name) for name in self.instances if f"={name}&" in f"{asked}&")
        sets = f"<reservationSet><item><instancesSet>{described}</instancesSet></item></reservationSet>"
        return self._answer(began, f"<DescribeInstancesResponse>{sets}</DescribeInstancesResponse>")

    def _answer(self, began: float, text: str) -> AWSResponse:
        response = AWSResponse("https://aws", 200, {}, None)
        response._content = text.encode()
        self.requests += 1
        self.spent_s += time.process_time() - began
        return response


@pytest.fixture
def answers(stack, monkeypatch, request):
    made = Answers(request.param)
    client("s3").meta.events.register_first("before-send.s3.ListObjectsV2", made.page)
    client("ec2").meta.events.register_first("before-send.ec2.DescribeInstances", made.description)
    cell = {
        **{"id": "c1", "storage": {"type": "ebs"}, "workload": {"type": "touch"}, "fleet": {"count": request.param}},
        **{"points": [], "deadline_s": 1e6, "ready_within_s": 900.0},
        "steps": [{"point": f"p{step}", "repetition": 1} for step in range(STEPS)],
    }
    setting = {"run": "r", "mount": {"kind": "root"}, "bucket": "b", "environment": "aws", "now": NOW}
    bucket.put(BOARD.job, measuring_job(cell=cell, gate_margin_s=2.0, **setting))
    bucket.put(BOARD.fleet, {"instances": made.instances, "expected": request.param, "launched_at": NOW - 600.0})
    bucket.put(BOARD.meeting, {"nonce": "0" * 32})
    bucket.put(PLACE.gate(STEPS - 2), {"step": STEPS - 2, "start_at": WRITTEN_AT + 3, "opener": "AROAROLE:i-1"})
    monkeypatch.setattr("aws.fleet.watching.now", lambda: NOW)
    monkeypatch.setattr("poll_fleet.now", lambda: NOW)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("answers", [200, 1_000], indirect=True)
def test_a_poll_of_a_large_fleet_ends_in_time_and_opens_the_last_gate(answers: Answers, context):
    began = time.process_time()
    progress = poll_fleet.handler({"run": "r", "cell": "c1", "poll_s": 20}, context)
    spent_s = time.process_time() - began - answers.spent_s

    count = len(answers.instances)
    assert answers.requests >= count * len(NAMES) / PAGE
    assert progress["state"] == "running"
    assert bucket.get(PLACE.gate(STEPS - 1))["opener"] == "Poll fleet"
    share = min(PROPERTIES["MemorySize"], VCPU_MB) / VCPU_MB
    # A poll that finds a failure lists a second time, for the reasons.
    needed_s = 2 * (spent_s / share + answers.requests * ANSWER_S)
    print(f"{count} instances: {spent_s:.1f} s of a vCPU, {answers.requests} requests, {needed_s:.0f} s at the most")
    assert needed_s < PROPERTIES["Timeout"]
