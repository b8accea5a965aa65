"""The flexible I/O tester: its benchmarking options, each as one value or a list, or a whole job file."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from contract.fio_job import READ, SYNCHRONOUS_ENGINES, SYNCING, WRITE, FioJob, kept_of, sum_of_places
from matrix.fields.types import AS_GIVEN, Rule, Sweep, refusal, repeated
from matrix.input.workloads import fio_job_file, fio_options, fio_places
from matrix.input.workloads.contract import Clients, Requests, Way, Workload
from matrix.input.workloads.expected import ExpectedSeconds, seconds_of
from matrix.input.workloads.fio_job_file import Section
from matrix.input.workloads.shell import Gib
from matrix.input.workloads.sweeps import Footprint, Moved, Params, combinations
from matrix.storages.base import Ability, Need, Storage
from matrix.storages.models import how_many
from matrix.terms.charges import METERED_DATA_BYTES, PUT_PART_BYTES, metered_request_bytes
from matrix.terms.metrics import latencies
from matrix.terms.problems import Problem, Problems, Weight, check, path_text

# No quotes, spaces, semicolons or dollars: none may leave its argument, or begin a comment.
VALUE_PATTERN = r"^[A-Za-z0-9_.,:%+=/-]{1,500}$"


def _one_reason(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    """Refuse a value once, not once for each type that it could have."""
    try:
        return validate(value)
    except ValidationError:
        if isinstance(value, bool):
            raise refusal("option_switch", "fio's switches are 1 or 0", f"write {int(value)}") from None
        if "$" in str(value):
            fix = "write its value, or give it to `matrix new --from` by --set"
            raise refusal("option_value", "has a variable, which an instance does not have", fix) from None
        rule = "must be a number, or letters, digits and _ . , : % + = / -"
        raise refusal("option_value", rule, 'for example "4k" or 16, or a list of them') from None


WAYS: dict[int, Way] = {READ: "read", WRITE: "written"}

# Keys that people expect here, from other tools or from other workloads.
_EXPECTED_KEYS = {
    "options": 'write each option beside "type", for example {"type": "fio", "rw": "randread", "bs": "4k"}',
}


def _ours_to_pass(name: str) -> str:
    """Refuse a key that is no option of a job."""
    if fault := fio_options.name_fault(name):
        code, rule, fix = fault
        raise refusal(code, rule, _EXPECTED_KEYS.get(name, fix))
    return name


_Value = Annotated[str, StringConstraints(pattern=VALUE_PATTERN)] | int | float
FioOption = Sweep[Annotated[_Value, WrapValidator(_one_reason)]]
OptionName = Annotated[str, AfterValidator(_ours_to_pass)]
_OPTIONS = TypeAdapter(dict[OptionName, FioOption], config=ConfigDict(strict=True))

# With these options a job writes a place again, or another place than the next.
AGAIN_OR_ELSEWHERE = frozenset(
    {
        "bs_is_seq_rand", "fill_device", "io_size", "loops", "offset", "offset_increment", "overwrite",
        "percentage_random", "rw_sequencer", "time_based",
    }
)  # fmt: skip
# Bytes per second that no process writes to one object.
MOST_OF_A_WRITER = 3e9
EXPECTED = ("expected_seconds", "expected_read_gib", "expected_write_gib")
MAX_JOB_FILE_CHARACTERS = 50_000
MAX_SECTIONS = 100
MAX_SECTION_CHARACTERS = 60
# More steps than that are not a matrix.
MAX_CHECKED_POINTS = 10_000


class FioWorkload(Workload):
    """Runs fio; other keys are its options, a list makes a sweep, or jobFile has them; primary metric iops."""

    primary_metric: ClassVar[str] = "iops"
    yields: ClassVar[frozenset[str]] = frozenset(
        {"iops", "mb_per_s", *latencies("read", "write", "sync")}.union(
            *({f"{direction}_iops", f"{direction}_mib_per_s"} for direction in ("read", "write"))
        )
    )
    tools: ClassVar[frozenset[str]] = frozenset({"fio"})
    operations_field: ClassVar[str] = "runtime"

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[OptionName, FioOption] = Field(init=False)

    type: Literal["fio"]
    """Kind of workload."""
    device: bool | None = None
    """Write the raw block device (EBS only), one for all jobs, instead of files: no file system is made on it."""
    job_file: Annotated[str | None, Field(min_length=1, max_length=MAX_JOB_FILE_CHARACTERS)] = None
    """Text of a fio job file instead of options. Each section is a point."""
    data: Sweep[Literal["own", "shared"]] = Field(default=["own"])
    """Each instance lays out the files that it reads, or one of them does and all read the same."""
    expected_seconds: Annotated[ExpectedSeconds | None, Field(examples=[600])] = None
    """About how many seconds each point takes, where fio's options do not tell."""
    expected_read_gib: Annotated[Gib | None, Field(alias="expectedReadGiB", examples=[12.5])] = None
    """GiB that each instance reads in one step of a point, where fio's options do not tell."""
    expected_write_gib: Annotated[Gib | None, Field(alias="expectedWriteGiB", examples=[12.5])] = None
    """GiB that it writes in one step, without what is laid out before."""

    @property
    def options(self) -> dict[str, list[Any]]:
        """fio's options by its own names, each as the list of its values."""
        return {fio_options.canonical(name): values for name, values in self.__pydantic_extra__.items()}

    def problem(
        self, name: str, rule: str, fix: str, *, weight: Weight | None = None, value: object = AS_GIVEN
    ) -> Problem:
        """Return a problem of an option or field, at the name that the matrix has for it."""
        given = next((each for each in self.__pydantic_extra__ if fio_options.canonical(each) == name), name)
        return super().problem(given, rule, fix, weight=weight, value=value)

    @property
    def number_of_points(self) -> int:
        """The product of the options' lists, or the sections of the job file, for each value of data."""
        if self.job_file is not None:
            return len(self.data) * len(self.sections)
        return len(self.data) * math.prod(len(values) for values in self.options.values())

    @cached_property
    def sections(self) -> list[Section]:
        """The sections of its job file."""
        return fio_job_file.read(self.job_file or "")[0]

    def of_section(self, section: Section) -> "FioWorkload":
        """Return a workload that has the options of a section, as far as fio has them."""
        options: dict[str, Any] = {
            name: [value] for name, value in section.options.items() if not fio_options.name_fault(name)
        }
        expected = {name: getattr(self, name) for name in EXPECTED}
        return FioWorkload.model_construct(type="fio", device=self.wants_device, job_file=None, **expected, **options)

    @property
    def single(self) -> Params:
        """The first value of each option."""
        return {name: values[0] for name, values in self.options.items()}

    @cached_property
    def targets(self) -> list[Any]:
        """The `filename` of each section, or each of this option; None without one."""
        if self.job_file is None:
            return self.options.get("filename", [None])
        return [section.options.get("filename") for section in self.sections]

    @property
    def size_path(self) -> str:
        return "size" if self.job_file is None else "jobFile"

    @property
    def wants_device(self) -> bool:
        """Whether it says so, or all its jobs name a device."""
        if self.device is not None:
            return self.device
        return bool(self.targets) and all(map(fio_places.names_a_device, self.targets))

    @property
    def points_in_a_row(self) -> int:
        """The sections of a job file, which keep its order: a second read of a device follows the first."""
        return len(self.sections) or 1

    @property
    def is_only_reading(self) -> bool:
        """Whether it only reads a device: files to read it writes itself."""
        if not self.wants_device:
            return False
        return not any(job.writes for point in self.points() for job in _jobs_of(point))

    @property
    def reads_of_others(self) -> tuple[str, Any] | None:
        """Field and value by which instances read what one of their fleet laid out."""
        return ("data", "shared") if "shared" in self.data else None

    def needs(self) -> Iterator[Need]:
        """Yield the needs of shared files, and of the options of writing jobs."""
        if self.reads_of_others:
            yield Need(Ability.SEE_OTHERS, *self.reads_of_others, "leave data out")
        for section in self.sections:
            for need in self.of_section(section).needs():
                yield replace(need, field=path_text(("jobFile", section.name, need.field)))
        if self.job_file is not None:
            return
        if odd := next(filter(None, (_job_of(params).off_sector for params in self.points())), None):
            fix = 'write a multiple of 512 bytes, such as "4k" (fio reads 4KiB as 4,000), or direct 0'
            yield Need(Ability.DIRECT_ANY_SIZE, *odd, fix)
        values = {name: [str(value) for value in given] for name, given in self.options.items()}
        field, patterns = "rw", [pattern.partition(":")[0] for pattern in values.get("rw", ["read"])]
        for pattern in patterns:
            if pattern not in {"read", "randread", "write"}:
                fix = 'write rw "read", "randread" or "write"'
                yield Need(Ability.WRITE_ANYWHERE, field, pattern, fix)
                break
        if any(pattern not in {"read", "randread"} for pattern in patterns):
            yield from self._needs_of_writes(values)

    def _needs_of_writes(self, values: Mapping[str, list[str]]) -> Iterator[Need]:
        """Yield the needs of jobs that only write, beyond writing a new file from start to end."""
        again_by = AGAIN_OR_ELSEWHERE - {"loops" if "1" in values.get("unlink_each_loop", ()) else ""}
        if all(_never_ends(FioJob(each)) for each in combinations(self.options)):
            again_by -= {"time_based"}
        for name in sorted(again_by & values.keys()):
            if again := [value for value in values[name] if value not in {"0", *(("1",) if name == "loops" else ())}]:
                fix = "leave it out: runtime ends the job" if name == "time_based" else "leave it out"
                yield Need(Ability.WRITE_ANYWHERE, name, again[0], fix)
        for name in sorted({*SYNCING, "sync"} & values.keys()):
            if midway := [value for value in values[name] if value not in {"0", "none"}]:
                yield Need(Ability.SYNC_MIDWAY, name, midway[0], "write end_fsync 1 or fsync_on_close 1")
        if others := [value for value in values.get("create_on_open", ["0"]) if value != "1"]:
            # Else fio makes the file before it opens it again to write.
            yield Need(Ability.WRITE_ANYWHERE, "create_on_open", others[0], "write create_on_open 1")
        # fio skips `native` if a file system does not support it.
        if others := [value for value in values.get("fallocate", []) if value not in {"none", "native"}]:
            yield Need(Ability.ALLOCATE, "fallocate", others[0], "write fallocate none")
        engines = values.get("ioengine", ["psync"])
        if "mmap" in engines:
            yield Need(Ability.WRITE_ANYWHERE, "ioengine", "mmap", 'write "psync"')
        elif set(engines) - SYNCHRONOUS_ENGINES and (many := [n for n in values.get("iodepth", []) if n != "1"]):
            # Several in flight arrive in any order.
            yield Need(Ability.WRITE_ANYWHERE, "iodepth", many[0], "write iodepth 1 and more numjobs")

    def points(self) -> list[Params]:
        """Return the parameters of each point; those on a device are marked, as they are others than those on files."""
        points: list[Params] = []
        if self.job_file is None:
            points = [{"options": self._passed_on(options)} for options in combinations(self.options)]
        for together in fio_job_file.groups(self.sections):
            passed_on = {section.name: self._passed_on(section.options) for section in together}
            for name, options in passed_on.items():
                others = {other: options for other, options in passed_on.items() if other != name}
                beside = {"beside": others} if others else {}
                points.append({"section": name, "options": options, **beside})
        mark = {"device": True} if self.wants_device else {}
        shared = {"own": {}, "shared": {"data": "shared"}}
        # Without a section the file is refused.
        return [{**mark, **shared[whose], **point} for whose in self.data for point in points or [{"options": {}}]]

    def _passed_on(self, options: Params) -> Params:
        return fio_places.passed_on(options, is_device=self.wants_device)[0]

    def changes(self, options: Params) -> list[fio_places.Change]:
        """Return what of the options of a job is not passed on as it is."""
        return fio_places.passed_on(options, is_device=self.wants_device)[1]

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance for one step: laying out its files, then its I/O.

        Data that are on a device from the start are not written, and what reads them first waits until they are loaded.
        """
        point, sharing, loading_s = self._jobs_at(params, storage), self._sharing(params, clients), 0.0
        jobs = point.jobs
        is_there = "device" in params and storage.is_filled
        if is_there and params.get("section") in (None, *(each.name for each in self.sections[:1])):
            loading_s = sum(job.most_bytes for job in jobs) / storage.loading_bytes_per_s
        lasts_s = read = written = read_requests = operations = read_padding = written_padding = 0.0
        for job in jobs:
            speed = _speed(job, storage, clients, len(jobs))
            its_s = min(job.longest_s, max(job.most_bytes / speed, loading_s))
            moved = job.split(min(job.most_bytes, speed * its_s))
            if job.verifies:
                moved, its_s = moved._replace(read=moved.written), min(job.longest_s, 2 * its_s)
            lasts_s = max(lasts_s, job.delay_s + its_s)
            read += moved.read
            written += moved.written
            read_requests += moved.read / job.blocks[READ]
            read_padding += _padding(job, READ, moved.read)
            written_padding += _padding(job, WRITE, moved.written)
            operations += 0.0 if _is_merged(job, storage) else (moved.read + moved.written) / job.mean_block
        laid_out, files, made, made_requests = NOTHING_LAID_OUT if is_there else point.laid_out
        before_s = (laid_out + point.read_before_bytes) / clients.bytes_per_s(storage)
        timed = _timed(point, laid_out, files, storage, clients) if point.longest_s < math.inf else None
        longest_s = point.longest_s
        if self.expected_seconds and any(job.untold for job in jobs):
            count = math.ceil(clients.count / how_many(storage.document))
            lasts_s = longest_s = seconds_of(self.expected_seconds, storage.type, count)
            read, written = ((gib or 0) * 2**30 for gib in (self.expected_read_gib, self.expected_write_gib))
            read_requests, timed = read / METERED_DATA_BYTES, None
        written += laid_out
        return Footprint(
            seconds=before_s + lasts_s,
            read_bytes=point.read_before_bytes + read,
            written_bytes=written,
            stored_bytes=point.own_bytes + point.shared_bytes / clients.count,
            read_requests=read_requests,
            write_requests=max(files, written / PUT_PART_BYTES),
            operations=operations,
            read_padding=read_padding,
            written_padding=written_padding,
            longest_s=before_s + longest_s,
            timed=timed,
            making_s=clients.making_s(storage, *((0.0, made) if sharing > 1 else (made, 0.0))),
            made_bytes=made / sharing,
            made_requests=made_requests / sharing,
        )

    def laid_out_bytes(self, params: Params, storage: Storage, clients: Clients) -> tuple[float, float]:
        """Return the bytes that a fleet lays out in each repetition of a point, and a point's part of those of all."""
        laid_out = self._jobs_at(params, storage).laid_out
        once = laid_out.made_bytes * clients.count / self._sharing(params, clients)
        return laid_out.own_bytes * clients.count, once

    def data_bytes(self, params: Params, storage: Storage, clients: Clients) -> float:
        """Return the bytes of the files of a point, or of a device, for one instance: of shared ones its part."""
        jobs = _jobs_of(params, storage)
        return sum_of_places(jobs, [job.stored_bytes for job in jobs]) / self._sharing(params, clients)

    @staticmethod
    def _sharing(params: Params, clients: Clients) -> int:
        return clients.count if "data" in params else 1

    def _jobs_at(self, params: Params, storage: Storage) -> "_PointJobs":
        """Return the jobs of a point, read once for all fleets and most storages."""
        device_bytes = _device_bytes(params, storage)
        key = params.get("data", ""), device_bytes, *(tuple(options.items()) for options in _options_of(params))
        if key not in self._point_jobs:
            self._point_jobs[key] = self._read_point(params, _jobs_of(params, storage))
        return self._point_jobs[key]

    @cached_property
    def _point_jobs(self) -> "dict[tuple[Any, ...], _PointJobs]":
        return {}

    def _read_point(self, params: Params, jobs: list[FioJob]) -> "_PointJobs":
        names = [(params.get("data", ""), name) for name in kept_of(jobs)]
        own = [job for job, (_, name) in zip(jobs, names, strict=True) if not name]
        # Files that are kept stay until the cell ends, others until the step does.
        kept = [(job, len(self._kept[of])) for job, of in zip(jobs, names, strict=True) if of[1]]
        own_bytes, shared_bytes = (0.0, 0.0) if self.wants_device else self._kept_bytes
        used = jobs if self.wants_device else own
        return _PointJobs(
            jobs,
            _LaidOut(
                own_bytes=sum_of_places(own, [job.laid_out_bytes for job in own]),
                files=sum(job.jobs * job.files for job in own),
                made_bytes=sum(job.laid_out_bytes / steps for job, steps in kept),
                made_requests=sum(_requests(job) / steps for job, steps in kept),
            ),
            read_before_bytes=sum(job.read_before_bytes for job in jobs),
            own_bytes=sum_of_places(used, [job.stored_bytes for job in used]) + own_bytes,
            shared_bytes=shared_bytes,
            longest_s=max(job.delay_s + job.longest_s for job in jobs),
        )

    @cached_property
    def _kept_bytes(self) -> tuple[float, float]:
        """Bytes of the files that are kept: of each instance's own, and of those that all share."""
        bytes_of = {of: jobs[0].stored_bytes for of, jobs in self._kept.items()}
        shared = sum(amount for (data, _), amount in bytes_of.items() if data)
        return sum(bytes_of.values()) - shared, shared

    @cached_property
    def _kept(self) -> dict[tuple[str, str], list[FioJob]]:
        """The jobs of all points that read the same kept files, by the value of data and the files' name."""
        found: dict[tuple[str, str], list[FioJob]] = {}
        for params in self.points():
            jobs = _jobs_of(params)
            for job, name in zip(jobs, kept_of(jobs), strict=True):
                if name:
                    found.setdefault((params.get("data", ""), name), []).append(job)
        return found

    def latencies_of(self, operation: str, params: Params, storage: Storage, clients: Clients) -> float:
        """Return the expected reads, writes or syncs of one instance while fio measures."""
        jobs = _jobs_of(params, storage)
        job, measured_s = jobs[0], self.io_s(params, storage, clients)
        moved = job.split(min(job.most_bytes, _speed(job, storage, clients, len(jobs)) * measured_s))
        reads, writes = moved.read / job.blocks[READ], moved.written / job.blocks[WRITE]
        # Each operation in flight waits for the storage before the next.
        waited_s = reads * storage.read_latency_s + writes * (storage.sync_latency_s if job.syncs_each else 0.0)
        share = min(1.0, measured_s * job.jobs * job.depth / waited_s) if waited_s else 1.0
        writes_of_a_sync = max(job.number("fsync"), job.number("fdatasync"))
        syncs = writes / writes_of_a_sync if writes_of_a_sync else 0.0
        return share * {"read": reads, "write": writes, "sync": syncs}[operation]

    def reads(self, params: Params) -> bool:
        """Return whether a point reads."""
        return _job_of(params).reads

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the rate; if that is given, P99 of its reads, or of writes without reads."""
        job = _job_of(params)
        if job.given_per_s is None:
            return super().judged_by(params, workload)
        return "read_lat_p99_us" if job.reads else "write_lat_p99_us"

    def io_s(self, params: Params, storage: Storage, clients: Clients) -> float:
        """Return the seconds for which fio is expected to measure; below one second its rates mean nothing."""
        job = _job_of(params, storage)
        lasts_s, ramp_s = _lasts_s(job, storage, clients), job.seconds("ramp_time")
        # A job that ends within its ramp is measured whole (fio 3.33).
        return lasts_s - ramp_s if lasts_s > ramp_s else lasts_s

    @property
    def slug(self) -> str:
        return self.name or ("fio-device" if self.wants_device else self.type)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            options_are_passed_on,
            job_has_an_end,
            option_values_are_different,
            targets_are_of_the_storage,
            changes_are_said,
            amounts_are_told,
            shared_files_are_only_read,
            fio_accepts_each_point,
            sections_are_jobs,
        )


def place(params: Params, option: str) -> str:
    """Return the path of an option of a point within its workload."""
    return path_text(("jobFile", params["section"], option)) if "section" in params else option


class _LaidOut(NamedTuple):
    """What one instance writes before a step: of its own each time, and its part of what is made once for all steps."""

    own_bytes: float
    files: int
    made_bytes: float
    made_requests: float


NOTHING_LAID_OUT = _LaidOut(0.0, 0, 0.0, 0.0)


class _PointJobs(NamedTuple):
    """The jobs of a point, which run together, and what they need on a fleet of any size."""

    jobs: list[FioJob]
    laid_out: _LaidOut
    read_before_bytes: float
    own_bytes: float
    """Bytes of an instance's own files, or on its device."""
    shared_bytes: float
    """Bytes of the files that all instances share."""
    longest_s: float


