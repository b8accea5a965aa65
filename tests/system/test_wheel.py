"""The wheel: in an empty environment the command works from any folder, and one package comes with it.

What a user has set for the network and for AWS neither stops a local run nor sees any request of it.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
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
# Python imports it in each process: as on a machine whose `localhost` has an IPv6 address only.
IPV6_ONLY = """
import socket
resolve = socket.getaddrinfo
def getaddrinfo(host, *rest, **more):
    return resolve("::1" if host in ("localhost", b"localhost") else host, *rest, **more)
socket.getaddrinfo = getaddrinfo
"""

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


def run_in(environment: Path, folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), **settings}
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


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a proxy that answers nobody, and the first line of each request that it was sent."""
    listener, asked = socket.create_server(("127.0.0.1", 0)), []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                asked.append(connection.recv(4096).partition(b"\r\n")[0])

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def settings_of_a_user(folder: Path, proxy: str) -> dict[str, str]:
    """Variables by which requests would go elsewhere, and a `localhost` without an IPv4 address."""
    (folder / "config").write_text("[default]\nendpoint_url = http://unused\ns3 =\n  addressing_style = virtual\n")
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(IPV6_ONLY)
    proxies = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {
        **dict.fromkeys(proxies, proxy),
        "PYTHONPATH": str(folder / "site"),
        "AWS_PROFILE": "not-there",
        "AWS_DEFAULT_PROFILE": "not-there",
        "AWS_CONFIG_FILE": str(folder / "config"),
        "AWS_ENDPOINT_URL": "http://unused",
        "AWS_USE_FIPS_ENDPOINT": "true",
        "AWS_USE_DUALSTACK_ENDPOINT": "true",
    }


def test_an_installed_command_runs_a_matrix_on_the_local_cloud_past_the_users_proxy_and_aws_settings(
    environment_with_local_cloud, elsewhere, proxy
):
    address, asked = proxy
    package = site_packages(environment_with_local_cloud) / "storage_matrix"
    files_before = {path for path in package.rglob("*") if "__pycache__" not in path.parts}
    demo = json.loads((package / "events/local/first.json").read_text(encoding="utf-8"))
    # One instance instead of four: whether it runs is asked here, not how a fleet does.
    one_instance = {**demo, "fleet": [{"instanceType": "t3.medium", "count": 1}], "repetitions": 1}
    (elsewhere / "demo.json").write_text(json.dumps(one_instance))

    settings = settings_of_a_user(elsewhere, address)
    words = ("run", "demo.json", "--local", "--name", "installed")
    ended = run_in(environment_with_local_cloud, elsewhere, *words, **settings)

    log = elsewhere / ".local/logs/cloud.log"
    assert asked == []
    assert ended.returncode == 0, ended.stderr + (log.read_text() if log.exists() else "")
    summary = json.loads((elsewhere / ".local/runs/installed/summary.json").read_text(encoding="utf-8"))
    assert [cell["state"] for cell in summary["cells"]] == ["measured"] * 4
    assert summary["left_behind"] == []
    assert "</html>" in (elsewhere / ".local/runs/installed/report.html").read_text(encoding="utf-8")
    assert {path for path in package.rglob("*") if "__pycache__" not in path.parts} == files_before
