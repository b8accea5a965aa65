"""The agent as it is delivered: one zip, and the oldest Python that it promises to run on."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.agent_cloud import ROOT, touch_params

AGENT = ROOT / "agent"
SOURCES = sorted(AGENT.rglob("*.py"))


# Who wants to see the agent on the oldest boto3 that it promises to run with (Ubuntu 22.04's) makes this environment:
#   python3.9 -m venv .venv-py39 && .venv-py39/bin/pip install boto3==1.20.34
OWN_ENVIRONMENT = ROOT / ".venv-py39/bin/python"


def python39() -> str | None:
    """A Python 3.9 of this machine that has a boto3, if there is one (the boto3 of .venv needs at least 3.10)."""
    installed = sorted(Path("~/.pyenv/versions").expanduser().glob("3.9.*/bin/python"), reverse=True)
    for python in map(str, [OWN_ENVIRONMENT, *installed, shutil.which("python3.9") or "python3.9"]):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", "import boto3"], capture_output=True, check=False).returncode == 0:
                return python
    return None


PYTHON39 = python39()


@pytest.mark.skipif(PYTHON39 is None, reason="no Python 3.9 with a boto3 (python3.9 -m venv .venv-py39, see above)")
def test_a_touch_job_runs_on_python_3_9_with_a_boto3_of_its_time(cloud, instance, make_job):
    cloud.put("job.json", make_job("touch", [touch_params()]))

    assert instance.run(python=PYTHON39) == 0

    assert instance.document("samples.json")["host"]["python"].startswith("3.9.")
    assert {seen.split()[0] for seen in instance.metadata.requests_seen} == {"v2"}


def test_a_zip_with_a_small_main_is_the_whole_agent(cloud, instance, make_job, tmp_path):
    archive = tmp_path / "agent.pyz"
    with zipfile.ZipFile(archive, "w") as zipped:
        for source in SOURCES:
            zipped.write(source, source.relative_to(ROOT))
        zipped.writestr("__main__.py", "import sys\nfrom agent.__main__ import main\nsys.exit(main())\n")
    cloud.put("job.json", make_job("touch", [touch_params()]))
    env = {name: value for name, value in instance.env.items() if name != "PYTHONPATH"}
    uri = "s3://storage-matrix-agent-tests/runs/run-1/cells/ebs-gp3.touch.m6i.4xlarge-x1/job.json"

    ended = subprocess.run([sys.executable, str(archive), uri], env=env, cwd=tmp_path, check=False, timeout=50)

    assert ended.returncode == 0
    assert len(instance.document("samples.json")["agent"]["sha256"]) == 64


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(AGENT)))
def test_every_module_parses_as_python_3_9_and_imports_the_standard_library_and_one_each_an_sdk(source):
    tree = ast.parse(source.read_text(), feature_version=(3, 9))

    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    roots = {str(name).partition(".")[0] for name in imported}
    others = {
        AGENT / "board/blackboard.py": {"boto3", "botocore"},
        AGENT / "board/meeting.py": {"botocore"},
        AGENT / "engine/objects.py": {"awscrt"},
    }
    assert roots <= set(sys.stdlib_module_names) | {"agent"} | others.get(source, set())


def test_without_a_job_the_agent_says_how_to_start_it(tmp_path):
    env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}

    ended = subprocess.run(
        [sys.executable, "-m", "agent"], env=env, cwd=tmp_path, check=False, capture_output=True, text=True
    )

    assert ended.returncode == 2
    assert ended.stderr == "usage: agent s3://<bucket>/<prefix>/job.json [nonce]\n"


def test_documents_are_plain_json(cloud, instance, make_job):
    cloud.put("job.json", make_job("touch", [touch_params(threads=1, files=3)]))

    instance.run()

    text = cloud.read(f"instances/{instance.userid}/samples.json").decode()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
