"""Steps: AWS would take this tree's state machine; what is deployed equals this tree."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cli.verify.checks import Check, required, shown
from cli.verify.stack import Stack
from local.corrections import yaml_template
from local.settings import LAMBDA_UNZIPPED_BYTES

# `sam package` replaces a folder or file of the tree here with the address of its upload.
ARTIFACTS = ("CodeUri", "ContentUri", "DefinitionUri")
# Parameters that only releases have (tools/release.py): bucket and prefix of the artifacts.
RELEASE_PARAMETERS = ("ArtifactBucket", "ArtifactPrefix")
# Parameters that a release fixes to one value.
BUILT_FOR = ("FunctionArchitecture", "FunctionRuntime")
# Our own sources; `sam build` installs the dependencies into a layer, from pinned versions.
FUNCTIONS = "functions"
OWN_SOURCES = {FUNCTIONS: "PlanMatrixFunction", "agent": "AgentLayer", "statemachine/run.asl.yaml": "RunStateMachine"}
# Files that functions and the agent read at run time.
SUFFIXES = (".py", ".json", ".css", ".js")
AGAIN = "deploy this tree: `sam build && sam deploy`, or verify from the tree that was deployed"
SHOWN = 5


def checks(stack: Stack) -> Iterator[Check]:
    """Compare the submitted template with template.yaml, and its uploaded artifacts with the sources."""
    name = stack.deployment.stack
    is_there = bool(stack.deployment.outputs)
    deploy = "deploy it: `sam build && sam deploy --guided`, or choose another --stack or --region"
    yield required(f"stack {name}", "there", "there" if is_there else "not there", is_so=is_there, fix=deploy)
    if not is_there:
        return
    answer = stack.client("cloudformation").get_template(StackName=name, TemplateStage="Original")
    deployed = _loaded(answer["TemplateBody"])
    own = yaml_template.load((stack.sources / "template.yaml").read_text(encoding="utf-8"))
    other = list(differences(without_artifacts(own), without_artifacts(deployed)))
    yield _check("template.yaml", other)
    common = deployed.get("Globals", {}).get("Function", {})
    for path, resource in OWN_SOURCES.items():
        properties = deployed["Resources"][resource]["Properties"]
        # A release names the package of all functions once, in Globals.
        located = {**common, **properties} if path == FUNCTIONS else properties
        yield _check(path, list(_other_files(stack, path, located)))


def _check(path: str, other: list[str]) -> Check:
    return required(path, "as in this tree", shown(other, SHOWN) or "the same", is_so=not other, fix=AGAIN)


def _loaded(body: Any) -> dict[str, Any]:
    """Return a template as a dict; boto3 has parsed it already if it was JSON."""
    return body if isinstance(body, dict) else yaml_template.load(body)


def without_artifacts(template: dict[str, Any]) -> dict[str, Any]:
    """Return a template without the parts that building, packaging and deploying change.

    These are addresses of artifacts, a release's parameters for them, the runtime that it was built for, defaults of
    parameters, and metadata. The CDK writes `Fn::GetAtt` as a text and `DependsOn` as a list.
    """
    plain = json.loads(json.dumps(template), object_hook=_get_att_as_list)
    functions = plain.get("Globals", {}).get("Function", {})
    for properties in [functions, *(resource.get("Properties", {}) for resource in plain["Resources"].values())]:
        for name in ARTIFACTS:
            properties.pop(name, None)
    for resource in plain["Resources"].values():
        resource.pop("Metadata", None)
        if not resource.get("Properties"):
            resource.pop("Properties", None)
        if isinstance(resource.get("DependsOn"), str):
            resource["DependsOn"] = [resource["DependsOn"]]
    plain.pop("Metadata", None)
    parameters = plain.get("Parameters", {})
    for name in RELEASE_PARAMETERS:
        parameters.pop(name, None)
    for name, parameter in parameters.items():
        parameter.pop("Default", None)
        if name in BUILT_FOR:
            parameter.pop("AllowedValues", None)
    return dict(plain)


def _get_att_as_list(document: dict[str, Any]) -> dict[str, Any]:
    match document:
        case {"Fn::GetAtt": str(name)}:
            return {"Fn::GetAtt": name.split(".", 1)}
    return document


def differences(own: Any, deployed: Any, path: str = "") -> Iterator[str]:
    """Yield the differences of two documents as `path: ours, theirs`; for a part that one side lacks only the path."""
    if isinstance(own, dict) and isinstance(deployed, dict):
        for name in sorted({*own, *deployed}):
            here = f"{path}.{name}" if path else name
            if name not in deployed:
                yield f"{here} is not deployed"
            elif name not in own:
                yield f"{here} is not in this tree"
            else:
                yield from differences(own[name], deployed[name], here)
    elif isinstance(own, list) and isinstance(deployed, list) and len(own) == len(deployed):
        for number, (left, right) in enumerate(zip(own, deployed, strict=True)):
            yield from differences(left, right, f"{path}[{number}]")
    elif own != deployed:
        yield f"{path}: {_short(own)} here, {_short(deployed)} deployed"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004 - a line of a terminal


def _other_files(stack: Stack, path: str, properties: dict[str, Any]) -> Iterator[str]:
    """Yield the files of a part of the tree that differ from the uploaded artifact."""
    location = next((properties[name] for name in ARTIFACTS if name in properties), None)
    if location is None:
        yield "nothing was uploaded"
        return
    bucket, key = _address(location, stack)
    uploaded = stack.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    own = stack.sources / path
    if own.is_file():
        # Compare content, not layout: `sam` may reformat the definition.
        yield from differences(_loaded(own.read_text(encoding="utf-8")), _loaded(uploaded.decode()))
        return
    with zipfile.ZipFile(io.BytesIO(uploaded)) as archive:
        unzipped_bytes = sum(member.file_size for member in archive.infolist())
        if unzipped_bytes > LAMBDA_UNZIPPED_BYTES:
            yield f"its code has {unzipped_bytes:,} bytes unzipped, and Lambda takes {LAMBDA_UNZIPPED_BYTES:,}"
            return
        packed = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    files = dict(_sources_of(own))
    yield from (f"{name} is not deployed" for name in sorted(files.keys() - packed.keys()))
    yield from (f"{name} differs" for name in sorted(files.keys() & packed.keys()) if files[name] != packed[name])


def _sources_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in folder.rglob("*"):
        if file.is_file() and file.suffix in SUFFIXES:
            yield file.relative_to(folder).as_posix(), file.read_bytes()


def _address(location: Any, stack: Stack) -> tuple[str, str]:
    """Return bucket and key of an artifact, written as a text, in parts, or in parts by the stack's parameters."""
    if isinstance(location, dict):
        return _given(location["Bucket"], stack), _given(location["Key"], stack)
    bucket, _, key = str(location).removeprefix("s3://").partition("/")
    return bucket, key


