"""Send the requests of a record to the local cloud, and hold the shapes of its answers against the recorded ones.

Shapes are compared by operation, over all its calls: which members there are, and whether each is a text, a number, a
list. Values are not: another account has others. A record is what `matrix verify --record` writes.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from botocore import xform_name
from botocore.exceptions import ClientError

from cli.verify.recording import plain

# Answers to more different requests than this say nothing more of an operation's shape.
REQUESTS_OF_EACH = 20
# Where a record's run is there already: on the cloud that it was recorded on.
THERE_ALREADY = "ExecutionAlreadyExists"
# A run of one small cell takes some 10 s here.
PATIENCE_S = 120

# What is ours and not AWS's: rows, and what functions are told.
OUR_OWN = ("Items", "Variables")

Shapes = dict[str, set[str]]


def differences(
    record: Iterable[Mapping[str, Any]], client: Callable[[str], Any], names: Mapping[str, str]
) -> list[str]:
    """What the local cloud answers otherwise; `names` are its physical ids by logical ids, and `account 1`."""
    recorded: Shapes = defaultdict(set)
    answered: Shapes = defaultdict(set)
    counts: Counter[str] = Counter()
    # Of a request that was sent again and again the last answer counts: what it asks for has come to its end here too.
    last = {json.dumps([call["service"], call["operation"], call["request"]]): call for call in record}
    for call in last.values():
        operation, request = f"{call['service']} {call['operation']}", filled(call["request"], names)
        if request is None or counts[operation] >= REQUESTS_OF_EACH:
            continue
        counts[operation] += 1
        response = answer(client(call["service"]), call["operation"], request)
        if response is not None:
            recorded[operation] |= shape(call["response"])
            answered[operation] |= shape(response)
    return [line for name in sorted(answered) for line in compared(name, recorded[name], answered[name])]


def filled(request: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any] | None:
    """A request with the names of this cloud; None where it names what exists in the other account only."""
    text = json.dumps(request)
    for stand_in, name in names.items():
        text = text.replace(f"{{{stand_in}}}", name)
    is_open = any(f"{{{kind} " in text for kind in ("resource", "principal", "address", "host", "uuid", "account"))
    return None if is_open else dict(json.loads(text))


def answer(client: Any, operation: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The cloud's answer, an error's too; of a run that is started once it has ended. None for a run that was there."""
    try:
        response = getattr(client, xform_name(operation))(**request)
    except ClientError as error:
        return None if error.response["Error"]["Code"] == THERE_ALREADY else plain(error.response)
    if operation == "StartExecution":
        _wait(client, response["executionArn"])
    return plain(response)


def _wait(client: Any, execution: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while client.describe_execution(executionArn=execution)["status"] == "RUNNING":
        assert time.monotonic() < until, f"{execution} still runs"
        time.sleep(0.5)


def shape(value: Any, path: str = "") -> set[str]:
    """All members of a document with their kinds, as `status text` or `events[].id number`; nothing of what is null."""
    if isinstance(value, Mapping):
        if path.endswith(OUR_OWN):
            return {f"{path} object"}
        return {f"{path} object"} | {
            line for name in value for line in shape(value[name], f"{path}.{name}".lstrip("."))
        }
    if isinstance(value, list):
        if path.endswith(OUR_OWN):
            return {f"{path} list"}
        return {f"{path} list"} | {line for part in value for line in shape(part, f"{path}[]")}
    if value is None:
        return set()
    return {f"{path} {'truth' if isinstance(value, bool) else 'text' if isinstance(value, str) else 'number'}"}


def compared(operation: str, recorded: set[str], answered: set[str]) -> Iterator[str]:
    """Yield what only one of two shapes has, but for members of lists that are empty in the other."""
    for mine, theirs, words in (
        (recorded, answered, "is not answered here"), (answered, recorded, "is not in the record"),
    ):  # fmt: skip
        for line in sorted(mine - theirs):
            lists = [line[: i + 2] for i in range(len(line)) if line.startswith("[]", i)]
            if all(any(other.startswith(parent) for other in theirs) for parent in lists):
                yield f"{operation}: {line} {words}"
