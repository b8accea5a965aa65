"""An existing NFS export: nothing is created, tagged or deleted, and no AWS API lists it."""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from aws.stack import network
from aws.storages.base import Existing, FileSystem, Refusal
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part


class Nfs(FileSystem):
    def create(self, _token: str, storage: Part, _tags: list[dict[str, str]], *_: object) -> str:
        """Return its source: it exists."""
        return str(storage["source"])

    def find(self, _token: str) -> str | None:
        """Return None: no run has made one."""
        return None

    def refusals(self, storage: Part, *_: object) -> Iterator[Refusal]:
        """Yield reasons why instances cannot reach it: the stack allows NFS only to the addresses of MultiAzCidr."""
        source = storage["source"]
        host = source.partition(":")[0]
        allowed = network.nfs_addresses()
        fix = f"deploy the stack into a VPC that reaches it (VpcId, SubnetIds) with MultiAzCidr, in which {host} is"
        if not allowed:
            # The server may be in the stack's group, which every stack's instances may reach.
            rule = (
                "must have the stack's group FileSystemSecurityGroup, as the stack lets its instances out to no other"
            )
            yield Refusal("source", source, rule, f"add that group to the server, or {fix}", is_doubt=True)
            return
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return  # a DNS name, which may resolve only within the VPC
        if address not in ipaddress.ip_network(allowed):
            rule = f"is outside of {allowed}, to which the stack lets its instances out"
            yield Refusal("source", source, rule, fix)

    def mount(self, resource_id: str, storage: Part) -> Mount:
        return {"kind": "nfs", "source": resource_id, "options": str(storage["options"])}

    def existing(self) -> Iterable[Existing]:
        """Return none: AWS does not list them, and none belongs to a run."""
        return ()

    def deleted(self, _created_at: Mapping[str, float]) -> Iterable[str]:
        """Return none: none was created."""
        return ()

    def delete(self, _resource_id: str) -> bool:
        """Return True: a run has created nothing to delete."""
        return True


cloud = Nfs()
