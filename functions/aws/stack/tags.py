"""Tags with the owner and the deadline of a resource, set by the very call that creates it."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from aws.stack.clients import client
from aws.stack.environment import environment
from matrix.terms.documents.plan import PlanDocument

# The stack that owns a resource: another stack of the account and region neither finds it nor may its roles delete it.
STACK = "storage-matrix:stack"
RUN = "storage-matrix:run"
DEADLINE = "storage-matrix:deadline"
OWNER = "storage-matrix:owner"
FILE_SYSTEM = "storage-matrix:file-system"
CELL = "storage-matrix:cell"
# By which the owner of a volume that exists lets the stack of this name attach it. No role of a stack may set it.
MAY_ATTACH = "storage-matrix:may-attach"
# Images and their snapshots outlive their run on purpose, so they have neither its tag nor a deadline.
IMAGE = "storage-matrix:image"
MADE_BY = "storage-matrix:made-by"


def tags(plan: PlanDocument, *, file_system: str, cell: str | None = None) -> list[dict[str, str]]:
    """Return the tags of a resource of a run, as EC2, EFS and FSx take them."""
    deadline = datetime.fromtimestamp(plan["deadline_at"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    pairs = {
        "Name": f"{plan['run']}.{file_system}",
        STACK: environment().stack,
        RUN: plan["run"],
        DEADLINE: deadline,
        OWNER: plan["owner"],
        FILE_SYSTEM: file_system,
    }
    if cell:
        pairs[CELL] = cell
    return _with_given(plan, pairs)


def image_tags(plan: PlanDocument, name: str, fingerprint: str) -> list[dict[str, str]]:
    """Return the tags of a baked image and its snapshots; later runs find the image by its fingerprint."""
    pairs = {"Name": name, STACK: environment().stack, IMAGE: fingerprint, MADE_BY: plan["run"], OWNER: plan["owner"]}
    return _with_given(plan, pairs)


def _with_given(plan: PlanDocument, own: Mapping[str, str]) -> list[dict[str, str]]:
    """Return our own tags and the run's tags, as EC2, EFS and FSx take them; ours win."""
    return [{"Key": key, "Value": value} for key, value in {**plan.get("tags", {}), **own}.items()]


def tags_of_deployment() -> dict[str, str]:
    """Return the tags with which the stack was deployed (`sam deploy --tags`)."""
    [stack] = client("cloudformation").describe_stacks(StackName=environment().stack)["Stacks"]
    return as_mapping(stack.get("Tags", []))


def of_stack() -> list[dict[str, Any]]:
    """Return EC2's filters for resources of this stack."""
    return [{"Name": f"tag:{STACK}", "Values": [environment().stack]}]


def of_runs(run: str | None = None) -> list[dict[str, Any]]:
    """Return EC2's filters for resources of `run`, or of any run of this stack if it is None."""
    return [*of_stack(), {"Name": f"tag:{RUN}", "Values": [run]} if run else {"Name": "tag-key", "Values": [RUN]}]


def of_part(run: str, file_system: str | None = None, cell: str | None = None) -> list[dict[str, Any]]:
    """Return EC2's filters for resources of a run, or of one of its file systems, or of one of its cells."""
    wanted = {FILE_SYSTEM: file_system, CELL: cell}
    return of_runs(run) + [{"Name": f"tag:{key}", "Values": [value]} for key, value in wanted.items() if value]


def is_ours(resource_tags: Mapping[str, str], run: str | None = None) -> bool:
    """Return whether a resource with these tags belongs to `run`, or to any run of this stack if it is None."""
    return (
        resource_tags.get(STACK) == environment().stack and RUN in resource_tags and run in (None, resource_tags[RUN])
    )


def as_mapping(tag_list: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return a resource's tags by name."""
    return {tag["Key"]: tag["Value"] for tag in tag_list}
