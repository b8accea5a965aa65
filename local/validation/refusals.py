"""What AWS refuses of a request before it does anything: lengths, patterns, enumerations, missing and wrong members.

moto takes nearly everything, and botocore's client checks types, required members and minima only. So a token of 65
characters would first fail on AWS.
"""

import logging
import re
from functools import cache

from botocore.exceptions import UnknownServiceError
from botocore.model import OperationNotFoundError

from local.admission import Refusal
from local.roles.signatures import Request
from local.validation.requests import SentRequest
from local.validation.shapes import violations

# How AWS calls such a refusal, by protocol; of EC2 and S3:
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
# https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
# of the others the page "Common Errors" of each API reference, as
# https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html
CODES = {
    "ec2": "InvalidParameterValue",
    "query": "ValidationError",
    "rest-xml": "InvalidArgument",
    "json": "ValidationException",
    "rest-json": "ValidationException",
}
MISSING_IN_EC2 = "MissingParameter"
# Where the model is known to refuse what AWS takes: a pattern of the problem, and the reason.
KNOWN_WRONG = {
    r"RunInstances\.InstanceType: '.*' is none of .*": "AWS has new types each month, which a release of botocore "
    "lacks; moto refuses those that it does not know, in EC2's words",
}
LOG = logging.getLogger(__name__)


def refusal_of(request: Request, service: str) -> Refusal | None:
    """Return why AWS's model of the operation refuses a request that is signed for `service`, None if it does not.

    None also for operations that botocore does not know, and for what moto cannot read, which is logged.
    """
    sent = SentRequest(service, request.method, request.target, request.headers, request.read_body())
    try:
        shape = sent.operation.input_shape
    except (LookupError, OperationNotFoundError, UnknownServiceError):
        return None
    try:
        problems = [] if shape is None else violations(shape, sent.parameters(), sent.operation.name)
    except Exception as err:
        _log_once(f"{service} {request.headers.get('x-amz-target', request.method)}: {err!r}")
        return None
    problems = [problem for problem in problems if not any(re.match(wrong, problem) for wrong in KNOWN_WRONG)]
    if not problems:
        return None
    is_missing = sent.protocol == "ec2" and problems[0].endswith(": is required")
    count = f"{len(problems)} validation error{'s' if len(problems) > 1 else ''} detected"
    return Refusal(
        MISSING_IN_EC2 if is_missing else CODES[sent.protocol],
        f"{count}: {'; '.join(problems)} (the local cloud holds each request against AWS's model of it)",
    )


@cache
def _log_once(unread: str) -> None:
    LOG.warning("not held against AWS's model, as it could not be read: %s", unread)
