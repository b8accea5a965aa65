"""Recognise the same cell in two runs: by storage, kind of workload and fleet, without the names in their matrices."""

import json
from collections.abc import Mapping
from typing import Any

from matrix.terms.documents.parts import Fleet, Part, StorageFields
from matrix.terms.ids import short_hash
from matrix.terms.names import describe_workload

OF_FLEET = ("instanceType", "count", "placement")
# Fields of later versions: a key has one only if it is set, so that the keys of other fleets stay the same.
SET_OF_FLEET = ("bandwidthWeighting", "ran")


def same_storage(storage: StorageFields) -> dict[str, Any]:
    """Return the set fields of a storage without its name.

    A field that a later version adds and a matrix does not use therefore changes nothing.
    """
    return {name: value for name, value in storage.items() if name != "name" and _is_set(value)}


def same_fleet(fleet: Fleet) -> dict[str, Any]:
    """Return the fields that distinguish a fleet. Spot is left out, since it changes only the price."""
    settings: Mapping[str, Any] = fleet
    apart = {name: settings[name] for name in SET_OF_FLEET if _is_set(settings.get(name))}
    return {name: settings.get(name) for name in OF_FLEET} | apart


def same_point(workload: Mapping[str, Any], params: Mapping[str, Any], metric: str) -> list[Any]:
    """Return the key by which a point is the same in two cells or runs: kind, parameters and metric, without names.

    `workload` is its document. A metric of the user's own adds its definition, since another definition is another
    metric.
    """
    own = (workload.get("metrics") or {}).get(metric)
    return [workload.get("type"), dict(params), metric, *([own] if own else [])]


def cell_key(environment: str, storage: StorageFields, workload: Part, fleet: Fleet) -> str:
    """Return the key of a cell over all runs: `aws/efs/touch/m6i.large-x10/0f3c…`.

    Its start is for people; the hash at its end covers all distinguishing fields.
    """
    apart = [environment, same_storage(storage), describe_workload(workload), same_fleet(fleet)]
    fingerprint = short_hash(json.dumps(apart, sort_keys=True), 12)
    size = f"{fleet.get('instanceType')}-x{fleet.get('count')}"
    return f"{environment}/{storage.get('type')}/{workload.get('type')}/{size}/{fingerprint}"


def _is_set(value: Any) -> bool:
    return value is not None and value is not False and value not in ([], {})
