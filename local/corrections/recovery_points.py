"""AWS Backup: the local cloud makes no backups, so a file system has no recovery points."""

from typing import Any

from moto.backup import urls
from moto.backup.responses import BackupResponse
from moto.core.responses import ActionResult


def install() -> None:
    """Answer ListRecoveryPointsByResource with an empty list; moto lacks the call."""

    def list_recovery_points_by_resource(_self: Any) -> ActionResult:
        return ActionResult({"RecoveryPoints": []})

    BackupResponse.list_recovery_points_by_resource = list_recovery_points_by_resource
    urls.url_paths[r"{0}/resources/(?P<arn>.+)/recovery-points/$"] = BackupResponse.dispatch
