"""Put pydantic's errors about a matrix into words: missing keys, unknown keys, wrong types."""

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from matrix.check import hints
from matrix.fields.fleet import Fleet, FleetAxis
from matrix.fields.types import models_by_type
from matrix.input import workloads
from matrix.input.image import Image
from matrix.input.matrix import Agreed, Inclusion, Matrix, Objective, Selector
from matrix.storages.ebs import EbsStorage
from matrix.storages.models import MODELS, AnyStorage
from matrix.terms.problems import MAX_PROBLEMS, MAX_VALUE_CHARACTERS, Path, Problem, path_text, shorten

MISSING = object()
_MEANT = "did you mean "
_TAGS = frozenset([*MODELS, *workloads.MODELS])
_KINDS: Mapping[str, Mapping[str, type[BaseModel]]] = {
    "storage": models_by_type(AnyStorage),
    "workload": models_by_type(workloads.AnyWorkload),
}

_NUMBER = re.compile(r"\$? *([0-9][0-9,_]*(?:\.[0-9]+)?) *[A-Za-z%/]*")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def _whole_number(value: Any) -> str:
    """Return the fix of a value that must be a whole number: the number that was meant, if it can be seen."""
    meant = _number_in(value)
    return f"write {meant:.0f}" if meant is not None else "write a whole number without quotes, for example 4"


def _any_number(value: Any) -> str:
    meant = _number_in(value)
    return f"write {meant:.15g}" if meant is not None else "write a number without quotes, for example 4"


def _number_in(value: Any) -> float | None:
    """Return the number in a text such as `100`, `$2` or `64 GiB`, or next to a fraction; None if there is none."""
    found = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if found:
        return float(found[1].replace(",", "").replace("_", ""))
    return value if isinstance(value, float) and math.isfinite(value) else None


def _truth(value: Any) -> str:
    word = str(value).lower()
    return "write true" if word in _TRUE else "write false" if word in _FALSE else "write true or false, without quotes"


def _text(value: Any) -> str:
    is_short = isinstance(value, (int, float)) and len(str(value)) < MAX_VALUE_CHARACTERS
    return f"write {json.dumps(json.dumps(value))}" if is_short else "write it in quotes"


def _list(value: Any) -> str:
    is_short = isinstance(value, (str, int, float)) and len(str(value)) < MAX_VALUE_CHARACTERS
    return f"write {json.dumps([value])}" if is_short else "write it in [ ]"


def _object(value: Any) -> str:
    return 'write it in { }, for example {"type": "ebs", …}' if isinstance(value, str) else "write it in { }"


# The rule of each kind of wrong type, and what to write in place of a value.
_TYPE_WORDS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "int_type": ("must be a whole number", _whole_number),
    "int_from_float": ("must be a whole number", _whole_number),
    "int_parsing_size": ("is far too large", lambda _: "write a smaller number"),
    "float_type": ("must be a number", _any_number),
    "finite_number": ("must be finite", lambda _: "write a finite number"),
    "string_type": ("must be a text", _text),
    "bool_type": ("must be true or false", _truth),
    "list_type": ("must be a list", _list),
    "dict_type": ("must be an object", _object),
    "model_type": ("must be an object", _object),
    "model_attributes_type": ("must be an object", _object),
    "string_unicode": ("is not a valid Unicode text", lambda _: "write it in UTF-8"),
    "string_sub_type": ("must be a text", _text),
}


def structural_problems(error: ValidationError, document: dict[str, Any]) -> list[Problem]:
    """Return one problem for each thing that pydantic found, with the paths of the input."""
    problems: dict[str, Problem] = {}
    meant: set[str] = set()
    for detail in error.errors(include_url=False, include_context=True):
        # pydantic makes no default that depends on another field if there is an error already.
        if detail["type"] == "default_factory_not_called":
            continue
        fault = _fault(detail, document)
        problem = _problem(fault)
        if fault.kind == "extra_forbidden" and (key := _meant_key(fault.path, document)):
            meant.add(path_text((*fault.path[:-1], key)))
        # For `int | float` pydantic reports both branches; the error of the float has the allowed values.
        if problem.path not in problems or detail["type"] == "float_type":
            problems[problem.path] = problem
        # An input of 256 KiB can have 100,000 errors, too many to read.
        if len(problems) > 10 * MAX_PROBLEMS:
            break
    # A missing key and an unknown one that is likely its misspelling are one mistake, not two.
    return [problem for problem in problems.values() if problem.code != "missing" or problem.path not in meant]


