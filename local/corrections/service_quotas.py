"""Service Quotas: the quotas that a plan is checked against; moto has only those of VPC."""

from typing import Any

from moto.servicequotas.models import ServiceQuotasBackend

# The defaults of a new account (Lambda, EBS, EFS and FSx user guides, quotas).
DEFAULTS = {
    ("lambda", "L-B99A9384"): 1_000.0,
    ("elasticfilesystem", "L-848C634D"): 1_000.0,
    ("fsx", "L-4EDE4065"): 10_240.0,
    ("fsx", "L-88479C21"): 65_536.0,
    ("fsx", "L-E24B4DE4"): 400_000.0,
    **{("fsx", quota): 100.0 for quota in ("L-C48231E5", "L-FD6F2F22", "L-C28C1403")},
    ("fsx", "L-E2C89679"): 524_288.0,
    ("fsx", "L-C5F860DD"): 10_240.0,
    ("fsx", "L-57578687"): 1_000_000.0,
    **{("fsx", quota): 100_800.0 for quota in ("L-AD2FC696", "L-8F1B9C74", "L-B7391FCE")},
    ("fsx", "L-0CD18A5D"): 100_000.0,
    **{("ebs", quota): 50.0 for quota in ("L-D18FCD1D", "L-7A658B76", "L-FD252861", "L-82ACEF56", "L-17AF77E8")},
    ("ebs", "L-09BD8365"): 20.0,
    **{("ebs", quota): 100_000.0 for quota in ("L-B3A130E6", "L-8D977E7E")},
}
# An account that runs fleets has had its vCPUs raised, by how much is unknown: so high that no plan is refused.
VCPUS = 100_000.0


def install() -> None:
    """Answer GetServiceQuota for EC2, EBS, EFS, FSx and Lambda too."""
    get = ServiceQuotasBackend.get_service_quota

    def get_more(self: Any, service_code: str, quota_code: str) -> dict[str, Any]:
        value = VCPUS if service_code == "ec2" else DEFAULTS.get((service_code, quota_code))
        if value is None:
            return get(self, service_code, quota_code)
        return {"ServiceCode": service_code, "QuotaCode": quota_code, "Value": value}

    ServiceQuotasBackend.get_service_quota = get_more