def _never_ends(job: FioJob) -> bool:
    """Whether a job's time ends before a process could have written all of its file once."""
    return job.moved_bytes / job.jobs > MOST_OF_A_WRITER * job.longest_s


def _is_merged(job: FioJob, storage: Storage) -> bool:
    """Return whether the page cache or the storage makes larger operations of its blocks."""
    return job.is_merged or (storage.merges_sequential and "rand" not in job.pattern)


def _speed(job: FioJob, storage: Storage, clients: Clients, together: int = 1) -> float:
    """Return the bytes per second at which one instance is expected to work: of the storage, or of its given rate.

    The storage limits it by its throughput, and by its IOPS at this block size, unless blocks are merged.
    Of jobs that run `together` each has an equal part.
    """
    iops = storage.effective_iops / clients.sharing(storage)
    by_blocks = math.inf if _is_merged(job, storage) else iops * job.mean_block
    by_storage = min(by_blocks, clients.bytes_per_s(storage, job.jobs * job.depth))
    return min(by_storage / together, job.given_bytes_per_s)


def _timed(point: _PointJobs, laid_out: float, files: int, storage: Storage, clients: Clients) -> Moved:
    """Return what one instance moves at the most: what it lays out and reads before, and its I/O until time ends it."""
    sums = {READ: Requests(2 * point.read_before_bytes), WRITE: Requests(2 * laid_out)}
    for job in point.jobs:
        seconds, shares = job.longest_s, dict(zip((READ, WRITE), job.split(1.0), strict=True))
        most = {way: clients.most(storage, WAYS[way], *_requests_of(job, way)) for way in job.directions}
        # The slower way of a mixture holds the other up.
        per_s = min(each.bytes_per_s / (shares[way] or 1.0) for way, each in most.items())
        amount = min(min(job.given_bytes_per_s, per_s) * seconds, 2 * job.most_bytes)
        for way, each in most.items():
            sums[way] = sums[way].and_also(each.moved(amount * shares[way], seconds))
        if job.verifies:
            back = clients.most(storage, "read", *_requests_of(job, WRITE))
            sums[READ] = sums[READ].and_also(back.moved(amount, seconds))
    (read, read_requests, read_padding), (written, _, written_padding) = sums[READ], sums[WRITE]
    return Moved(read, written, read_requests, max(files, written / PUT_PART_BYTES), read_padding, written_padding)


