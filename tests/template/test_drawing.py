"""What `make graph` writes: the definition that is deployed, and its drawings in the documents."""

import importlib.util
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEFINITION = json.loads((ROOT / "statemachine/run.asl.json").read_text())


def program(name):
    """A program of the folder statemachine, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"statemachine/{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def drawer():
    return program("draw")


def test_the_deployed_definition_is_the_one_that_people_read():
    source = (ROOT / "statemachine/run.asl.yaml").read_text()

    assert program("expand").expanded(source) == (ROOT / "statemachine/run.asl.json").read_text(), "run `make graph`"


def test_each_alias_of_the_source_is_replaced_in_what_is_deployed():
    source = "States: {A: {Retry: [&Fault {MaxAttempts: 5}]}, B: {Retry: [*Fault]}}"

    states = json.loads(program("expand").expanded(source))["States"]

    assert states["B"] == states["A"] == {"Retry": [{"MaxAttempts": 5}]}


def test_the_drawing_of_every_state_is_that_of_the_definition():
    drawn = drawer().drawing(DEFINITION)

    assert f"```mermaid\n{drawn}\n```" in (ROOT / "docs/run.md").read_text(), "run `make graph`"


def test_states_to_which_only_errors_lead_stand_in_a_box_so_that_their_ways_cross_no_others():
    [inside] = re.findall(r"subgraph AfterAnError.*?\n  end\n", drawer().drawing(DEFINITION), re.DOTALL)

    states = re.findall(r'"([^"]+)"\S*:::', inside)
    assert states == ["Record failed image", "Discard image", "Image discarded?", "Wait for builder"]


def test_the_brief_drawing_in_the_readme_is_that_of_the_definition():
    drawn = drawer().brief_drawing(DEFINITION)

    assert f"```mermaid\n{drawn}\n```" in (ROOT / "README.md").read_text(), "run `make graph`"


def test_the_brief_drawing_shows_ten_tasks_and_none_of_those_that_wait_or_record_failures():
    boxes = re.findall(r'\["(.+)"\]:::task', drawer().brief_drawing(DEFINITION))

    assert boxes == [
        "Plan matrix",
        "Bake image",
        "Create file system",
        "Populate cache",
        "Admit cell",
        "Launch fleet",
        "Stop fleet",
        "Analyse cell",
        "Delete file system",
        "Analyse run",
    ]


def test_an_arrow_of_the_brief_drawing_names_what_is_waited_for():
    machine = {
        "StartAt": "Ask",
        "States": {
            "Ask": {"Type": "Task", "Next": "Look"},
            "Look": {"Type": "Task", "Next": "Answered?", "Catch": [{"Next": "Record failed question"}]},
            "Answered?": {
                "Type": "Choice",
                "Choices": [{"Condition": "{% $state = 'answered' %}", "Next": "Read"}],
                "Default": "Look",
            },
            "Read": {"Type": "Task", "End": True},
            "Record failed question": {"Type": "Task", "End": True},
        },
    }

    drawn = drawer().brief_drawing(machine)

    assert "Ask -->|answered| Read" in drawn
    assert "Look" not in drawn
    assert "RecordFailed" not in drawn
