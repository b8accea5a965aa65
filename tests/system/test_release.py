"""A release: the same bytes each time, and a stack made of nothing but its folder, by CloudFormation alone."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from judge.template import expanded
from support.runs import EBS, EFS, ROOT, Cloud, matrix, start_cloud

from cli.target.deployment import from_cloud_document
from cli.verify import deployed as verified
from cli.verify.checks import Verdict
from cli.verify.stack import Stack
from local.corrections import yaml_template
from tools import release as tool

STACK, BUCKET = "storage-matrix-by-release", "releases"
RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
ARCHITECTURE = "arm64" if os.uname().machine == "aarch64" else "x86_64"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release of the last commit, moved away from the clone that made it."""
    into = tmp_path_factory.mktemp("release")
    command = [sys.executable, "tools/release.py", "--runtime", RUNTIME, "--architecture", ARCHITECTURE, "--into", into]
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'functions'}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [made] = into.iterdir()
    return made


@pytest.fixture(scope="module")
def deployed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """The stack that CloudFormation makes of the folder: its files lie in a bucket, and two parameters say where."""
    place = tmp_path_factory.mktemp("cloud")
    with start_cloud(place, "--no-deploy") as empty:
        s3, prefix = empty.client("s3"), f"own/{folder.name}/"
        s3.create_bucket(Bucket=BUCKET)
        for file in folder.iterdir():
            s3.put_object(Bucket=BUCKET, Key=f"{prefix}{file.name}", Body=file.read_bytes())
        given = {"ArtifactBucket": BUCKET, "ArtifactPrefix": prefix}
        cloudformation = empty.client("cloudformation")
        cloudformation.create_stack(
            StackName=STACK,
            TemplateURL=f"https://{BUCKET}.s3.amazonaws.com/{prefix}template.yaml",
            Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()],
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        )
        [stack] = cloudformation.describe_stacks(StackName=STACK)["Stacks"]
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        yield replace(empty, description=empty.description | {"stack": STACK, "outputs": outputs})


def test_a_folder_that_was_copied_is_zipped_to_the_same_bytes(tmp_path):
    (tmp_path / "a/below").mkdir(parents=True)
    (tmp_path / "a/below/z.py").write_text("z = 1")
    (tmp_path / "a/b.sh").write_text("true")
    (tmp_path / "a/b.sh").chmod(0o775)
    shutil.copytree(tmp_path / "a", tmp_path / "b", copy_function=shutil.copy)
    os.utime(tmp_path / "b/b.sh", (1e9, 1e9))
    (tmp_path / "b/b.sh").chmod(0o700)

    assert tool.zipped(tmp_path / "a") == tool.zipped(tmp_path / "b")
    (tmp_path / "b/below/z.py").write_text("z = 2")
    assert tool.zipped(tmp_path / "a") != tool.zipped(tmp_path / "b")


def test_a_template_in_which_a_line_of_a_release_is_not_found_once_is_refused():
    text = (ROOT / "template.yaml").read_text().replace("CodeUri: functions/", "CodeUri: lambda/")

    with pytest.raises(tool.NotReleased, match="has 0 times what a release replaces once: 'CodeUri: functions/'"):
        tool.template(text, {tool.FUNCTIONS: "functions-0.zip"}, "1.0.0", "python3.13", "arm64")


def test_every_file_has_its_sum_and_an_artefact_is_named_by_its_content(folder: Path):
    sums = dict(line.split("  ")[::-1] for line in (folder / tool.SUMS).read_text().splitlines())

    assert sums.keys() == {file.name for file in folder.iterdir()} - {tool.SUMS}
    for name, digest in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        if name.endswith(".zip"):
            assert name.endswith(f"-{digest[:16]}.zip")
            assert {entry.date_time for entry in zipfile.ZipFile(folder / name).infolist()} == {tool.EPOCH}


def test_no_file_of_this_machine_and_no_compiled_one_is_in_an_artefact(folder: Path):
    for name in folder.glob("*.zip"):
        archive = zipfile.ZipFile(name)
        assert [each for each in archive.namelist() if each.endswith((".pyc", "direct_url.json"))] == []
        assert [each for each in archive.namelist() if str(ROOT).encode() in archive.read(each)] == []