@dataclass(frozen=True)
class _Fault:
    """One error of pydantic: kind, path, value, context, message, and the document."""

    kind: str
    path: Path
    value: Any
    context: Mapping[str, Any]
    message: str
    document: dict[str, Any]


def _fault(detail: Any, document: dict[str, Any]) -> _Fault:
    kind = detail["type"]
    path, value = _resolve(detail["loc"], document)
    if detail["loc"][-1:] == ("[key]",):  # a name that the user gives, such as that of a metric
        path, value = path[:-1], path[-2]
    if kind == "union_tag_invalid":
        path, value = (*path, "type"), value["type"]
    return _Fault(kind, path, value, detail.get("ctx", {}), detail["msg"], document)


def _problem(fault: _Fault) -> Problem:
    if fault.kind in _TYPE_WORDS:
        rule, repair = _TYPE_WORDS[fault.kind]
        fix = repair(fault.value)
    else:
        rule, fix = _WORDS.get(fault.kind, _describe_other_fault)(fault)
    if fault.path[:1] == ("storage",) and fault.kind in _OF_ONE_VALUE and isinstance(fault.value, list):
        # In workloads and fleets lists are sweeps and axes.
        fix = "write one value, and for each of the others a storage of its own"
    shown = None if fault.value is MISSING else shorten(fault.value)
    return Problem(path_text(fault.path), shown, rule, fix, code=fault.kind.replace("_", "-"))


def _resolve(loc: tuple[int | str, ...], document: Any) -> tuple[Path, Any]:
    """Return the path in the document of pydantic's location, and the value there.

    Locations also hold the tag of a union (`efs`), the branches of one (`list[…]`, `int`) and a 0 where a sweep's
    single value was wrapped into a list; none of these exists in the document, so they are left out. Only a last step
    that does not exist is kept: it is a missing key, which may have the name of a tag (`build` of a build).
    """
    path: list[str | int] = []
    here = document
    for i, step in enumerate(loc):
        if step in _TAGS and _is_element(path) and not (i and loc[i - 1] in _TAGS):
            continue
        if isinstance(step, int):
            if isinstance(here, list) and step < len(here):
                path.append(step)
                here = here[step]
            continue
        if isinstance(here, dict) and step in here:
            path.append(step)
            here = here[step]
        elif isinstance(here, dict) and i == len(loc) - 1 and (step not in _TAGS or loc[i - 1] in _TAGS):
            path.append(step)
            here = MISSING
    return tuple(path), here


def _is_element(path: list[str | int]) -> bool:
    """Return whether `path` leads to one storage or one workload, which pydantic follows by the tag of its type."""
    match path:
        case ["storage" | "workload", int()] | ["include", int(), "storage" | "workload"]:
            return True
    return False


def _describe_missing(fault: _Fault) -> tuple[str, str]:
    return "is missing", f"add {json.dumps(fault.path[-1])}" + _example(fault.path, fault.document)


def _describe_unknown_key(fault: _Fault) -> tuple[str, str]:
    return "is not a field of the matrix format", _did_you_mean(fault.path, fault.document)


def _describe_no_kind(fault: _Fault) -> tuple[str, str]:
    return f"has no type; types are {', '.join(_kinds_at(fault.path))}", 'add "type"'


def _describe_unknown_kind(fault: _Fault) -> tuple[str, str]:
    kinds = _kinds_at(fault.path)
    if (meant := meant_kind(fault.value, kinds)) and str(fault.value).lower() not in VOLUME_TYPES:
        return "is not a known type", f"{_MEANT}{meant}?"
    return f"is not a known type; types are {', '.join(kinds)}", _suggest_kind(fault.value, kinds)


def _describe_choice(fault: _Fault) -> tuple[str, str]:
    choices = str(fault.context.get("expected", "")).replace("'", "").replace(" or ", ", ").split(", ")
    rule, reason = f"must be one of {', '.join(choices)}", hints.unsupported(fault.value)
    if reason:
        return f"{rule}; {reason}", f"write {choices[0]}"
    fix = _suggest(fault.value, choices)
    if "tool" in fault.path and not fix.startswith(_MEANT):
        fix += ', or run another program as a workload of type "command"'
    return rule, fix


_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}


def _describe_bound(fault: _Fault) -> tuple[str, str]:
    name, words = _BOUNDS[fault.kind]
    bound = fault.context[name]
    return f"must be {words} {bound:,}", f"write {words} {bound}"


def _describe_length(fault: _Fault) -> tuple[str, str]:
    unit = "characters" if fault.kind.startswith("string") else "entries"
    if fault.kind.endswith("long"):
        return f"may have at most {fault.context['max_length']:,} {unit}", "write fewer"
    if fault.value == []:
        return "is empty; no cell could be measured", "give at least one"
    return f"must have at least {fault.context['min_length']} {unit}", "write more"


