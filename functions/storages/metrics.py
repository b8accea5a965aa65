"""The metrics of each type of storage."""

from collections.abc import Mapping
from typing import Literal

from storages.contracts.metrics import StorageMetrics
from storages.ebs.metrics import METRICS as EBS
from storages.efs.metrics import METRICS as EFS
from storages.file_server.metrics import METRICS as FILE_SERVER
from storages.fsx_lustre.metrics import METRICS as FSX_LUSTRE
from storages.fsx_ontap.metrics import METRICS as FSX_ONTAP
from storages.fsx_openzfs.metrics import METRICS as FSX_OPENZFS
from storages.instance_store.metrics import METRICS as INSTANCE_STORE
from storages.mountpoint.metrics import METRICS as MOUNTPOINT
from storages.nfs.metrics import METRICS as NFS
from storages.s3.metrics import METRICS as S3
from storages.s3_express.metrics import METRICS as S3_EXPRESS
from storages.s3_files.metrics import METRICS as S3_FILES

METRICS: Mapping[str, StorageMetrics] = {
    "ebs": EBS,
    "efs": EFS,
    "file-server": FILE_SERVER,
    "fsx-lustre": FSX_LUSTRE,
    "fsx-ontap": FSX_ONTAP,
    "fsx-openzfs": FSX_OPENZFS,
    "instance-store": INSTANCE_STORE,
    "mountpoint": MOUNTPOINT,
    "nfs": NFS,
    "s3": S3,
    "s3-express": S3_EXPRESS,
    "s3-files": S3_FILES,
}
# By the kind of mount. The root volume is a disk like others.
COUNTERS: Mapping[str, Literal["disk", "nfs", "lustre"]] = {
    "root": "disk",
    **{kind: counter for metrics in METRICS.values() for kind, counter in metrics.counters.items()},
}
_UNKNOWN = StorageMetrics()


def metrics_of(kind: object) -> StorageMetrics:
    """Return the metrics of a type of storage. An unknown type, such as a published one, has none."""
    return METRICS.get(str(kind), _UNKNOWN)
