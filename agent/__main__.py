"""`python3 agent.pyz s3://bucket/…/job.json [NONCE]`: do the job, report the result in S3."""

from __future__ import annotations

import io
import logging
import sys
import time
import traceback

from agent import VERSION
from agent.board.blackboard import Blackboard, Bucket, caller_userid, new_session, parse_uri, sdk_version
from agent.errors import AgentError, ContainerNotEnded, Interruption, JobInvalid
from agent.job_check import parse
from agent.machine.metadata import identify
from agent.programs import interrupts, processes
from agent.session import Session
from contract import keys

DONE, FAILED, MISUSED = 0, 1, 2
# The job, and the secret name of the fleet's start barrier.
ARGUMENTS = (2, 3)


def main() -> int:
    """Do one job. Exit status 0: done.json is written. 1: failed.json has the reason, or could not be written."""
    if len(sys.argv) not in ARGUMENTS:
        print("usage: agent s3://<bucket>/<prefix>/job.json [nonce]", file=sys.stderr)
        return MISUSED
    log, written = open_log()
    try:
        interrupts.listen()
        processes.allow_open_files()
        bucket_name, key = parse_uri(sys.argv[1])
        identity = identify()
        aws = new_session(identity.region)
        userid = caller_userid(aws)
        bucket = Bucket(bucket_name, aws)
    except (AgentError, Interruption) as err:
        # Without an identity or a bucket the error can only go to the console.
        log.error("%s: %s", err.name, err)
        return FAILED
    place = f"{identity.instance_id} ({userid})"
    log.info("agent %s with botocore %s on %s, job %s", VERSION, sdk_version(), place, sys.argv[1])
    blackboard = Blackboard(bucket, key.rpartition("/")[0], userid)
    session = Session(identity, userid, blackboard, log, nonce="".join(sys.argv[2:]))
    failure = run_job(session, bucket, key, log)
    return report_outcome(blackboard, failure, session, written)


def run_job(session: Session, bucket: Bucket, key: str, log: logging.Logger) -> dict[str, str] | None:
    """Do the job; return the failure as `error` and `message`, None for success."""
    failure = None
    try:
        body = bucket.get(key)
        if body is None:
            raise JobInvalid(f"s3://{bucket.name}/{key} is not there, or the instance's role may not read it")
        job = parse(body, session.identity.instance_id, session.userid, session.identity.subnet_id)
        interrupts.set_deadline(job.deadline_at)
        if job.kind == "bake":
            session.bake(job)
        else:
            session.run(job)
    except (AgentError, Interruption) as err:
        failure = {"error": err.name, "message": str(err)}
        log.error("%s: %s", err.name, err)
    except Exception as err:
        line = traceback.format_exception_only(type(err), err)[-1].strip()
        failure = {"error": "AgentCrashed", "message": f"{line}; the traceback is in log.gz"}
        log.exception("the agent crashed")
    finally:
        interrupts.ignore()
        processes.kill_all()
    return with_leftovers(failure)


def with_leftovers(failure: dict[str, str] | None) -> dict[str, str] | None:
    """Return the failure, extended by containers that could not be ended, which may disturb others unseen."""
    left = processes.not_ended()
    if not left:
        return failure
    if failure is None:
        return {"error": ContainerNotEnded.__name__, "message": left}
    return {**failure, "message": f"{failure['message']}; {left}"}


def report_outcome(
    blackboard: Blackboard, failure: dict[str, str] | None, session: Session, written: io.StringIO
) -> int:
    """Write the log, then done.json or failed.json, so that everything else exists before it; return the exit status.

    A failed upload becomes the failure, reported if failed.json can be written: otherwise the instance would look dead.
    """
    try:
        blackboard.put_log(written.getvalue())
        if failure is None:
            blackboard.put(keys.DONE, {"at": time.time(), "samples": session.samples_taken})
            return DONE
    except AgentError as err:
        failure = failure or {"error": err.name, "message": str(err)}
    try:
        blackboard.put(keys.FAILED, {"at": time.time(), **failure, **session.place()})
    except AgentError as err:
        logging.getLogger("agent").error("the verdict could not be delivered: %s", err)
    return FAILED


def open_log() -> tuple[logging.Logger, io.StringIO]:
    """Return a log that goes to the console, which cloud-init keeps, and the text that goes to S3 at the end."""
    written = io.StringIO()
    log = logging.getLogger("agent")
    log.setLevel(logging.INFO)
    form = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    form.converter = time.gmtime
    for stream in (sys.stderr, written):
        handler = logging.StreamHandler(stream)
        handler.setFormatter(form)
        log.addHandler(handler)
    return log, written


if __name__ == "__main__":
    sys.exit(main())