def _given(value: Any, stack: Stack) -> str:
    match value:
        case {"Ref": name}:
            return stack.parameters[name]
        case {"Fn::Sub": text}:
            return re.sub(r"\$\{(\w+)\}", lambda found: stack.parameters[found[1]], text)
    return str(value)


# --- AWS validates this tree's state machine definition; that creates nothing and needs no stack ----------------------


def definition_text(stack: Stack) -> str:
    """Return the tree's definition with an ARN in each place that the template fills."""
    text = (stack.sources / "statemachine/run.asl.yaml").read_text(encoding="utf-8")
    states = yaml_template.load(text)
    assert states["StartAt"]  # noqa: S101 - a file that is not a definition would be validated as a text
    region = stack.deployment.region
    # The partition comes from the client, because there may be no stack whose outputs name it.
    partition = stack.client("stepfunctions").meta.partition

    def filled(name: str) -> str:
        return partition if name == "Partition" else f"arn:{partition}:lambda:{region}:123456789012:function:{name}"

    # AWS validates JSON only. The validator reads the definition alone, so the functions need not exist.
    return re.sub(r"\$\{(\w+)\}", lambda found: filled(found[1]), json.dumps(states))


def definition(stack: Stack) -> list[Check]:
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
            fix="AWS would refuse to create the state machine: fix what the diagnostics name, or report them",
        )
    ]