def _requests_of(job: FioJob, way: int) -> tuple[int, float]:
    """Return the least and the largest size of a request; the page cache merges those of a sequential job."""
    least, most = job.block_limits
    return (METERED_DATA_BYTES, math.inf) if job.is_merged else (least[way], most[way])


def _padding(job: FioJob, way: int, moved_bytes: float) -> float:
    """Return what EFS meters of these requests beyond their bytes. Those that the page cache merges are large."""
    if job.is_merged:
        return 0.0
    least, most = (limits[way] for limits in job.block_limits)
    mean_padding = (metered_request_bytes(least) - least + metered_request_bytes(most) - most) / 2
    return moved_bytes / job.blocks[way] * mean_padding


def _requests(job: FioJob) -> float:
    """Return the requests by which its files are stored: one each at least."""
    return max(job.jobs * job.files, job.laid_out_bytes / PUT_PART_BYTES)


def _lasts_s(job: FioJob, storage: Storage, clients: Clients, together: int = 1) -> float:
    """Return the expected seconds of one of the jobs that run `together`."""
    return min(job.longest_s, job.most_bytes / _speed(job, storage, clients, together))


def _job_of(params: Params, storage: Storage | None = None) -> FioJob:
    """Return a point's job. Without its storage, per cent of a device are none of its bytes."""
    return _job(tuple((params.get("options") or {}).items()), _device_bytes(params, storage))


