"""The environment variables of a function, read once and typed."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Environment:
    """The stack that a function belongs to."""

    stack: str
    bucket: str
    data_bucket: str
    """Bucket for the data of storages of type s3 while they are measured; never for results."""
    table: str
    region: str
    name: str
    """`aws`, `local` where storages are folders of one machine, `local-vm` where emulated machines mount them."""
    gate_margin_s: float

    @property
    def domain(self) -> str:
        """The domain of AWS's names in the region, as botocore's data of partitions has it."""
        return "amazonaws.com.cn" if self.region.startswith("cn-") else "amazonaws.com"


def environment() -> Environment:
    """Return the environment of this function; KeyError names a variable that the template forgot."""
    return Environment(
        stack=os.environ["STACK"],
        bucket=os.environ["BUCKET"],
        data_bucket=os.environ["DATA_BUCKET"],
        table=os.environ["TABLE"],
        region=os.environ["AWS_REGION"],
        name=os.environ["ENVIRONMENT"],
        gate_margin_s=float(os.environ["GATE_MARGIN_SECONDS"]),
    )
