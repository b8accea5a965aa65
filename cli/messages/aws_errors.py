"""AWS errors explained to the user, with advice."""

import re
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from botocore import exceptions
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from cli.messages.errors import CommandError
from matrix.terms.quantities import rough_duration

LOG_IN = (
    "log in again (`aws sso login`, `aws login`, or new keys by `aws configure`), then check with `aws sts "
    "get-caller-identity`; another account: AWS_PROFILE"
)

DEPLOY = "deploy again: `sam build && sam deploy`"
ENABLE_REGION = (
    "enable the region in your account (`aws account enable-region --region-name REGION`), or choose another"
)
EVENTS = "read why: `aws cloudformation describe-stack-events --stack-name STACK`"

# Causes by patterns in the error code and in the message; the first row that fits decides. A message without a code is
# the state of a stack.
CAUSES: tuple[tuple[str, str, str, str], ...] = (
    ("ExpiredToken", "", "your AWS credentials have expired", LOG_IN),
    ("RequestExpired", "", "your AWS credentials have expired, or this machine's clock is wrong", LOG_IN),
    # Of STS, for both causes.
    ("RegionDisabled", "", "your account has not enabled this region, or STS in it",
     f"{ENABLE_REGION}; if it is enabled, activate STS for it (IAM console, Account settings)"),
    # Of a key in a region that is not enabled, and of a session token that is only valid in regions enabled by default.
    ("InvalidClientTokenId|UnrecognizedClient", "", "AWS does not know your access key in this region",
     f"{LOG_IN}; in a region that accounts enable first: {ENABLE_REGION}"),
    ("SignatureDoesNotMatch", "", "AWS refuses the signature of your secret key", LOG_IN),
    ("AuthFailure", "", "AWS does not accept your credentials in this region",
     f"{LOG_IN}; check this machine's clock (`date -u`); in a region that accounts enable first: {ENABLE_REGION}"),
    ("OptInRequired", "", "your account may not use this service in this region yet",
     f"finish signing up (a payment method, the e-mail), or {ENABLE_REGION}"),
    ("SubscriptionRequired", "", "your account may not use this service yet",
     "finish signing up: a payment method, and the confirmation by phone and e-mail"),
    ("PendingVerification", "", "AWS still checks your account in this region",
     "wait for its e-mail (minutes, at most 4 hours), then run again; or choose another --region"),
    ("Blocked", "", "AWS has blocked this account", "open a case with AWS Support (Account and billing)"),
    # Of a policy of the organisation, of resources, or of a session: a right elsewhere does not help.
    ("AccessDenied|UnauthorizedOperation", "explicit deny", "a policy forbids this",
     "ask who keeps the policy that is named above, or choose another account with AWS_PROFILE"),
    ("AccessDenied|UnauthorizedOperation", "", "AWS denies access",
     "ask for the action named above, or choose another account with AWS_PROFILE"),
    ("Throttling|TooManyRequests|RequestLimitExceeded", "", "AWS throttles the requests of this account",
     "wait a minute and try again: nothing was lost"),
    ("", r"^(?:IMPORT_|UPDATE_)ROLLBACK_FAILED$", "an update of this stack failed, and its rollback too",
     f"{EVENTS}; then `aws cloudformation continue-update-rollback --stack-name STACK`"),
    ("", r"^(?:ROLLBACK_COMPLETE|CREATE_FAILED|ROLLBACK_FAILED)$",
     "the first deployment of this stack failed; CloudFormation can only delete it",
     f"{EVENTS}; then `sam delete` and {DEPLOY}"),
    ("", r"^DELETE_FAILED$", "this stack could not be deleted whole",
     f"{EVENTS}; remove what is named (`matrix reap`), then `sam delete` again"),
    ("", r"^UPDATE_FAILED$", "an update of this stack failed",
     f"{EVENTS}; then `aws cloudformation rollback-stack --stack-name STACK`"),
    ("", r"^[A-Z_]+_IN_PROGRESS$", "CloudFormation is still working on this stack",
     "wait until it is done, then try again: `aws cloudformation describe-stacks --stack-name STACK`"),
    ("ExecutionAlreadyExists", "", "a run of this name exists already",
     "choose another --name, or watch it: `matrix watch`"),
    ("StateMachineDoesNotExist", "", "the state machine of this stack is gone", DEPLOY),
    ("ResourceNotFound", "", "a resource of this stack is gone", DEPLOY),
    ("NoSuchBucket", "", "the bucket of this stack is gone", DEPLOY),
)  # fmt: skip