_PATTERN_WORDS = {
    "name": ("must be 1 to 40 of a-z, 0-9 and -, not beginning or ending with -", "for example builds-on-efs"),
    "instanceType": ("does not look like an EC2 instance type", "for example m6i.4xlarge"),
    "cachePath": ("must be a relative path of A-Z, a-z, 0-9, ., _ and -", "for example cache/downloads"),
    "resume": ("is not a name of a run", "for example builds-20261120-101500-4f"),
    "compareWith": ("is not a name of a run, and no baseline:NAME", "for example baseline:nightly"),
    "owner": ("may have letters, digits, spaces and . _ : / = + @ -", "for example build-team"),
    "image": ("does not look like a bitbake target", "for example core-image-minimal"),
    "release": ("does not look like a branch or tag", "for example kirkstone"),
    "container": ("does not look like a container image", "for example crops/poky:ubuntu-22.04"),
    "packages": ("does not look like a package of the operating system", "for example gcc"),
    "containers": ("does not look like a container image", "for example debian:12"),
    "ami": (
        "is neither the id of an image nor the name of a parameter below a path",
        "for example ami-0123456789abcdef0 or /golden/al2023",
    ),
    "snapshotId": ("does not look like a snapshot", "for example snap-0123456789abcdef0"),
    "metrics": (
        "must be a-z, 0-9 and _, beginning with a letter, at most 41 characters",
        "for example requests_per_s",
    ),
    "primaryMetric": ("does not look like the name of a metric", "write duration_s, or a name out of metrics"),
    "expectedSeconds": (
        "is keyed by instances or a type of storage",
        'for example {"1": 600, "100": 900}',
    ),
    "unit": ("must be 1 to 20 letters, digits and % / . _ ^ -", "for example tx/s"),
    "jsonField": ("must be names of letters, digits, _ and -, joined by dots", "for example write.iops"),
    "pattern": ("holds a NUL character", "leave it out"),
    "build": ("holds a NUL character", "leave it out"),
    "command": ("holds a NUL character", "leave it out"),
    "prepare": ("holds a NUL character", "leave it out"),
    "populate": ("holds a NUL character", "leave it out"),
}


# Sizes that EC2 has of some family or other.
_INSTANCE_SIZES = [
    *("nano", "micro", "small", "medium", "large", "xlarge", "metal"),
    *(f"{number}xlarge" for number in (2, 3, 4, 6, 8, 9, 10, 12, 16, 18, 24, 32, 48, 56, 96, 112)),
]


def _near_instance_type(written: str) -> str:
    """Return the instance type with the size most similar to the given one, or '' if none is similar."""
    family, _, size = written[:40].lower().partition(".")
    close = difflib.get_close_matches(size, _INSTANCE_SIZES, n=1)
    return f"{family}.{close[0]}" if close and re.fullmatch(r"[a-z][a-z0-9-]{1,19}", family) else ""


def _describe_pattern(fault: _Fault) -> tuple[str, str]:
    is_metric_name = fault.path[-2:-1] == ("metrics",)
    key = "metrics" if is_metric_name else next((step for step in reversed(fault.path) if isinstance(step, str)), "")
    if key == "instanceType" and (near := _near_instance_type(str(fault.value))):
        return _PATTERN_WORDS[key][0], f"{_MEANT}{near}?"
    if fault.path == ("name",) and (near := re.sub("[^a-z0-9]+", "-", str(fault.value)[:40].lower()).strip("-")):
        return _PATTERN_WORDS[key][0], f"{_MEANT}{near}?"
    of_options = ("has characters that are not allowed here", "write only letters, digits and _ . , : % + = -")
    return _PATTERN_WORDS.get(key, of_options)


def _describe_value(fault: _Fault) -> tuple[str, str]:
    return str(fault.context.get("error", fault.message)), 'for example "64MiB"'


def _describe_own_fault(fault: _Fault) -> tuple[str, str]:
    return fault.context["rule"], fault.context["fix"]


def _describe_other_fault(fault: _Fault) -> tuple[str, str]:
    return fault.message[0].lower() + fault.message[1:], "see docs/matrix-format.md"


