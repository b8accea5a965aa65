"""Planning from the command line: tables for people, documents for programs, every mistake at once."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MISTAKES = {
    "storage": [
        {"type": "ebs", "volumeType": "gp3", "sizeGiB": 10, "iops": 20000},
        {"type": "efs", "performanceMode": "maxIO", "throughputMode": "elastic"},
        {"type": "fsx-openzfs", "storageCapacityGiB": 1024, "throughputCapacityMBps": 300},
    ],
    "workload": [{"type": "touch", "files": 0, "threads": []}],
    "repetitions": 0,
    "colour": "red",
}


def test_a_plan_shows_what_each_storage_costs_with_each_size_of_the_fleet_and_the_sums_are_those_of_its_cells(
    matrix, scenario
):
    path = scenario(
        storage=[{"type": "ebs", "volumeType": "gp3", "sizeGiB": 20}, {"type": "efs"}],
        workload=[{"type": "touch", "files": 64}, {"type": "touch", "files": 640}],
        fleet=[{"instanceType": "m6i.large", "count": [4, 1]}, {"instanceType": "m6i.large", "placement": "spread"}],
    )
    plan = json.loads(matrix("plan", path, "--json").stdout)

    lines = matrix("plan", path).stdout.splitlines()

    costs = {}
    for cell in plan["cells"]:
        kind = (cell["storage"]["type"], cell["fleet"].get("placement"), cell["fleet"]["count"])
        costs[kind] = costs.get(kind, 0.0) + cell["cost_usd"]["expected"]
    start = next(number for number, line in enumerate(lines) if line.startswith("Storage"))
    assert lines[start].split() == ["Storage", "By", "hours", "By", "use", "1", "4"]
    rows = {line.split("  ")[0]: line.split()[-2:] for line in lines[start + 1 : start + 5]}
    # Storages stand in the order of the matrix, whatever the order of the run.
    assert rows == {
        "EBS gp3": [f"${costs['ebs', None, count]:.3f}" for count in (1, 4)],
        "EBS gp3, spread over zones": rows["EBS gp3, spread over zones"],
        "EFS elastic": [f"${costs['efs', None, count]:.3f}" for count in (1, 4)],
        "EFS elastic, spread over zones": [f"${costs['efs', 'spread', 1]:.3f}", "–"],
    }
    assert [*rows][::2] == ["EBS gp3", "EFS elastic"]


def test_a_plan_over_budget_is_refused_first_and_by_its_exit_code_as_its_run_is(matrix, scenario):
    path = scenario(budgetUsd=0.001)

    shown, document, run = matrix("plan", path), matrix("plan", path, "--json"), matrix("run", path, "--local")

    assert (shown.exit_code, document.exit_code, run.exit_code) == (2, 2, 2)
    assert "budgetUsd is $0.001" in shown.stdout.splitlines()[1]
    assert shown.stdout.count("budgetUsd") == run.stderr.count("budgetUsd is $0.001") + 1
    assert matrix("plan", scenario(budgetUsd=100)).exit_code == 0


def test_a_plan_shows_apart_what_grows_with_bytes_and_on_which_assumption(matrix, scenario):
    hundred_s = {"type": "command", "name": "unpack", "command": "tar xf a.tar", "expectedSeconds": 100}
    path = scenario(
        storage=[{"type": "ebs", "volumeType": "gp3", "sizeGiB": 20}, {"type": "efs"}, {"type": "mountpoint"}],
        workload=[hundred_s], fleet=[{"instanceType": "m6i.large", "count": [3]}], repetitions=2,
    )  # fmt: skip
    wanted = json.loads(matrix("plan", path, "--json").stdout)

    lines = matrix("plan", path, env={"COLUMNS": "160"}).stdout.splitlines()

    # 3 instances × 2 repetitions × 100 s × 10 MB/s = 6 GB each way, at 0.03 and 0.06 USD of a GiB.
    usd = 6e9 / 2**30 * (0.03 + 0.06)
    [efs] = [system for system in wanted["file_systems"] if system["storage"]["type"] == "efs"]
    assert efs["assumed_bytes_per_s"] == 10e6
    uses = [use for cell in wanted["cells"] if cell["id"] in efs["cells"] for use in cell["by_use"]]
    assert sum(use["cost_usd"]["expected"] for use in uses) == pytest.approx(usd, abs=1e-3)
    by_hours, by_bytes = next(line for line in lines if line.startswith("EFS elastic  ")).split()[2:4]
    assert float(by_hours.removeprefix("$")) == pytest.approx(efs["cost_usd"]["expected"] - usd, abs=1e-2)
    assert by_bytes == f"${usd:.2f}"
    assert "EFS elastic: 5.59 GiB read at $0.03, 5.59 GiB written at $0.06 *" in lines
    assumed = next(line for line in lines if line.startswith("* assumed"))
    assert "reads 10 MB/s and writes 10 MB/s while your command runs" in assumed
    assert "high counts as many as AWS allows" in assumed
    assert [line.split()[2:4] for line in lines if line.startswith("EBS gp3")] == [["included", "–"]]
    [by_requests] = [line for line in lines if line.startswith("Mountpoint: ")]
    assert "GET requests at $0.4 per million" in by_requests


def test_a_plan_says_offline_what_the_account_must_have_and_how_to_ask_for_it(matrix, scenario):
    path = scenario(fleet=[{"instanceType": "m6i.large", "count": 100}])
    shown = matrix("plan", path, "--region", "eu-west-1").stdout
    whole = matrix("plan", path, "--region", "eu-west-1", "--all").stdout
    emulated = matrix("plan", scenario(emulate=True)).stdout

    assert re.search(r"Running On-Demand Standard .*instances, vCPUs +200 +5 +ask$", whole, re.MULTILINE)
    assert re.search(r"^Quotas above AWS's defaults: .* 200 vCPUs, default 5 ", shown, re.MULTILINE)
    assert (
        "aws service-quotas request-service-quota-increase --service-code ec2 --quota-code L-1216C47A"
        " --desired-value 200 --region eu-west-1"
    ) in shown
    assert shown.count("request-service-quota-increase") == 1
    assert "account" not in emulated


@pytest.mark.parametrize("region", ["all", "eu-central", "eu-central-1a"])
def test_no_plan_has_the_costs_of_a_region_that_cannot_exist(matrix, scenario, region):
    seen = matrix("plan", scenario(), "--region", region)

    assert (seen.exit_code, seen.stdout) == (2, "")
    assert f"{region!r} is no AWS region" in seen.stderr


def test_a_matrix_is_read_from_a_pipe(matrix, scenario):
    text = Path(scenario(name="piped")).read_text()

    assert json.loads(matrix("plan", "-", "--json", input=text).stdout)["name"] == "piped"


def test_all_mistakes_are_listed_for_people_and_for_programs(matrix, scenario):
    said = matrix("plan", scenario(**MISTAKES), env={"COLUMNS": "80"})
    problems = json.loads(matrix("plan", scenario(**MISTAKES), "--json").stdout)["problems"]

    assert (said.exit_code, said.stdout) == (2, "")
    assert "7 problems, nothing was started" in said.stderr
    assert len(problems) == 7
    for problem in problems:
        assert set(problem) == {"path", "value", "rule", "fix", "code"}
        assert f"{problem['path']}: " in said.stderr
    assert said.stderr.count("fix: ") == 7


def test_run_refuses_a_bad_matrix_before_anything_is_created(matrix, scenario):
    said = matrix("run", scenario(**MISTAKES), "--local")

    assert said.exit_code == 2
    assert "local cloud" not in said.stderr


def test_run_on_aws_does_not_spend_money_unasked(matrix, scenario):
    said = matrix("run", scenario(), "--stack", "storage-matrix", "--region", "eu-central-1")

    assert said.exit_code == 2
    assert "cost $" in said.stderr
    assert "add --yes" in said.stderr


def test_the_cost_that_is_agreed_to_is_that_of_the_region_where_it_will_arise(matrix, scenario, monkeypatch):
    asked = [matrix("run", scenario(), "--region", "us-east-1").stderr, matrix("run", scenario()).stderr]
    monkeypatch.setenv("AWS_REGION", "sa-east-1")

    elsewhere = matrix("run", scenario()).stderr

    assert asked[0] == asked[1]
    # The expected cost is that of the book, its range is wider.
    assert elsewhere.partition(" between ")[::2] != asked[0].partition(" between ")[::2]
    assert elsewhere.partition(" between ")[0] == asked[0].partition(" between ")[0]
    assert elsewhere == matrix("run", scenario(), "--region", "sa-east-1").stderr


def test_the_version_is_that_of_the_distribution_and_may_be_asked_for_anywhere(matrix):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    shown = matrix("--version").stdout

    assert shown.startswith(f"matrix {declared} from {ROOT} (Python 3.")
    assert matrix("--debug", "--version").stdout == shown


@pytest.mark.parametrize(
    ("modules", "slow"),
    [
        (
            "cli.main",
            ("boto3", "botocore", "pydantic", "numpy", "moto", "yaml", "importlib.metadata", "email", "zipfile"),
        ),
        ("matrix.check.read, matrix.plan.planning", ("boto3", "botocore", "numpy")),
    ],
    ids=["help", "a plan"],
)
def test_a_command_imports_nothing_that_takes_long_and_is_not_needed_for_it(modules, slow):
    code = f"import sys, {modules}; print([m for m in {slow} if m in sys.modules])"
    paths = f"{ROOT}:{ROOT / 'functions'}"
    shown = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )

    assert shown.stdout.strip() == "[]"
