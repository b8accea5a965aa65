"""The way to AWS: the real `sam build && sam deploy`, unmodified, against the local cloud; then a run by boto3."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import company
from support.closed import closed
from support.owned import THEIR_BUCKET, THEIR_PREFIX, OwnedBucket, owned_bucket
from support.runs import EBS, EFS, ROOT, Cloud, Run, matrix, start_cloud, until

from cli.commands import local_up
from cli.target.deployment import from_cloud_document
from cli.verify import deployed as verified
from cli.verify import permissions
from cli.verify.checks import Verdict
from cli.verify.stack import Stack
from local.corrections import yaml_template

STACK = "storage-matrix-by-sam"
STAND_INS = Path(__file__).parent / "stand_ins"
# Reads what there is, and is refused what it may not: to read beside the prefix or what was, to write, to delete.
READER = """python3 -c '
import boto3, os
from botocore.exceptions import ClientError
bucket, prefix = os.environ["S3_BUCKET"], os.environ["S3_PREFIX"]
s3 = boto3.client("s3")
keys = [each["Key"] for each in s3.list_objects_v2(Bucket=bucket, Prefix=prefix + "/")["Contents"]]
assert [s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys] == [b"second"] * 2
for attempt in (
    lambda: s3.list_objects_v2(Bucket=bucket),
    lambda: s3.list_object_versions(Bucket=bucket, Prefix=prefix + "/"),
    lambda: s3.get_object(Bucket=bucket, Key="beside/c"),
    lambda: s3.put_object(Bucket=bucket, Key=prefix + "/new", Body=b""),
    lambda: s3.put_object_tagging(Bucket=bucket, Key=keys[0], Tagging={"TagSet": []}),
    lambda: s3.delete_object(Bucket=bucket, Key=keys[0]),
):
    try:
        attempt()
    except ClientError as error:
        assert error.response["Error"]["Code"] == "AccessDenied", error
    else:
        raise SystemExit("that was allowed")
'"""


def sam(cloud: Cloud, cwd: Path, *arguments: str) -> str:
    """Run the SAM CLI as a user would, only with another endpoint; return what it printed."""
    program = Path(sys.executable).with_name("sam")
    left = cwd.parent / "left by sam"
    left.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        **local_up.environment(cloud.description),
        "SAM_CLI_POLL_DELAY": "0.3",
        # Else it keeps an id of its user in ~/.aws-sam, and leaves empty folders in /tmp.
        "__SAM_CLI_APP_DIR": str(left),
        "TMPDIR": str(left),
        # sam build looks for the functions' Python version on PATH, and the virtual environment has it.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run([program, *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"sam {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the SAM CLI builds and deploys from."""
    sources = tmp_path_factory.mktemp("sources")
    for name in ("functions", "agent", "agent_client", "dependencies", "statemachine"):
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    # The last two are named by the template's metadata, and uploaded with it.
    for name in ("template.yaml", "samconfig.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, sources / name)
    return sources


@pytest.fixture(scope="module")
def deployed(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """The stack, built and deployed by the SAM CLI."""
    folder = tmp_path_factory.mktemp("cloud")
    with start_cloud(folder, "--no-deploy", PATH=f"{STAND_INS}{os.pathsep}{os.environ['PATH']}") as empty:
        parameters = [
            f"FunctionRuntime=python{sys.version_info.major}.{sys.version_info.minor}",
            f"FunctionArchitecture={'arm64' if os.uname().machine == 'aarch64' else 'x86_64'}",
            f"ExistingBucket={THEIR_BUCKET}",
            f"ExistingPrefix={THEIR_PREFIX}",
            f"PermissionsBoundaryArn={company.made(empty, 'benchmarks-boundary', company.document('boundary'))}",
            "RolePath=/benchmarks/",
            "ImageParameterPath=/golden/",
            f"KmsKeyArn={company.key(empty)}",
        ]
        sam(empty, sources, "build", "--parameter-overrides", *parameters)
        sam(empty, sources, "deploy", "--stack-name", STACK, "--no-confirm-changeset",
            "--parameter-overrides", *parameters, "--tags", "CostCenter=4711")  # fmt: skip
        stack = empty.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        yield replace(empty, description=empty.description | {"stack": STACK, "outputs": outputs})
        sam(empty, sources, "delete", "--stack-name", STACK, "--no-prompts", "--region", "us-east-1")


def test_each_function_and_its_layers_fit_the_250_mb_that_lambda_unpacks(deployed: Cloud, sources: Path):
    """Lambda's documentation says 250 MB and does not say which; this is the smaller."""
    build = sources / ".aws-sam/build"
    resources = yaml_template.load((build / "template.yaml").read_text())["Resources"]
    kinds = {name: resource["Type"] for name, resource in resources.items()}
    layers = [name for name, kind in kinds.items() if kind == "AWS::Serverless::LayerVersion"]
    functions = [name for name, kind in kinds.items() if kind == "AWS::Serverless::Function"]
    assert layers
    assert functions

    def size(name: str) -> int:
        properties = resources[name]["Properties"]
        folder = build / properties.get("CodeUri", properties.get("ContentUri"))
        found = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        assert found, name
        return found

    sizes = {name: size(name) + sum(map(size, layers)) for name in functions}

    assert {name: bytes_ for name, bytes_ in sizes.items() if bytes_ > 250_000_000} == {}


@pytest.fixture(scope="module")
def letters(deployed: Cloud) -> Iterator[OwnedBucket]:
    """The objects of somebody's that the stack's parameters name."""
    with owned_bucket(deployed) as made:
        yield made


def of_theirs(commands: dict[str, str], prefix: str = THEIR_PREFIX) -> dict:
    """A matrix of commands, by their names, on objects that exist."""
    return matrix(
        storage=[{"type": "s3", "client": "command", "bucket": THEIR_BUCKET, "prefix": prefix}],
        workload=[
            {"type": "command", "name": name, "command": command, "expectedSeconds": 5}
            for name, command in commands.items()
        ],
    )


def test_what_sam_has_built_and_deployed_is_found_to_be_this_tree(deployed: Cloud):
    stack = Stack(from_cloud_document(deployed.description))

    checks = list(verified.checks(stack))

    assert {check.what for check in checks} >= {"template.yaml", "functions", "agent", "statemachine/run.asl.yaml"}
    assert [check for check in checks if check.verdict is not Verdict.AS_ASSUMED] == []


def test_buckets_are_encrypted_by_the_key_of_the_parameter(deployed: Cloud):
    key = Stack(from_cloud_document(deployed.description)).parameters["KmsKeyArn"]
    resources = Stack(from_cloud_document(deployed.description)).resources

    for bucket in (resources["ResultsBucket"], resources["DataBucket"]):
        answer = deployed.client("s3").get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]
        [rule] = answer["Rules"]
        assert rule["ApplyServerSideEncryptionByDefault"] == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}


