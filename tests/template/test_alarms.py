"""The alarms of the stack: nobody watches the sweeper that promises that nothing is left running."""

import pytest
from judge.template import ROOT, our_resources, yaml_template

ALARMS = ("ReapFailedAlarm", "ReapMissingAlarm", "RunFailedAlarm")


@pytest.fixture
def resources():
    """The resources of a stack with an address and a topic to notify."""
    return our_resources("yours")


def test_without_somebody_to_notify_there_are_no_alarms_to_pay_for():
    made = our_resources("own")

    assert [name for name in made if name.endswith("Alarm") or name.startswith(("Notify", "Tell"))] == []


def test_each_end_of_a_run_is_told_to_the_address_and_the_topic_and_to_nobody_else(resources):
    rule = resources["NotifyFunctionRunEnded"]["Properties"]["EventPattern"]["detail"]
    topics = resources["NotifyFunction"]["Properties"]["Environment"]["Variables"]["TOPIC_ARNS"].split(",")
    [policy] = resources["NotifyFunctionRole"]["Properties"]["Policies"]
    rights = [each["Resource"] for each in policy["PolicyDocument"]["Statement"] if each["Action"] == "sns:Publish"]

    assert rule["status"] == ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]
    assert len(rule["stateMachineArn"]) == 1, "the iterations of a distributed Map are executions too"
    assert len(topics) == 2
    assert sorted(topics) == sorted(rights)


def test_each_alarm_notifies_the_address_and_the_topic(resources):
    topics = {"arn:aws:sns:eu-central-1:123456789012:mine", resources_topic(resources)}

    assert {name for name in resources if name.endswith("Alarm")} == set(ALARMS)
    for name in ALARMS:
        properties = resources[name]["Properties"]
        actions = [*properties.get("AlarmActions", []), *properties.get("InsufficientDataActions", [])]
        assert sorted(topic.rpartition(":")[2] for topic in actions) == sorted(
            topic.rpartition(":")[2] for topic in topics
        )


def resources_topic(resources):
    """The name by which the judge knows the topic that the stack makes."""
    [statement] = resources["NotifyTopicPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    return statement["Resource"]


def test_alarms_watch_metrics_that_lambda_emits_for_the_sweeper(resources):
    # Errors and Invocations have the dimension FunctionName (Lambda guide, "Types of metrics for Lambda functions").
    watched = {
        name: (resources[name]["Properties"]["Namespace"], resources[name]["Properties"]["MetricName"])
        for name in ALARMS[:2]
    }

    assert watched == {
        "ReapFailedAlarm": ("AWS/Lambda", "Errors"), "ReapMissingAlarm": ("AWS/Lambda", "Invocations"),
    }  # fmt: skip
    for name in watched:
        [dimension] = resources[name]["Properties"]["Dimensions"]
        assert dimension["Name"] == "FunctionName"
        assert "ReapFunction" in dimension["Value"]


def test_no_alarm_cries_before_there_are_data_and_the_silence_of_the_sweeper_is_told(resources):
    treated = {name: resources[name]["Properties"]["TreatMissingData"] for name in ALARMS}

    # A new alarm is in INSUFFICIENT_DATA, and actions follow a change of the state (CloudWatch API, PutMetricAlarm).
    assert treated == dict.fromkeys(ALARMS, "notBreaching") | {"ReapMissingAlarm": "missing"}
    # A function that is never called emits nothing at all.
    missing = resources["ReapMissingAlarm"]["Properties"]
    assert missing["InsufficientDataActions"]
    # The slowest schedule calls it twice in what the alarm looks at.
    template = yaml_template.load((ROOT / "template.yaml").read_text())
    schedules = template["Parameters"]["SweepSchedule"]["AllowedValues"]
    slowest_s = max(60 * int(schedule.removeprefix("rate(").removesuffix(" minutes)")) for schedule in schedules)
    assert missing["Period"] * missing["EvaluationPeriods"] == 3_600 >= 2 * slowest_s


def test_each_end_of_a_run_but_success_counts_as_a_failed_run(resources):
    metrics = {metric["Id"]: metric for metric in resources["RunFailedAlarm"]["Properties"]["Metrics"]}
    shown = [metric["Id"] for metric in metrics.values() if metric.get("ReturnData", True)]

    assert shown == ["all"]
    assert {metric["MetricStat"]["Metric"]["MetricName"] for id_, metric in metrics.items() if id_ != "all"} == {
        "ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted",
    }  # fmt: skip
    assert all(id_ in metrics["all"]["Expression"] for id_ in metrics if id_ != "all")


@pytest.mark.parametrize("network", ["own", "yours"])
def test_an_event_that_the_sweeper_failed_on_is_kept(network):
    made = our_resources(network)
    configs = [resource for resource in made.values() if resource["Type"] == "AWS::Lambda::EventInvokeConfig"]

    [config] = configs
    assert config["Properties"]["FunctionName"].startswith("storage-matrix-ReapFunction-")
    assert config["Properties"]["DestinationConfig"]["OnFailure"]["Destination"].startswith("arn:aws:sqs:")
    assert made["ReapFailures"]["Properties"]["SqsManagedSseEnabled"] is True
