"""Errors in a single state of a definition that AWS refuses and moto accepts.

Sources: the Amazon States Language (https://states-language.net), and of the Step Functions guide the pages on each
type of state, on errors (concepts-error-handling), JSONata (transforming-data) and variables (workflow-variables).
"""

import re
from collections.abc import Iterator
from typing import Any

import jsonata

# Fields of a state in JSONata, by its type.
COMMON = {"Type", "Comment", "QueryLanguage"}
CONTINUES = {"Next", "End", "Output", "Assign"}
CALLS = CONTINUES | {"Retry", "Catch"}
FIELDS = {
    "Task": CALLS | {"Resource", "Credentials", "TimeoutSeconds", "HeartbeatSeconds", "Arguments"},
    "Map": CALLS | {"Items", "ItemSelector", "ItemProcessor", "MaxConcurrency"},
    "Parallel": CALLS | {"Branches", "Arguments"},
    "Pass": CONTINUES,
    "Wait": CONTINUES | {"Seconds", "Timestamp"},
    "Choice": {"Choices", "Default", "Output", "Assign"},
    "Succeed": {"Output"},
    "Fail": {"Error", "Cause"},
}
OF_DISTRIBUTED_MAPS = {"ItemReader", "ItemBatcher", "ResultWriter", "Label", "ToleratedFailurePercentage",
                       "ToleratedFailureCount"}  # fmt: skip
PREDEFINED_ERRORS = {"ALL", "BranchFailed", "DataLimitExceeded", "ExceedToleratedFailureThreshold", "HeartbeatTimeout",
                     "Http.Socket", "IntrinsicFailure", "ItemReaderFailed", "NoChoiceMatched", "ParameterPathFailure",
                     "Permissions", "QueryEvaluationError", "ResultPathMatchFailure", "ResultWriterFailed", "Runtime",
                     "TaskFailed", "Timeout"}  # fmt: skip
MAX_SECONDS, MAX_DELAY_S = 99_999_999, 31_622_400
MAX_NAME_LENGTH = 80
# Fields that hold states of their own, whose expressions are judged with them.
NESTED = ("ItemProcessor", "Iterator", "Branches")
REFUSED = "SCHEMA_VALIDATION_FAILED"


def problems(name: str, state: dict[str, Any], here: str, language: str) -> Iterator[str]:
    """Yield the problems of a state by itself; `language` is the query language of its expressions."""
    if len(name) > MAX_NAME_LENGTH:
        yield f"{REFUSED}: the name of a state has at most 80 characters at {here}"
    if "Next" in state and "End" in state:
        yield f"{REFUSED}: a state has Next or End, not both at {here}"
    yield from _error_handler_problems(state, here)
    if language == "JSONata" and state.get("Type") in FIELDS:
        yield from _field_problems(state, here)
        yield from _type_problems(state, here)
        yield from _expression_problems(state, here)


def _field_problems(state: dict[str, Any], here: str) -> Iterator[str]:
    allowed = COMMON | FIELDS[state["Type"]] | ({"Iterator"} if state["Type"] == "Map" else set())
    if state["Type"] == "Map" and _is_distributed(state):
        allowed |= OF_DISTRIBUTED_MAPS
    for field in sorted(state.keys() - allowed):
        yield f"{REFUSED}: the field '{field}' is not supported in this state at {here}/{field}"


def _type_problems(state: dict[str, Any], here: str) -> Iterator[str]:
    """Yield fields that a state of its type lacks, and invalid values of its fields."""
    kind = state["Type"]
    required = {"Task": "Resource", "Parallel": "Branches", "Choice": "Choices"}.get(kind)
    if required and not state.get(required):
        yield f"{REFUSED}: '{required}' is required at {here}"
    if kind == "Wait":
        if len(state.keys() & {"Seconds", "Timestamp"}) != 1:
            yield f"{REFUSED}: exactly one of 'Seconds' and 'Timestamp' is required at {here}"
        yield from _range_problems(state, "Seconds", (0, MAX_SECONDS), here)
    if kind == "Task":
        yield from _range_problems(state, "TimeoutSeconds", (1, MAX_SECONDS), here)
        # The heartbeat must be shorter than the timeout (states-language.net, Timeouts).
        timeout_s = _number(state.get("TimeoutSeconds"), MAX_SECONDS)
        yield from _range_problems(state, "HeartbeatSeconds", (1, timeout_s - 1), here)
    if kind == "Choice":
        for index, rule in enumerate(state.get("Choices", [])):
            if not {"Condition", "Next"} <= rule.keys():
                yield f"{REFUSED}: a rule has a Condition and a Next at {here}/Choices[{index}]"
    if kind == "Map":
        yield from _map_problems(state, here)


