"""What a fio job does by its options: which bytes it moves, where they end, and what its latencies are of.

Plan and agent ask here, so both read an option alike. The rules are those of fio 3.33 (HOWTO; setup_files in
filesetup.c, do_io and keep_running in backend.c, fill_io_buffer in io_u.c); a test compares them with a real fio.
"""

from __future__ import annotations

import hashlib
import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# These ignore iodepth: a job has one operation in flight.
SYNCHRONOUS_ENGINES = frozenset(("psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"))
SYNCING = ("fsync", "fdatasync", "sync_file_range")
PACING = ("rate_iops", "rate", "thinktime")
READ, WRITE = 0, 1
SECTOR_BYTES = 512
# fio has no more.
MAX_JOBS = 4_096
OF_OFFSETS = ("offset", "offset_increment", "ba")
DEFAULT_BLOCK = "4k"
# With these a job ends when a disk is full or another job has ended, or its files grow with each pass.
OF_WRITES = ("fill_device", "file_append")
UNTOLD = (*OF_WRITES, "flow", "thinktime_iotime")
# What compressors of file systems take at once, such as a record of OpenZFS.
RECORD_BYTES = 128 << 10
# What they save of one random block that is written again and again, however large (fio scrambles a part of it).
MIN_REPEATED = 0.1
# Options by which a file that is laid out differs from another, and a part of a device.
OF_PARTS = ("filesize", "kb_base", "offset", "offset_increment", "size")
OF_FILES = (
    *OF_PARTS, "buffer_compress_chunk", "buffer_compress_percentage", "buffer_pattern", "dedupe_percentage",
    "fill_device", "nrfiles", "numjobs", "offset_align", "refill_buffers", "scramble_buffers", "zero_buffers",
)  # fmt: skip
_SIZE = re.compile(r"([0-9]{1,15})([kmgt]?)(i?)b?")
_TIME = re.compile(r"([0-9]+\.?[0-9]*)([a-z]*)")
_UNITS_S = {
    **dict.fromkeys(("us", "usec"), 1e-6), **dict.fromkeys(("ns", "nsec"), 1e-9),
    **dict.fromkeys(("ms", "msec"), 1e-3), "s": 1, "m": 60, "h": 3_600, "d": 86_400,
}  # fmt: skip


class Bytes(NamedTuple):
    """Bytes that a job reads and writes."""

    read: float
    written: float


