"""Service Quotas: what an account may have of what plans are held against; moto knows the quotas of VPC only."""

from typing import Any

from moto.servicequotas.models import ServiceQuotasBackend

# What AWS gives each account until it asks for more (EFS and FSx user guides, quotas).
DEFAULTS = {
    ("elasticfilesystem", "L-848C634D"): 1_000.0,
    ("fsx", "L-4EDE4065"): 10_240.0,
    ("fsx", "L-88479C21"): 65_536.0,
}
# An account that runs fleets has asked for vCPUs; how many is its own affair, so none is refused here for want of them.
VCPUS = 100_000.0


def install() -> None:
    """Answer GetServiceQuota for EC2, EFS and FSx too."""
    get = ServiceQuotasBackend.get_service_quota

    def get_more(self: Any, service_code: str, quota_code: str) -> dict[str, Any]:
        value = VCPUS if service_code == "ec2" else DEFAULTS.get((service_code, quota_code))
        if value is None:
            return get(self, service_code, quota_code)
        return {"ServiceCode": service_code, "QuotaCode": quota_code, "Value": value}

    ServiceQuotasBackend.get_service_quota = get_more
