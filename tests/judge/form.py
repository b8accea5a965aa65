"""What CloudFormation refuses of a template as a whole, before it makes any resource."""

import json
import re
from collections.abc import Iterator
from typing import Any

GUIDE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/"
QUOTAS = GUIDE + "cloudformation-limits.html"
SECTIONS = {"AWSTemplateFormatVersion", "Description", "Metadata", "Parameters", "Mappings", "Conditions", "Transform",
            "Resources", "Outputs", "Rules", "Globals", "Hooks"}  # fmt: skip
PARAMETER_TYPES = r"String|Number|List<Number>|CommaDelimitedList|AWS::\w+(::\w+)+(<.+>)?|List<AWS::.+>"
POLICIES = {
    "DeletionPolicy": ("Delete", "Retain", "RetainExceptOnCreate", "Snapshot"),
    "UpdateReplacePolicy": ("Delete", "Retain", "Snapshot"),
}
# "Rule functions, supported functions": conditions have others.
NAMES = "And Contains EachMemberEquals EachMemberIn Equals Not Or RefAll ValueOf ValueOfAll"
# The page does not say it. AWS's samples do it: https://github.com/aws-samples/amazon-cloudfront-secure-static-site/pull/50
PSEUDO_OF_RULES = {"AWS::Region"}
FUNCTIONS_OF_RULES = {"Ref", *(f"Fn::{name}" for name in NAMES.split())}


def refusals(template: dict[str, Any]) -> list[str]:
    """Return what is wrong with a template, before or after its transform, each as "path: problem (source)"."""
    return [
        problem
        for judge in (_of_sizes, _of_names, _of_parameters, _of_resources, _of_rules)
        for problem in judge(template)
    ]


def _of_sizes(template: dict[str, Any]) -> Iterator[str]:
    for section, most in (("Resources", 500), ("Parameters", 200), ("Outputs", 200), ("Mappings", 200)):
        if len(template.get(section, {})) > most:
            yield f"{section}: {len(template[section])} are more than {most} ({QUOTAS})"
    if len(template.get("Description", "").encode()) > 1_024:
        yield f"Description: has more than 1,024 bytes ({QUOTAS})"
    if len(json.dumps(template).encode()) > 1_000_000:
        yield f"template: has more than 1 MB ({QUOTAS})"


def _of_names(template: dict[str, Any]) -> Iterator[str]:
    yield from (f"{name}: is not a section ({GUIDE}template-anatomy.html)" for name in template.keys() - SECTIONS)
    source = f"({GUIDE}resources-section-structure.html)"
    for section in ("Resources", "Parameters", "Outputs", "Conditions"):
        for name in template.get(section, {}):
            if not re.fullmatch(r"[A-Za-z0-9]{1,255}", name):
                yield f"{section}.{name[:40]}: has other characters than letters and digits, or over 255 {source}"


def _of_parameters(template: dict[str, Any]) -> Iterator[str]:
    source = f"({GUIDE}parameters-section-structure.html)"
    for name, parameter in template.get("Parameters", {}).items():
        path = f"Parameters.{name}"
        if not re.fullmatch(PARAMETER_TYPES, parameter.get("Type", "")):
            yield f"{path}.Type: {parameter.get('Type')!r} is not a type of a parameter {source}"
        if len(parameter.get("Description", "")) > 4_000:
            yield f"{path}.Description: has more than 4,000 characters {source}"
        if "Default" not in parameter:
            continue
        default = str(parameter["Default"])
        values = default.split(",") if "List" in parameter["Type"] else [default]
        allowed = [str(value) for value in parameter.get("AllowedValues", values)]
        pattern = parameter.get("AllowedPattern", "")
        for value in values:
            if value not in allowed:
                yield f"{path}.Default: {value!r} is none of AllowedValues {source}"
            if pattern and not re.fullmatch(pattern, value):
                yield f"{path}.Default: {value!r} does not match AllowedPattern {source}"
            if not int(parameter.get("MinLength", 0)) <= len(value) <= int(parameter.get("MaxLength", 4_096)):
                yield f"{path}.Default: {value[:40]!r} is too short or too long {source}"
            if parameter["Type"] == "Number" and not re.fullmatch(r"-?\d+(\.\d+)?", value):
                yield f"{path}.Default: {value!r} is not a number {source}"


def _of_resources(template: dict[str, Any]) -> Iterator[str]:
    if not template.get("Resources"):
        yield f"Resources: there are none ({GUIDE}resources-section-structure.html)"
    for name, resource in template.get("Resources", {}).items():
        for attribute, values in POLICIES.items():
            if resource.get(attribute, "Delete") not in values:
                source = f"({GUIDE}aws-attribute-{attribute.lower()}.html)"
                yield f"Resources.{name}.{attribute}: {resource[attribute]!r} is none of {values} {source}"
        condition = resource.get("Condition")
        if condition is not None and condition not in template.get("Conditions", {}):
            yield f"Resources.{name}.Condition: there is no {condition!r} ({GUIDE}conditions-section-structure.html)"
        needed = resource.get("DependsOn", [])
        for other in [needed] if isinstance(needed, str) else needed:
            if other not in template["Resources"]:
                yield f"Resources.{name}.DependsOn: there is no {other!r} ({GUIDE}aws-attribute-dependson.html)"


def _of_rules(template: dict[str, Any]) -> Iterator[str]:
    """Yield functions that rules do not have, and parameters that there are not."""
    source = f"({GUIDE}rules-section-structure.html)"

    def judged(node: Any, path: str) -> Iterator[str]:
        if isinstance(node, dict):
            for name, child in node.items():
                if (name == "Ref" or name.startswith("Fn::")) and name not in FUNCTIONS_OF_RULES:
                    yield f"{path}: {name} is not a function of rules {source}"
                if name == "Ref" and child not in {*template.get("Parameters", {}), *PSEUDO_OF_RULES}:
                    yield f"{path}: refers to {child!r}, which is not a parameter {source}"
                yield from judged(child, f"{path}.{name}")
        elif isinstance(node, list):
            for child in node:
                yield from judged(child, path)

    yield from judged(template.get("Rules", {}), "Rules")
