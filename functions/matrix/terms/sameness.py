"""What makes a cell the same in two runs: storage, kind of workload and fleet, however its matrix calls them."""

import json
from collections.abc import Mapping
from typing import Any

from matrix.terms.ids import short_hash
from matrix.terms.names import workload_words

Document = Mapping[str, Any]
OF_FLEET = ("instanceType", "count", "placement")
# A field of a later version: it stands in a key where it is set, so that the keys of others stay what they were.
SET_OF_FLEET = ("bandwidthWeighting", "ran")


def same_storage(storage: Document) -> dict[str, Any]:
    """Return what sets a storage apart: all but its name and what is not set.

    So a field that a later version adds, and a matrix does not use, makes no other storage.
    """
    return {name: value for name, value in storage.items() if name != "name" and _is_set(value)}


def same_fleet(fleet: Document) -> dict[str, Any]:
    """Return what sets a fleet apart; that its instances are Spot ones changes their price only."""
    apart = {name: fleet[name] for name in SET_OF_FLEET if _is_set(fleet.get(name))}
    return {name: fleet.get(name) for name in OF_FLEET} | apart


def cell_key(environment: str, storage: Document, workload: Document, fleet: Document) -> str:
    """Return the key by which a cell is found over all runs: `aws/efs/touch/m6i.large-x10/0f3c…`.

    Its beginning is for people; the hash at its end is of all that sets the cell apart.
    """
    apart = [environment, same_storage(storage), workload_words(workload), same_fleet(fleet)]
    fingerprint = short_hash(json.dumps(apart, sort_keys=True), 12)
    size = f"{fleet.get('instanceType')}-x{fleet.get('count')}"
    return f"{environment}/{storage.get('type')}/{workload.get('type')}/{size}/{fingerprint}"


def _is_set(value: Any) -> bool:
    return value is not None and value is not False and value not in ([], {})
