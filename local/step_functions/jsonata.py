"""JSONata for the Step Functions interpreter: moto calls an engine that it does not include.

moto also puts every variable as source text before the expression, which takes 53 ms for an input of 12 kB and breaks
at a string with a quote. Here an expression is parsed once per thread, and variables are bound to it.
"""

import datetime
import decimal
import json
import re
import threading
from functools import lru_cache
from typing import Any

import jsonata
from jsonata.functions import Functions
from jsonata.parser import Parser
from jsonata.utils import Utils
from moto.stepfunctions.parser.asl.component.common.string.string_expression import StringJSONata
from moto.stepfunctions.parser.asl.jsonata import jsonata as moto_jsonata

from local.step_functions import failures

_threads = threading.local()
# From here on JavaScript writes whole numbers with an exponent, and below this one fractions.
MIN_WITH_EXPONENT, MIN_WITHOUT = 1e21, 1e-6


class JsonataError(ValueError):
    """The expression cannot be evaluated, or has no result, or its result is not JSON; the message has the reason."""


def install() -> None:
    StringJSONata._eval_body = _evaluate_in_state
    moto_jsonata._eval_jsonata = evaluate  # for the rare callers that compose source text


def evaluate(expression: str, variables: dict[str, Any] | None = None) -> Any:
    """Return the JSON value of an expression; `variables` are named without the dollar sign. Raises JsonataError."""
    try:
        result = _compiled(expression).evaluate(
            None, {name: _bound(value) for name, value in (variables or {}).items()}
        )
    except Exception as err:
        raise JsonataError(f"threw an error during evaluation. {str(err) or type(err).__name__}") from err
    if result is None:
        raise JsonataError("returned nothing (undefined).")
    return plain(result)


def plain(value: Any) -> Any:
    """Return a copy that holds JSON only: the engine's null and lists and AWS's dates become JSON's."""
    if value is None or value is Utils.NULL_VALUE:
        return None
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    raise JsonataError("returned an unsupported result type.")


def _bound(value: Any) -> Any:
    """Return a JSON value; replace None at the top by the engine's null, because it treats None as 'undefined'."""
    value = plain(value)
    return Utils.NULL_VALUE if value is None else value


def _compiled(expression: str) -> jsonata.Jsonata:
    """Return the parsed expression, cached by thread: threads cannot share the engine's objects."""
    if not hasattr(_threads, "compile"):
        _threads.compile = lru_cache(maxsize=500)(_compile)
    compiled = _threads.compile(expression)
    jsonata.Jsonata.CURRENT.jsonata = compiled
    return compiled


def _compile(expression: str) -> jsonata.Jsonata:
    compiled = jsonata.Jsonata(expression)
    compiled.output_convert_nulls = False  # keep null and undefined apart
    return compiled


def _as_text(value: Any, is_pretty: bool) -> str:
    """Return the text that $string and & make of a value that is not text: JSON as JavaScript writes it.

    The engine's own version escapes all except ASCII, and writes numbers within objects, and from 1e15 on, as Python
    does.
    """
    if isinstance(value, (jsonata.Jsonata.JFunction, Parser.Symbol)):
        return ""
    lines = {"indent": 2} if is_pretty else {"separators": (",", ":")}
    numbers: list[str] = []
    marked = json.dumps(_with_marks(value, numbers), ensure_ascii=False, **lines)
    return re.sub(r'"\x7f(\d+)"', lambda mark: numbers[int(mark[1])], marked)


def _with_marks(value: Any, numbers: list[str]) -> Any:
    """Return JSON with a mark in place of each number, whose text is added to `numbers`."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        numbers.append(_number_as_text(value))
        return f"\x7f{len(numbers) - 1}"
    if isinstance(value, dict):
        return {key: _with_marks(member, numbers) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_marks(member, numbers) for member in value]
    if isinstance(value, (jsonata.Jsonata.JFunction, Parser.Symbol)):
        return ""
    return None if value is Utils.NULL_VALUE else value


def _number_as_text(number: float) -> str:
    """Return JavaScript's text of a number with 15 significant digits, as the reference rounds it."""
    rounded = float(f"{number:.15g}")
    if rounded.is_integer() and abs(rounded) < MIN_WITH_EXPONENT:
        return str(int(rounded))
    if MIN_WITHOUT <= abs(rounded) < MIN_WITH_EXPONENT:
        return f"{decimal.Decimal(repr(rounded)):f}"
    return re.sub(r"e([+-])0+", r"e\1", repr(rounded))


Functions._string = staticmethod(_as_text)


def _evaluate_in_state(self: Any, env: Any) -> None:
    """Evaluate a JSONata string of a state, in place of StringJSONata._eval_body."""
    # moto refuses every $, AWS only one at the top: there it is undefined here, and so fails too
    store = env.variable_store
    variables = {"states": env.states._states_data, **store._outer_scope, **store._inner_scope}
    try:
        env.stack.append(evaluate(self.expression, variables))
    except JsonataError as err:
        raise failures.of_expression(env, self.expression, str(err)) from err