def _jobs_of(params: Params, storage: Storage | None = None) -> list[FioJob]:
    """Return a point's job, and those of the sections beside it."""
    return [_job(tuple(options.items()), _device_bytes(params, storage)) for options in _options_of(params)]


def _device_bytes(params: Params, storage: Storage | None) -> float | None:
    if not params.get("device"):
        return None
    return ((storage.capacity_gib("") if storage else None) or 0.0) * 2**30


def _options_of(params: Params) -> list[Params]:
    """Return the options of a point's job, and those of the sections beside it."""
    return [params.get("options") or {}, *(params.get("beside") or {}).values()]


@lru_cache(maxsize=1_000)
def _job(given: tuple[tuple[str, Any], ...], device_bytes: float | None) -> FioJob:
    """Read the options of a point once for all storages and fleets."""
    return FioJob(dict(given), device_bytes)


def options_are_passed_on(part: FioWorkload) -> Problems:
    """Yield a problem for the first value of each option that is not passed on, or that fio reads otherwise."""
    names = list(part.__pydantic_extra__)
    for number, name in enumerate(names):
        own = fio_options.canonical(name)
        if own in map(fio_options.canonical, names[:number]):
            yield Problem(path_text((name,)), AS_GIVEN, f"sets what {own} does already", "leave one of them out")
    for name, values in part.options.items():
        faults = (fault(name, value) for value in values for fault in (fio_options.refusal_of, fio_options.value_fault))
        if found := next(filter(None, faults), None):
            yield part.problem(name, *found)


