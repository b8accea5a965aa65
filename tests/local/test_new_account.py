"""An account that was opened today: what is too large for it is refused with what to ask for, what fits goes on."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import BoundedSemaphore, Event, Semaphore
from unittest.mock import MagicMock, Mock

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from support.running_cloud import RunningCloud, client_of, function, role
from support.runs import EFS, Cloud, matrix, start_cloud

from local.corrections.ebs_key import KeyHolder
from local.corrections.service_quotas import NEW_CONCURRENCY
from local.functions.runtime import LambdaRuntime
from local.functions.sandboxes import Result, TooManyRequestsError
from local.roles.policies import Permission, about, decide


class WaitingFunction:
    """A function that answers once it may, in an account of ten functions at once."""

    def __init__(self, folder: Path) -> None:
        """Make a runtime that runs nothing else."""
        self.runtime = LambdaRuntime(Mock(), "", folder, Mock(), concurrency=NEW_CONCURRENCY, time_scale=1_000)
        self.runtime._running = BoundedSemaphore(NEW_CONCURRENCY)
        self.runtime._pool = lambda _function, _scope: self
        self.function = Mock(reserved_concurrency=None, logs_backend=MagicMock())
        self.leave = Event()
        self.payloads: list[bytes] = []
        self._busy, self._throttled = Semaphore(0), Event()

    def invoke(self, payload: bytes, _limit: int | None) -> Result:
        """Do as its sandboxes do."""
        self.payloads.append(payload)
        self._busy.release()
        assert self.leave.wait(60)
        return Result(payload, failed=False, log="")

    def until_busy(self, number: int) -> None:
        """Wait until so many are at work."""
        assert all(self._busy.acquire(timeout=60) for _ in range(number))

    def until_throttled(self) -> None:
        """Wait until the runtime pauses between two attempts."""
        pause = self.runtime._is_closed.wait
        self.runtime._is_closed.wait = lambda seconds: self._throttled.set() or pause(seconds)
        assert self._throttled.wait(60)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud that plays such an account."""
    with start_cloud(tmp_path_factory.mktemp("cloud"), "--account", "new") as started:
        yield started


def test_a_fleet_above_its_vcpus_is_refused_before_anything_exists_with_what_to_ask_for(account: Cloud):
    run = account.run("large", matrix(fleet=[{"instanceType": "m6i.large", "count": 4}], dryRun=True))

    assert run.status == "FAILED"
    assert run.describe()["error"] == "QuotaExceeded"
    assert "L-1216C47A) is 5 vCPUs" in run.describe()["cause"]
    assert "needs 8. Ask for more: aws service-quotas request-service-quota-increase" in run.describe()["cause"]
    assert "Nothing was created" in run.describe()["cause"]


def test_the_third_zone_has_no_instance_types_and_says_so_beforehand(account: Cloud):
    ec2 = client_of(account.description, "ec2")
    [subnet] = ec2.describe_subnets(
        Filters=[
            {"Name": "availability-zone", "Values": ["us-east-1c"]},
            {"Name": "default-for-az", "Values": ["false"]},
        ]
    )["Subnets"]

    asked = {"LocationType": "availability-zone", "Filters": [{"Name": "instance-type", "Values": ["m6i.large"]}]}
    offered = {each["Location"] for each in ec2.describe_instance_type_offerings(**asked)["InstanceTypeOfferings"]}
    with pytest.raises(ClientError, match=r"Unsupported.*m6i.large.*us-east-1c"):
        ec2.run_instances(
            ImageId="ami-12c6146b", InstanceType="m6i.large", SubnetId=subnet["SubnetId"], MinCount=1, MaxCount=1
        )

    assert {"us-east-1a", "us-east-1b"} < offered
    assert "us-east-1c" not in offered


KEY = "arn:aws:kms:us-east-1:123456789012:key/of-disks"
ROLE = "arn:aws:iam::123456789012:role/LaunchFleet"
OF_ACCOUNT = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "kms:*"}
# As the policy of aws/ebs: whoever may use EC2 in the account may use the key through it.
THROUGH_EC2 = {
    "Effect": "Allow",
    "Principal": "*",
    "Action": ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
    "Resource": "*",
    "Condition": {"StringEquals": {"kms:ViaService": "ec2.us-east-1.amazonaws.com"}},
}


