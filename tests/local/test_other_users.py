"""Another user of the machine gets nothing: neither the key of the cloud, nor what its other servers give away."""

import http.client
import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.running_cloud import RunningCloud, start_cloud

from local.functions.runtime_api import Invocation, RuntimeApi
from local.instances.metadata import InstanceIdentity, MetadataService

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs")


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """A folder that all users may enter, as a home folder often is; pytest's own they may not."""
    folder = Path(tempfile.mkdtemp(prefix="storage-matrix-open-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def cloud(open_folder: Path) -> Iterator[RunningCloud]:
    """A cloud in a working folder that was there before, open to all."""
    workdir = open_folder / ".local"
    workdir.mkdir(mode=0o755)
    (workdir / "cloud.json").write_text("{}")
    process = start_cloud(workdir, "--no-deploy")
    line = process.stdout.readline()
    assert line, process.stderr.read()
    yield RunningCloud(process, workdir, json.loads(line))
    process.communicate(timeout=30)


def test_key_and_logs_are_the_users_own(cloud: RunningCloud):
    assert stat.S_IMODE(cloud.workdir.stat().st_mode) == 0o700
    assert stat.S_IMODE((cloud.workdir / "cloud.json").stat().st_mode) == 0o600


def test_no_key_stands_in_a_command_line(cloud: RunningCloud):
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]

    assert any(str(cloud.workdir).encode() in command for command in commands)
    assert not [command for command in commands if cloud.description["secret_key"].encode() in command]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.skipif(not (shutil.which("setpriv") and shutil.which("curl")), reason="needs setpriv and curl")
def test_another_user_reads_no_key_and_is_refused_without_it(cloud: RunningCloud):
    def as_nobody(*command: str) -> subprocess.CompletedProcess:
        return subprocess.run([*NOBODY, *command], capture_output=True, text=True, cwd="/")

    for path in (
        cloud.workdir / "cloud.json",
        cloud.workdir / "logs" / "cloud.log",
        f"/proc/{cloud.process.pid}/environ",
    ):
        assert "Permission denied" in as_nobody("cat", str(path)).stderr
    curl = ("curl", "--silent", "--show-error", "--write-out", "%{http_code}", cloud.endpoint)
    json_type = ("-H", "Content-Type: application/x-amz-json-1.0")
    target = (*json_type, "-H", "X-Amz-Target: AWSStepFunctions.ListStateMachines", "--data", "{}")
    for key in ("local:local", "AKIAIOSFODNN7EXAMPLE:x"):  # pragma: allowlist secret
        signed = (*curl, *target, "--aws-sigv4", "aws:amz:us-east-1:states", "--user", key)
        # Linux names the user of a connection: no answer at all.
        assert as_nobody(*signed).stdout == "000"
        assert subprocess.run(signed, capture_output=True, text=True).stdout.endswith("403")
    own_key = f"{cloud.description['access_key']}:{cloud.description['secret_key']}"
    assert subprocess.run(
        [*curl, *target, "--aws-sigv4", "aws:amz:us-east-1:states", "--user", own_key], capture_output=True, text=True
    ).stdout.endswith("200"), "the user's own request, with the key, is refused as well"


def request(port: int, method: str, path: str, **headers: str) -> tuple[int, str]:
    """Status and body of an answer of a server on this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_the_runtime_api_neither_gives_nor_takes_without_its_secret():
    api = RuntimeApi()
    address, _, secret = api.address.partition("/")
    port = int(address.rpartition(":")[2])
    api.give(Invocation("request-1", "arn", b'{"secret": 1}', 0))

    for prefix in ("", "/", f"/{secret[:-1]}", f"/x/{secret}"):
        assert request(port, "GET", f"{prefix}/2018-06-01/runtime/invocation/next")[0] == 403
        assert request(port, "POST", f"{prefix}/2018-06-01/runtime/invocation/request-1/response")[0] == 403
    assert not api.initialised.is_set()
    assert api.outcomes.empty()
    assert request(port, "GET", f"/{secret}/2018-06-01/runtime/invocation/next") == (200, '{"secret": 1}')
    api.close()


@pytest.fixture
def metadata() -> Iterator[MetadataService]:
    service = MetadataService()
    session = SimpleNamespace(access_key_id="k", secret_access_key="s", session_token="t")
    service.serve("i-1", InstanceIdentity({"instance-id": "i-1"}, "role", lambda: session))
    yield service
    service.close()


def test_the_metadata_service_gives_no_token_to_who_knows_only_the_instances_id(metadata: MetadataService):
    address = metadata.endpoint("i-1").removeprefix("http://127.0.0.1:")
    port, _, secret = address.strip("/").partition("/")

    for wrong in ("i-1", "", secret[:-1]):
        assert request(int(port), "PUT", f"/{wrong}/latest/api/token")[0] == 404
    status, token = request(int(port), "PUT", f"/{secret}/latest/api/token")
    assert status == 200
    asked = f"/{secret}/latest/meta-data/instance-id"
    assert request(int(port), "GET", asked, **{"X-aws-ec2-metadata-token": token}) == (200, "i-1")
    metadata.forget("i-1")
    assert request(int(port), "GET", asked, **{"X-aws-ec2-metadata-token": token})[0] == 404


def test_the_port_of_a_machine_says_nothing_before_the_secret(metadata: MetadataService):
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        request(metadata.own_port("i-1"), "PUT", "/latest/api/token")


def test_every_server_of_the_cloud_listens_to_this_machine_only(cloud: RunningCloud):
    sockets = {str(path.readlink()) for path in Path(f"/proc/{cloud.process.pid}/fd").iterdir()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]

    assert len(listening) >= 2  # the AWS endpoint and the metadata service
    assert {address.partition(":")[0] for address in listening} == {"0100007F"}  # 127.0.0.1
