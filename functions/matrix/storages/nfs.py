"""An existing NFS export: your own file server, or a file system of AWS that has no storage type here."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from matrix.fields.types import Rule
from matrix.storages.base import Storage, Traits, Words
from matrix.storages.metrics import StorageMetrics
from matrix.terms.documents.parts import StorageFields
from matrix.terms.problems import Problems, Weight

# A DNS name or an IPv4 address, and a path without a part that begins with a dot: in the local cloud a folder of that
# name replaces it.
_PLACE = r"^[A-Za-z0-9][A-Za-z0-9.-]*:/(\w[\w.-]*(/\w[\w.-]*)*)?$"
Source = Annotated[str, StringConstraints(max_length=255, pattern=_PLACE)]
Options = Annotated[str, StringConstraints(max_length=255, pattern=r"^[a-z_]+(=[a-z0-9.]+)?(,[a-z_]+(=[a-z0-9.]+)?)*$")]
# Options of nfs(5) that do not change the agent's mount: no `bg`, which returns before it is mounted, no `fsc`,
# whose cache would answer instead of the server.
KNOWN_OPTIONS = frozenset({
    "ac", "acdirmax", "acdirmin", "acl", "actimeo", "acregmax", "acregmin", "async", "cto", "hard", "intr", "lock",
    "lookupcache", "max_connect", "minorversion", "mountport", "mountproto", "mountvers", "namlen", "nconnect",
    "nfsvers", "noac", "noacl", "noatime", "nocto", "nodiratime", "nolock", "nordirplus", "noresvport",
    "nosharecache", "port", "proto", "rdirplus", "relatime", "resvport", "retrans", "ro", "rsize", "sec", "sharecache",
    "soft", "softerr", "sync", "timeo", "vers", "wsize",
})  # fmt: skip
MAX_CONNECTIONS = 16
MAY_LOSE = frozenset({"soft", "softerr"})


class NfsMetrics(StorageMetrics):
    """Counts of an existing NFS export by the kernel's NFS client; CloudWatch has no metrics of it."""

    counters = {"nfs": "nfs"}

    def connections(self, storage: StorageFields) -> int:
        """Return those that the mount's options ask for, else the kernel's one."""
        options = dict(option.partition("=")[::2] for option in str(storage.get("options", "")).split(","))
        return int(options.get("nconnect") or 1)


class NfsStorage(Storage):
    """An NFS export that exists, shared by the instances of a cell, and left as it was."""

    traits: ClassVar[Traits] = Traits(
        existing_fields=("source",),
        opened_by="options without ro",
        are_limits_published=False,
        starter={"source": "files.example.com:/export"},
        words=Words("NFS", "NFS server", {"source": "{}", "options": "{}"}, in_names={"source": "{}"}),
        assumption=(
            "nobody knows how fast an NFS server of yours is: its times are guessed as 100 MiB/s and 1,000 operations"
            " per second, and it costs nothing beside its instances"
        ),
        metrics=NfsMetrics(),
        create_latency_s=0.005,
        sync_latency_s=0.005,
        tools=frozenset({"mount.nfs"}),
    )

    type: Literal["nfs"]
    """Kind of storage."""
    source: Annotated[Source, Field(examples=["files.example.com:/export"])]
    """Server and path, as `mount` takes them. The run works in a folder of its own and leaves the server as it was."""
    options: Annotated[Options, Field(examples=["nfsvers=4.1,hard,timeo=600"])] = "nfsvers=4.1,hard,timeo=600,retrans=2"
    """Options of the mount, as nfs(5) has them. With `ro` it is only read."""

    @classmethod
    def is_written_in(cls, document: StorageFields) -> bool:
        """Return False if it is mounted read-only."""
        return "ro" not in document.get("options", "").split(",")

    # All figures are guesses for the estimate of a cell's time. The plan says so.

    @property
    def effective_iops(self) -> int:
        return 1_000

    @property
    def bandwidth_bytes_per_s(self) -> float:
        return 100 * 2.0**20

    @property
    def slug(self) -> str:
        """Readable id: the server and the last part of the path."""
        host, _, path = self.source.partition(":")
        last = path.rpartition("/")[2].lower().replace(".", "-").replace("_", "-")
        server = host.partition(".")[0] if not host[0].isdigit() else host.replace(".", "-")
        return "-".join(filter(None, ["nfs", server.lower(), last]))

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (options_are_known, connections_are_possible, writes_are_kept)


def options_are_known(part: NfsStorage) -> Problems:
    """Yield a problem for options that are not of NFS, or that would measure something else than the server."""
    names = [option.partition("=")[0] for option in part.options.split(",")]
    unknown = sorted(set(names) - KNOWN_OPTIONS)
    if unknown:
        rule = f"{', '.join(unknown)} cannot be set: it is not an option of NFS, or something else would be measured"
        yield part.problem("options", rule, f"write some of {', '.join(sorted(KNOWN_OPTIONS))}")


def connections_are_possible(part: NfsStorage) -> Problems:
    """Yield a problem if the kernel would refuse the number of connections (NFS_MAX_CONNECTIONS of its nfs client)."""
    for option in part.options.split(","):
        name, _, value = option.partition("=")
        if name == "nconnect" and not (value.isdecimal() and 1 <= int(value) <= MAX_CONNECTIONS):
            rule = f"{option} cannot be mounted: the kernel opens 1 to {MAX_CONNECTIONS} connections"
            yield part.problem("options", rule, "for example nconnect=4")


def writes_are_kept(part: NfsStorage) -> Problems:
    """Yield a warning if the kernel gives up writes, because a fast figure may then be one of errors."""
    soft = sorted(MAY_LOSE & set(part.options.split(",")))
    if soft:
        rule = f"with {soft[0]} the kernel gives an operation up after retrans attempts, and data may be lost"
        yield part.problem("options", rule, "write hard, unless your jobs mount it so", weight=Weight.NOTE)
