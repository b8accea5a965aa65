"""What follows when an execution ends, and schedules."""

import json
import re

from support.running_cloud import role, wait_until

RECORD = """
import boto3, json, os, time
def handler(event, context):
    boto3.client("s3").put_object(Bucket="events", Key=f"{os.environ['NAME']}/{time.time_ns()}", Body=json.dumps(event))
"""


def recorder(name, **events):
    """A function that writes each event that it gets, below this name."""
    return {
        "Type": "AWS::Serverless::Function",
        "Properties": {
            "Runtime": "python3.11",
            "Handler": "index.handler",
            "InlineCode": RECORD,
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Environment": {"Variables": {"NAME": name}},
            "Events": events,
        },
    }


SAM = {
    "Transform": "AWS::Serverless-2016-10-31",
    "Resources": {
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "events"}},
        "Role": role({"Effect": "Allow", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::events/*"}),
        "MachineRole": role(service="states.amazonaws.com"),
        "Machine": {
            "Type": "AWS::Serverless::StateMachine",
            "Properties": {
                "Role": {"Fn::GetAtt": ["MachineRole", "Arn"]},
                "Definition": {
                    "QueryLanguage": "JSONata",
                    "StartAt": "Wait",
                    "States": {"Wait": {"Type": "Wait", "Seconds": "{% $states.input.seconds %}", "End": True}},
                },
            },
        },
        "Recorder": recorder(
            "ended",
            Ended={
                "Type": "EventBridgeRule",
                "Properties": {
                    "Pattern": {
                        "source": ["aws.states"],
                        "detail-type": ["Step Functions Execution Status Change"],
                        "detail": {"stateMachineArn": [{"Ref": "Machine"}], "status": ["ABORTED", "SUCCEEDED"]},
                    }
                },
            },
        ),
        "Sweeper": recorder(
            "swept",
            Rule={"Type": "Schedule", "Properties": {"Schedule": "rate(1 minute)", "Input": '{"by": "rule"}'}},
            Scheduler={
                "Type": "ScheduleV2",
                "Properties": {
                    "ScheduleExpression": "rate(1 minute)",
                    "Input": '{"by": "scheduler", "at": "<aws.scheduler.scheduled-time>"}',
                },
            },
        ),
    },
    "Outputs": {"Machine": {"Value": {"Ref": "Machine"}}},
}


def test_the_end_of_an_execution_invokes_the_functions_of_matching_rules(cloud):
    states = cloud.client("stepfunctions")
    machine = cloud.deploy("events", SAM)["Machine"]

    finished = states.start_execution(stateMachineArn=machine, name="finished", input='{"seconds": 1}')["executionArn"]
    stopped = states.start_execution(stateMachineArn=machine, name="stopped", input='{"seconds": 9999}')["executionArn"]
    states.stop_execution(executionArn=stopped, error="Stopped", cause="by hand")
    received = wait_until(lambda: (events := _events(cloud, "ended")) and len(events) >= 2 and events, "two events")

    details = {event["detail"]["name"]: event["detail"] for event in received}
    assert len(received) == 2
    assert {event["source"] for event in received} == {"aws.states"}
    assert {event["detail-type"] for event in received} == {"Step Functions Execution Status Change"}
    assert (details["finished"]["status"], details["finished"]["executionArn"]) == ("SUCCEEDED", finished)
    assert (details["stopped"]["status"], details["stopped"]["cause"]) == ("ABORTED", "by hand")
    assert details["stopped"]["stateMachineArn"] == machine
    assert details["stopped"]["stopDate"] >= details["stopped"]["startDate"]


def test_schedules_fire_in_scaled_time(cloud):
    # rate(1 minute) at a scale of 40 would be 1.5 s; the shortest interval is 2 s
    swept = wait_until(
        lambda: {event["by"] for event in _events(cloud, "swept")} == {"rule", "scheduler"}, "both schedules"
    )
    times = [event["at"] for event in _events(cloud, "swept") if event["by"] == "scheduler"]
    assert all(re.fullmatch(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", at) for at in times)

    assert swept
    cloud.client("cloudformation").delete_stack(StackName="events")


def _events(cloud, name: str) -> list[dict]:
    s3 = cloud.client("s3")
    keys = [stored["Key"] for stored in s3.list_objects_v2(Bucket="events", Prefix=f"{name}/").get("Contents", [])]
    return [json.loads(s3.get_object(Bucket="events", Key=key)["Body"].read()) for key in keys]