def job_has_an_end(part: FioWorkload) -> Problems:
    """Yield a problem if neither a time nor an amount ends the job."""
    if part.job_file is not None:
        return
    if 1 in part.options.get("time_based", []) and set(part.options.get("runtime", [0])) & {0, "0"}:
        yield part.problem("runtime", "time_based needs a runtime", "write runtime 10 (seconds)", value=None)
    if not ({"size", "filesize", "fill_device"} & part.options.keys() or part.wants_device):
        yield part.problem("size", "fio needs the size of its files", 'write size "1G"', value=None)


def amounts_are_told(part: FioWorkload) -> Problems:
    """Yield a problem for an option by which nobody could tell how long a job takes, if the matrix does not say so."""
    is_told = all(getattr(part, name) is not None for name in EXPECTED)
    if part.job_file is not None or is_told or part.number_of_points > MAX_CHECKED_POINTS:
        return
    name = next(filter(None, (FioJob(options).untold for options in combinations(part.options))), None)
    if name:
        fix = "write runtime, or expectedSeconds, expectedReadGiB and expectedWriteGiB"
        yield part.problem(name, "leaves open how much the job moves, and when it ends", fix)


def option_values_are_different(part: FioWorkload) -> Problems:
    """Yield a problem for each option with the same value twice."""
    for name, values in part.options.items():
        if repeated(values) is not None:
            yield part.problem(
                name, "a value is given twice", "give each value once; `repetitions` measures them again"
            )


