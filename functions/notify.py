"""Notify: tell the topics of the stack that a run has ended, for whatever reason."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.run import endings
from aws.stack.clients import client
from aws.stack.entry import entry
from matrix.report import message


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Publish one message for the event of an execution's end; answer the message.

    A state of the definition could not do this: a run that is stopped or times out enters no more states. The message
    waits some seconds for the sweep that follows each end, because only the sweep knows the remaining resources.
    """
    run = event["detail"]["name"]
    ended = endings.of(event["detail"])
    receipt = endings.swept_receipt(run) if ended.error not in message.BEFORE_ANYTHING else None
    summary = endings.summary(run, receipt)
    comparison = endings.comparison(run) if summary else None
    subject = message.subject(ended, summary, comparison)
    text = "\n".join(message.lines(ended, summary, receipt, comparison))
    for topic in filter(None, os.environ["TOPIC_ARNS"].split(",")):
        client("sns").publish(TopicArn=topic, Subject=subject, Message=text)
    return {"subject": subject, "message": text}
