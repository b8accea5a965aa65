"""Reap: delete resources of runs that are no longer running, or are past their deadline."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.stack.clock import now
from aws.stack.entry import entry
from aws.teardown import reaping

logger = Logger()
ENDS = ("SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED")


@entry
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Sweep one run ({"run": …}, or the event that its execution ended) or all of them ({}).

    The event is sufficient proof of its run's end: DescribeExecution is eventually consistent and may answer RUNNING
    for some more seconds. After it the run is swept until nothing of it remains, or this function's time is over:
    nobody else does that for a run that was stopped in the console, and the next sweep is 15 minutes away.

    {"owner": …} and {"olderThanS": …} limit it to runs of this owner, and to runs that were planned so long ago.

    {"images": true} deletes baked images instead, which no other sweep deletes. Answers the deleted and the remaining
    resources: file systems take minutes, so repeat the call until nothing remains. If the account forbids EFS or FSx,
    `unasked` in the answer has the reason.
    """
    is_dry_run = event.get("dryRun", False)
    ended = event.get("detail", {})
    run = event.get("run") or ended.get("name")
    older_than_s = event.get("olderThanS")
    before = None if older_than_s is None else now() - older_than_s
    of = reaping.Selection(run, event.get("owner"), before)
    if event.get("images"):
        swept = reaping.sweep_images(of=of, is_dry_run=is_dry_run)
        logger.info("swept images", **swept)
        return swept
    if run and ended.get("status") in ENDS:
        swept = reaping.sweep_ended(run, lambda: context.get_remaining_time_in_millis() / 1_000)
    else:
        swept = reaping.sweep(of=of, is_dry_run=is_dry_run, now=now())
    logger.info("swept", **swept)
    return swept