def _map_problems(state: dict[str, Any], here: str) -> Iterator[str]:
    if not state.keys() & {"ItemProcessor", "Iterator"}:
        yield f"{REFUSED}: 'ItemProcessor' is required at {here}"
    processor = state.get("ItemProcessor", {}).get("ProcessorConfig", {})
    if processor.get("Mode", "INLINE") not in ("INLINE", "DISTRIBUTED"):
        yield f"{REFUSED}: Mode is INLINE or DISTRIBUTED at {here}/ItemProcessor/ProcessorConfig"
    if _is_distributed(state) and processor.get("ExecutionType") not in ("STANDARD", "EXPRESS"):
        yield f"{REFUSED}: ExecutionType is STANDARD or EXPRESS at {here}/ItemProcessor/ProcessorConfig"
    if "Items" in state and "ItemReader" in state:
        yield f"{REFUSED}: a Map has Items or an ItemReader, not both at {here}"
    if not re.fullmatch(r"[^\s?*<>{}\[\]:;,\\|^~$#%&`\"\x00-\x1f\x7f-\x9f]{0,40}", state.get("Label", "")):
        yield f"{REFUSED}: a Label has at most 40 characters, none of them special at {here}/Label"
    yield from _range_problems(state, "ToleratedFailurePercentage", (0, 100), here)
    yield from _range_problems(state, "MaxConcurrency", (0, MAX_SECONDS), here)


def _range_problems(fields: dict[str, Any], name: str, limits: tuple[float, float], here: str) -> Iterator[str]:
    """Yield a field that has no number within its limits; an expression cannot be checked before it runs."""
    value: Any = fields.get(name)
    if name not in fields or (isinstance(value, str) and value.startswith("{%")):
        return
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not limits[0] <= value <= limits[1]:
        yield f"{REFUSED}: {value!r} is not a number from {limits[0]} to {limits[1]} at {here}/{name}"


def _number(value: Any, otherwise: float) -> float:
    return value if isinstance(value, (int, float)) else otherwise


def _is_distributed(state: dict[str, Any]) -> bool:
    return bool(state.get("ItemProcessor", {}).get("ProcessorConfig", {}).get("Mode") == "DISTRIBUTED")


def _error_handler_problems(state: dict[str, Any], here: str) -> Iterator[str]:
    for field in ("Retry", "Catch"):
        handlers = state.get(field, [])
        for index, handler in enumerate(handlers):
            path, names = f"{here}/{field}[{index}]", handler.get("ErrorEquals", [])
            if not names:
                yield f"{REFUSED}: 'ErrorEquals' names no error at {path}"
            if "States.ALL" in names and (len(names) > 1 or index + 1 < len(handlers)):
                yield f"{REFUSED}: 'States.ALL' stands alone, in the last entry at {path}/ErrorEquals"
            for name in names:
                if name.startswith("States.") and name.removeprefix("States.") not in PREDEFINED_ERRORS:
                    yield f"{REFUSED}: there is no error '{name}' at {path}/ErrorEquals"
            if field == "Catch" and "Next" not in handler:
                yield f"{REFUSED}: 'Next' is required at {path}"
            if field == "Retry":
                yield from _retrier_problems(handler, path)


