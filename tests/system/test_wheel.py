"""The wheel: in an empty environment the command works from any folder, and one package comes with it."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
# What runs: the command, the local cloud, the functions, the agent, and what `sam deploy` takes.
SHIPPED = (
    "agent", "agent_client", "cli", "dependencies", "events", "functions", "local", "statemachine", "samconfig.toml",
    "template.yaml", "LICENSE", "README.md",
)  # fmt: skip
NAMES_IN_THE_CLONE = ("agent", "agent_client", "aws", "cli", "local", "matrix")

pytestmark = pytest.mark.slow


def tracked(*paths: str) -> list[str]:
    """Return the files that git knows or would add, so that leftovers of earlier builds cannot help."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [path for path in listed.stdout.split("\0") if (ROOT / path).is_file()]


def uv(*arguments: str | Path) -> None:
    # Not the environment of the tests, which has all packages.
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    ended = subprocess.run([UV, *arguments], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    export, built = tmp_path_factory.mktemp("export"), tmp_path_factory.mktemp("built")
    for path in tracked():
        (export / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, export / path)
    uv("build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", built, export)
    [path] = built.glob("*.whl")
    return path


def installed(wheel: Path, extra: str, folder: Path) -> Path:
    """Install a wheel with an extra into an empty environment; return its folder."""
    uv("venv", "--python", sys.executable, folder)
    # The versions are those of the lock file; which packages, the wheel says.
    locked = ROOT / "requirements" / "run.txt"
    uv("pip", "install", "--python", folder / "bin" / "python", "--constraint", locked, f"{wheel}{extra}")
    return folder


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """What `pip install storage-matrix` makes: enough to use AWS."""
    return installed(wheel, "", tmp_path_factory.mktemp("environment") / "venv")


@pytest.fixture(scope="module")
def environment_with_local_cloud(wheel, tmp_path_factory):
    return installed(wheel, "[local]", tmp_path_factory.mktemp("with-local") / "venv")


@pytest.fixture
def elsewhere(tmp_path):
    """Return a folder with modules of the user's own, which have the names of ours."""
    for name in NAMES_IN_THE_CLONE:
        (tmp_path / f"{name}.py").write_text(f"raise RuntimeError('{name}.py of the working folder was imported')\n")
    return tmp_path


def run_in(environment: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    own = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    command = [environment / "bin" / "matrix", *arguments]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)


@pytest.fixture
def matrix(environment, elsewhere):
    return partial(run_in, environment, elsewhere)


def site_packages(environment: Path) -> Path:
    [folder] = environment.glob("lib/python*/site-packages")
    return folder


def test_the_wheel_holds_each_file_that_runs_and_nothing_beside_its_package(wheel):
    names = [Path(name) for name in zipfile.ZipFile(wheel).namelist()]

    [metadata] = {name.parts[0] for name in names} - {"storage_matrix"}
    shipped = {str(name.relative_to("storage_matrix")) for name in names if name.parts[0] != metadata}

    assert metadata.startswith("storage_matrix-")
    assert metadata.endswith(".dist-info")
    assert shipped == {*tracked(*SHIPPED), "__init__.py", "__main__.py"}


def test_the_version_is_that_of_the_wheel_and_the_folder_that_of_the_installation(matrix, wheel, environment):
    shown = matrix("--version")

    version = wheel.name.split("-")[1]
    assert shown.stdout.startswith(f"matrix {version} from {site_packages(environment) / 'storage_matrix'} (Python 3.")
    assert shown.stderr == ""


def test_an_installed_command_reports_the_published_figures(matrix, elsewhere):
    ended = [
        matrix("import", "--published"), matrix("results", "published-yocto"), matrix("report", "published-yocto"),
        matrix("compare", "published-yocto", "published-yocto"),
    ]  # fmt: skip

    assert [each.returncode for each in ended] == [0, 0, 0, 0], "".join(each.stderr for each in ended)
    assert "</html>" in (elsewhere / ".local/runs/published-yocto/report.html").read_text(encoding="utf-8")


def test_without_the_local_cloud_its_commands_say_in_a_line_what_to_install(matrix, environment, elsewhere):
    names = {path.name.partition("-")[0] for path in site_packages(environment).glob("*.dist-info")}
    assert names.isdisjoint({"moto", "flask", "docker", "aws_lambda_powertools", "antlr4_python3_runtime"})

    event = str(site_packages(environment) / "storage_matrix/events/local/first.json")
    for words in (("run", event, "--local"), ("demo",), ("local", "up")):
        ended = matrix(*words)
        assert ended.returncode == 2
        assert "the local cloud is not installed" in ended.stderr
        assert "pip install 'storage-matrix[local]'" in ended.stderr
        assert len(ended.stderr.splitlines()) <= 2, ended.stderr


def test_an_installed_command_runs_a_matrix_on_the_local_cloud(environment_with_local_cloud, elsewhere):
    package = site_packages(environment_with_local_cloud) / "storage_matrix"
    files_before = {path for path in package.rglob("*") if "__pycache__" not in path.parts}
    demo = json.loads((package / "events/local/first.json").read_text(encoding="utf-8"))
    # One instance instead of four: whether it runs is asked here, not how a fleet does.
    one_instance = {**demo, "fleet": [{"instanceType": "t3.medium", "count": 1}], "repetitions": 1}
    (elsewhere / "demo.json").write_text(json.dumps(one_instance))

    ended = run_in(environment_with_local_cloud, elsewhere, "run", "demo.json", "--local", "--name", "installed")

    log = elsewhere / ".local/logs/cloud.log"
    assert ended.returncode == 0, ended.stderr + (log.read_text() if log.exists() else "")
    summary = json.loads((elsewhere / ".local/runs/installed/summary.json").read_text(encoding="utf-8"))
    assert [cell["state"] for cell in summary["cells"]] == ["measured"] * 4
    assert summary["left_behind"] == []
    assert "</html>" in (elsewhere / ".local/runs/installed/report.html").read_text(encoding="utf-8")
    assert {path for path in package.rglob("*") if "__pycache__" not in path.parts} == files_before
