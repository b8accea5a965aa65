"""Step: AWS validates this tree's state machine definition. It creates nothing and needs no stack."""

import json

from cli.verify.checks import Check, required
from cli.verify.stack import Stack
from local.corrections import yaml_template

# The validator reads the definition alone, so the function need not exist.
PLACEHOLDER = "arn:{partition}:lambda:{region}:123456789012:function:{name}"


def definition_text(stack: Stack) -> str:
    """Return the tree's definition with an ARN in each place that the template fills."""
    text = (stack.sources / "statemachine/run.asl.yaml").read_text(encoding="utf-8")
    # AWS validates JSON only.
    states = yaml_template.load(text)
    text = json.dumps(states)
    region = stack.deployment.region
    # The partition comes from the client, because there may be no stack whose outputs name it.
    partition = stack.client("stepfunctions").meta.partition
    text = text.replace("${Partition}", partition)
    for name in sorted(_substitutions(text)):
        text = text.replace(f"${{{name}}}", PLACEHOLDER.format(partition=partition, region=region, name=name))
    assert states["StartAt"]  # noqa: S101 - a file that is no definition would be validated as a text
    return text


def _substitutions(text: str) -> set[str]:
    """Return the names in `${…}`, as CloudFormation substitutes them."""
    return {part.partition("}")[0] for part in text.split("${")[1:]}


def checks(stack: Stack) -> list[Check]:
    """Ask ValidateStateMachineDefinition."""
    answer = stack.client("stepfunctions").validate_state_machine_definition(
        definition=definition_text(stack), type="STANDARD", severity="WARNING"
    )
    diagnostics = [
        f"{problem['severity']} {problem['code']} at {problem.get('location', '?')}: {problem['message']}"
        for problem in answer["diagnostics"]
    ]
    return [
        required(
            "statemachine/run.asl.yaml",
            "OK",
            "; ".join([answer["result"], *diagnostics]),
            is_so=answer["result"] == "OK",
            way_out="AWS would refuse to create the state machine: mend what the diagnostics name, or report them",
        )
    ]