_WORDS: dict[str, Callable[[_Fault], tuple[str, str]]] = {
    "missing": _describe_missing,
    "extra_forbidden": _describe_unknown_key,
    "union_tag_not_found": _describe_no_kind,
    "union_tag_invalid": _describe_unknown_kind,
    "literal_error": _describe_choice,
    **dict.fromkeys(_BOUNDS, _describe_bound),
    **dict.fromkeys(("too_short", "too_long", "string_too_short", "string_too_long"), _describe_length),
    "string_pattern_mismatch": _describe_pattern,
    "value_error": _describe_value,
    **dict.fromkeys(("option_value", "option_switch", "option_owned", "option_unknown", "sizes"), _describe_own_fault),
}
# Faults of a value that should be a single one.
_OF_ONE_VALUE = ("literal_error", "int_type", "float_type", "string_type", "bool_type")


def _suggest(value: object, choices: list[str]) -> str:
    meant = hints.meant(str(value)[:40], choices)
    return f"{_MEANT}{meant}?" if meant else f"write {choices[0]}"


def meant_kind(value: object, kinds: Sequence[str]) -> str:
    """Return the type that a misspelt one means, in any case of letters; '' if it may be none or several."""
    written = str(value)[:40].lower()
    is_family = sum(kind.startswith(f"{written}-") for kind in kinds) > 1  # `fsx` may be any of three
    return "" if is_family else hints.meant(written, kinds)


def with_meant_types(document: dict[str, Any]) -> dict[str, Any]:
    """Return the matrix with the type that is meant in place of each misspelt one."""
    corrected = dict(document)
    for axis, kinds in _KINDS.items():
        parts = document.get(axis)
        if isinstance(parts, list):
            corrected[axis] = [
                part | {"type": meant}
                if isinstance(part, dict)
                and isinstance(kind := part.get("type"), str)
                and kind not in kinds
                and (meant := meant_kind(kind, list(kinds)))
                else part
                for part in parts
            ]
    return corrected


def _suggest_kind(value: object, kinds: list[str]) -> str:
    """Suggest types of the same family only: another type of storage is another matrix."""
    if str(value).lower() in VOLUME_TYPES:
        return f'write "type": "ebs" and "volumeType": "{str(value).lower()}"'
    family = re.split("[-_ ]", str(value).lower())[0]
    siblings = [kind for kind in kinds if kind.startswith(f"{family}-")]
    if siblings:
        known = " or ".join(filter(None, [", ".join(siblings[:-1]), siblings[-1]]))
        return f"write {known}: of its family only these can be measured (docs/not.md)"
    if "ebs" in kinds:
        return "write one of these types, or remove the storage; docs/not.md has what is not measured, and why"
    return "write one of these types; command runs any program"


# Types of volumes, which are storages to many people.
VOLUME_TYPES = get_args(EbsStorage.model_fields["volume_type"].annotation)
_PARTS: dict[str, type[BaseModel]] = {
    "fleet": FleetAxis,
    "include": Inclusion,
    "exclude": Selector,
}
_OBJECTS: dict[str, type[BaseModel]] = {"objective": Objective, "image": Image, "agreed": Agreed}


def _model_at(path: Path, document: Any) -> type[BaseModel] | None:
    """Return the model that describes the object at `path`."""
    match path:
        case ("storage" | "workload" as axis, int()) | ("include", int(), "storage" | "workload" as axis):
            here: Any = document
            for step in path:
                here = here[step]
            tag = here.get("type") if isinstance(here, dict) else None
            return _KINDS[axis].get(tag) if isinstance(tag, str) else None
        case ("include", int(), "fleet"):
            return Fleet
        case (str() as part, int()):
            return _PARTS.get(part)
        case (str() as part,):
            return _OBJECTS.get(part)
    return Matrix if path == () else None


def _names(model: type[BaseModel] | None) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _meant_key(path: Path, document: Any) -> str:
    """Return the field that an unknown key is likely a misspelling of, or ''."""
    return hints.meant(str(path[-1])[:60], _names(_model_at(path[:-1], document)))


def _did_you_mean(path: Path, document: Any) -> str:
    names = _names(_model_at(path[:-1], document))
    written = str(path[-1])[:60]
    if fix := hints.elsewhere(written):
        return fix
    if meant := _meant_key(path, document):
        return f"{_MEANT}{meant}?"
    return f"leave it out; known are {', '.join(names)}" if names else "leave it out"


def _example(path: Path, document: Any) -> str:
    model = _model_at(path[:-1], document)
    for name, field in model.model_fields.items() if model else ():
        if (field.alias or name) == path[-1] and field.examples:
            return f", such as {json.dumps(field.examples[0])}"
    return ""


def _kinds_at(path: Path) -> list[str]:
    axis = next((step for step in path if step in _KINDS), "storage")
    return list(_KINDS[str(axis)])
