"""Who gets an answer from the local cloud: programs with a key of it, under its own name. Each rule is tried alone."""

import os
import re
import socket
import subprocess
import sys
import threading
from datetime import datetime, timedelta

import botocore.auth
import pytest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from support.raw_requests import LIST_TABLES, address_of, send, signed
from support.running_cloud import RunningCloud, role
from werkzeug.serving import make_server

from local.admission import Admission
from local.programs import peers
from local.serving import KeepAliveHandler

REFUSED, ANSWERED = 403, 200


@pytest.fixture(scope="module")
def session(cloud: RunningCloud) -> dict[str, str]:
    """Credentials of a role that may list tables, as its STS issued them."""
    listing = {"Effect": "Allow", "Action": "dynamodb:ListTables", "Resource": "*"}
    template = {
        "Resources": {"Lister": role(listing)},
        "Outputs": {"Role": {"Value": {"Fn::GetAtt": ["Lister", "Arn"]}}},
    }
    arn = cloud.deploy("admission", template)["Role"]
    return cloud.client("sts").assume_role(RoleArn=arn, RoleSessionName="tester")["Credentials"]


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "LOCALHOST"])
def test_a_signed_request_is_answered_and_without_a_word_on_other_origins(cloud, name):
    port = address_of(cloud.description).rpartition(":")[2]

    status, headers, body = send(cloud.description, signed(cloud.description, host=f"{name}:{port}"))

    assert status == ANSWERED, body
    assert "TableNames" in body
    assert not [header for header in headers if header.startswith("access-control-")]


@pytest.mark.parametrize(
    "host", ["evil.example:{port}", "localhost", "localhost:1", "evil.localhost:{port}", "", "[::1]:{port}"]
)
def test_another_host_is_refused_however_well_signed(cloud, host):
    host = host.format(port=address_of(cloud.description).rpartition(":")[2])

    status, _, body = send(cloud.description, {**signed(cloud.description, host=host), "Host": host})

    assert status == REFUSED
    assert "local cloud of Storage Matrix" in body


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "itself"])
@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_a_request_with_an_origin_is_refused_and_no_origin_is_allowed(cloud, origin, method):
    origin = cloud.endpoint if origin == "itself" else origin
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-amz-target",
    }

    status, headers, body = send(cloud.description, {**signed(cloud.description), **asked}, method)

    assert status == REFUSED
    assert "programs, not pages" in body
    assert not [header for header in headers if header.startswith("access-control-")]


def altered(headers: dict[str, str], **changes: str | None) -> dict[str, str]:
    """Headers after their signing, with other values or, for None, without them."""
    values = {**headers, **{name.replace("_", "-"): value for name, value in changes.items()}}
    return {name: value for name, value in values.items() if value is not None}


def test_without_a_signature_nothing_is_answered(cloud):
    for headers in (
        altered(signed(cloud.description), Authorization=None),
        altered(signed(cloud.description), Authorization="Bearer x"),
        altered(signed(cloud.description), Authorization=f"AWS {cloud.description['access_key']}:c2lnbmF0dXJl"),
    ):
        status, answer, body = send(cloud.description, headers)

        assert (status, answer["x-amzn-errortype"]) == (REFUSED, "MissingAuthenticationToken"), body


@pytest.mark.parametrize("key", ["local", "AKIAIOSFODNN7EXAMPLE", "ASIAQQQQQQQQQQQQQQQQ"])  # pragma: allowlist secret
def test_a_key_of_elsewhere_is_refused(cloud, key):
    status, answer, body = send(cloud.description, signed(cloud.description, key=Credentials(key, "local")))

    assert (status, answer["x-amzn-errortype"]) == (REFUSED, "UnrecognizedClientException"), body


def test_the_key_without_its_secret_is_refused(cloud):
    guessed = Credentials(cloud.description["access_key"], "local")

    status, answer, _ = send(cloud.description, signed(cloud.description, key=guessed))

    assert (status, answer["x-amzn-errortype"]) == (REFUSED, "InvalidSignatureException")


def test_a_signature_holds_for_nothing_but_what_was_signed(cloud):
    headers = signed(cloud.description)
    other_call = LIST_TABLES["X-Amz-Target"].replace("ListTables", "DescribeEndpoints")

    assert send(cloud.description, headers)[0] == ANSWERED
    for changed in (
        {"headers": altered(headers, X_Amz_Target=other_call)},
        {"headers": headers, "body": b'{"Limit":1}'},
        {"headers": headers, "path": "/?x=1"},
        {"headers": headers, "path": "/x"},
        {"headers": headers, "method": "PUT"},
    ):
        status, answer, body = send(cloud.description, **changed)
        assert (status, answer["x-amzn-errortype"]) == (REFUSED, "InvalidSignatureException"), (changed, body)


def test_a_recorded_request_cannot_be_sent_again_later(cloud, monkeypatch):
    for minutes, status in ((14, ANSWERED), (16, REFUSED), (-16, REFUSED)):
        at = datetime.utcnow() - timedelta(minutes=minutes)
        monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda at=at: at)

        assert send(cloud.description, signed(cloud.description))[0] == status, minutes


def test_host_and_date_must_be_signed(cloud):
    headers = signed(cloud.description)
    unsigned = re.sub(r"SignedHeaders=[^,]+", "SignedHeaders=x-amz-target", headers["Authorization"])

    status, answer, _ = send(cloud.description, {**headers, "Authorization": unsigned})

    assert (status, answer["x-amzn-errortype"]) == (REFUSED, "IncompleteSignature")


