"""The start barrier of a fleet in S3: the ready marks of a step, and the gate with its start time.

Every object here is written once (`If-None-Match: *`), so that a retry changes nothing, and S3's times are those of the
first write. A new request is better than a delayed one: each is tried once and may take `request_s`. botocore's own
retries would wait up to a minute, and then send a start time in the past.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from agent.board.s3_clock import S3Clock
from agent.errors import BlackboardUnavailable
from contract import retryable
from contract.gates import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection

    from contract.keys import BarrierKeys

FORBIDDEN, EXISTS = 403, 412
# A role without list permission gets 403 instead of 404 for a missing key, so both mean "not yet".
ABSENT = (FORBIDDEN, 404)


def at_once(body: bytes) -> bytearray:
    """Return a body that botocore sends with the head of its request.

    Of any other it makes a file, and of a file it sends the head alone, with `Expect: 100-continue`: a small PUT would
    take two journeys in place of one.
    """
    return bytearray(body)


class Unanswered(Exception):
    """S3 gave no answer that is of use this time: it was too late, throttled or broken."""

    is_retryable = True


class BarrierObjects:
    """The objects of one start barrier."""

    def __init__(self, client: Any, bucket: str, place: BarrierKeys) -> None:
        """`client` makes one attempt a request."""
        self._client, self._bucket, self._place = client, bucket, place
        self.s3_clock = S3Clock()

    def say_ready(self, step: int, userid: str) -> None:
        """Write this instance's mark; a mark that is there came from a request whose answer was lost."""
        self._create(f"{self._place.ready(step)}{userid}", {"at": time.time()})

    def open(self, step: int, gate: dict[str, Any]) -> None:
        """Write a step's gate unless it exists; callers must read the gate back."""
        self._create(self._place.gate(step), gate)

    def ready(self, step: int) -> dict[str, float]:
        """Return the ready instances by aws:userid, with S3's time (epoch seconds) of their marks."""
        prefix = self._place.ready(step)
        marks: dict[str, float] = {}
        more: dict[str, Any] = {}
        while True:
            page = self._ask(self._client.list_objects_v2, Prefix=prefix, **more)
            marks.update(
                {entry["Key"][len(prefix) :]: entry["LastModified"].timestamp() for entry in page.get("Contents", ())}
            )
            if not page["IsTruncated"]:
                return marks
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def gate(self, step: int) -> tuple[bytes, float] | None:
        """Return the first bytes of a step's gate and S3's time (epoch seconds); None while it is not there."""
        return self._get(self._place.gate(step), MAX_BYTES)

    def roster(self) -> frozenset[str] | None:
        """Return the ids of the instances that were launched together; None until Launch fleet has written them."""
        document = self._get(self._place.roster)
        return None if document is None else frozenset(json.loads(document[0])["instances"])

    def addresses(self) -> dict[str, str] | None:
        """Return the addresses of a connected fleet by instance, the leader first; None until they are there."""
        document = self._get(self._place.roster)
        addresses: dict[str, str] | None = json.loads(document[0]).get("addresses") if document else None
        return addresses

    def _create(self, key: str, document: dict[str, Any]) -> None:
        body = at_once(json.dumps(document, separators=(",", ":")).encode())
        self._ask(self._client.put_object, none_is=(EXISTS,), Key=key, Body=body, IfNoneMatch="*")

    def _get(self, key: str, most_bytes: int | None = None) -> tuple[bytes, float] | None:
        answer = self._ask(self._client.get_object, none_is=ABSENT, Key=key)
        if answer is None:
            return None
        try:
            return bytes(answer["Body"].read(most_bytes)), answer["LastModified"].timestamp()
        except Exception as err:  # it broke off: older releases of botocore let errors of urllib3 through
            raise self._translated(err, "the body of GetObject") from err

    def _ask(self, call: Any, none_is: Collection[int] = (), **request: Any) -> Any:
        """Return the answer, None for a status of `none_is`.

        Raises Unanswered where another attempt may be answered, BlackboardUnavailable where none will be.
        """
        from botocore.exceptions import ClientError

        sent_at = time.time()
        try:
            answer = call(Bucket=self._bucket, **request)
            self.s3_clock.heard(answer, sent_at, time.time())
            return answer
        except Exception as err:
            if isinstance(err, ClientError):
                self.s3_clock.heard(err.response, sent_at, time.time())
            if isinstance(err, ClientError) and err.response["ResponseMetadata"]["HTTPStatusCode"] in none_is:
                return None
            raise self._translated(err, getattr(call, "__name__", "a request")) from err

    def _translated(self, err: Exception, request: str) -> Exception:
        """Return an AgentError for an error of a request, and any other error unchanged."""
        from botocore.exceptions import BotoCoreError, ClientError

        verdict = retryable.verdict(err)
        if verdict.is_retryable:
            return Unanswered(verdict.reason)
        if isinstance(err, (BotoCoreError, ClientError)):
            return BlackboardUnavailable(f"{request} below {self._place.prefix} is refused: {verdict.reason}")
        return err
