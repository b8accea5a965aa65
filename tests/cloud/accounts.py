"""Accounts of AWS that differ from one that runs fleets: with a quota of vCPUs, or opened today."""

from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import instances
from moto.ec2.models.instance_types import INSTANCE_TYPES, InstanceTypeOfferingBackend

from local.corrections import service_quotas
from local.corrections.ec2 import PENDING, RUNNING, SHUTTING_DOWN, look

# Quotas of a new account as users report them; AWS's pages only state that new accounts have less.
NEW_VCPUS, NEW_CONCURRENCY = 5, 10


def limit_vcpus(quota: int) -> None:
    """Refuse a whole launch that would take the account above its vCPUs, as EC2 does; moto has no such quota.

    Instances that are shutting down count: https://github.com/iterative/cml/issues/649. AWS's pages do not say it.
    """
    run = instances.InstanceBackend.run_instances

    def run_within_quota(self: Any, image_id: str, count: int, *rest: Any, **request: Any) -> Any:
        counted = (PENDING, RUNNING, SHUTTING_DOWN)
        alive = [instance for instance in self.all_instances() if instance._state.code in counted]
        running = sum(_vcpus(instance.instance_type) for instance in alive)
        wanted = count * _vcpus(request["instance_type"])
        if running + wanted > quota:
            look(alive)
            raise EC2ClientError(
                "VcpuLimitExceeded",
                f"You have requested more vCPU capacity than your current vCPU limit of {quota} allows for the "
                "instance bucket that the specified instance type belongs to.",
            )
        return run(self, image_id, count, *rest, **request)

    instances.InstanceBackend.run_instances = run_within_quota


def open_today(zone_without_types: str) -> None:
    """Refuse launches into a zone without the type, as EC2 does, and list no offering there."""
    run, offerings = (
        instances.InstanceBackend.run_instances,
        InstanceTypeOfferingBackend.describe_instance_type_offerings,
    )

    def run_elsewhere(self: Any, image_id: str, count: int, *rest: Any, **request: Any) -> Any:
        subnet = request.get("subnet_id")
        if subnet and self.get_subnet(subnet).availability_zone == zone_without_types:
            raise EC2ClientError(
                "Unsupported",
                f"Your requested instance type ({request['instance_type']}) is not supported in your requested "
                f"Availability Zone ({zone_without_types}). Please retry your request by choosing another one.",
            )
        return run(self, image_id, count, *rest, **request)

    def offered_elsewhere(self: Any, *arguments: Any, **named: Any) -> list[Any]:
        offered = offerings(self, *arguments, **named)
        return [offering for offering in offered if offering["Location"] != zone_without_types]

    instances.InstanceBackend.run_instances = run_elsewhere
    InstanceTypeOfferingBackend.describe_instance_type_offerings = offered_elsewhere


def answer_new_quotas() -> None:
    """Answer with the quotas of an account opened today; the functions of the local cloud have no such limit."""
    service_quotas.VCPUS = float(NEW_VCPUS)
    service_quotas.DEFAULTS["lambda", "L-B99A9384"] = float(NEW_CONCURRENCY)


def _vcpus(instance_type: str) -> int:
    return INSTANCE_TYPES[instance_type]["VCpuInfo"]["DefaultVCpus"]
