"""IAM judges nothing here: moto's enforcement knows no conditions, and denies every ARN-scoped grant except S3's."""

from moto.iam.access_control import PermissionResult
from moto.iam.models import IAMBackend
from moto.s3.models import FakeBucket

from local.corrections.clients import PARTITION


def install() -> None:
    """Ignore the policies of buckets, and load AWS's 1,500 managed policies once.

    moto ignores Condition: a Deny of plain HTTP would deny everything. It reads the managed policies for each
    partition, which costs 0.8 s of every start.
    """
    FakeBucket.get_permission = lambda _bucket, _action, _resource: PermissionResult.NEUTRAL
    load = IAMBackend._init_aws_policies
    IAMBackend._init_aws_policies = lambda self: load(self) if self.region_name == PARTITION else []