def _retrier_problems(retrier: dict[str, Any], here: str) -> Iterator[str]:
    for field in sorted(retrier.keys() - {"ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate",
                                          "MaxDelaySeconds", "JitterStrategy", "Comment"}):  # fmt: skip
        yield f"{REFUSED}: the field '{field}' is not supported in a Retry at {here}/{field}"
    yield from _range_problems(retrier, "IntervalSeconds", (1, MAX_SECONDS), here)
    yield from _range_problems(retrier, "MaxAttempts", (0, MAX_SECONDS), here)
    yield from _range_problems(retrier, "BackoffRate", (1, float("inf")), here)
    if "MaxDelaySeconds" in retrier:
        # "Must be greater than IntervalSeconds and less than 31622400" (concepts-error-handling)
        least = _number(retrier.get("IntervalSeconds"), 1) + 1
        yield from _range_problems(retrier, "MaxDelaySeconds", (least, MAX_DELAY_S - 1), here)
    if retrier.get("JitterStrategy", "NONE") not in ("FULL", "NONE"):
        yield f"{REFUSED}: JitterStrategy is FULL or NONE at {here}/JitterStrategy"


def _expression_problems(state: dict[str, Any], here: str) -> Iterator[str]:
    """Yield the problems of a state's expressions, and of the names of its variables."""
    has_result = state["Type"] in ("Task", "Map", "Parallel")
    for field, value in state.items():
        if field in NESTED:
            continue
        for path, text in _texts(value, f"{here}/{field}"):
            known = {"input", "context"}
            if has_result and field in ("Output", "Assign"):
                known |= {"result"}
            if field == "Catch":
                known |= {"errorOutput"}
            yield from _text_problems(text, known, path)
    for holder in [state, *state.get("Choices", []), *state.get("Catch", [])]:
        for name in holder.get("Assign", {}):
            if not name.isidentifier() or len(name) > MAX_NAME_LENGTH or name == "states":
                yield f"{REFUSED}: '{name}' cannot be the name of a variable at {here}/Assign"


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield every text below a value with its path, names of JSONPath (`name.$`) too, which JSONata does not have."""
    if isinstance(value, dict):
        for key, child in value.items():
            if key.endswith(".$"):
                yield f"{path}/{key}", "{%"
            yield from _texts(child, f"{path}/{key}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _texts(child, f"{path}[{index}]")
    elif isinstance(value, str):
        yield path, value


def _text_problems(text: str, known: set[str], here: str) -> Iterator[str]:
    """Yield the problems of a text that may be an expression; `known` are the members of $states."""
    if not text.startswith("{%"):
        return
    if not text.endswith("%}") or len(text) < len("{%%}"):
        yield f"{REFUSED}: an expression begins with {{% and ends with %}}, names have no .$ in JSONata at {here}"
        return
    expression = text.removeprefix("{%").removesuffix("%}").strip()
    code = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "''", expression)
    # Our engine is of a later version than 2.0.6, which AWS has.
    for newer, what in ((r"\?\?", "??"), (r"\?\s*:", "?:"), (r"\$eval\b", "$eval")):
        if re.search(newer, code):
            yield f"UNSUPPORTED_JSONATA_EXPRESSION: '{what}' is not supported at {here}"
            return
    for member in re.findall(r"\$states\.(\w+)", code):
        if member not in known:
            yield f"UNSUPPORTED_JSONATA_EXPRESSION: Field '$states.{member}' does not exist. at {here}"
    try:
        parsed = jsonata.Jsonata(expression).ast
    except Exception as err:
        yield f"{REFUSED}: no JSONata: {err} at {here}"
        return
    for reference in _references_to_nothing(parsed):
        yield f"UNSUPPORTED_JSONATA_EXPRESSION: Reference to '{reference}' at the top level is not supported. at {here}"


def _references_to_nothing(node: Any) -> Iterator[str]:
    """Yield fields that an expression reads from its context, which is empty in Step Functions."""
    if node is None:
        return
    if isinstance(node, (list, tuple)):
        for part in node:
            yield from _references_to_nothing(part)
        return
    match node.type:
        case "path":
            # Later steps, predicates and groups have the step before them as their context.
            yield from _references_to_nothing(node.steps[0])
        case "name":
            yield str(node.value)
        case "variable" if node.value in ("", "$"):
            yield f"${node.value}"
        case "lambda":
            return
        case _:
            for part in (
                "lhs",
                "rhs",
                "arguments",
                "expressions",
                "expression",
                "condition",
                "then",
                "_else",
                "lhs_object",
            ):
                yield from _references_to_nothing(getattr(node, part, None))
