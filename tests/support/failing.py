"""Calls that fail a given number of times."""

import time
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError


class Failing:
    """A call that fails a number of times, or always (None), and then answers."""

    def __init__(self, error: BaseException | None, times: int | None, answer: Any = None) -> None:
        self.error, self.left, self.answer, self.calls = error, times, answer, 0

    def __call__(self, *_: object, **__: object) -> Any:
        self.calls += 1
        if self.left is None or self.left > 0:
            self.left = None if self.left is None else self.left - 1
            assert self.error is not None
            raise self.error
        return self.answer


ROSTER = "p/roster.json"


class BarrierS3:
    """The client of the start barrier `p/` with failing calls; a gate exists as soon as it was put."""

    def __init__(self, call: str = "", error: BaseException | None = None, times: int | None = 0) -> None:
        """Let the calls fail that begin with `call`, such as `put p/ready`. The fleet is the instance i-1."""
        self.kept: dict[str, tuple[bytes, float]] = {ROSTER: (b'{"instances": ["i-1"]}', time.time())}
        self.failing, self.call = Failing(error, times), call

    def _fails(self, call: str, key: str) -> None:
        if self.call and f"{call} {key}".startswith(self.call):
            self.failing()

    def put_object(self, **request: Any) -> None:
        """Store an object unless it exists."""
        key = request["Key"]
        self._fails("put", key)
        self.kept.setdefault(key, (bytes(request["Body"]), time.time()))

    def get_object(self, **request: Any) -> dict[str, Any]:
        """Return an object, or 404."""
        key = request["Key"]
        self._fails("get", key)
        if key not in self.kept:
            raise ClientError({"Error": {}, "ResponseMetadata": {"HTTPStatusCode": 404}}, "GetObject")
        return self._object(*self.kept[key])

    def list_objects_v2(self, **request: Any) -> dict[str, Any]:
        prefix = request["Prefix"]
        self._fails("list", prefix)
        kept = [(key, at) for key, (_, at) in [*self.kept.items()] if key.startswith(prefix)]
        return {"Contents": [{"Key": key, "LastModified": self._time(at)} for key, at in kept], "IsTruncated": False}

    def _object(self, body: bytes, at: float) -> dict[str, Any]:
        return {"Body": SimpleNamespace(read=lambda *_: body), "LastModified": self._time(at)}

    @staticmethod
    def _time(at: float) -> SimpleNamespace:
        return SimpleNamespace(timestamp=lambda: at)
