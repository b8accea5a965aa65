"""What speaks against the figures of a fio job, by its options: for a plan, and for files of fio that are imported."""

from collections.abc import Iterator

from contract.fio_job import SYNCHRONOUS_ENGINES, FioJob


def cautions(job: FioJob) -> Iterator[tuple[str, str, str]]:
    """Yield (option, risk, fix) for options with which a point does not measure the storage, or not what it seems to.

    Seen with fio 3.33 on one disk: 4 KiB reads by psync with iodepth 16 took 3.5 us at P50, by libaio with direct 668.
    """
    if job.number("iodepth") > 1 and job.engine in SYNCHRONOUS_ENGINES:
        rule = f"{job.engine} keeps one operation in flight, so iodepth is ignored"
        yield "iodepth", rule, 'write ioengine "libaio" and direct 1, or more numjobs'
    elif job.is_queued:
        yield "iodepth", "libaio submits buffered I/O one by one, so iodepth is not reached", "write direct 1"
    if job.paced_by and not job.is_open_loop:
        rule = (
            f"{job.paced_by} gives the rate, so latencies are the figure, without the time that operations wait to be "
            "submitted"
        )
        fix = "leave it out to measure the most, or write ratePerSecondPerInstance in a read or touch workload"
        yield job.paced_by, rule, fix
    if job.is_on("latency_target"):
        rule = "latency_target looks for a depth, so the figure is of no depth that you know"
        yield "latency_target", rule, "leave it out, and write iodepth"
    if job.given_per_s is not None and 0 < job.seconds("runtime") <= job.seconds("ramp_time"):
        rule = "fio 3.33 skips a ramp that is not shorter than the runtime if the rate is given"
        yield "ramp_time", rule, "write a longer runtime"
    if job.engine == "mmap":
        rule = "mmap never passes the page cache, also with direct 1: this measures memory"
        yield "ioengine", rule, 'write ioengine "libaio" or "psync", and direct 1'
    if job.is_direct or job.engine == "mmap":
        return
    if job.writes and not job.is_synced:
        yield "rw", "writes end in the instance's page cache: this measures memory", "write direct 1, or fdatasync 1"
    if job.reads_again:
        yield "rw", "what was read once is read again from the instance's page cache", "write direct 1"


def cautions_before(job: FioJob) -> Iterator[tuple[str, str, str]]:
    """Yield the same of a job that is yet to run, and what may keep it from ending."""
    if job.is_open_loop:
        rule = (
            "fio's offload mode may wait for itself for ever, and its cell fails: 1 of 220 jobs was seen to (fio 3.33)"
        )
        yield "io_submit_mode", rule, "write ratePerSecondPerInstance in a read or touch workload for an open loop"
    yield from cautions(job)
