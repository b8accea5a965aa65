"""How a cloud is started, known before anything is imported that takes its time."""

import os
from dataclasses import dataclass
from pathlib import Path

ACCOUNTS = ("usual", "new", "customer-key")


@dataclass(frozen=True)
class Options:
    """How a cloud is started; the defaults are the command line's."""

    workdir: Path = Path(".local")
    port: int = 0
    template: Path | None = Path("template.yaml")
    stack: str = "storage-matrix"
    region: str = "us-east-1"
    time_scale: float = 40.0
    vcpu_quota: int | None = None
    faults: Path | None = None
    instances: str = "process"
    account: str = "usual"


def set_environment(region: str) -> None:
    """Set what moto reads when it is imported."""
    os.environ.update(
        MOTO_DISABLE_GLOBAL_CORS="true",
        MOTO_ENABLE_AMI_VALIDATION="true",
        MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION="true",
        AWS_DEFAULT_REGION=region,
        # Good for nothing, here and elsewhere: a client of moto's own must not find the user's.
        AWS_ACCESS_KEY_ID="local",
        AWS_SECRET_ACCESS_KEY="local",  # noqa: S106  # pragma: allowlist secret
    )
    os.environ.pop("AWS_PROFILE", None)
