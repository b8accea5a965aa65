"""The agent as it is delivered: one zip with its own AWS client, on the oldest Python that it promises to run on."""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from support.agent_cloud import BARRIER, BUCKET, NONCE, PREFIX, PYTHON, REGION, ROOT, touch_params
from support.debian11 import OLD_CLIENT

from agent_client import carry
from aws.records import agent_package
from matrix.run import job as user_data

AGENT = ROOT / "agent"
SOURCES = sorted([*AGENT.rglob("*.py"), *(ROOT / "functions/contract").glob("*.py")])
OLDEST = (3, 9)
# Of a Python that has packages, and of one that has nothing but the standard library.
WITH_PACKAGES, ALONE = "", "-I -S"
# What an instance has but a test shall not do.
NOT_DONE = ("shutdown", "systemctl", "install", "apt-get", "dnf")


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    """The zip, named by its content as in the bucket."""
    content = agent_package.build(AGENT, carry.MADE)
    path = tmp_path_factory.mktemp("zip") / f"{hashlib.sha256(content).hexdigest()}.pyz"
    path.write_bytes(content)
    return path


@pytest.fixture
def boot(cloud, archive, tmp_path):
    """Run the user data of an instance, whose python3 has nothing but the standard library."""
    key = f"agents/{archive.name}"
    cloud.s3.put_object(Bucket=BUCKET, Key=key, Body=archive.read_bytes())
    script = tmp_path / "user-data.sh"
    script.write_text(
        user_data.user_data(
            bucket=BUCKET,
            agent_key=key,
            job_key=f"{PREFIX}/job.json",
            region=REGION,
            lifetime_s=600,
            nonce=NONCE,
        )
    )

    def start(instance, options=ALONE, **changed):
        folder = tmp_path / instance.id
        (folder / "bin").mkdir(parents=True)
        for name in NOT_DONE:
            (folder / "bin" / name).symlink_to("/bin/true")
        (folder / "bin/python3").write_text(f'#!/bin/sh\nexec {PYTHON} {options} "$@"\n')
        (folder / "bin/python3").chmod(0o755)
        (folder / "profile").write_text("cd() { :; }\n")
        environment = {name: value for name, value in instance.env.items() if name != "PYTHONPATH"}
        environment |= {"PATH": f"{folder}/bin:{os.environ['PATH']}", "BASH_ENV": str(folder / "profile")}
        return subprocess.Popen(
            ["bash", script], cwd=folder, env=environment | changed, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    return start


def meets(cloud, fleet, make_job, boot, options, **environment):
    """Let a fleet of two boot, meet and measure with the very zip that a run uploads."""
    instances = fleet(2)
    cloud.put("job.json", make_job("touch", [touch_params()], instances=2, barrier=BARRIER))
    cloud.meet(instance.id for instance in instances)

    booted = [boot(instance, options, **environment) for instance in instances]
    said = [process.communicate(timeout=120)[0] for process in booted]

    assert [process.returncode for process in booted] == [0, 0], said
    assert all("agent.pyz: OK" in text for text in said)
    pinned = re.search(r"^botocore==(\S+)", carry.REQUIREMENTS.read_text(), re.MULTILINE)[1]
    for instance in instances:
        assert instance.samples()[0]["scheduled_at"] == instances[0].samples()[0]["scheduled_at"] is not None
        assert f"with botocore {pinned} on {instance.id}" in instance.log()
        assert {seen.split()[0] for seen in instance.metadata.requests_seen} == {"v2"}
    return {instance.document("samples.json")["host"]["python"] for instance in instances}


def test_a_fleet_meets_and_measures_on_machines_without_any_package(cloud, fleet, make_job, boot):
    pythons = meets(cloud, fleet, make_job, boot, ALONE)

    asked = [PYTHON, "-c", "import platform; print(platform.python_version())"]
    assert pythons == {subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()}


@pytest.mark.skipif(sys.executable == PYTHON, reason="make test-old: only Debian 11 has so old a boto3")
def test_a_fleet_meets_on_machines_with_a_boto3_older_than_ubuntus(cloud, fleet, make_job, boot):
    asked = [PYTHON, "-c", "import boto3, botocore; print(botocore.__version__)"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": OLD_CLIENT}
    version = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout

    # Ubuntu 22.04 has 1.23.34: packages.ubuntu.com/jammy/python3-botocore
    assert tuple(map(int, version.strip().split("+")[0].split("."))) < (1, 23, 34)
    meets(cloud, fleet, make_job, boot, WITH_PACKAGES, PYTHONPATH=OLD_CLIENT)


def test_the_agents_own_client_is_used_where_the_machine_has_another(archive, tmp_path):
    for name in ("botocore", "boto3", "urllib3", "jmespath", "dateutil", "six"):
        (tmp_path / f"{name}.py").write_text(f"raise AssertionError('the machine has its own {name}')\n")
    shutil.copy(archive, tmp_path / "agent.pyz")
    environment = {"PYTHONPATH": str(tmp_path), "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1/"}
    program = (
        "import sys; sys.argv = ['agent.pyz']\n"
        "import agent.unpack, pathlib\n"
        "sys.path[0] = str(agent.unpack.unpack(pathlib.Path('agent.pyz').absolute()))\n"
        "from agent.board.blackboard import new_client, new_session, sdk_version\n"
        "new_client(new_session('eu-west-1'), 's3'), print(sdk_version())\n"
    )
    environment["PYTHONPATH"] += os.pathsep.join(["", str(ROOT), str(ROOT / "functions")])

    said = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )

    assert said.returncode == 0, said.stderr
    assert f"botocore=={said.stdout.strip()}" in carry.REQUIREMENTS.read_text()


def test_a_download_that_fails_is_tried_again_and_says_why(cloud, instance, boot, make_job):
    cloud.put("job.json", make_job("touch", [touch_params()]))
    content = cloud.s3.list_objects_v2(Bucket=BUCKET, Prefix="agents/")["Contents"][0]["Key"]
    body = cloud.s3.get_object(Bucket=BUCKET, Key=content)["Body"].read()
    cloud.s3.delete_object(Bucket=BUCKET, Key=content)

    process = boot(instance)
    first = process.stdout.readline()
    cloud.s3.put_object(Bucket=BUCKET, Key=content, Body=body)
    said = process.communicate(timeout=120)[0]

    assert f"s3://{BUCKET}/{content} was not fetched: <HTTPError 404" in first
    assert "<Code>NoSuchKey</Code>" in first
    assert process.returncode == 0, said
    assert instance.has("done.json")


class Answer:
    """Of the metadata service and of S3."""

    def __init__(self, body):
        self.read = lambda: body

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing is held."""


@pytest.mark.parametrize(("region", "domain"), [("eu-west-1", "amazonaws.com"), ("cn-north-1", "amazonaws.com.cn")])
def test_the_download_is_signed_as_botocore_signs_it_and_goes_to_the_region_of_the_bucket(
    region, domain, monkeypatch, tmp_path
):
    keys = {"AccessKeyId": "AKIDEXAMPLE", "Token": "a/token+of=sts"}
    keys["SecretAccessKey"] = "not/a+secret"  # pragma: allowlist secret
    entries = {
        "iam/security-credentials/": b"fleet-role\n", "iam/security-credentials/fleet-role": json.dumps(keys).encode(),
        "services/domain": domain.encode(),
    }  # fmt: skip
    sent = []

    def metadata(request, timeout):
        path = request.full_url.removeprefix("http://169.254.169.254/latest/")
        return Answer(b"token" if path == "api/token" else entries[path.removeprefix("meta-data/")])

    class Opener:
        open = staticmethod(metadata)

    monkeypatch.setattr("urllib.request.build_opener", lambda *_: Opener)
    monkeypatch.setattr("urllib.request.urlopen", lambda request, timeout: sent.append(request) or Answer(b"the zip"))
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    for name in ("AWS_ENDPOINT_URL", "AWS_EC2_METADATA_SERVICE_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "argv", ["-", "s3://bucket-of-ours/agents/a b+c.pyz", str(tmp_path / "agent.pyz")])

    exec(compile(user_data.FETCH, "user data", "exec"), {})

    [request] = sent
    assert (tmp_path / "agent.pyz").read_bytes() == b"the zip"
    assert request.full_url == f"https://bucket-of-ours.s3.{region}.{domain}/agents/a%20b%2Bc.pyz"
    headers = {name.lower(): value for name, value in request.header_items()}
    claimed = headers.pop("authorization")
    signer = S3SigV4Auth(
        Credentials("AKIDEXAMPLE", "not/a+secret", keys["Token"]), "s3", region
    )  # pragma: allowlist secret
    theirs = AWSRequest("GET", request.full_url, headers=headers)
    theirs.context["timestamp"] = headers["x-amz-date"]
    signature = signer.signature(signer.string_to_sign(theirs, signer.canonical_request(theirs)), theirs)
    assert claimed.endswith(
        f"SignedHeaders={signer.signed_headers(signer.headers_to_sign(theirs))},Signature={signature}"
    )
    assert f"Credential=AKIDEXAMPLE/{headers['x-amz-date'][:8]}/{region}/s3/aws4_request," in claimed


def imports(tree):
    """The top packages that a module imports, wherever in it."""
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return {str(name).partition(".")[0] for name in imported}


# What carried packages import where it is there, for types, or for their own documentation. The fleet above has none.
OPTIONAL = {
    "awscrt", "certifi", "idna", "brotli", "brotlicffi", "compression", "backports", "h2", "typing_extensions",
    "StringIO", "docutils", "sphinx",
}  # fmt: skip


def test_every_module_of_the_zip_parses_as_python_3_9_and_imports_what_the_zip_or_the_standard_library_has(archive):
    with zipfile.ZipFile(archive) as zipped:
        sources = {name: zipped.read(name) for name in zipped.namelist() if name.endswith(".py")}
    carried = {name.partition("/")[0].removesuffix(".py") for name in sources}

    imported = set().union(
        *(imports(ast.parse(source, name, feature_version=OLDEST)) for name, source in sources.items())
    )

    assert carried == {"__main__", "agent", "botocore", "contract", "dateutil", "jmespath", "six", "urllib3"}
    assert imported - sys.stdlib_module_names - carried <= OPTIONAL


def test_the_zip_describes_each_call_that_the_agent_makes(archive):
    """A call is a method of a client whose name is an operation of a service, such as get_object."""
    with zipfile.ZipFile(archive) as zipped:
        models = [name for name in zipped.namelist() if name.endswith("/service-2.json.gz")]
        described = {
            re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", operation).lower()
            for model in models
            for operation in json.loads(gzip.decompress(zipped.read(model)))["operations"]
        }
    sources = "\n".join(source.read_text() for source in SOURCES)
    services = set(re.findall(r"new_client\([^\n]*?, \"(\w+)\"", sources))
    called = set(re.findall(r"client\.([a-z]+(?:_[a-z0-9]+)+)\b", sources)) | {"get_caller_identity"}

    assert services == {model.split("/")[2] for model in models}
    assert {"put_object", "list_objects_v2", "upload_part"} <= called
    assert called - {"make_request"} <= described


def test_the_licence_of_each_carried_package_is_in_the_zip(archive):
    with zipfile.ZipFile(archive) as zipped:
        names = zipped.namelist()

    licensed = set(re.findall(r"^([\w.]+)-[\d.]+\S*\.dist-info/(?:licenses/)?LICENSE", "\n".join(names), re.MULTILINE))
    assert licensed == {package.replace("-", "_") for package in carry.names()}


def test_a_zip_is_unpacked_once_and_never_taken_for_another(archive, tmp_path):
    zipped = tmp_path / "agent.pyz"
    shutil.copy(archive, zipped)
    usage = "usage: agent s3://<bucket>/<prefix>/job.json [nonce]\n"

    for _ in range(2):
        ended = subprocess.run([PYTHON, "-I", "-S", zipped], capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (2, usage)

    [unpacked] = [path for path in tmp_path.iterdir() if path != zipped]
    with zipfile.ZipFile(zipped, "w") as newer:
        newer.writestr("__main__.py", (AGENT / "unpack.py").read_text())
        newer.writestr("agent/__init__.py", "")
        newer.writestr("agent/__main__.py", "def main():\n    print('newer')\n")
    ended = subprocess.run([PYTHON, "-I", "-S", zipped], capture_output=True, text=True)
    assert ended.stdout == "newer\n"
    assert unpacked.is_dir()


def test_documents_are_plain_json(sampled, cloud, instance):
    sampled("touch", [touch_params(threads=1, files=3)])

    text = cloud.read(f"instances/{instance.userid}/samples.json").decode()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
