"""Record requests and responses of a verification, with ids and addresses replaced, for tests/recorded."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cli.target.deployment import Deployment, Manner

# Replace each id consistently with the same stand-in, so that a response still matches its request.
PATTERNS: dict[str, re.Pattern[str]] = {
    "account": re.compile(r"(?<![0-9a-fA-F-])[0-9]{12}(?![0-9a-fA-F-])"),
    "resource": re.compile(
        r"(?<![0-9a-z-])(?:i|vol|snap|eni|eni-attach|ami|fs|fsmt|fsvol|backup|subnet|sg|sgr|rtb|vpc|vpce|igw|lt|r|sir|eipalloc)"
        r"-[0-9a-f]{8,17}\b"
    ),
    "principal": re.compile(r"\bA(?:RO|ID|KI|SI)A[A-Z0-9]{12,}\b"),
    "address": re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"),
    "host": re.compile(r"\b(?:ec2|ip)-\d+-\d+-\d+-\d+\b"),
    "mac": re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b"),
    "uuid": re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
}
# Addresses in our launch templates and security groups are the same in each account.
KEPT = {"0.0.0.0", "127.0.0.1", "169.254.169.254", "169.254.169.123"}  # noqa: S104 - not bound to
# Long members that only repeat this tree, and members with secrets.
LEFT_OUT = ("ResponseMetadata", "TemplateBody", "UserData", "Code")


@dataclass
class Recorder:
    """Keeps calls in their order."""

    calls: list[dict[str, Any]] = field(default_factory=list)

    def watch(self, client: Any) -> None:
        """Note each call of a client."""
        # A client is kept and asked for again: by its id a hook is registered once.
        client.meta.events.register("provide-client-params.*.*", self._note_request, unique_id="record-request")
        client.meta.events.register("after-call.*.*", self._note_response, unique_id="record-response")

    def _note_request(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["recorded_request"] = plain(params)

    def _note_response(self, parsed: Mapping[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        self.calls.append(
            {
                "service": model.service_model.service_name,
                "operation": model.name,
                "request": context.get("recorded_request", {}),
                "response": plain(parsed),
            }
        )

    def text(self, names: Mapping[str, str]) -> str:
        """Return all calls as JSON; `names` are the stack's physical ids by logical ids."""
        text = json.dumps(self.calls, indent=1, ensure_ascii=False)
        for logical, physical in sorted(names.items(), key=lambda pair: -len(pair[1])):
            if len(physical) >= 8:  # noqa: PLR2004 - a shorter one would be replaced within words
                text = text.replace(physical, f"{{{logical}}}")
        for kind, pattern in PATTERNS.items():
            text = _replaced(text, kind, pattern)
        return text + "\n"


def _replaced(text: str, kind: str, pattern: re.Pattern[str]) -> str:
    numbers: dict[str, int] = {}

    def stand_in(match: re.Match[str]) -> str:
        if match[0] in KEPT:
            return match[0]
        number = numbers.setdefault(match[0], len(numbers) + 1)
        prefix = f"{match[0].rpartition('-')[0]}-" if kind == "resource" else ""
        return f"{{{kind} {prefix}{number}}}"

    return pattern.sub(stand_in, text)


def plain(value: Any) -> Any:
    """Return a value as JSON; of a stream only its type."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items() if name not in LEFT_OUT}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str | int | float | bool | None) else f"<{type(value).__name__}>"


@dataclass(frozen=True)
class RecordedDeployment(Deployment):
    """A deployment whose clients are watched."""

    recorder: Recorder = field(default_factory=Recorder)

    def client(self, service: str, *, manner: Manner = "retried") -> Any:
        client = super().client(service, manner=manner)
        self.recorder.watch(client)
        return client


def recorded(deployment: Deployment, recorder: Recorder) -> RecordedDeployment:
    """Return a deployment whose calls a recorder notes."""
    return RecordedDeployment(**vars(deployment), recorder=recorder)
