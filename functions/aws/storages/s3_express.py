"""S3 Express One Zone: a directory bucket for each file system, in the zone of its subnet."""

from aws.storages.base import FileSystem
from aws.storages.directory_buckets import OF_MOUNTS, DirectoryBuckets
from aws.storages.s3 import place
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part


class S3Express(DirectoryBuckets, FileSystem):
    def create(self, token: str, _storage: Part, tags: list[dict[str, str]], _run: str, _name: str, zone: int) -> str:
        """Create the directory bucket with its tags, or find the one that this token created; return its name."""
        return self.make(token, tags, zone)

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return how an instance accesses it: each below its own name. A session is valid for the whole bucket."""
        return place(resource_id, "{userid}", storage)


cloud = S3Express("sm-", others=(OF_MOUNTS.mark,))
