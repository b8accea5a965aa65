"""A prefix for each file system, or a directory bucket; each instance mounts its own name below it.

The prefix is in the stack's data bucket. A user's bucket is mounted read-only, with everything below its prefix.
"""

from collections.abc import Iterator, Mapping
from itertools import chain

from aws.stack import network
from aws.stack.environment import environment
from aws.storages import directory_buckets as buckets
from aws.storages import prefixes, s3
from aws.storages.base import Existing, FileSystem, Refusal
from matrix.storages.directory_buckets import is_directory_bucket, zone_of
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.sizes import parse_size

PREFIXES, BUCKETS = prefixes.OF_MOUNTS, buckets.OF_MOUNTS
# Without the first option a step could not remove its files, without the second no file could be written again.
ALWAYS = ("allow-delete", "allow-overwrite")
OPTION_OF = {"readPartSize": "read-part-size", "writePartSize": "write-part-size", "cacheMiB": "max-cache-size"}


class Mountpoint(FileSystem):
    DELETION_PROOF = f"{PREFIXES.DELETION_PROOF}; {BUCKETS.DELETION_PROOF}"

    def create(self, token: str, storage: Part, tags: list[dict[str, str]], _run: str, _name: str, zone: int) -> str:
        """Record the prefix's owner, or create the directory bucket; return its id. A repeated call changes nothing."""
        return BUCKETS.make(token, tags, zone) if storage.get("storageClass") else PREFIXES.make(token, tags)

    def find(self, token: str) -> str | None:
        return PREFIXES.find(token) or BUCKETS.find(token)

    def existing(self) -> Iterator[Existing]:
        """Yield prefixes and directory buckets with a record of their owner."""
        return chain(PREFIXES.existing(), BUCKETS.existing())

    def deleted(self, created_at: Mapping[str, float]) -> set[str]:
        """Return those that no longer exist."""
        of_prefixes = {each: at for each, at in created_at.items() if _is_prefix(each)}
        of_buckets = {each: at for each, at in created_at.items() if not _is_prefix(each)}
        deleted = PREFIXES.deleted(of_prefixes) if of_prefixes else set()
        return deleted | (BUCKETS.deleted(of_buckets) if of_buckets else set())

    def delete(self, resource_id: str) -> bool:
        """Delete everything below the prefix, or the bucket with its content; return whether it is deleted."""
        return (PREFIXES if _is_prefix(resource_id) else BUCKETS).delete(resource_id)

    def subnets(self, storage: Part) -> list[str]:
        """Return the subnets in which its instances may be: for an existing directory bucket, those in its zone."""
        bucket = storage.get("bucket", "")
        if not is_directory_bucket(bucket):
            return network.subnets()
        return [each for each in network.subnets() if network.zone_id(each) == zone_of(bucket)]

    def refusals(self, storage: Part, *_: object) -> Iterator[Refusal]:
        """Yield reasons why instances cannot mount the existing bucket."""
        if not is_directory_bucket(storage["bucket"]):
            yield from s3.cloud.refusals(storage)
        elif not self.subnets(storage):
            zones = ", ".join(network.zone_id(each) for each in network.subnets())
            rule = f"is in {zone_of(storage['bucket'])}, and the stack has subnets in {zones}"
            yield Refusal("bucket", storage["bucket"], rule, "give the stack a subnet of that zone in SubnetIds")
        else:
            yield from s3.refusals_of_objects(storage)

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return how an instance mounts the objects below its own name, or below the prefix of the user's bucket."""
        bucket, _, prefix = resource_id.partition("/")
        is_ours = not storage.get("bucket")
        options = [*ALWAYS] if is_ours else ["read-only"]
        options += [
            f"{option}={parse_size(storage[field])}" for field, option in OPTION_OF.items() if storage.get(field)
        ]
        options += ["incremental-upload"] if storage.get("incrementalUpload") else []
        return {
            "kind": "mountpoint",
            "bucket": bucket,
            "prefix": "/".join(filter(None, [prefix, "{userid}" if is_ours else ""])),
            "region": environment().region,
            "options": ",".join(options),
        }


def _is_prefix(resource_id: str) -> bool:
    return "/" in resource_id


cloud = Mountpoint()
