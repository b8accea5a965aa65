"""Good matrices spoilt on purpose: wrong types, huge numbers, path tricks, shell metacharacters, a million cells.

Whatever comes, the answer is a plan or one InvalidMatrix, and no string of a plan could mean anything to a shell but
the commands of a build or command, which are shell by design (and patterns, which no shell reads).
"""

import json
import re
import time
from functools import reduce

import pytest
from support.hostile import SHELL, UNICODE, made
from support.matrices import BUILD, EBS, EFS, FLEET, TOUCH, document
from support.mutations import MATRICES, PLACES, answer, mutated

from matrix.check.read import read_matrix
from matrix.plan.planning import plan
from matrix.run.job import user_data
from matrix.terms.problems import InvalidMatrix

WRONG_TYPES = [None, True, [], {}, [[]], {"a": {}}, [None], "", " ", 0, -1, 1.5, [1, "1"], {"type": "ebs"}]
HUGE = [10**18, 10**400, -(10**30), 1e308, 2**63, 0.1e-300]
TRICKS = ["..", "../../etc/passwd", "/etc", "a/../b", "C:\\x", ".", "a//b", "%2e%2e", "~root", "x" * 300_0]
HOSTILE = [*WRONG_TYPES, *HUGE, *TRICKS, *SHELL, *UNICODE]
# What a shell gives a meaning to, and what separates arguments or lines.
METACHARACTERS = re.compile(r"[;&|<>$`\\\"'(){}\[\]*?!~#\s\x00-\x1f\x7f]|[^\x20-\x7e]")
SHELL_BY_DESIGN = {"build", "command", "prepare", "populate", "pattern"}
FOR_PEOPLE = {"label"}


def deep(levels: int) -> object:
    """A list in a list in a list…"""
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def strings(value: object, key: str = ""):
    """Every string in a document with the key it stands under, keys included."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name, "(key)"
            yield from strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)
    elif isinstance(value, str):
        yield value, key


def argument_strings(planned: dict):
    """The strings of a plan that become ids, paths, options or arguments."""
    for cell in planned["cells"]:
        parts = [cell["id"], cell["file_system"], cell["storage"], cell["workload"], cell["fleet"], cell["points"]]
        for text, key in strings(parts):
            if key not in SHELL_BY_DESIGN | FOR_PEOPLE:
                yield text
    for file_system in planned["file_systems"]:
        yield from (text for text, _ in strings([file_system["id"], file_system["storage"], file_system["cells"]]))


def check(text: str | bytes) -> None:
    """A plan without a metacharacter, or a refusal."""
    planned = answer(text)
    for found in argument_strings(planned) if planned else ():
        assert not METACHARACTERS.search(found), found


@pytest.mark.slow
@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_a_good_matrix_with_something_hostile_in_one_place_is_a_plan_or_a_list_of_problems(path):
    for value in HOSTILE:
        check(mutated(path, lambda parent, key, value=value: parent.__setitem__(key, value)))


@pytest.mark.slow
def test_a_good_matrix_with_a_hostile_key_anywhere_is_a_plan_or_a_list_of_problems():
    every = [(0,), (1,), *PLACES]
    objects = [path for path in every if isinstance(reduce(lambda here, step: here[step], path, MATRICES), dict)]
    for path in objects:
        for key in [*SHELL, *UNICODE, *TRICKS[:3], "__class__", "model_config", "$schema", "schema_"]:
            check(mutated((*path, key), lambda parent, name: parent.update({name: "x"})))


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_are_none_are_refused_wherever_they_stand(literal):
    for path in PLACES:
        text = mutated(path, lambda parent, key: parent.__setitem__(key, "@@"))
        check(text.replace('"@@"', literal))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"a":' * 50_000,
        "[" * 900 + "]" * 900,
        json.dumps(document(storage=deep(400))),
        json.dumps(document(exclude=[{"storage": {"type": deep(30)}}])),
        lambda: json.dumps(document(name="x" * 10_000_000)),
        lambda: json.dumps(document(storage=[EBS] * 300_000)),
        b"\xff\xfe" + json.dumps(document()).encode("utf-16-le"),
        json.dumps(document()).encode() + b"\xc3",
        lambda: b"\x00" * 10_000_000,
        "9" * 200_000,
        '{"name": "a", "name": "b"}',
    ],
    ids=lambda text: repr(made(text)[:20]),
)
def test_deep_huge_and_broken_texts_are_refused_at_once(text):
    text = made(text)
    began_s = time.process_time()

    with pytest.raises(InvalidMatrix):
        read_matrix(text)

    assert time.process_time() - began_s < 5


@pytest.mark.parametrize(
    "changes",
    [
        {"storage": []},
        {"workload": []},
        {"fleet": []},
        {"fleet": [{"instanceType": "m6i.large", "count": []}]},
        {"workload": [TOUCH | {"threads": []}]},
        {"storage": [EBS, EBS]},
        {"workload": [TOUCH, TOUCH]},
        {"fleet": [FLEET, FLEET]},
        {"fleet": [{"instanceType": "m6i.large", "count": [1, 1, 1]}]},
        {"include": [{"storage": EBS, "workload": TOUCH, "fleet": FLEET}] * 3},
        {"exclude": [{}]},
        {"exclude": [{"storage": {"type": "ebs"}}]},
    ],
    ids=str,
)
def test_empty_axes_and_duplicates_are_a_plan_with_each_cell_once_or_a_list_of_problems(changes):
    check(json.dumps(document(**changes)))


def test_a_million_cells_are_refused_in_words_and_in_seconds():
    storages = [EBS | {"sizeGiB": 100 + n} for n in range(100)]
    workloads = [{"type": "touch", "files": 100 + n} for n in range(100)]
    fleets = [{"instanceType": "m6i.large", "count": list(range(1, 101))}]
    began_s = time.process_time()

    with pytest.raises(InvalidMatrix) as refused:
        read_matrix(json.dumps(document(storage=storages, workload=workloads, fleet=fleets)))

    assert "1,000,000" in str(refused.value) or "cells" in str(refused.value)
    assert time.process_time() - began_s < 10


def test_the_words_for_a_hostile_input_hold_no_control_characters():
    for value in [*SHELL, *UNICODE]:
        with pytest.raises(InvalidMatrix) as refused:
            read_matrix(json.dumps(document(name=value, storage=[EFS | {"performanceMode": value}])))
        assert all(line.isprintable() for line in str(refused.value).splitlines())


@pytest.mark.parametrize("matrix", MATRICES)
def test_the_matrix_that_is_spoilt_has_no_metacharacters_itself(matrix):
    planned = plan(read_matrix(json.dumps(matrix))).to_document()

    assert [text for text in argument_strings(planned) if METACHARACTERS.search(text)] == []


def test_a_builds_commands_reach_the_job_as_they_are_and_the_user_data_not_at_all():
    build = BUILD | {"build": "echo $(reboot); `true`", "populate": "curl 'x' | sh"}

    planned = plan(read_matrix(json.dumps(document(storage=[EFS], workload=[build])))).to_document()

    assert planned["cells"][0]["workload"]["build"] == build["build"]
    script = user_data(
        bucket="results", agent_key="agents/0.pyz", job_key=f"runs/r/cells/{planned['cells'][0]['id']}/job.json",
        region="eu-west-1", lifetime_s=60,
    )  # fmt: skip
    assert "reboot" not in script
    assert "curl" not in script
