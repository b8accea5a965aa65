"""Fast snapshot restore, which moto lacks: its three calls, and the credit that a volume takes when it is created.

A snapshot has full credits in a zone at once, and none returns: local runs end before one would.
"""

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models.elastic_block_store import EBSBackend
from moto.ec2.responses.elastic_block_store import ElasticBlockStore


def install() -> None:
    """Add the calls, once."""
    if hasattr(ElasticBlockStore, "describe_fast_snapshot_restores"):
        return
    create = EBSBackend.create_volume

    def create_restored(self: Any, *arguments: Any, initialization_rate: int | None = None, **named: Any) -> Any:
        volume = create(self, *arguments, **named)
        volume.volume_initialization_rate = initialization_rate
        volume.fast_restored = initialization_rate is None and _takes_credit(self, volume)
        return volume

    EBSBackend.create_volume = create_restored
    ElasticBlockStore.enable_fast_snapshot_restores = lambda self: _changed(self, "enabling")
    ElasticBlockStore.disable_fast_snapshot_restores = lambda self: _changed(self, "disabling")
    ElasticBlockStore.describe_fast_snapshot_restores = _described


def _changed(request: Any, state: str) -> ActionResult:
    pairs = [
        (snapshot, zone)
        for snapshot in request._get_param("SourceSnapshotIds", [])
        for zone in request._get_param("AvailabilityZones", [])
    ]
    credits_ = _credits(request.ec2_backend)
    for snapshot, zone in pairs:
        gib = int(request.ec2_backend.get_snapshot(snapshot).volume.size)
        credits_.pop((snapshot, zone), None)
        if state == "enabling":
            credits_[snapshot, zone] = max(1, min(10, 1_024 // gib))
    successful = [{"SnapshotId": snapshot, "AvailabilityZone": zone, "State": state} for snapshot, zone in pairs]
    return ActionResult({"Successful": successful, "Unsuccessful": []})


def _described(request: Any) -> ActionResult:
    wanted = request._filters_from_querystring().get("snapshot-id")
    found = [
        {"SnapshotId": snapshot, "AvailabilityZone": zone, "State": "enabled"}
        for snapshot, zone in _credits(request.ec2_backend)
        if wanted is None or snapshot in wanted
    ]
    return ActionResult({"FastSnapshotRestores": found})


def _credits(backend: Any) -> dict[tuple[str, str], int]:
    """Return the credits of each snapshot and zone that has fast snapshot restore."""
    found: dict[tuple[str, str], int] = backend.__dict__.setdefault("local_restores", {})
    return found


def _takes_credit(backend: Any, volume: Any) -> bool:
    credits_, pair = _credits(backend), (volume.snapshot_id, volume.zone.name)
    if not credits_.get(pair):
        return False
    credits_[pair] -= 1
    return True
