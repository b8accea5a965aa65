"""The messages to the topics of a local cloud's stack."""

import json

from support.runs import Cloud, until

# The value of the parameter NotifyTopicArn in a test.
TOPIC = "arn:aws:sns:us-east-1:123456789012:theirs"


class Inbox:
    """A queue that has subscribed to topics."""

    def __init__(self, cloud: Cloud):
        """Create the topic that the parameter names, and subscribe to it and to the stack's own."""
        sns = cloud.client("sns")
        self._sqs = cloud.client("sqs")
        assert sns.create_topic(Name="theirs")["TopicArn"] == TOPIC
        self._queue = self._sqs.create_queue(QueueName="inbox")["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self._queue, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        self.topics = sorted(topic["TopicArn"] for topic in sns.list_topics()["Topics"])
        for topic in self.topics:
            sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
        self._seen: list[dict] = []

    def about(self, run: str) -> list[dict]:
        """All messages about a run so far."""
        for found in self._sqs.receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10).get("Messages", []):
            self._seen.append(json.loads(found["Body"]))
            self._sqs.delete_message(QueueUrl=self._queue, ReceiptHandle=found["ReceiptHandle"])
        return [each for each in self._seen if each["Subject"].split()[2] == run]

    def told(self, run: str) -> str:
        """The message about a run, after each topic has it."""
        until(lambda: len(self.about(run)) >= len(self.topics), f"{self.topics} to tell of {run}")
        messages = self.about(run)
        assert {each["TopicArn"] for each in messages} == set(self.topics)
        [text] = {each["Message"] for each in messages}
        assert len(text.splitlines()) <= 15
        return text