def test_sessions_of_roles_are_checked_as_well(cloud, session):
    def status_with(secret: str = session["SecretAccessKey"], token: str | None = session["SessionToken"]) -> int:
        key = Credentials(session["AccessKeyId"], secret, token)
        return send(cloud.description, signed(cloud.description, key=key))[0]

    assert status_with() == ANSWERED
    assert status_with(secret="guessed") == REFUSED  # pragma: allowlist secret
    assert status_with(token=None) == REFUSED
    assert status_with(token="guessed") == REFUSED


@pytest.mark.parametrize(
    "path", ["/moto-api/", "/moto-api/data.json", "/moto-api/reset", "/favicon.ico", "/latest/meta-data/iam"]
)
def test_the_pages_of_moto_are_not_served_to_anybody(cloud, path):
    status, _, body = send(cloud.description, signed(cloud.description), path=path)

    assert status == REFUSED
    assert "is not served" in body


def test_each_client_understands_the_refusal(cloud):
    for service, call, arguments, code in (
        ("dynamodb", "list_tables", {}, "UnrecognizedClientException"),
        ("lambda", "list_functions", {}, "UnrecognizedClientException"),
        ("ec2", "describe_instances", {}, "UnrecognizedClientException"),
        ("sts", "get_caller_identity", {}, "UnrecognizedClientException"),
        ("s3", "list_buckets", {}, "InvalidAccessKeyId"),
        ("s3", "head_bucket", {"Bucket": "any"}, "403"),
    ):
        stranger = cloud.client(service, aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="x")
        with pytest.raises(ClientError) as refused:
            getattr(stranger, call)(**arguments)
        assert refused.value.response["Error"]["Code"] == code, service


def test_a_service_that_is_not_played_is_refused_and_is_no_fault(cloud):
    with pytest.raises(ClientError, match=r"UnknownOperation.*The local cloud has no pricing"):
        cloud.client("pricing").get_products(ServiceCode="AmazonEC2")


def test_each_client_understands_a_fault_of_the_cloud(cloud):
    """An answer without a body and a RequestId says nothing, and moto's state machines stumble over it."""

    def fails(_environ, _start_response):
        raise OSError(24, "Too many open files")

    hosts = [cloud.endpoint.removeprefix("http://")]
    secret = cloud.description["secret_key"]
    admission = Admission(fails, hosts, lambda _: (secret, ""))
    server = make_server("127.0.0.1", 0, admission, threaded=True, request_handler=KeepAliveHandler)
    admission._hosts = {f"127.0.0.1:{server.server_port}"}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for service, call in (
            ("dynamodb", "list_tables"),
            ("lambda", "list_functions"),
            ("ec2", "describe_instances"),
            ("stepfunctions", "list_state_machines"),
            ("s3", "list_buckets"),
        ):
            once = Config(retries={"total_max_attempts": 1})
            client = cloud.client(service, endpoint_url=f"http://127.0.0.1:{server.server_port}", config=once)
            with pytest.raises(ClientError, match="a fault of the local cloud: OSError") as failed:
                getattr(client, call)()
            assert failed.value.response["ResponseMetadata"]["RequestId"], service
    finally:
        server.shutdown()
        server.server_close()


def test_any_key_of_an_object_can_be_signed(cloud):
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket="odd-names")
    keys = ["plain", "a b+c", "ä/ö?ü=1&2", "a//b", "100%25", "~(x)*'!", "dots/../x"]
    for key in keys:
        s3.put_object(Bucket="odd-names", Key=key, Body=key.encode(), Metadata={"name": "a  b"})

    assert {key: s3.get_object(Bucket="odd-names", Key=key)["Body"].read().decode() for key in keys} == {
        key: key for key in keys
    }
    listed = s3.list_objects_v2(Bucket="odd-names", Prefix="ä/ö?", MaxKeys=5)["Contents"]
    assert [entry["Key"] for entry in listed] == ["ä/ö?ü=1&2"]
    upload = s3.create_multipart_upload(Bucket="odd-names", Key="large")["UploadId"]
    part = s3.upload_part(Bucket="odd-names", Key="large", UploadId=upload, PartNumber=1, Body=b"x" * 2**20)
    parts = {"Parts": [{"ETag": part["ETag"], "PartNumber": 1}]}
    s3.complete_multipart_upload(Bucket="odd-names", Key="large", UploadId=upload, MultipartUpload=parts)
    assert s3.head_object(Bucket="odd-names", Key="large")["ContentLength"] == 2**20


def test_an_upload_that_was_changed_on_its_way_is_refused(cloud):
    headers = signed(cloud.description, headers={"X-Amz-Content-SHA256": "0" * 64}, service="s3")

    status, _, body = send(cloud.description, headers)

    assert status == REFUSED
    assert "XAmzContentSHA256Mismatch" in body


NOBODY = 65534
KNOCK = """
import os, socket, sys
os.setuid(int(sys.argv[1]))
with socket.socket() as there:
    there.connect(("127.0.0.1", int(sys.argv[2])))
    print("connected")
    there.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    print(there.recv(8))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_of_the_machine_gets_no_thread_and_no_answer(cloud):
    port = cloud.endpoint.rpartition(":")[2]
    for user, answered in ((0, True), (NOBODY, False)):
        command = [sys.executable, "-c", KNOCK, str(user), port]
        told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert ("connected" in told.stdout, "HTTP" in told.stdout) == (True, answered), told


def test_the_user_of_a_connection_is_known():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        mine, other = client.getsockname(), ("127.0.0.1", 1)
        assert peers.user_of(mine, server.getsockname()) == os.getuid()
        assert peers.user_of(other, server.getsockname()) is None
        assert peers.is_of_this_user(mine, server.getsockname())