# Codes of requests that AWS finds too old or too new, as its SDK for .NET lists them (`clockSkewErrorCodes`); EC2 says
# AuthFailure. The answer to a HEAD has no body, so its code is the status.
CLOCK_CODES = ("RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture", "InvalidSignature",
               "SignatureDoesNotMatch", "AuthFailure", "401", "403")  # fmt: skip
# AWS accepts 5 minutes, S3 15. Less than this is no reason for a refusal.
MIN_SKEW_S = 240.0
_SIGNED_AND_NOW = re.compile(r"(\d{8}T\d{6}Z) is (?:now earlier|still later) than \d{8}T\d{6}Z \((\d{8}T\d{6}Z) ")


# Of errors that are no answer of AWS: what they mean, and a way out; the first row that fits decides.
KINDS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, str], ...] = (
    (exceptions.NoCredentialsError, "no AWS credentials found", LOG_IN),
    (
        exceptions.PartialCredentialsError,
        "your AWS credentials are incomplete",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, mend the profile, or choose another by AWS_PROFILE",
    ),
    ((exceptions.SSOError, exceptions.TokenRetrievalError), "you are not signed in to AWS any more", LOG_IN),
    (exceptions.NoRegionError, "no AWS region chosen", "add --region eu-central-1, or set AWS_REGION"),
    (
        exceptions.InvalidRegionError,
        "no region of AWS",
        "write it like eu-central-1: --region, AWS_REGION or the profile's",
    ),
    (exceptions.ProfileNotFound, "no such profile", "see `aws configure list-profiles`, then set AWS_PROFILE"),
    (
        (exceptions.ConfigNotFound, exceptions.ConfigParseError, exceptions.InvalidConfigError),
        "your settings for AWS cannot be used",
        "mend ~/.aws/config (`aws configure`, `aws configure sso`), or choose another profile by AWS_PROFILE",
    ),
    (
        exceptions.SSLError,
        "no trusted connection (TLS) to this address",
        "a company's proxy signs with its own: set AWS_CA_BUNDLE to a file of its certificates (PEM), or by-pass it by "
        "NO_PROXY=.amazonaws.com; for a server without TLS write http:// into HTTPS_PROXY or AWS_ENDPOINT_URL",
    ),
    (
        exceptions.ProxyConnectionError,
        "the proxy does not let AWS through",
        "check HTTPS_PROXY (http://HOST:PORT, a user and password before HOST), or by-pass it by "
        "NO_PROXY=.amazonaws.com, of a server on this machine by NO_PROXY=localhost,127.0.0.1",
    ),
    (
        ResponseParserError,
        "something else answers in place of AWS",
        "sign in to this network (a browser shows its page), or check HTTPS_PROXY, NO_PROXY, AWS_ENDPOINT_URL",
    ),
    (
        (exceptions.ConnectionError, exceptions.HTTPClientError),
        "cannot reach AWS",
        "check the network, the name of the --region, AWS_ENDPOINT_URL and HTTPS_PROXY (a company's network may need "
        "one); for the local cloud: `matrix local up`",
    ),
)
# Whose code fails where credentials are fetched by a program, a file or a service: with errors of any class.
CREDENTIALS = "botocore.credentials"
ANOTHER_WAY = (
    "log in again, run the profile's credential_process by hand (a code of MFA needs a terminal), or choose another "
    "profile by AWS_PROFILE; check with `aws sts get-caller-identity`"
)
# Longest part of an answer that is shown.
MAX_TEXT = 300


