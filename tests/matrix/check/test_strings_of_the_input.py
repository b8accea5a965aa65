"""Every text of the input is a choice, a size or has a pattern that no shell could read anything into, but for a few.

The schema is made from the models, so a new field that takes any text fails here.
"""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hostile import SHELL, UNICODE

from matrix.check.schema import matrix_schema

# What may be any text, and why that is not a danger.
ANY_TEXT = {
    "$schema": "an address for editors; nobody reads it",
    "metric": "must be the name of a metric that a workload yields",
    "build": "shell by design: the user's own command, on the user's own instances",
    "command": "shell by design",
    "pattern": "a regular expression, which Python reads and no shell",
    "prepare": "shell by design",
    "populate": "shell by design",
    "tags": "letters of any language, as AWS takes them: a rule looks at each character, and no shell sees one",
    "intended": "a reason in words, without control characters; it is shown in a plan and no shell sees it",
    "jobFile": "a fio job file: its options pass the rules of those in a matrix; names of sections are labels",
    "dockerfile": "commands by design: the user's own container; docker reads it from its standard input",
}
# A space separates arguments; these are never any: a size is parsed to a number, and the owner is a tag.
SIZE = r"^[0-9]{1,18} ?(B|[kKMGT]B|[KMGT]iB)?$"
MAY_HOLD_SPACES = {"owner"}


def texts(node, name=""):
    """(field, its schema) of everything in a schema that takes a text."""
    if isinstance(node, list):
        for one in node:
            yield from texts(one, name)
    if not isinstance(node, dict):
        return
    if node.get("type") == "string" or "string" in (node.get("type") or []):
        yield name, node
    for key in ("items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems"):
        yield from texts(node.get(key), name)
    for field, inner in node.get("properties", {}).items():
        yield from texts(inner, field)
    for inner in node.get("$defs", {}).values():
        yield from texts(inner, name)


TEXTS = {(name, node.get("pattern")): node for name, node in texts(matrix_schema())}
PATTERNS = sorted({(name, pattern) for name, pattern in TEXTS if pattern and name not in ANY_TEXT})


def test_every_text_is_a_choice_or_has_a_pattern_but_those_that_are_listed():
    free = {name for (name, pattern), node in TEXTS.items() if not pattern and not {"enum", "const"} & set(node)}

    assert free <= set(ANY_TEXT)
    assert len(PATTERNS) > 10


@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=lambda value: str(value)[:30])
@settings(max_examples=15)
@given(data=st.data())
def test_no_pattern_takes_what_a_shell_gives_a_meaning_to(name, pattern, data):
    good = data.draw(st.from_regex(as_pydantic(pattern)))
    for trap in [*SHELL, *UNICODE, "#", "~", "<", "(", "$"]:
        if trap == "a b" and (name in MAY_HOLD_SPACES or pattern == SIZE):
            continue
        for at in {0, len(good) // 2, len(good)}:
            assert not as_pydantic(pattern).search(good[:at] + trap + good[at:])


@pytest.mark.parametrize("path", ["..", "../x", "a/../b", "a/..", "/etc", "~root", "./x", "a//b", "-x", "a/-x", ""])
def test_a_path_leads_only_down(path):
    [pattern] = [pattern for name, pattern in PATTERNS if name == "cachePath"]

    assert not as_pydantic(pattern).search(path)


def as_pydantic(pattern):
    """The pattern as pydantic reads it: its $ is the very end, not also the place before a last line break."""
    return re.compile(pattern.replace("$", r"\Z"), re.ASCII)
