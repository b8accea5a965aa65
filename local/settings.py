"""Settings of a local cloud, available before slow imports."""

import os
from dataclasses import dataclass
from pathlib import Path

# The exit code if another cloud is up in the folder.
ALREADY_RUNNING = 3
# Of a function's code and layers; Lambda takes no more.
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
LAMBDA_UNZIPPED_BYTES = 262_144_000


@dataclass(frozen=True)
class Options:
    """Settings of a local cloud; the defaults are the command line's."""

    workdir: Path = Path(".local")
    port: int = 0
    template: Path | None = Path("template.yaml")
    stack: str = "storage-matrix"
    region: str = "us-east-1"
    time_scale: float = 40.0
    # Parameters of the stack, beside those that make it local.
    parameters: tuple[tuple[str, str], ...] = ()


# The only address of the cloud. A name such as `localhost` may resolve to ::1 alone, where the cloud does not listen.
ADDRESS = "127.0.0.1"


def set_environment(region: str) -> None:
    """Set the environment that moto reads at import, and remove all of the user's AWS settings.

    A missing profile, or a custom endpoint, would break or redirect moto's own clients.
    """
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(
        # Requests to the cloud itself bypass the proxy; others, such as for an image's packages, need it.
        dict.fromkeys(("no_proxy", "NO_PROXY"), _without_proxy()),
        MOTO_DISABLE_GLOBAL_CORS="true",
        MOTO_ENABLE_AMI_VALIDATION="true",
        MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION="true",
        AWS_DEFAULT_REGION=region,
        # Dummy keys, so that moto's own clients do not find the user's.
        AWS_ACCESS_KEY_ID="local",
        AWS_SECRET_ACCESS_KEY="local",  # noqa: S106  # pragma: allowlist secret
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    )


def _without_proxy() -> str:
    users = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    return ",".join(filter(None, [users, ADDRESS, "localhost"]))
