"""How a run ended: its status in Step Functions, and the documents that it wrote."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from aws.records import bucket
from aws.run.failures import readable
from aws.stack.clients import client
from aws.stack.environment import environment
from aws.stack.retrying import NotYet, retried
from matrix.report.message import Ended
from matrix.terms.consoles import console_of, execution_address
from matrix.terms.documents.compared import ComparisonDocument
from matrix.terms.documents.parts import Failure
from matrix.terms.documents.receipt import ReceiptDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.keys import run_key

# The same event starts the sweep. It takes some seconds, or a minute with many instances: wait two minutes in all.
SWEPT_WITHIN_S = (0.5, 1, 2, 4, 8, 15, 30, 30, 30)


class NotSwept(NotYet):
    """No sweep has run for this run since it ended."""


def of(detail: Mapping[str, Any]) -> Ended:
    """Return how a run ended, from the `detail` of the EventBridge event of its execution.

    AWS does not document error and cause in this event, so DescribeExecution provides them.
    """
    run, status = detail["name"], detail["status"]
    failure: Failure = {"name": "", "message": ""}
    if status != "SUCCEEDED":
        described = client("stepfunctions").describe_execution(executionArn=detail["executionArn"])
        if described.get("error") or described.get("cause"):
            failure = readable({"Error": described.get("error", ""), "Cause": described.get("cause", "")})
    here = environment()
    options = "--local" if here.name != "aws" else f"--stack {here.stack} --region {here.region}"
    return Ended(run, status, failure["name"], failure["message"], options, _page(run, detail["executionArn"]))


def _page(run: str, arn: str) -> str:
    """Return the address of a run for a browser: its report in the S3 console if it exists, else its execution."""
    here = environment()
    if here.name != "aws" or bucket.exists(run_key(run, "report.html")):
        return f"Report: {report_address(run)}"
    return f"Run: {execution_address(arn)}"


def report_address(run: str) -> str:
    """Return where a reader opens a run's report: its address in the S3 console, or the command of a local run."""
    here = environment()
    if here.name != "aws":
        return f"matrix report {run} --local --open"
    report = quote(run_key(run, "report.html"), safe="")
    return f"{console_of(here.region)}/s3/object/{here.bucket}?region={here.region}&prefix={report}"


def swept_receipt(run: str) -> ReceiptDocument | None:
    """Return the receipt that the sweep after a run's end has made.

    After two minutes without one, the receipt that there is, or None.
    """

    def swept() -> ReceiptDocument:
        receipt = bucket.read(run_key(run, "receipt.json"), ReceiptDocument)
        if receipt is None or receipt["sweep"] is None:
            raise NotSwept(f"no sweep has looked after {run} yet")
        return receipt

    try:
        return retried(f"the receipt of {run}", swept, SWEPT_WITHIN_S)
    except NotSwept:
        return bucket.read(run_key(run, "receipt.json"), ReceiptDocument)


def comparison(run: str) -> ComparisonDocument | None:
    """Return the comparison of a run with the one that its matrix names; None without one, or without analysis."""
    return bucket.read(run_key(run, "comparison.json"), ComparisonDocument)


def summary(run: str, receipt: ReceiptDocument | None) -> SummaryDocument | None:
    """Return a run's summary with this receipt; None of a run that ended before it was analysed."""
    written = bucket.read(run_key(run, "summary.json"), SummaryDocument)
    if written is not None and receipt is not None:
        written["receipt"] = receipt
    return written
