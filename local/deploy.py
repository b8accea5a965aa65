"""The embedded deploy: the stack of template.yaml in the local cloud in about a second, without the sam CLI.

It works as `sam build && sam deploy` with three differences. Functions are zipped without packages, because these come
from the virtual environment. The layer with the agent's AWS client is the one that `make` has downloaded
(agent_client/carry.py). Architecture and Python version are this machine's.
"""

import hashlib
import io
import json
import platform
import sys
import zipfile
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from agent_client import carry
from local.corrections import yaml_template
from local.corrections.clients import Operator

ARTIFACTS = "storage-matrix-local-artifacts"
# A constant date, so that the same code gives the same archive and the same folder on disk.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)


class DeployError(RuntimeError):
    """The template cannot be deployed; the message has the place and the reason."""


class Deployment:
    """One stack from one template file."""

    def __init__(self, template: Path, operator: Operator, expect: Callable[[Path, bytes], None]) -> None:
        """`expect` is called with the folder that functions share and its archive, before the first is created."""
        self._expect = expect
        self._root = template.parent
        self._template = template
        self._operator = operator
        self._uploaded: dict[Path, dict[str, str]] = {}

    def run(self, stack: str, given: Mapping[str, str] | None = None) -> dict[str, str]:
        """Create the stack with the `given` parameters and those of this machine; return its outputs.

        Raises DeployError.
        """
        if not self._template.exists():
            raise DeployError(f"{self._template} does not exist; start with --no-deploy for a cloud without a stack")
        template = yaml_template.load(self._template.read_text())
        self._package(template)
        declared = template.get("Parameters", {})
        if unknown := sorted((given or {}).keys() - declared):
            raise DeployError(f"{self._template} has no parameter {', '.join(unknown)}; it has {', '.join(declared)}")
        wanted = {**_of_machine(), **(given or {})}
        parameters = [
            {"ParameterKey": name, "ParameterValue": value} for name, value in wanted.items() if name in declared
        ]
        return self._create(stack, template, parameters)

    def _create(self, stack: str, template: dict[str, Any], parameters: list[dict[str, str]]) -> dict[str, str]:
        cloudformation = self._operator.client("cloudformation")
        try:
            cloudformation.create_stack(
                StackName=stack,
                TemplateURL=self._upload_template(template),
                Parameters=parameters,
                Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
            )
        except ClientError as err:
            raise DeployError(f"{self._template}: {err.response['Error']['Message']}") from err
        described = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
        if described["StackStatus"] != "CREATE_COMPLETE":
            raise DeployError(f"stack {stack} ended as {described['StackStatus']}")
        return {output["OutputKey"]: output["OutputValue"] for output in described.get("Outputs", [])}

    @cached_property
    def _bucket(self) -> Any:
        return self._operator.client("s3")

    def _package(self, template: dict[str, Any]) -> None:
        """Upload the local paths of the template."""
        common = template.get("Globals", {}).get("Function", {})
        common_code = common.pop("CodeUri", None)
        if isinstance(common_code, str) and (self._root / common_code).is_dir():
            self._expect(self._root / common_code, zipped(self._root / common_code))
        self._bucket.create_bucket(Bucket=ARTIFACTS, **_location(self._operator.region))
        for name, resource in template["Resources"].items():
            properties = resource.setdefault("Properties", {})
            match resource["Type"]:
                case "AWS::Serverless::Function":
                    code = properties.get("CodeUri", common_code)
                    if isinstance(code, str):
                        properties["CodeUri"] = self._upload_path(name, code)
                case "AWS::Serverless::LayerVersion" if _is_made(resource):
                    properties["ContentUri"] = self._upload(agent_client())
                case "AWS::Serverless::LayerVersion" if isinstance(properties.get("ContentUri"), str):
                    properties["ContentUri"] = self._upload_path(name, properties["ContentUri"])
                case "AWS::Serverless::StateMachine" if isinstance(properties.get("DefinitionUri"), str):
                    properties["DefinitionUri"] = self._upload_path(name, properties["DefinitionUri"])

    def _upload_path(self, name: str, uri: str) -> dict[str, str]:
        """Upload a folder as an archive, or a file unchanged, once for all resources that use it."""
        path = self._root / uri
        if not path.exists():
            raise DeployError(f"{name}: {path} does not exist")
        if path not in self._uploaded:
            self._uploaded[path] = self._upload(zipped(path) if path.is_dir() else path.read_bytes())
        return dict(self._uploaded[path])

    def _upload(self, body: bytes) -> dict[str, str]:
        key = hashlib.sha256(body).hexdigest()
        self._bucket.put_object(Bucket=ARTIFACTS, Key=key, Body=body)
        return {"Bucket": ARTIFACTS, "Key": key}

    def _upload_template(self, template: dict[str, Any]) -> str:
        # by URL: a template within the request may have 51,200 bytes only
        uploaded = self._upload(json.dumps(template, default=str).encode())
        return f"{self._operator.endpoint}/{uploaded['Bucket']}/{uploaded['Key']}"


def _of_machine() -> dict[str, str]:
    """Return the parameters that follow from this machine."""
    machine = platform.machine().lower()
    return {
        "FunctionArchitecture": "arm64" if machine in ("arm64", "aarch64") else "x86_64",
        "FunctionRuntime": f"python{sys.version_info.major}.{sys.version_info.minor}",
    }


@cache
def zipped(folder: Path) -> bytes:
    """Return an archive of a folder without __pycache__; the same files give the same bytes."""
    paths = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return _archive({str(path.relative_to(folder)): path.read_bytes() for path in paths})


@cache
def agent_client() -> bytes:
    """Return the archive that agent_client/Makefile makes for its layer."""
    try:
        return _archive({f"client/{name}": body for name, body in carry.content().items()})
    except carry.NotCarried as err:
        raise DeployError(str(err)) from err


def _archive(files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as content:
        for name, body in sorted(files.items()):
            content.writestr(zipfile.ZipInfo(name, ZIP_DATE), body)
    return archive.getvalue()


def _is_made(resource: dict[str, Any]) -> bool:
    """Return whether `sam build` runs a Makefile for the resource, as for the agent's AWS client only."""
    return bool(resource.get("Metadata", {}).get("BuildMethod") == "makefile")


def _location(region: str) -> dict[str, Any]:
    return {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
