"""A stack that is deleted under a run: what the run has made is found again by its tags, which name the stack."""

import json
from pathlib import Path
from typing import Any

from support.runs import EFS, Cloud, Run, matrix, start_cloud, until

SLOW = {"type": "build", "name": "slow", "build": "sleep 60", "expectedSeconds": 60}


def parameters_of(stack: dict[str, Any]) -> list[dict[str, str]]:
    """The parameters of a stack; moto writes an empty list as a list of Python."""
    return [
        {"ParameterKey": each["ParameterKey"], "ParameterValue": str(each["ParameterValue"]).replace("['']", "")}
        for each in stack["Parameters"]
    ]


def test_a_stack_that_is_deployed_again_sweeps_what_a_run_of_the_deleted_one_has_left(tmp_path: Path):
    with start_cloud(tmp_path) as cloud:
        formation, name = cloud.client("cloudformation"), cloud.description["stack"]
        [stack] = formation.describe_stacks(StackName=name)["Stacks"]
        template = formation.get_template(StackName=name)["TemplateBody"]
        run = started(cloud)

        formation.delete_stack(StackName=name)
        until(lambda: not run.running_instances(), "the instance to end")
        left = file_systems(cloud)
        formation.create_stack(
            StackName=name,
            TemplateBody=template if isinstance(template, str) else json.dumps(template),
            Parameters=parameters_of(stack),
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        )
        until(lambda: swept(cloud), "the sweep of the new stack")

        assert len(left) == 1
        assert file_systems(cloud) == []


def started(cloud: Cloud) -> Run:
    """A run whose instance works on an EFS file system."""
    document = matrix(storage=[EFS], workload=[SLOW])
    answer = cloud.client("stepfunctions").start_execution(
        stateMachineArn=cloud.output("StateMachineArn"), name="under", input=json.dumps(document)
    )
    run = Run(cloud, "under", answer["executionArn"])
    until(run.running_instances, "a running instance")
    return run


def file_systems(cloud: Cloud) -> list[str]:
    return [each["FileSystemId"] for each in cloud.client("efs").describe_file_systems()["FileSystems"]]


def swept(cloud: Cloud) -> bool:
    """Sweep as `matrix reap` does; return whether nothing remains."""
    functions = cloud.client("lambda")
    [reap] = [
        each["FunctionName"] for each in functions.list_functions()["Functions"] if "Reap" in each["FunctionName"]
    ]
    answer = json.loads(functions.invoke(FunctionName=reap, Payload=b"{}")["Payload"].read())
    return answer["remaining"] == []