@pytest.mark.parametrize(("statements", "may_use"), [([OF_ACCOUNT], False), ([OF_ACCOUNT, THROUGH_EC2], True)])
def test_an_instance_ends_at_once_where_its_role_may_not_use_the_accounts_own_key(statements: list, may_use: bool):
    player, ended = Mock(), Event()
    instance = Mock(region_name="us-east-1")
    instance.finish_termination.side_effect = ended.set

    def allows(action: str, key: str, context: dict[str, str]) -> bool:
        policy = about({"Statement": statements}, ROLE, ROLE)
        return decide([policy], Permission(action, key), context) == "allow"

    KeyHolder(player, KEY, allows).begin(instance)

    assert player.begin.called is may_use
    assert may_use or ended.wait(60)


def test_four_instances_of_one_vcpu_fit(account: Cloud):
    run = account.run("small", matrix(fleet=[{"instanceType": "m7g.medium", "count": 4}], dryRun=True))

    assert run.status == "SUCCEEDED"


def test_cells_follow_each_other_within_a_quota_that_holds_the_largest_of_them(account: Cloud):
    fill = {"type": "build", "name": "b", "populate": "touch $CACHE_DIR/here", "build": "test -e $CACHE_DIR/here"}
    fleet = [{"instanceType": "m6i.large", "count": [2, 1]}]
    document = matrix(storage=[EFS], workload=[fill], fleet=fleet, maxConcurrentFileSystems=1)

    run = account.run("in-turn", document)

    assert [(cell["state"], cell.get("error")) for cell in run.summary()["cells"]] == [("measured", None)] * 2
    assert run.left_behind() == {}


def test_the_eleventh_function_at_once_is_throttled_and_ten_are_not(tmp_path: Path):
    # Nothing else runs in it: in a whole cloud, sweeps by schedule and after each execution's end count too.
    waiting = WaitingFunction(tmp_path)
    with ThreadPoolExecutor(NEW_CONCURRENCY) as pool:
        ten = [pool.submit(waiting.runtime.invoke, waiting.function, b"one of ten") for _ in range(NEW_CONCURRENCY)]
        waiting.until_busy(NEW_CONCURRENCY)

        with pytest.raises(TooManyRequestsError):
            waiting.runtime.invoke(waiting.function, b"the eleventh")
        waiting.leave.set()

        assert [answer.result().payload for answer in ten] == [b"one of ten"] * NEW_CONCURRENCY
    assert waiting.runtime.invoke(waiting.function, b"after them").payload == b"after them"


def test_an_event_that_was_throttled_is_delivered_once_there_is_room(tmp_path: Path):
    waiting = WaitingFunction(tmp_path)
    with ThreadPoolExecutor(NEW_CONCURRENCY + 1) as pool:
        for _ in range(NEW_CONCURRENCY):
            pool.submit(waiting.runtime.invoke, waiting.function, b"one of ten")
        waiting.until_busy(NEW_CONCURRENCY)

        event = pool.submit(waiting.runtime.deliver, waiting.function, b"the run has ended")
        waiting.until_throttled()
        waiting.leave.set()
        event.result(60)

    assert waiting.payloads.count(b"the run has ended") == 1


def test_the_account_answers_429_above_its_concurrency_and_the_others_as_ever(account: Cloud, tmp_path: Path):
    # Each waits for the file, so eleven are at once however busy the machine is.
    code = "import pathlib, time\ndef handler(event, _context):\n"
    code += "    while not pathlib.Path(event).exists(): time.sleep(0.05)\n    return 'done'"
    name = RunningCloud(Mock(), account.folder, account.description).deploy(
        "waits",
        {
            "Resources": {"Role": role(), "Waits": function(code, Timeout=300)},
            "Outputs": {"Name": {"Value": {"Ref": "Waits"}}},
        },
    )["Name"]
    client = client_of(account.description, "lambda", config=Config(retries={"total_max_attempts": 1}))
    leave = tmp_path / "leave"
    refused = Event()

    def invoke(_: int) -> str:
        try:
            answer = client.invoke(FunctionName=name, Payload=json.dumps(str(leave)))
        except ClientError as error:
            refused.set()
            return f"{error.response['ResponseMetadata']['HTTPStatusCode']} {error.response['Error']['Code']}"
        return json.loads(answer["Payload"].read())

    with ThreadPoolExecutor(NEW_CONCURRENCY + 1) as pool:
        answers = [pool.submit(invoke, number) for number in range(NEW_CONCURRENCY + 1)]
        assert refused.wait(60)
        leave.touch()

    assert {answer.result() for answer in answers} == {"429 TooManyRequestsException", "done"}
