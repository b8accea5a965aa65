"""A bucket of Amazon S3, mounted by Mountpoint: files that are written once, from their beginning to their end."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.input.fields import Name, Size
from matrix.input.part import Part, Rule
from matrix.terms.charges import METERED_REQUEST_BYTES, Amount, Charge, Usage
from matrix.terms.problems import Problems
from matrix.terms.sizes import UNITS, format_size
from storages.contracts.abilities import Ability
from storages.contracts.model import CeilingWords, Document, StorageModel, Words

# Mountpoint's configuration guide, performance: what it reads and writes in one request.
PART_BYTES = 8 * UNITS["MiB"]
LEAST_PART_BYTES, MOST_PART_BYTES = 5 * UNITS["MiB"], 5 * UNITS["GiB"]  # S3 user guide, multipart upload limits
# The cache is on the root volume of 20 GiB, which also has the system and what steps note.
MOST_CACHE_MIB = 8_192
# "Mountpoint for Amazon S3 file system behavior", version 1.23, file operations, by what a file system would do.
LACKS = {
    Ability.WRITE_ANYWHERE: "Mountpoint writes new files only, each once and from its beginning to its end",
    Ability.SYNC_MIDWAY: "a sync completes the upload, and nothing more can be written to the file",
    Ability.SYNC_NAMES: "Mountpoint has no fsync of directories",
    Ability.ALLOCATE: "Mountpoint has no fallocate",
    Ability.RENAME: "S3 cannot rename an object of a general purpose bucket",
    Ability.SEE_OTHERS: "each instance mounts a prefix of its own, as its role may use no other",
    Ability.EVERYTHING: "Mountpoint has no links, permissions, locks and renames, and empty directories vanish",
}


class MountpointStorage(StorageModel):
    """A bucket of Amazon S3 mounted by Mountpoint, each instance its own prefix: new files, reads, deletes."""

    is_shared: ClassVar[bool] = True
    bursts_by: ClassVar[str] = "type"
    # Seconds that writing down whose the prefix is and deleting its objects takes, and may take.
    create_and_delete_s: ClassVar[float] = 10.0
    create_and_delete_most_s: ClassVar[float] = 900.0
    words: ClassVar[Words] = Words(
        "Mountpoint",
        "Mountpoint",
        {
            "cacheMiB": "cache of {} MiB",
            "readPartSize": "reads parts of {}",
            "writePartSize": "writes parts of {}",
        },
    )
    ceilings: ClassVar[CeilingWords] = CeilingWords(
        "S3 requests of a prefix",
        "S3 throughput",
        "use fewer and larger files",
        "",
        # A fleet reaches the network limits of its instances before any throughput limit of S3.
        is_throughput_bounded=False,
    )
    assumption: ClassVar[str] = (
        "Mountpoint asks S3 for whole parts where it reads and writes large files, and for one object and its listing"
        " where it reads or writes a small one"
    )

    type: Literal["mountpoint"]
    """Kind of storage."""
    name: Name | None = None
    """Your own name for it, used in ids and tables."""
    cache_mib: Annotated[int | None, Field(ge=1, le=MOST_CACHE_MIB, alias="cacheMiB", examples=[4096])] = None
    """MiB of a cache of what was read, on the instance's root volume; empty before each step. None unless given."""
    read_part_size: Annotated[Size | None, Field(examples=["16MiB"])] = None
    """The most that it asks for in one GET; 8 MiB unless given."""
    write_part_size: Annotated[Size | None, Field(examples=["16MiB"])] = None
    """What it uploads in one request; 8 MiB unless given, which allows files of 78.1 GiB."""

    @property
    def lacks(self) -> Mapping[Ability, str]:
        """What Mountpoint says that it cannot do."""
        return LACKS

    @property
    def is_billed_by_use(self) -> bool:
        """Requests are billed."""
        return True

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second of all clients together: no fleet reaches a bound, so what 1,000 instances can."""
        return 1_000 * 625e6

    @property
    def effective_iops(self) -> int:
        """PUTs and deletes per second of a prefix that S3 has not split yet (S3 user guide, performance)."""
        return 3_500

    @property
    def read_latency_s(self) -> float:
        """Seconds to the first byte of a read: 16 ms (median of 30 of Mountpoint's own runs until August 2026)."""
        return 0.016

    @property
    def create_latency_s(self) -> float:
        """Seconds that a file of one byte takes: 36 ms (median of 30 of Mountpoint's own runs until August 2026)."""
        return 0.036

    @property
    def sync_latency_s(self) -> float:
        """Seconds that completing an upload takes: those of a file of one byte."""
        return 0.036

    def charges(self, usage: Usage) -> Iterator[Charge]:
        """Yield what it keeps, and its requests.

        Reads are one GET for each part where they follow each other, one for each read where they do not. Writes are a
        PUT for each file and part; files are looked up before, by a HEAD and a LIST that S3 bills as a PUT.
        """
        yield Charge("s3_gib_month", usage.kept_gib_months)
        parts = usage.read_bytes.times(1 / (self.read_part_size or PART_BYTES))
        most = max(parts.high, usage.read_requests.high)
        yield Charge("s3_get", Amount(parts.low, (parts.expected + max(parts.expected, most)) / 2, most))
        parts = usage.written_bytes.times(1 / (self.write_part_size or PART_BYTES))
        puts = [max(pair) for pair in zip(usage.write_requests, parts, strict=True)]
        yield Charge("s3_put", Amount(puts[0], 2 * puts[1], 3 * puts[2]))

    @property
    def slug(self) -> str:
        """Readable id."""
        words = ["mountpoint"] + ([f"cache{self.cache_mib}"] if self.cache_mib else [])
        for word, size in (("read", self.read_part_size), ("write", self.write_part_size)):
            words += [f"{word}{size // UNITS['MiB']}mib"] if size else []
        return "-".join(words)

    @classmethod
    def tools(cls, document: Document) -> frozenset[str]:
        """Return the program that mounts it."""
        del document
        return frozenset({"mount-s3"})

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        """Return the rules for its fields."""
        return (parts_are_those_of_s3,)


def parts_are_those_of_s3(part: Part) -> Problems:
    """Yield a problem for parts that S3 does not take."""
    for field, size in (("readPartSize", part.read_part_size), ("writePartSize", part.write_part_size)):
        least = LEAST_PART_BYTES if field == "writePartSize" else METERED_REQUEST_BYTES
        if size is not None and not least <= size <= MOST_PART_BYTES:
            rule = f"must be from {format_size(least)} to 5GiB, as S3 takes and Mountpoint asks for"
            yield part.problem(field, rule, f'write "{format_size(PART_BYTES)}", or leave it out')