class FioJob:
    """The options of one job, as fio reads them."""

    def __init__(self, options: Mapping[str, Any], device_bytes: float | None = None) -> None:
        """Take the options of a job on files, or on a device of `device_bytes`."""
        given = {name: int(value) if isinstance(value, bool) else value for name, value in options.items()}
        self._given = {name: str(value).lower() for name, value in given.items() if value is not None}
        self._device_bytes = device_bytes

    def _last(self, *names: str) -> tuple[str, str] | None:
        """Return name and value of the last of options that set the same: fio lets the later one win."""
        return next(((name, value) for name, value in reversed(list(self._given.items())) if name in names), None)

    def is_on(self, *names: str) -> bool:
        """Whether one of the options is set to something else than off."""
        return any(self._given.get(name, "0") not in {"0", "none"} for name in names)

    def number(self, name: str) -> float:
        """Return an option that is a number, or one with a unit of sizes, else 0."""
        text = self._given.get(name, "0")
        return float(text) if re.fullmatch(r"[0-9]{1,12}(\.[0-9]+)?", text) else float(self.size(text))

    def seconds(self, name: str, default_unit: str = "s") -> float:
        """Return an option that is a time in seconds, else 0."""
        return self._seconds(self._given.get(name, "0"), default_unit)

    @staticmethod
    def _seconds(text: str, default_unit: str) -> float:
        match = _TIME.fullmatch(text)
        return float(match[1]) * _UNITS_S.get(match[2] or default_unit, 0.0) if match else 0.0

    def size(self, text: str, whole: float = 0.0) -> int:
        """Return a size in bytes, of per cent as a part of `whole`; 0 if it is none.

        By default k, m, g and t are powers of two and ki, mi, gi and ti powers of ten; kb_base 1000 swaps them.
        """
        if re.fullmatch(r"[0-9]{1,3}%", text):
            return int(whole * int(text[:-1]) / 100)
        match = _SIZE.fullmatch(text)
        if not match:
            return 0
        is_decimal = bool(match[3]) is not (self._given.get("kb_base") == "1000")
        power: int = (1_000 if is_decimal else 1_024) ** " kmgt".index(match[2] or " ")
        return int(match[1]) * power

    # Its pattern and its engine.

    @cached_property
    def pattern(self) -> str:
        """Its access pattern, such as `randread`."""
        return self._given.get("rw", "read").partition(":")[0]

    @cached_property
    def reads(self) -> bool:
        """Whether it reads."""
        return "read" in self.pattern or not self.writes or "rw" in self.pattern

    @cached_property
    def writes(self) -> bool:
        """Whether it writes."""
        return "write" in self.pattern or "rw" in self.pattern

    @cached_property
    def directions(self) -> tuple[int, ...]:
        """The directions that it has, of READ and WRITE."""
        return (READ,) * self.reads + (WRITE,) * self.writes

    @cached_property
    def engine(self) -> str:
        """Its ioengine."""
        return self._given.get("ioengine", "psync").partition(":")[0]

    @cached_property
    def depth(self) -> int:
        """How many operations each process keeps in flight."""
        return 1 if self.engine in SYNCHRONOUS_ENGINES else int(self.number("iodepth")) or 1

    @cached_property
    def jobs(self) -> int:
        """How many processes do the same."""
        return min(MAX_JOBS, int(self.number("numjobs")) or 1)

    @cached_property
    def files(self) -> int:
        """How many files each process has: those of `filename`, by whose colons fio splits it."""
        if "filename" in self._given:
            return len(re.findall(r"(?<!\\):", self._given["filename"])) + 1
        return 1 if self.is_on_device else int(self.number("nrfiles")) or 1

    @cached_property
    def is_named(self) -> bool:
        """Whether its files have names by its options, which are those of jobs beside it, too."""
        return self.is_on("filename", "filename_format")

    @cached_property
    def is_on_device(self) -> bool:
        """Whether it is on a device, and has no files."""
        return self._device_bytes is not None

    @cached_property
    def place(self) -> str:
        """The name of the files that all its processes have together. Empty: each has its own."""
        form = self._given.get("filename_format", "$jobnum")
        return self._given.get("filename") or ("" if "$jobnum" in form else form)

    @cached_property
    def is_shared(self) -> bool:
        """Whether all its processes use one device, or the same files."""
        return self.is_on_device or bool(self.place)

    # Where its operations end.

    @cached_property
    def asks_direct(self) -> bool:
        """Whether O_DIRECT is asked for: the later of `direct` and `buffered` wins."""
        name, value = self._last("direct", "buffered") or ("direct", "0")
        return (value != "0") is (name == "direct")

    @cached_property
    def is_direct(self) -> bool:
        """Whether its operations pass the page cache; those of mmap never do (engines/mmap.c)."""
        return self.asks_direct and self.engine != "mmap"

    @cached_property
    def off_sector(self) -> tuple[str, str] | None:
        """The option and its value by which it is no multiple of a disk's sector, as O_DIRECT needs it."""
        if not self.is_direct:
            return None
        name, text = self._last("bs", "bsrange", "bssplit") or ("bs", DEFAULT_BLOCK)
        if any(size > 1 and size % SECTOR_BYTES for of_way in self._block_sizes for size, _ in of_way):
            return name, text
        given = {each: self._given.get(each, "0") for each in OF_OFFSETS}
        return next(((each, value) for each, value in given.items() if self.size(value) % SECTOR_BYTES), None)

    @cached_property
    def syncs_each(self) -> bool:
        """Whether each write, or each few of them, is on the storage before the next."""
        return self.is_on(*SYNCING, "sync") or (self.engine == "mmap" and self.asks_direct)

    @cached_property
    def verifies(self) -> bool:
        """Whether it reads back what it has written, after that."""
        return self.writes and self.is_on("verify") and self._given.get("do_verify") != "0"

    @property
    def is_synced(self) -> bool:
        """Whether its writes are on the storage before its time ends."""
        return self.is_direct or self.syncs_each or self.is_on("end_fsync", "fsync_on_close")

    @property
    def is_queued(self) -> bool:
        """Whether fio's latencies of reads and writes are those of a whole queue, not of single operations.

        libaio submits buffered operations one by one, each waits inside its submission, and fio times all of them until
        the queue is reaped: at depth 16 it reported 1.69 ms at P50, while one operation at a time took 0.24 ms (3.33).
        """
        return self.engine == "libaio" and self.depth > 1 and not self.is_direct

    @property
    def reads_again(self) -> bool:
        """Whether it may read twice what it has read once: in further passes, by drawing blocks twice, or side by side.

        Seen with fio 3.33 on 256 MiB: of 256 MiB read by norandommap 161 came from the disk, by zipf 66; of 1 GiB read
        by four processes of one `filename` 256.
        """
        passes = self.number("loops") > 1 or self.is_on("time_based", "pre_read")
        draws = self.is_on("norandommap") or self._given.get("random_distribution", "random") != "random"
        is_shared = self.jobs > 1 and self.is_on("filename") and not self.is_on("offset_increment")
        further = self._io_bytes > self._pass_bytes(0) > 0
        return self.reads and (passes or further or is_shared or (draws and "rand" in self.pattern))

    @property
    def keeps_cache(self) -> bool:
        """Whether the page cache may hold its files when it begins; by default fio 3.33 was seen to drop them there."""
        return not self.is_on("invalidate") and "invalidate" in self._given

    # Its rate.

    @property
    def is_open_loop(self) -> bool:
        """Whether latencies count from when an operation was due, whether or not others have ended."""
        return self._given.get("io_submit_mode") == "offload"

    @cached_property
    def rates(self) -> tuple[float | None, float | None]:
        """Operations per second of one process that its options allow, reads and writes. None: as many as it can."""
        by_count = self._each(self._given.get("rate_iops", ""), None)
        by_bytes = self._each(self._given.get("rate", ""), None)
        pause_s = self.seconds("thinktime", "us")
        paced = max(1.0, self.number("thinktime_blocks")) / pause_s if pause_s else math.inf
        limits = []
        for way in (READ, WRITE):
            counted, sized = by_count[way], by_bytes[way]
            limit = min(
                float(counted) if counted and counted.isdecimal() and int(counted) else math.inf,
                self.size(sized) / self.blocks[way] if sized and self.size(sized) else math.inf,
                paced * self._shares[way] if pause_s else math.inf,
            )
            limits.append(None if limit == math.inf else limit)
        return limits[READ], limits[WRITE]

    @cached_property
    def given_per_s(self) -> float | None:
        """Operations per second of all processes that its options allow. None if one direction has no limit."""
        rates = [self.rates[way] for way in self.directions]
        return None if None in rates else self.jobs * sum(rate for rate in rates if rate)

    @property
    def paced_by(self) -> str | None:
        """The option that gives its rate. None if it has none."""
        return None if self.given_per_s is None else next((name for name in PACING if self.is_on(name)), None)

    @cached_property
    def given_bytes_per_s(self) -> float:
        """Bytes per second of all processes that its options allow."""
        if self.given_per_s is None:
            return math.inf
        return self.jobs * sum((self.rates[way] or 0.0) * self.blocks[way] for way in self.directions)

    @cached_property
    def is_merged(self) -> bool:
        """Whether the page cache merges its blocks into larger ones."""
        return "rand" not in self.pattern and not (self.is_direct or self.syncs_each)

    # Its bytes.

    @staticmethod
    def _each(text: str, default: Any) -> tuple[Any, Any]:
        """Split a value for reads and for writes: `8k` is of both, `8k,` of reads, `,8k` of writes."""
        parts = text.split(",")
        read, write = (parts[0], parts[0]) if len(parts) == 1 else (parts[0], parts[1])
        return read or default, write or default

    @cached_property
    def _block_sizes(self) -> list[list[tuple[int, float]]]:
        """Sizes of a read and of a write, each with its share; of a range the smallest and the largest."""
        name, text = self._last("bs", "bsrange", "bssplit") or ("bs", DEFAULT_BLOCK)
        between = re.compile("[-:]") if name in ("bsrange", "bssplit") else re.compile("$^")
        ways = []
        for each in self._each(text, DEFAULT_BLOCK):
            parts = [part.partition("/") for part in between.split(each) if part]
            given = [float(share) if share.isdecimal() else 0.0 for _, _, share in parts]
            # Those without a share have equal ones of the rest.
            rest = max(0.0, 100 - sum(given)) / (given.count(0) or 1)
            sizes = [(self.size(size), share or rest) for (size, _, _), share in zip(parts, given)]
            ways.append([(size or 1, share) for size, share in sizes] or [(1, 1.0)])
        return ways

    @cached_property
    def block_limits(self) -> tuple[list[int], list[int]]:
        """Smallest and largest sizes of a read and of a write."""
        sizes = [[size for size, _ in of_way] for of_way in self._block_sizes]
        return [min(of_way) for of_way in sizes], [max(of_way) for of_way in sizes]

    @cached_property
    def blocks(self) -> tuple[float, float]:
        """Mean size of a read and of a write."""
        read, write = (
            sum(size * share for size, share in of_way) / (sum(share for _, share in of_way) or 1)
            for of_way in self._block_sizes
        )
        return read, write

    @cached_property
    def _shares(self) -> tuple[float, float]:
        """Shares of reads and of writes among its operations."""
        if not (self.reads and self.writes):
            return float(self.reads), float(self.writes)
        name, _ = self._last("rwmixread", "rwmixwrite") or ("", "")
        share = self.number(name) / 100 if name else 0.5
        return (1 - share, share) if name == "rwmixwrite" else (share, 1 - share)

    def split(self, moved: float) -> Bytes:
        """Split bytes into read and written ones: by rates if both directions have one, else by the mix."""
        read, write = self._shares
        if self.reads and self.writes and self.is_on("rate", "rate_iops") and None not in self.rates:
            read, write = (rate or 0.0 for rate in self.rates)
        read, write = read * self.blocks[READ], write * self.blocks[WRITE]
        return Bytes(moved * read / (read + write), moved * write / (read + write)) if read + write else Bytes(0, 0)

    @cached_property
    def mean_block(self) -> float:
        """Mean size of an operation."""
        return sum(share * block for share, block in zip(self._shares, self.blocks))

    def _offset(self, job: int) -> int:
        """Return where a process begins; per cent are of a device, since a new file is empty."""
        first, further = (self._given.get(name, "0") for name in ("offset", "offset_increment"))
        whole = self._device_bytes or 0.0
        return self.size(first, whole) + job * self.size(further, whole)

    @cached_property
    def _file_sizes(self) -> tuple[int, int]:
        """Smallest and largest of `filesize`; 0 if it is not set."""
        least, _, most = self._given.get("filesize", "0").partition("-")
        return self.size(least), self.size(most or least)

    @cached_property
    def _parts(self) -> int:
        """How many processes have a place of their own: one of what they share, unless it is moved for each."""
        return self.jobs if not self.is_shared or self.is_on("offset_increment") else 1

    def _size(self, job: int) -> float:
        """Return the bytes of a process's files, or of its part of a device, which it has whole without a size."""
        text = self._given.get("size", "0")
        if self._device_bytes is None:
            return float(self.size(text))
        text = text if text != "0" else self._given.get("filesize", "100%")
        beyond = max(0.0, self._device_bytes - self._offset(job))
        size = float(self.size(text, self._device_bytes))
        return min(beyond, size) if text.endswith("%") else size

    def _io_of_file(self, job: int, file_bytes: float) -> float:
        """Return the bytes that a process moves in a file of a given `filesize`."""
        beyond = file_bytes - self._offset(job)
        text = self._given.get("size", "100%")
        return min(beyond, self.size(text, file_bytes)) if text.endswith("%") else beyond

    def _pass_bytes(self, job: int) -> float:
        """Return the bytes that one process moves in one pass over its files."""
        size = self._size(job)
        if any(self._file_sizes) and self._device_bytes is None:
            each = self._io_of_file(job, sum(self._file_sizes) / 2)
            total = self.files * each
            size = min(size, total) if size else total
        else:
            each = size / self.files
        block = max(self.block_limits[1][way] for way in self.directions)
        if each < block:
            return 0.0
        skip = self.size(self._given.get("rw", "").partition(":")[2])
        if skip and self.pattern == "read":
            size *= block / (block + skip)
        part = self._given.get("io_size", "0")
        size *= int(part[:-1]) / 100 if part.endswith("%") else 1
        is_even = all(limits[way] == block for limits in self.block_limits for way in self.directions)
        return min(size, self.files * (each // block * block)) if is_even else size

    @cached_property
    def _io_bytes(self) -> int:
        """Bytes after which a process ends, by `io_size`; 0 if it is not set."""
        return self.size(self._given.get("io_size", "0"))

    def _moved(self, job: int) -> float:
        """Return the bytes of one process: whole passes, at least `loops`, until `io_size` is reached or exceeded."""
        loops, one = max(1.0, self.number("loops")), self._pass_bytes(job)
        moved = one * loops
        if self._io_bytes and one:
            if "rand" in self.pattern and self.is_on("norandommap"):
                one = max(one, self._io_bytes)
            moved = min(self._io_bytes * loops, one * max(loops, math.ceil(self._io_bytes / one)))
        if self.number("number_ios"):
            moved = min(moved, self.number("number_ios") * loops * self.mean_block)
        return moved

    @cached_property
    def moved_bytes(self) -> float:
        """Bytes that it reads and writes if no time ends it."""
        return sum(map(self._moved, range(self.jobs)))

    @cached_property
    def most_bytes(self) -> float:
        """Bytes after which it ends; infinite if only a time ends it."""
        return math.inf if self.is_on("time_based") and self.seconds("runtime") else self.moved_bytes

    @cached_property
    def longest_s(self) -> float:
        """Seconds after which it ends in any case: its runtime, and its ramp, which that does not include."""
        runtime_s = self.seconds("runtime")
        return runtime_s + self.seconds("ramp_time") if runtime_s else math.inf

    @cached_property
    def delay_s(self) -> float:
        """Seconds after which it starts; of two with - between them the longer."""
        *_, longest = self._given.get("startdelay", "0").split("-")
        return self._seconds(longest, "s")

    @property
    def untold(self) -> str | None:
        """The option by which its bytes and its end cannot be told; None if they can, or if a time ends it."""
        if self.longest_s < math.inf:
            return None
        return next((name for name in UNTOLD if self.is_on(name) and (self.writes or name not in OF_WRITES)), None)

    def _stored(self, job: int, *, at_most: bool) -> float:
        """Return up to which byte the files of a process go, or a process on a device."""
        least, most = self._file_sizes
        if self.is_on_device or not most:
            return self._size(job) + self.files * self._offset(job)
        file_bytes = float(most) if at_most else (least + most) / 2
        return self.files * (self._io_of_file(job, file_bytes) + self._offset(job))

    @cached_property
    def stored_bytes(self) -> float:
        """Bytes that its files have at most; of what its processes share, up to which byte it is used."""
        each = [self._stored(job, at_most=True) for job in range(self.jobs)]
        return max(each) if self.is_shared else sum(each)

    @cached_property
    def is_laid_out(self) -> bool:
        """Whether its files, or its part of a device, are written before it begins.

        To read them, to overwrite them, or because mmap cannot make a file longer (FIO_NOEXTEND).
        """
        needs_files = self.is_on("overwrite") or self.engine == "mmap"
        return self.reads or (self._device_bytes is None and needs_files and not self.is_on("create_on_open"))

    @cached_property
    def laid_out_bytes(self) -> float:
        """Bytes that are written before it begins."""
        if not self.is_laid_out:
            return 0.0
        if self.is_on_device:
            return sum(map(self._size, range(self._parts)))
        each = [self._stored(job, at_most=False) for job in range(self.jobs)]
        return max(each) if self.is_shared else sum(each)

    @property
    def draws_sizes(self) -> bool:
        """Whether fio draws the sizes of its files, and anew for each job."""
        least, most = self._file_sizes
        return least != most

    @cached_property
    def kept(self) -> str:
        """A name for what is laid out once and read by all steps of jobs with this name. Empty: each lays out its own.

        It is a part of a device, or files that nobody writes and whose sizes are not drawn.
        """
        is_device = self.is_on_device
        if not self.is_laid_out or not (is_device or not (self.writes or self.draws_sizes)):
            return ""
        given = {name: self._given.get(name) for name in (OF_PARTS if is_device else OF_FILES)}
        given["parts"] = str(self._parts)
        return hashlib.sha256(repr(given).encode()).hexdigest()[:16]

    @cached_property
    def read_before_bytes(self) -> float:
        """Bytes that `pre_read` reads before the time."""
        if not self.is_on("pre_read"):
            return 0.0
        return sum(self._stored(job, at_most=False) - self.files * self._offset(job) for job in range(self.jobs))

    @property
    def refused(self) -> tuple[str, str, str] | None:
        """Return (option, rule, fix) if fio refuses it, moves nothing, or lays its files out after the start."""
        first, further, size = (self._given.get(name, "0") for name in ("offset", "offset_increment", "size"))
        on_files, sizes = self._device_bytes is None, self._file_sizes
        is_open = self.is_on("fill_device") or (not on_files and (size.endswith("%") or size == "0"))
        moves = is_open or self._pass_bytes(self.jobs - 1)
        new = "per cent of a file that does not exist yet"
        rows = (
            (on_files and size.endswith("%") and not any(sizes), "size", new, 'write a size such as "1G", or filesize'),
            (on_files and first.endswith("%"), "offset", new, 'write bytes, such as "1G"'),
            (on_files and further.endswith("%"), "offset_increment", new, 'write bytes, such as "1G"'),
            (self.reads and self.is_on("create_on_open"), "create_on_open", "reads find empty files", "leave it out"),
            (on_files and 0 < sizes[0] <= self._offset(self.jobs - 1), "offset", "is beyond the files", "write less"),
            (self.is_on("verify") and self.reads, "verify", "its reads cannot be told from the job's", "leave it out"),
            (self.is_on("rate") and self.is_on("rate_iops"), "rate", "fio takes it or rate_iops", "leave one out"),
            (not moves, "size", "its files have less than a block, so fio would move nothing", "write a larger size"),
        )
        return next(((name, rule, fix) for holds, name, rule, fix in rows if holds), None)

    # What its data are.

    @cached_property
    def saved(self) -> tuple[str, float]:
        """Return the option by which its data can be compressed, and about by how much: a share of the bytes.

        Seen with lz4 and zlib on records of 128 KiB: a repeated random block of 4 KiB saves 92 %, of 64 KiB 5 to 10 %.
        """
        compressed, repeated = (self.number(f"{name}_percentage") / 100 for name in ("buffer_compress", "dedupe"))
        block = self.blocks[WRITE]
        again = max(0.0, 1 - 2 * block / RECORD_BYTES)  # the same block again, where a record holds several of them
        mixed = compressed % 1 or repeated
        is_refilled = self.is_on("refill_buffers") or (mixed and "refill_buffers" not in self._given) or not self.writes
        by_option = {
            "buffer_compress_percentage": compressed % 1 if mixed else float(compressed == 1),
            "dedupe_percentage": repeated * again,
            "buffer_pattern": float(not mixed and "buffer_pattern" in self._given),
            "zero_buffers": float(not mixed and self.is_on("zero_buffers")),
            "refill_buffers": 0.0 if is_refilled else max(MIN_REPEATED, again),
        }
        name = max(by_option, key=lambda each: by_option[each])
        return name, 1 - math.prod(1 - share for share in by_option.values())


def kept_of(jobs: Sequence[FioJob]) -> list[str]:
    """Return `kept` of jobs that run together: jobs on one device, or on files of the same names, share what is kept.

    Other files are each job's own, though others have the same name.
    """
    named = [job.kept and not job.writes for job in jobs if job.is_named]
    together = "-".join(sorted({job.kept for job in jobs if job.is_named})) if all(named) else ""
    names = [together if job.is_named else job.kept for job in jobs]
    return [
        name if not name or job.is_on_device or job.is_named else f"{name}-{names[:number].count(name)}"
        for number, (name, job) in enumerate(zip(names, jobs))
    ]


def sum_of_places(jobs: Sequence[FioJob], amounts: Sequence[float]) -> float:
    """Add up bytes of jobs that run together; of jobs on one device or file they are those of the largest."""
    most: dict[Any, float] = {}
    for number, (job, amount) in enumerate(zip(jobs, amounts)):
        place = "" if job.is_on_device else job.place or number
        most[place] = max(most.get(place, 0.0), amount)
    return sum(most.values())
