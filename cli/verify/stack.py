"""The stack that is verified, and the tree that it should have been deployed from."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cli.target.deployment import Deployment
from cli.target.service import Service

# In a clone the root; in an installed wheel the package with the same folders.
SOURCES = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Stack:
    """A deployed stack, asked through one deployment."""

    deployment: Deployment
    sources: Path = SOURCES

    def client(self, service: str) -> Any:
        return self.deployment.client(service)

    @cached_property
    def service(self) -> Service:
        """The service of the stack that `matrix run` calls."""
        return Service(self.deployment)

    @cached_property
    def resources(self) -> dict[str, str]:
        """Physical ids by logical ids of the processed template."""
        pages = self.client("cloudformation").get_paginator("list_stack_resources")
        return {
            listed["LogicalResourceId"]: listed.get("PhysicalResourceId", "")
            for page in pages.paginate(StackName=self.deployment.stack)
            for listed in page["StackResourceSummaries"]
        }

    @cached_property
    def parameters(self) -> dict[str, str]:
        """Parameters of the deployed stack, defaults included."""
        [described] = self.client("cloudformation").describe_stacks(StackName=self.deployment.stack)["Stacks"]
        return {each["ParameterKey"]: each.get("ParameterValue", "") for each in described.get("Parameters", [])}

    @property
    def role_path(self) -> str:
        """The path of the stack's roles, which is a part of their ARNs and not of their names."""
        return self.parameters.get("RolePath") or "/"

    @property
    def names(self) -> dict[str, str]:
        """The stack's name and the ids of its resources, by `stack` and logical ids."""
        own = {logical: physical.rpartition(":")[2] for logical, physical in self.resources.items()}
        return {"stack": self.deployment.stack} | {
            logical: physical for logical, physical in own.items() if physical != self.deployment.stack
        }

    @cached_property
    def account(self) -> str:
        """The account's number, from the state machine's ARN."""
        return self.deployment.outputs["StateMachineArn"].split(":")[4]

    @cached_property
    def partition(self) -> str:
        """The AWS partition: `aws`, `aws-cn` or `aws-us-gov`."""
        return self.deployment.outputs["StateMachineArn"].split(":")[1]

    @cached_property
    def launch_settings(self) -> dict[str, str]:
        """Environment of Launch fleet: SUBNET_IDS and LAUNCH_TEMPLATE_ID, also in a VPC of the user."""
        function = self.resources["LaunchFleetFunction"]
        configuration = self.client("lambda").get_function_configuration(FunctionName=function)
        return dict(configuration["Environment"]["Variables"])

    @property
    def subnets(self) -> list[str]:
        """The subnets of fleets; single-zone file systems are in the first."""
        return self.launch_settings["SUBNET_IDS"].split(",")