def test_a_run_encrypts_volumes_and_file_systems_by_the_key_and_no_use_of_it_is_denied(deployed: Cloud):
    key = Stack(from_cloud_document(deployed.description)).parameters["KmsKeyArn"]
    seen: dict[str, set[str]] = {}

    def look(run: Run) -> None:
        ours = [{"Name": "tag:storage-matrix:run", "Values": [run.name]}]
        described = deployed.client("ec2").describe_volumes
        until(lambda: described(Filters=ours)["Volumes"] or run.status != "RUNNING", "a volume, or the run to end")
        volumes = deployed.client("ec2").describe_volumes(Filters=ours)["Volumes"]
        seen["ec2"] = {volume.get("KmsKeyId", "") for volume in volumes}

    fsx = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
    run = deployed.run("by-key", matrix(storage=[EBS, EFS, fsx]), look)

    assert run.status == "SUCCEEDED", run.describe()
    assert run.document("plan.json")["tags"] == {"CostCenter": "4711"}, "the tags of the stack"
    [agent] = deployed.client("s3").list_objects_v2(Bucket=deployed.output("BucketName"), Prefix="agents/")["Contents"]
    assert agent["Size"] < 1_500_000, "the agent's zip holds more than the agent and its client"
    assert run.left_behind() == {}
    assert seen["ec2"] == {key}
    lines = (deployed.folder / "iam-decisions.jsonl").read_text().splitlines()
    of_key = [each for each in map(json.loads, lines) if each["action"].startswith("kms:")]
    through = {each["context"]["kms:viaservice"].partition(".")[0] for each in of_key}
    # The same use through two services is logged once, with the first of them; a denial always is.
    assert through - {"elasticfilesystem", "fsx"} == {"s3", "dynamodb", "ec2"}
    assert through & {"elasticfilesystem", "fsx"}
    assert [each for each in of_key if each["decision"] != "allow"] == []


