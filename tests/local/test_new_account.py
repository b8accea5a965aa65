"""An account that was opened today: what is too large for it is refused with what to ask for, what fits goes on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from support.running_cloud import client_of
from support.runs import Cloud, matrix, start_cloud


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
    assert "needs 8. Ask for more in Service Quotas" in run.describe()["cause"]


def test_four_instances_of_one_vcpu_fit(account: Cloud):
    run = account.run("small", matrix(fleet=[{"instanceType": "m7g.medium", "count": 4}], dryRun=True))

    assert run.status == "SUCCEEDED"


def test_the_eleventh_function_at_once_is_throttled_and_ten_are_not(account: Cloud):
    once = Config(retries={"total_max_attempts": 1}, max_pool_connections=40)
    client = client_of(account.description, "lambda", config=once)

    def invoke(_: int) -> str:
        try:
            client.invoke(FunctionName=account.output("ReapFunctionName"), Payload=b'{"dryRun": true}')
        except ClientError as error:
            return error.response["Error"]["Code"]
        return "answered"

    with ThreadPoolExecutor(40) as pool:
        many = list(pool.map(invoke, range(40)))
    with ThreadPoolExecutor(10) as pool:
        few = list(pool.map(invoke, range(10)))

    assert "TooManyRequestsException" in many
    assert set(few) == {"answered"}