def targets_are_of_the_storage(part: FioWorkload) -> Problems:
    """Yield a problem for a target that no storage has, or that is another one than that of the jobs beside it."""
    for rule, fix in fio_places.faults(part.targets, is_device=part.wants_device):
        yield part.problem("filename" if part.job_file is None else "jobFile", rule, fix)


def changes_are_said(part: FioWorkload) -> Problems:
    """Yield a warning for each option that is not passed on as it is."""
    for change in part.changes(part.single):
        yield part.problem(change.name, change.becomes, "leave it out, and nothing is changed", weight=Weight.NOTE)


def shared_files_are_only_read(part: FioWorkload) -> Problems:
    """Yield a problem for shared files that are written or of drawn sizes, and for a shared device."""
    if "shared" not in part.data:
        return
    if part.wants_device:
        rule = "are files that all instances read, and a device belongs to one of them"
        yield part.problem("data", rule, "leave device or data out", value="shared")
    names = ("rw", "filesize")
    given = [({"section": section.name}, part.of_section(section).single) for section in part.sections]
    if part.job_file is None:
        given = [
            ({}, each) for each in combinations({name: part.options[name] for name in names if name in part.options})
        ]
    seen = set()
    for of_section, options in given:
        job = FioJob(options)
        name = "rw" if job.writes else "filesize"
        if not (job.writes or job.draws_sizes) or (path := place(of_section, name)) in seen:
            continue
        seen.add(path)
        if job.writes:
            rule = "several instances would write the same files, and whose write is measured is unknown"
            fix = 'write "read" or "randread", or leave data out'
        else:
            rule, fix = "fio draws these sizes anew, so others cannot read the files", 'write one size, such as "1M"'
        yield replace(part.problem(name, rule, fix, value=options.get(name)), path=path)


