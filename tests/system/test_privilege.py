"""Least privilege by proof: whole runs with the deployed roles enforced, none refused anything, no grant for nothing.

A grant that no run here needs is listed in grants_without_use.yaml with its reason, and leaves that list once a run
uses it.
"""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from judge import exchanges
from support import role_calls
from support.deployed_policies import actions_of, is_allowed, policies_of, without
from support.grants import Grant, granted, role_of, used, without_variables
from support.owned import owned_efs, owned_snapshot, owned_volume, stack_resources
from support.runs import EBS, EFS, ROOT, Cloud, Run, matrix, path_without, start_cloud, until

from cli.verify.permissions import CALLS
from matrix.storages.models import MODELS


def example_of(kind: str) -> dict[str, Any]:
    """The first storage of the first example in the section of a type in docs/storages.md."""
    section = (ROOT / "docs/storages.md").read_text(encoding="utf-8").partition(f"\n## `{kind}`\n")[2]
    [example, *_] = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    first: dict[str, Any] = json.loads("{" + example + "}")["storage"][0]
    return first


FSX = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
ONTAP = {"type": "fsx-ontap", "name": "ontap", "storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536}
EXPRESS = {"type": "s3-express", "name": "express"}
FILES = {"type": "s3-files", "name": "files", "importTrigger": "onFileAccess"}
LUSTRE = {"type": "fsx-lustre", "name": "lustre", "deploymentType": "PERSISTENT_2", "storageCapacityGiB": 1200,
          "throughputMBpsPerTiB": 125}  # fmt: skip
BY_OBJECTS = {"type": "mountpoint", "name": "by-objects", "storageClass": "EXPRESS_ONEZONE"}
LOCAL_DISK = {"type": "instance-store", "name": "local-disk"}
STORAGES = [EFS | {"name": "efs"}, EBS | {"name": "ebs"}, FSX | {"name": "fsx"}, {"type": "s3", "name": "s3"}]
BY_IAM = EFS | {"name": "by-iam", "tls": True, "iam": True}
MULTI_AZ = FSX | {"name": "multi-az", "deploymentType": "MULTI_AZ_1", "throughputCapacityMBps": 160}
ONE_ZONE = EFS | {"name": "one-zone", "deployment": "oneZone"}
SERVER = {"type": "file-server", "instanceType": "m6i.large"}
VARIED = [*STORAGES[:3], FILES, ONTAP, LUSTRE, BY_OBJECTS, BY_IAM, ONE_ZONE, MULTI_AZ]
# An NFS server that exists is not AWS's: nobody makes a call for it.
ELSEWHERE = {each["type"] for each in (*VARIED, STORAGES[3], EXPRESS, SERVER, LOCAL_DISK)} | {"nfs"}
# A type of which nothing is written here is measured as its example in docs/storages.md has it.
EVERY_MOUNT = [
    *VARIED,
    *(example_of(kind) | {"name": kind} for kind in MODELS if kind not in ELSEWHERE),
]
READ = {"type": "read", "requests": 8, "requestSize": "64KiB", "threads": 1}
ONE, TWO = ({"instanceType": "m6i.large", "count": count} for count in (1, 2))
SLOW = {"type": "build", "name": "slow", "build": "sleep 60", "expectedSeconds": 60}
CACHED = {
    "type": "command", "name": "cached", "expectedSeconds": 1, "on": "leader",
    "populate": "echo source > $CACHE_DIR/source", "command": "cp $CACHE_DIR/source out",
}  # fmt: skip
BROKEN = {"type": "build", "name": "broken", "build": "exit 1", "expectedSeconds": 1}
UNBAKEABLE = {"type": "touch", "name": "unbakeable", "files": 32, "threads": 1, "tool": "parallel"}
RECORD = "exchanges.jsonl"
WITHOUT_USE = ROOT / "tests/support/grants_without_use.yaml"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud whose decision log is kept, on a machine without GNU parallel."""
    with cloud_without_parallel(tmp_path_factory.mktemp("cloud")) as started:
        yield started


@contextmanager
def cloud_without_parallel(folder: Path) -> Iterator[Cloud]:
    """A cloud on a machine without GNU parallel, so that a matrix can ask for what is missing; it records its calls."""
    with start_cloud(folder, "--record", str(folder / RECORD), PATH=path_without(folder, "parallel")) as started:
        # Rules that keep nothing of the stack.
        ours = {"ResourceTagKey": "storage-matrix:stack", "ResourceTagValue": started.description["stack"]}
        period = {"RetentionPeriodValue": 7, "RetentionPeriodUnit": "DAYS"}
        for kind in ("EBS_VOLUME", "EBS_SNAPSHOT"):
            started.client("rbin").create_rule(ResourceType=kind, RetentionPeriod=period, ExcludeResourceTags=[ours])
        yield started


@contextmanager
def recorded() -> Iterator[tuple[list[dict[str, Any]], dict[str, str]]]:
    """The decisions of all runs, and the stack's resources: for `make calls`."""
    with TemporaryDirectory() as folder, cloud_without_parallel(Path(folder)) as started:
        yield decisions_of(started), stack_resources(started)


@pytest.fixture(scope="module")
def decisions(cloud: Cloud) -> list[dict[str, Any]]:
    """Every different decision on a call of a deployed role, over all runs that matter."""
    return decisions_of(cloud)


def decisions_of(cloud: Cloud) -> list[dict[str, Any]]:
    """Send all runs that matter through a cloud and read its log.

    Three chains of runs go on at the same time, and leave each other alone: only the first has FSx and things that are
    left behind, and only the last has images.
    """
    with ThreadPoolExecutor() as pool:
        first, *_ = pool.map(lambda chain: chain(cloud), (good_ones, failing_ones, with_images))
    until(partial(_is_swept, first), "the copies to go")
    # While it has no role no other run may launch instances.
    mute(cloud)
    _lose_data(cloud)
    stopped = cloud.run(
        "stopped",
        matrix(storage=[*STORAGES[:3], FILES, ONTAP], workload=[SLOW], budgetUsd=9_999, maxConcurrentFileSystems=5),
        partial(_stop, cloud),
    )
    until(partial(_is_swept, stopped), "the sweeps to delete everything")
    return [json.loads(line) for line in (cloud.folder / "iam-decisions.jsonl").read_text().splitlines()]


def good_ones(cloud: Cloud) -> Run:
    """Measure on every storage, with copies made behind the run's back, from a snapshot, and on Spot instances.

    Return the run whose copies are swept later.
    """
    with owned_efs(cloud) as owned:
        theirs = {"type": "efs", "fileSystemId": owned.id, "name": "theirs"}
        run = cloud.run(
            "first", matrix(storage=[*EVERY_MOUNT, theirs], budgetUsd=9_999), partial(_leave_things_behind, cloud)
        )
        assert run.status == "SUCCEEDED", run.describe()
    read = cloud.run("read", matrix(storage=[STORAGES[3], EXPRESS, SERVER], workload=[READ]))
    assert read.status == "SUCCEEDED", read.describe()
    on_disks = matrix(storage=[LOCAL_DISK], fleet=[{"instanceType": "m6id.large", "count": 1}])
    assert cloud.run("on-disks", on_disks).status == "SUCCEEDED"
    with owned_volume(cloud) as volume:
        kept = {"volumeType": "gp3", "sizeGiB": 8, "volumeId": volume.id, "mayWrite": True}
        assert cloud.run("kept", matrix(storage=[{"type": "ebs", **kept}], fleet=[ONE])).status == "SUCCEEDED"
    with owned_snapshot(cloud) as snapshot:
        zones = [each["ZoneName"] for each in cloud.client("ec2").describe_availability_zones()["AvailabilityZones"]]
        cloud.client("ec2").enable_fast_snapshot_restores(SourceSnapshotIds=[snapshot], AvailabilityZones=zones)
        storage = EBS | {"snapshotId": snapshot, "fastSnapshotRestore": True}
        spot = matrix(storage=[storage], fleet=[ONE | {"spot": True}])
        assert cloud.run("spot", spot).status == "SUCCEEDED"
    return run


def failing_ones(cloud: Cloud) -> None:
    """Fail a cell and a cache, measure again only what failed, and skip what could cost too much."""
    fleet = matrix(storage=[EFS], workload=[CACHED, BROKEN], fleet=[TWO], image={"os": "ubuntu-22.04"})
    states = {cell["workload"]["name"]: cell["state"] for cell in cloud.run("fleet", fleet).summary()["cells"]}
    assert states == {"cached": "measured", "broken": "failed"}
    cloud.run("resumed", fleet | {"resume": "fleet"})
    cloud.run("no-cache", matrix(storage=[EFS], workload=[CACHED | {"populate": "exit 7"}]))
    needs = cloud.run("needs", matrix(storage=[FSX], dryRun=True)).document("plan.json")["file_systems"][0]
    skipped = cloud.run("skipped", matrix(storage=[FSX], budgetUsd=needs["reserve_usd"] - 0.0001))
    assert skipped.cell()["error"]["name"] == "skipped: budget"
    cells = cloud.run("cells", matrix(dryRun=True, fleet=[ONE, TWO])).document("plan.json")["cells"]
    run = cloud.run("second-skipped", matrix(fleet=[ONE, TWO], budgetUsd=cells[1]["reserve_usd"] + 0.0001))
    assert [cell["state"] for cell in run.summary()["cells"]] == ["measured", "skipped"]


def mute(cloud: Cloud) -> None:
    """Launch an instance that cannot fetch its agent: only its console says why it ended."""
    with without_instance_role(cloud):
        error = cloud.run("mute", matrix()).cell()["error"]
    assert error["name"] == "InstanceDied"
    assert "it has no instance profile" in error["message"].partition("the console of i-")[2]


@contextmanager
def without_instance_role(cloud: Cloud) -> Iterator[None]:
    """Take the role from the instance profile, so that no instance can fetch its agent."""
    iam = cloud.client("iam")
    [profile] = [each for each in iam.list_instance_profiles()["InstanceProfiles"] if each["Roles"]]
    pair = {"InstanceProfileName": profile["InstanceProfileName"], "RoleName": profile["Roles"][0]["RoleName"]}
    iam.remove_role_from_instance_profile(**pair)
    yield
    iam.add_role_to_instance_profile(**pair)


def with_images(cloud: Cloud) -> None:
    """Bake images of both systems, fail to bake one, and take all away."""
    baked = matrix(image={"bake": True})
    assert cloud.run("baked", baked).status == "SUCCEEDED"
    assert cloud.run("taken", baked).status == "SUCCEEDED"
    assert cloud.run("ubuntu", baked | {"image": {"bake": True, "os": "ubuntu-22.04"}}).status == "SUCCEEDED"
    amazons = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
    own = cloud.client("ssm").get_parameter(Name=amazons)["Parameter"]["Value"]
    assert cloud.run("own-image", matrix(image={"ami": own}, dryRun=True)).status == "SUCCEEDED"
    assert cloud.run("unbakeable", baked | {"workload": [UNBAKEABLE]}).cell()["error"]["name"] == "ImageFailed"
    name, event = cloud.output("ReapFunctionName"), json.dumps({"images": True})
    until(lambda: _answer(cloud, name, event)["deleted"], "the images to go")


def _answer(cloud: Cloud, function: str, event: str) -> dict[str, Any]:
    return json.loads(cloud.client("lambda").invoke(FunctionName=function, Payload=event)["Payload"].read())


def _leave_things_behind(cloud: Cloud, run: Run) -> None:
    """Make a backup and a snapshot behind the run's back, as a backup plan of the account would; lose a volume."""
    fsx, ec2 = cloud.client("fsx"), cloud.client("ec2")
    ours = [{"Name": "tag:storage-matrix:run", "Values": [run.name]}]
    until(lambda: _open_zfs(fsx), "the FSx file system")
    fsx.create_backup(FileSystemId=_open_zfs(fsx)[0])
    until(lambda: ec2.describe_volumes(Filters=ours)["Volumes"], "a volume")
    volume = ec2.describe_volumes(Filters=ours)["Volumes"][0]
    tags = [{"ResourceType": kind, "Tags": volume["Tags"]} for kind in ("snapshot", "volume")]
    ec2.create_snapshot(VolumeId=volume["VolumeId"], TagSpecifications=tags[:1])
    ec2.create_volume(AvailabilityZone=volume["AvailabilityZone"], Size=8, TagSpecifications=tags[1:])


def _open_zfs(fsx: Any) -> list[str]:
    """The file systems that FSx backs up whole; of ONTAP it backs up volumes."""
    systems = fsx.describe_file_systems()["FileSystems"]
    return [each["FileSystemId"] for each in systems if each["FileSystemType"] == "OPENZFS"]


def _lose_data(cloud: Cloud) -> None:
    """Leave data of a run in the data bucket that nobody knows any more."""
    tags = {"stack": cloud.description["stack"], "run": "lost", "deadline": "2026-01-01T00:00:00Z"}
    document = [{"Key": f"storage-matrix:{key}", "Value": value} for key, value in tags.items()]
    [bucket] = [one["Name"] for one in cloud.client("s3").list_buckets()["Buckets"] if "databucket" in one["Name"]]
    cloud.client("s3").put_object(Bucket=bucket, Key="lost/_tags.json", Body=json.dumps(document).encode())


def _stop(cloud: Cloud, run: Run) -> None:
    """Stop the run while each of its storages is being measured, with copies of them made before."""
    until(lambda: len(run.running_instances()) == 5, "an instance on each storage")
    _leave_things_behind(cloud, run)
    cloud.client("stepfunctions").stop_execution(executionArn=run.arn, error="Interrupted", cause="a test")


def _is_swept(run: Run) -> bool:
    return not run.left_behind() and run.rows().get("RECEIPT", {}).get("is_complete", False)


@pytest.fixture(scope="module")
def made(cloud: Cloud, decisions: list[dict[str, Any]]) -> list[exchanges.Exchange]:
    """Every call of all runs, with its answer."""
    assert decisions
    return exchanges.read(cloud.folder / RECORD)


def test_aws_would_have_accepted_every_request_of_runs_on_every_storage(cloud: Cloud, made: list[exchanges.Exchange]):
    calls = {exchange.call for exchange in made}

    assert {"fsx:CreateFileSystem", "efs:PutFileSystemPolicy", "ec2:CreateImage", "s3:ListObjectsV2"} <= calls
    assert exchanges.refusals(made) == set()
    # The local cloud held each of them against its model, too.
    assert "not held against AWS's model" not in (cloud.folder / "logs/cloud.log").read_text()


def test_aws_could_have_given_every_answer_of_runs_on_every_storage(made: list[exchanges.Exchange]):
    assert exchanges.differences(made) - exchanges.KNOWN_DIFFERENCES.keys() == set()


def test_no_call_of_any_function_or_instance_is_denied(decisions: list[dict[str, str]]):
    assert {one["role"] for one in decisions}
    assert [one for one in decisions if one["decision"] != "allow"] == []


def test_every_grant_is_used_or_listed_with_the_reason_why_no_run_here_needs_it(decisions: list[dict[str, str]]):
    calls = used(decisions)
    unused = {name(grant) for grant in granted() if not any(grant.covers(*call) for call in calls)}
    explained, by_chance = explained_grants()

    assert unused - explained == set(), "grants that no run has used: remove them, or list them with the reason"
    assert explained - by_chance - unused == set(), "reasons that are no longer needed: these grants are used"


def test_matrix_verify_asks_aws_about_every_call_of_these_runs(cloud: Cloud, decisions: list[dict[str, Any]]):
    allowed = [one for one in decisions if one["decision"] == "allow"]

    def kinds(listed: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
        return {(call["role"], call["action"], call["resource"]) for call in listed}

    asked = json.loads(CALLS.read_text())
    assert kinds(role_calls.calls(allowed, stack_resources(cloud))) - kinds(asked) == set(), "write them: make calls"


def test_no_used_action_can_be_taken_from_a_statement_without_a_call_being_denied(
    cloud: Cloud, decisions: list[dict[str, str]]
):
    allowed = [one for one in decisions if one["decision"] == "allow"]
    needless, taken = [], 0
    for role in sorted({one["role"] for one in allowed}):
        calls = [one for one in allowed if one["role"] == role]
        policies = policies_of(cloud, role)
        assert [one for one in calls if not is_allowed(policies, one)] == []
        for sid, action in actions_of(policies):
            if any(one["action"] == action for one in calls):
                taken += 1
                mutant = without(policies, sid, action)
                if all(is_allowed(mutant, one) for one in calls):
                    needless.append(f"{role_of(role)} {sid} {action}")

    assert taken > 100
    assert set(needless) - set(unused_actions(decisions)) == set()


def unused_actions(decisions: list[dict[str, str]]) -> list[str]:
    """Actions of a statement that none of its resources was used by, though another statement's were."""
    calls = used(decisions)
    by_action: dict[str, bool] = {}
    for grant in granted():
        key = f"{grant.role} {grant.sid} {grant.action}"
        by_action[key] = by_action.get(key, False) or any(grant.covers(*call) for call in calls)
    acted = {(role, action) for role, action, _ in calls}
    return sorted(
        key for key, is_used in by_action.items() if not is_used and (key.split()[0], key.split()[2]) in acted
    )


def run_of(cloud: Cloud, name: str) -> Run:
    """One of the runs above."""
    machine = cloud.output("StateMachineArn")
    return Run(cloud, name, f"{machine.replace(':stateMachine:', ':execution:')}:{name}")


def image_of_samples(run: Run) -> str:
    """What the instance itself says that it has booted."""
    [key] = [each for each in run.keys(f"runs/{run.name}/cells/") if each.endswith("/samples.json")]
    return run.document(key.removeprefix(f"runs/{run.name}/"))["instance"]["image_id"]


def test_the_first_run_bakes_an_image_the_second_takes_it_and_reap_leaves_nothing(
    cloud: Cloud, decisions: list[dict[str, Any]]
):
    first, second = (run_of(cloud, name) for name in ("baked", "taken"))

    assert "Wait for images" in first.states()
    assert second.states()[3:7] == ["Images to bake?", "Bake images", "Images baked?", "Each file system"]
    assert image_of_samples(first) == image_of_samples(second)
    kept = [one for one in first.summary()["receipt"]["resources"] if one["kept"]]
    assert sorted(one["kind"] for one in kept) == ["image", "image-snapshot"]
    assert image_of_samples(first) in {one["id"] for one in kept}
    ec2 = cloud.client("ec2")
    assert ec2.describe_images(Owners=["self"])["Images"] == []
    of_images = [{"Name": "tag-key", "Values": ["storage-matrix:image"]}]
    assert ec2.describe_snapshots(Filters=of_images)["Snapshots"] == []
    assert second.left_behind() == {}
    rows = first.rows()
    assert [key for key in first.left_behind().get("open resources", []) if not rows[key].get("kept")] == []


def test_a_builder_that_fails_fails_the_run_with_its_message_and_leaves_nothing(
    cloud: Cloud, decisions: list[dict[str, Any]]
):
    run = run_of(cloud, "unbakeable")

    assert run.status == "FAILED"
    assert "GNU parallel is not installed" in run.cell()["error"]["message"]
    states = run.states()
    assert states[-4:] == ["Bake images", "Analyse run", "Every cell measured?", "Some cells failed"]
    assert run.summary()["receipt"]["totals"]["resources"] > 0
    assert run.left_behind() == {}


def name(grant: Grant) -> str:
    """How grants_without_use.yaml calls a grant, after its role."""
    resource = without_variables(grant.resource, "").split(":", 5)[-1]
    return f"{grant.role} {grant.sid} {grant.action} {resource}"


def explained_grants() -> tuple[set[str], set[str]]:
    """All grants that have a reason, and those of them that a run may happen to use."""
    explained, by_chance = set(), set()
    for entry in yaml.safe_load(WITHOUT_USE.read_text()):
        assert entry["reason"]
        names = {f"{role} {grant}" for role in entry["roles"] for grant in entry["grants"]}
        explained |= names
        by_chance |= names if entry.get("is_used_by_chance") else set()
    return explained, by_chance
