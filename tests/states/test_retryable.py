"""The agent and the functions judge failures alike: which ones another attempt can mend."""

import errno
import http.client
import socket
import ssl
from urllib.error import HTTPError, URLError

import botocore.exceptions
import botocore.parsers
import pytest
import urllib3.exceptions
from botocore.exceptions import ClientError
from botocore.retries.standard import ThrottledRetryableChecker, TransientRetryableChecker

from contract import retryable


def answer(code: str, status: int) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "PutObject")


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


CASES = [
    # What AWS answers.
    (answer("SlowDown", 503), True),
    (answer("InternalError", 500), True),
    (answer("RequestTimeout", 400), True),
    (answer("ThrottlingException", 400), True),
    (answer("RequestLimitExceeded", 503), True),
    (answer("ConditionalRequestConflict", 409), True),
    (answer("429", 429), True),
    (answer("AccessDenied", 403), False),
    (answer("403", 403), False),
    (answer("AccessDeniedException", 400), False),
    (answer("UnauthorizedOperation", 403), False),
    (answer("ExpiredToken", 400), False),
    (answer("ExpiredTokenException", 403), False),
    (answer("InvalidClientTokenId", 403), False),
    (answer("SignatureDoesNotMatch", 403), False),
    (answer("InvalidParameterValue", 400), False),
    (answer("InvalidParameterCombination", 400), False),
    (answer("ValidationException", 400), False),
    (answer("UnknownOperationException", 404), False),
    (answer("NoSuchBucket", 404), False),
    (answer("NotImplemented", 501), False),
    # botocore and urllib3, before and while there is an answer.
    (botocore.exceptions.ParamValidationError(report='Unknown parameter in input: "IfNoneMatch"'), False),
    (botocore.exceptions.NoCredentialsError(), False),
    (botocore.exceptions.UnknownServiceError(service_name="s4", known_service_names="s3"), False),
    (botocore.exceptions.EndpointConnectionError(endpoint_url="https://s3"), True),
    (botocore.exceptions.ReadTimeoutError(endpoint_url="https://s3"), True),
    (botocore.exceptions.SSLError(endpoint_url="https://s3", error="EOF occurred in violation of protocol"), True),
    (botocore.exceptions.SSLError(endpoint_url="https://s3", error="certificate verify failed: expired"), False),
    (botocore.parsers.ResponseParserError("no XML"), True),
    (urllib3.exceptions.IncompleteRead(1, 2), True),
    (urllib3.exceptions.ReadTimeoutError(None, "https://s3", "Read timed out."), True),  # type: ignore[arg-type]
    # The metadata service, by Python itself.
    (HTTPError("http://i", 503, "busy", None, None), True),  # type: ignore[arg-type]
    (HTTPError("http://i", 403, "off", None, None), False),  # type: ignore[arg-type]
    (URLError(ConnectionRefusedError()), True),
    (URLError(ssl.SSLCertVerificationError("certificate verify failed")), False),
    (URLError("unknown url type: s4"), False),
    (socket.gaierror("Name or service not known"), True),
    (TimeoutError(), True),
    (OSError(errno.ENETUNREACH, "Network is unreachable"), True),
    (OSError(errno.EACCES, "Permission denied"), False),
    (http.client.BadStatusLine(""), True),
    # What is wrong with the program itself, and errors of ours.
    (KeyError("name"), False),
    (caused(RuntimeError("PUT s3://b/k"), answer("SlowDown", 503)), True),
    (caused(RuntimeError("PUT s3://b/k"), answer("AccessDenied", 403)), False),
]  # fmt: skip


@pytest.mark.parametrize(("error", "is_retryable"), CASES, ids=[repr(error)[:70] for error, _ in CASES])
def test_a_failure_is_judged(error, is_retryable):
    assert retryable.verdict(error).is_retryable is is_retryable


def test_what_botocore_itself_repeats_is_mendable():
    throttled, transient = ThrottledRetryableChecker._THROTTLED_ERROR_CODES, TransientRetryableChecker

    assert set(throttled) | set(transient._TRANSIENT_ERROR_CODES) <= retryable.MENDABLE_CODES
    assert set(transient._TRANSIENT_STATUS_CODES) <= retryable.MENDABLE_STATUSES
    assert {kind.__name__ for kind in transient._TRANSIENT_EXCEPTION_CLS} <= retryable.RETRYABLE


def test_a_reason_is_one_line_that_people_read():
    letters = "Parameter validation failed:\nUnknown parameter in input: " + "x" * 1_000

    reason = retryable.verdict(RuntimeError(letters)).reason

    assert reason.startswith("Parameter validation failed: Unknown parameter in input: x")
    assert len(reason) == retryable.REASON_MOST_LETTERS
    assert retryable.verdict(RuntimeError()).reason == "RuntimeError"