def fio_accepts_each_point(part: FioWorkload) -> Problems:
    """Yield a problem for each option that fio refuses together with others, or with which it moves nothing."""
    others = (options_are_passed_on, job_has_an_end)
    if (
        part.job_file is not None
        or part.number_of_points > MAX_CHECKED_POINTS
        or any(True for rule in others for _ in rule(part))
    ):
        return
    seen: set[str] = set()
    for params in part.points():
        name, rule, fix = _job_of(params).refused or ("", "", "")
        if name and name not in seen:
            seen.add(name)
            yield part.problem(name, rule, fix, value=params["options"].get(name))


def sections_are_jobs(part: FioWorkload) -> Problems:
    """Yield the problems of a job file: of its form, and those of each section, which are those of other workloads."""
    if part.job_file is None:
        return
    yield from _file_has_sections(part, part.job_file)
    seen = set()
    for section in part.sections:
        for problem in _problems_of(part, section):
            # What stands below [global] is wrong once.
            if (said := (problem.path, str(problem.value), problem.rule)) not in seen:
                seen.add(said)
                yield replace(problem, path=path_text(("jobFile", section.name, problem.path)))


def _file_has_sections(part: FioWorkload, text: str) -> Problems:
    """Yield the problems of a job file that are not of one of its options."""
    for name in part.options:
        yield part.problem(name, "stands beside a job file, which has all options", "write it below [global] there")
    for line in fio_job_file.read(text)[1]:
        yield part.problem("jobFile", "has an option before its first section", "begin with [global]", value=line)
    if not 1 <= len(part.sections) <= MAX_SECTIONS:
        rule = f"has {len(part.sections)} sections besides [global]; 1 to {MAX_SECTIONS} can be measured"
        yield part.problem("jobFile", rule, "write one for each point, such as [randread]", value=None)
    for together in fio_job_file.groups(part.sections):
        for section in together:
            if section.waits_for in {other.name for other in together}:
                rule = f"waits for {section.waits_for}, beside which others run: such an order cannot be measured"
                yield part.problem("jobFile", rule, "write stonewall", value=section.name)
    names = [section.name for section in part.sections]
    if (twice := repeated(names)) is not None:
        yield part.problem("jobFile", "has two sections of this name", "give each its own: rows have it", value=twice)
    for name in names:
        if not (0 < len(name) <= MAX_SECTION_CHARACTERS and name.isprintable()):
            rule = f"is no name of a section: 1 to {MAX_SECTION_CHARACTERS} printable characters"
            yield part.problem("jobFile", rule, "write such as [randread]", value=name)


def _problems_of(part: FioWorkload, section: Section) -> Problems:
    """Yield the problems of a section, each at its option; of one whose engine is not passed on, only that."""
    engine = section.options.get("ioengine", "psync")
    if refused := fio_options.refusal_of("ioengine", engine):
        yield Problem("ioengine", engine, *refused, code="options-are-passed-on")
        return
    try:
        _OPTIONS.validate_python(fio_places.not_names(section.options))
    except ValidationError as error:
        # A value is of no interest if the option may not be set at all.
        details = {str(detail["loc"][0]): detail for detail in error.errors(include_url=False)}
        details |= {str(each["loc"][0]): each for each in error.errors(include_url=False) if "[key]" in each["loc"]}
        for option, detail in details.items():
            why, code = detail["ctx"], detail["type"].replace("_", "-")
            yield Problem(option, section.options[option], why["rule"], why["fix"], code=code)
        return
    job = part.of_section(section)
    # Targets of all sections are one.
    for problem in check([rule for rule in job.rules() if rule is not targets_are_of_the_storage], job):
        yield replace(problem, value=section.options.get(problem.path))
