"""Resuming a run from the command line: what is refused before anything starts."""

from support.cli_documents import plan_document


def test_a_run_that_is_still_running_is_not_resumed(cloud, matrix):
    cloud.start("going")
    cloud.write_document("going", "plan.json", plan_document())

    said = matrix("run", "--resume", "going", "--local")

    assert said.exit_code == 2
    assert "going is still running" in said.stderr
    assert "matrix watch going" in said.stderr
    executions = cloud.client.stepfunctions.list_executions(stateMachineArn=cloud.machine)["executions"]
    assert [one["name"] for one in executions] == ["going"]