def explain(error: Exception) -> CommandError | None:
    """Return the message for an error of boto3, or of what it calls for credentials; None for any other error."""
    if isinstance(error, ClientError):
        return _explain_answer(error)
    for kinds, meaning, advice in KINDS:
        if isinstance(error, kinds):
            return CommandError(f"{meaning}: {_text_of(error)}", advice)
    if any(frame.f_globals.get("__name__") == CREDENTIALS for frame, _ in traceback.walk_tb(error.__traceback__)):
        return CommandError(f"AWS credentials cannot be fetched: {_text_of(error)}", ANOTHER_WAY)
    if isinstance(error, ValueError) and str(error).startswith("Invalid endpoint: "):
        return CommandError(f"{error} is no address", "write AWS_ENDPOINT_URL like http://localhost:4566")
    return CommandError(str(error)) if isinstance(error, exceptions.BotoCoreError) else None


def _text_of(error: Exception) -> str:
    """Return what an error says, with the answer of a proxy, which botocore leaves out."""
    text = str(error).strip() or type(error).__name__
    refusal = re.search(r"Tunnel connection failed: [^'\")]+", str(getattr(error, "kwargs", {}).get("error", "")))
    return f"{text[:MAX_TEXT]}{f' ({refusal[0]})' if refusal else ''}"


def _explain_answer(error: ClientError) -> CommandError:
    answer = error.response.get("Error", {})
    code, message = answer.get("Code", "unknown"), answer.get("Message", "")
    if any(part in code for part in CLOCK_CODES) and (wrong := _wrong_clock(error.response, message)):
        advice = "set the clock (`sudo timedatectl set-ntp true`; in WSL `sudo hwclock -s`), then try again"
        return CommandError(f"this machine's clock is {wrong}: {message} ({error.operation_name}: {code})", advice)
    if cause := cause_of(code, message):
        meaning, advice = cause
        return CommandError(f"{meaning}: {message} ({error.operation_name}: {code})", advice)
    return CommandError(f"AWS refuses {error.operation_name}: {code}: {message}", "details with `matrix --debug …`")


def cause_of(code: str, message: str) -> tuple[str, str] | None:
    """Return cause and advice of an error, or of the state of a stack as a message without a code; None: unknown."""
    found = (
        (meaning, advice) for of, text, meaning, advice in CAUSES if re.search(of, code) and re.search(text, message)
    )
    return next(found, None)


def _wrong_clock(response: Mapping[str, Any], message: str) -> str:
    """Return how far this machine's clock is from AWS's: `18m 21s behind AWS's`; empty if it is right or unknown."""
    answer, metadata = response.get("Error", {}), response.get("ResponseMetadata", {})
    seen = _SIGNED_AND_NOW.search(message)
    # S3 writes both times into its answer, others into their message; each answer has the time in its header.
    signed, now = seen.groups() if seen else (answer.get("RequestTime"), answer.get("ServerTime"))
    ahead_s = None
    with suppress(KeyError, TypeError, ValueError):
        ahead_s = time.time() - parsedate_to_datetime(metadata["HTTPHeaders"]["date"]).timestamp()
    with suppress(TypeError, ValueError):
        ahead_s = (datetime.fromisoformat(signed) - datetime.fromisoformat(now)).total_seconds()
    if ahead_s is None:
        return "more than 15 minutes off" if answer.get("Code") == "RequestTimeTooSkewed" else ""
    if abs(ahead_s) < MIN_SKEW_S:
        return ""
    return f"{rough_duration(abs(ahead_s))} {'ahead of' if ahead_s > 0 else 'behind'} AWS's"
