"""Service Quotas: what an account may have of what plans are held against; moto knows the quotas of VPC only."""

from typing import Any

from moto.servicequotas.models import ServiceQuotasBackend

# What AWS gives each account until it asks for more (EBS, EFS and FSx user guides, quotas).
DEFAULTS = {
    ("elasticfilesystem", "L-848C634D"): 1_000.0,
    ("fsx", "L-4EDE4065"): 10_240.0,
    ("fsx", "L-88479C21"): 65_536.0,
    **{("ebs", quota): 50.0 for quota in ("L-D18FCD1D", "L-7A658B76", "L-FD252861", "L-82ACEF56", "L-17AF77E8")},
    ("ebs", "L-09BD8365"): 20.0,
    **{("ebs", quota): 100_000.0 for quota in ("L-B3A130E6", "L-8D977E7E")},
}
# An account that runs fleets has asked for vCPUs; how many is its own affair, so none is refused here for want of them.
VCPUS = 100_000.0


def install() -> None:
    """Answer GetServiceQuota for EC2, EBS, EFS and FSx too."""
    get = ServiceQuotasBackend.get_service_quota

    def get_more(self: Any, service_code: str, quota_code: str) -> dict[str, Any]:
        value = VCPUS if service_code == "ec2" else DEFAULTS.get((service_code, quota_code))
        if value is None:
            return get(self, service_code, quota_code)
        return {"ServiceCode": service_code, "QuotaCode": quota_code, "Value": value}

    ServiceQuotasBackend.get_service_quota = get_more