def test_a_parameter_below_the_path_names_the_image_that_a_run_boots(deployed: Cloud):
    ssm, amazons = deployed.client("ssm"), "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
    golden = ssm.get_parameter(Name=amazons)["Parameter"]["Value"]
    ssm.put_parameter(Name="/golden/al2023", Value=golden, Type="String")

    run = deployed.run("golden", matrix(image={"ami": "/golden/al2023"}, dryRun=True))

    assert run.status == "SUCCEEDED", run.describe()
    assert [image["ami"] for image in run.document("plan.json")["images"]] == [golden]


def test_every_role_is_below_the_path_and_has_the_boundary_of_the_parameters(deployed: Cloud):
    iam = deployed.client("iam")
    names = [each["RoleName"] for each in iam.list_roles()["Roles"] if each["RoleName"].startswith(STACK)]
    roles = [iam.get_role(RoleName=name)["Role"] for name in names]

    assert len(roles) > 15
    assert {role["Path"] for role in roles} == {"/benchmarks/"}
    boundaries = {role["PermissionsBoundary"]["PermissionsBoundaryArn"].rpartition("/")[2] for role in roles}
    assert boundaries == {"benchmarks-boundary"}
    [profile] = iam.list_instance_profiles(PathPrefix="/benchmarks/")["InstanceProfiles"]
    assert [role["Path"] for role in profile["Roles"]] == ["/benchmarks/"]


def test_matrix_verify_finds_every_call_allowed_below_the_path_and_under_the_boundary(deployed: Cloud):
    stack = Stack(from_cloud_document(deployed.description))

    checks = [*permissions.checks(stack), *permissions.key_checks(stack)]

    assert len(checks) > 15
    assert [check for check in checks if check.verdict is not Verdict.AS_ASSUMED] == []


def test_objects_that_the_parameters_name_are_read_by_what_they_grant_and_are_as_they_were(
    deployed: Cloud, letters: OwnedBucket
):
    before = letters.state()

    run = deployed.run("of-theirs", of_theirs({"reader": READER, "broken": "exit 3"}))

    cells = run.summary()["cells"]
    assert [cell["state"] for cell in cells] == ["measured", "failed"], [cell["error"] for cell in cells]
    assert letters.state() == before
    until(lambda: run.rows().get("RECEIPT", {}).get("is_complete"), "the receipt to be complete")
    receipt = run.document("receipt.json")
    assert [each["id"] for each in receipt["not_ours"]] == [f"{THEIR_BUCKET}/{THEIR_PREFIX}"]
    assert {resource["kind"] for resource in receipt["resources"]} == {"instance", "volume"}


def test_the_documented_scan_of_a_bucket_reads_it_mounted_and_by_requests(deployed: Cloud, letters: OwnedBucket):
    page = (ROOT / "docs" / "storages.md").read_text()
    [example] = re.findall(
        r"```json\n(\{.*?)```", page[page.index("A bucket of yours is mounted read-only") :], re.DOTALL
    )
    document = json.loads(example.replace("my-tables", THEIR_BUCKET).replace("sales/2026", THEIR_PREFIX))
    folder = deployed.folder / "storage" / "file-systems" / THEIR_BUCKET / THEIR_PREFIX
    folder.mkdir(parents=True)
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("second")
    before = letters.state()

    with closed(folder):
        run = deployed.run("scan", matrix(**document))

    cells = run.summary()["cells"]
    assert [cell["state"] for cell in cells] == ["measured"] * 2, [cell["error"] for cell in cells]
    assert letters.state() == before


def test_objects_are_as_they_were_after_a_run_that_is_stopped(deployed: Cloud, letters: OwnedBucket, tmp_path: Path):
    before = letters.state()

    def stop(run: Run) -> None:
        until((tmp_path / "begun").exists, "the command to begin")
        deployed.client("stepfunctions").stop_execution(executionArn=run.arn, error="Interrupted", cause="a test")

    run = deployed.run("of-theirs-stopped", of_theirs({"slow": f"touch {tmp_path}/begun; sleep 60"}), stop)

    until(lambda: run.rows().get("RECEIPT", {}).get("is_complete"), "the receipt to be complete")
    assert letters.state() == before


def test_objects_beside_the_prefix_of_the_parameters_are_refused_before_anything_costs(
    deployed: Cloud, letters: OwnedBucket
):
    run = deployed.run("beside-theirs", of_theirs({"reader": READER}, prefix="beside"))

    assert run.status == "FAILED"
    assert f"ExistingBucket={letters.name} ExistingPrefix=beside" in run.describe()["cause"]
