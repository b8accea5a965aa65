"""Read CloudFormation templates, JSON or YAML with short tags; moto's own loader breaks nested short tags."""

import json
from typing import Any

import yaml


class _TemplateLoader(yaml.CSafeLoader):
    """Safe YAML in which `!Sub x` is {"Fn::Sub": x} and 2010-09-09 is a string; libyaml reads it ten times as fast."""


def _construct_tag(loader: yaml.Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_TemplateLoader.add_multi_constructor("!", _construct_tag)
_TemplateLoader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(text: str) -> dict[str, Any]:
    """Load the template in JSON's long form; try JSON first, because YAML's parser takes a second for 100 kB of it."""
    try:
        template = json.loads(text)
    except ValueError:
        template = yaml.load(text, Loader=_TemplateLoader)  # noqa: S506 - derived from SafeLoader
    if not isinstance(template, dict):
        raise ValueError(f"a template is a mapping, this is a {type(template).__name__}")
    return template
