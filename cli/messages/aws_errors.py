"""AWS errors explained to the user, with advice."""

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    ReadTimeoutError,
    SSOTokenLoadError,
    TokenRetrievalError,
    UnauthorizedSSOTokenError,
)

from cli.messages.errors import CommandError

LOG_IN = "log in again (`aws sso login`, or new keys by `aws configure`), then check with `aws sts get-caller-identity`"

# Error codes that several services share; the first that the code contains decides.
CODES: dict[str, tuple[str, str]] = {
    "ExpiredToken": ("your AWS credentials have expired", LOG_IN),
    "RequestExpired": ("your AWS credentials have expired, or this machine's clock is wrong", LOG_IN),
    "InvalidClientTokenId": ("AWS does not know your access key", LOG_IN),
    "UnrecognizedClient": ("AWS does not know your access key", LOG_IN),
    "SignatureDoesNotMatch": ("AWS refuses the signature of your secret key", LOG_IN),
    "AccessDenied": (
        "AWS denies access",
        "ask for the action named above, or choose another account with AWS_PROFILE",
    ),
    "UnauthorizedOperation": ("AWS denies access", "ask for the action named above, or choose another AWS_PROFILE"),
    "Throttling": ("AWS throttles the requests of this account", "wait a minute and try again: nothing was lost"),
    "TooManyRequests": ("AWS throttles the requests of this account", "wait a minute and try again: nothing was lost"),
    "ExecutionAlreadyExists": (
        "a run of this name exists already",
        "choose another --name, or watch it: `matrix watch`",
    ),
    "StateMachineDoesNotExist": (
        "the state machine of this stack is gone",
        "deploy again: `sam build && sam deploy`",
    ),
    "ResourceNotFound": ("a resource of this stack is gone", "deploy again: `sam build && sam deploy`"),
    "NoSuchBucket": ("the bucket of this stack is gone", "deploy again: `sam build && sam deploy`"),
}


def explain(error: Exception) -> CommandError | None:  # noqa: PLR0911 - one for each kind of error
    """Return the message for an error of boto3; None for any other error."""
    if isinstance(error, ClientError):
        return _explain_answer(error)
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return CommandError("no AWS credentials found", f"{LOG_IN}; or try without an account: add --local")
    if isinstance(error, UnauthorizedSSOTokenError | SSOTokenLoadError | TokenRetrievalError):
        return CommandError("your AWS sign-on session has expired", LOG_IN)
    if isinstance(error, NoRegionError):
        return CommandError("no AWS region chosen", "add --region eu-central-1, or set AWS_REGION")
    if isinstance(error, ProfileNotFound):
        return CommandError(str(error), "see `aws configure list-profiles`, then set AWS_PROFILE")
    if isinstance(error, EndpointConnectionError | ConnectTimeoutError | ReadTimeoutError):
        return CommandError(
            f"cannot reach AWS: {error}",
            "check the network, the name of the --region and AWS_ENDPOINT_URL; for the local cloud: `matrix local up`",
        )
    return CommandError(str(error)) if isinstance(error, BotoCoreError) else None


def _explain_answer(error: ClientError) -> CommandError:
    answer = error.response.get("Error", {})
    code, message = answer.get("Code", "unknown"), answer.get("Message", "")
    for part, (meaning, advice) in CODES.items():
        if part in code:
            return CommandError(f"{meaning}: {message} ({error.operation_name}: {code})", advice)
    return CommandError(f"AWS refuses {error.operation_name}: {code}: {message}", "details with `matrix --debug …`")
