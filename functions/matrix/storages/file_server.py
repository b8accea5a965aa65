"""The project's file server on its own instance: a volume's speed as the network and one server provide it."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from matrix.fields.fleet import InstanceType
from matrix.storages.base import AttachedVolumes, CeilingWords, Storage, Traits, Words
from matrix.storages.ebs import EbsStorage
from matrix.storages.metrics import StorageMetrics
from matrix.terms.charges import ROOT_VOLUME_GIB, Charge, Query, Usage, instance_charges, instance_query
from matrix.terms.documents.parts import StorageFields


def volume(size_gib: int) -> dict[str, Any]:
    """Return the server's volume, in the form of an input."""
    return {"type": "ebs", "volumeType": "gp3", "sizeGiB": size_gib, "iops": 3_000, "throughputMiBps": 125}


class FileServerMetrics(StorageMetrics):
    """Metrics of the project's file server: CloudWatch counts nothing, so no run is compared with its own limits."""


class FileServerStorage(Storage):
    """Our file server with a gp3 volume (3,000 IOPS, 125 MiB/s), shared by the instances of a cell; for reads."""

    traits: ClassVar[Traits] = Traits(
        is_only_read=True,
        # Limits of agent/file_server.py: its connections, and its largest response.
        most_readers=4_000,
        most_answer_bytes=64 * 2**20,
        # Seconds that launching and ending the server takes, and may take.
        create_and_delete_s=150.0,
        create_and_delete_most_s=1_800.0,
        words=Words("File server", "File server", {"instanceType": "{}", "sizeGiB": "{} GiB"}),
        ceilings=CeilingWords(
            # The client cannot count the volume's operations: one request causes a read of the volume for each page.
            "file server's volume IOPS",
            "file server's volume throughput",
            "read larger pages",
            "read from EBS, EFS or FSx, whose throughput can be provisioned",
        ),
        assumption="a file server is one instance more, launched before its first cell and billed as its file system",
        metrics=FileServerMetrics(),
        # A read of gp3 and a round trip within a zone.
        read_latency_s=0.0015,
        # A round trip within a zone.
        create_latency_s=0.0005,
        sync_latency_s=0.0015,
        # It is one instance.
        is_in_one_zone=True,
    )

    type: Literal["file-server"]
    """Kind of storage."""
    instance_type: Annotated[InstanceType, Field(examples=["m6i.large"])]
    """Instance type of the server."""
    size_gib: Annotated[int, Field(alias="sizeGiB", ge=1, le=16_384)] = 100
    """Size of its volume in GiB."""

    @property
    def volume(self) -> EbsStorage:
        """The server's volume."""
        return EbsStorage.model_validate(volume(self.size_gib))

    def attached(self, instance_type: str) -> AttachedVolumes:
        """Return the volume of the server, whatever the type of the fleet."""
        return self.volume.attached(self.instance_type)

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second that the volume serves to all clients together."""
        return self.volume.bandwidth_bytes_per_s

    @property
    def effective_iops(self) -> int:
        """Reads per second of the volume."""
        return self.volume.effective_iops

    @property
    def price_queries(self) -> list[Query]:
        """Queries for the price of its instance; the prices of gp3 are queried in any case."""
        return [instance_query(self.instance_type)]

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield its instance and its volume."""
        if usage.seconds.high:
            yield from instance_charges(self.instance_type, 1, usage.seconds)
            yield from self.volume.volume_charges(1, usage.seconds)

    @classmethod
    def volumes_of(cls, document: StorageFields, count: int) -> Iterator[tuple[int, StorageFields]]:
        """Yield the server's volumes: its root volume and the volume that it serves."""
        yield 1, {"volumeType": "gp3", "sizeGiB": ROOT_VOLUME_GIB}
        yield 1, volume(document["sizeGiB"])

    @classmethod
    def server_type(cls, document: StorageFields) -> str:
        return str(document["instanceType"])

    @property
    def slug(self) -> str:
        return f"file-server-{self.instance_type.replace('.', '-')}"

    def capacity_gib(self, instance_type: str) -> float | None:
        return float(self.size_gib)