def test_what_it_makes_differs_from_what_the_clone_makes_only_in_where_the_code_is(folder: Path):
    own, released = (yaml_template.load((at / "template.yaml").read_text()) for at in (ROOT, folder))
    given = {"FunctionRuntime": RUNTIME, "FunctionArchitecture": ARCHITECTURE}

    ours = expanded(own, given)["Resources"]
    theirs = expanded(released, given | {"ArtifactBucket": BUCKET})["Resources"]

    assert {name for name in theirs if "Layer" not in name} == {name for name in ours if "Layer" not in name}
    roles = [name for name, resource in ours.items() if resource["Type"].startswith("AWS::IAM::")]
    assert len(roles) > 20
    assert [name for name in roles if ours[name] != theirs[name]] == []
    code = theirs["PlanMatrixFunction"]["Properties"]["Code"]
    assert code["S3Bucket"] in (BUCKET, {"Ref": "ArtifactBucket"})


def test_every_function_is_imported_by_a_python_that_has_nothing_but_the_artefacts(folder: Path, tmp_path: Path):
    for name in ("functions", "dependencies"):
        [archive] = folder.glob(f"{name}-*.zip")
        zipfile.ZipFile(archive).extractall(tmp_path / name)
    modules = [path.stem for path in (tmp_path / "functions").glob("*.py")]
    assert {"plan_matrix", "analyse_cell", "reap"} <= set(modules)
    script = (
        "import importlib, sys; sys.path += sys.argv[1:3]; [importlib.import_module(name) for name in sys.argv[3:]]"
    )
    path = tmp_path / "functions", tmp_path / "dependencies/python"

    done = subprocess.run([sys.executable, "-IS", "-c", script, *path, *modules], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


def test_a_stack_that_was_made_of_the_folder_plans_a_run_and_is_found_to_be_this_tree(deployed: Cloud):
    run = deployed.run("released", matrix(storage=[EBS, EFS], dryRun=True))

    assert run.status == "SUCCEEDED", run.describe()
    checks = list(verified.checks(Stack(from_cloud_document(deployed.description))))
    assert {check.what for check in checks} >= {"template.yaml", "functions", "agent", "statemachine/run.asl.yaml"}
    assert [check for check in checks if check.verdict is not Verdict.AS_ASSUMED] == []


@pytest.fixture(scope="module")
def snippet_python() -> Path:
    """A Python with the CDK, Node.js and a parser of Terraform's language, made once for each lock file."""
    lock = ROOT / "requirements/deploy.txt"
    place = ROOT / ".local" / f"deploy-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    if not (place / "ready").exists():
        uv, python = Path(sys.executable).with_name("uv"), place / "bin/python"
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, place], check=True)
        # pip would compile all 300 modules of the CDK, of which a script imports a few.
        install = ["pip", "install", "--quiet", "--python", python, "--require-hashes", "--requirement", lock]
        subprocess.run([uv, *install], check=True)
        (place / "ready").touch()
    return place / "bin/python"


def test_the_cdk_synthesizes_the_template_as_it_was_released(folder: Path, snippet_python: Path, tmp_path: Path):
    environment = os.environ | {
        "ARTIFACT_BUCKET": BUCKET, "PATH": f"{snippet_python.parent}{os.pathsep}{os.environ['PATH']}",
        "CDK_OUTDIR": str(tmp_path / "out"), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = subprocess.run([snippet_python, folder / "app.py"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

    made = json.loads((tmp_path / "out/storage-matrix.template.json").read_text())
    released = yaml_template.load((folder / "template.yaml").read_text())

    assert made["Parameters"]["ArtifactBucket"]["Default"] == BUCKET
    plain = verified.without_artifacts
    assert list(verified.differences(plain(released), plain(made))) == []


def test_the_snippet_for_terraform_can_be_parsed_and_names_only_parameters_of_the_release(
    folder: Path, snippet_python: Path
):
    script = "import hcl2, json, sys; print(json.dumps(hcl2.load(open(sys.argv[1]))))"
    command = [snippet_python, "-c", script, folder / "main.tf"]
    parsed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    declared = yaml_template.load((folder / "template.yaml").read_text())["Parameters"]

    made = {kind.strip('"'): body for each in parsed["resource"] for kind, body in each.items()}
    [stack] = made["aws_cloudformation_stack"].values()
    assert {name.strip('"') for name in stack["parameters"]} - declared.keys() == set()
    # https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/cloudformation_stack
    known = {"name", "template_url", "capabilities", "parameters", "tags", "depends_on"}
    assert {name for name in stack if not name.startswith("__")} - known == set()
