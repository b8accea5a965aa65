"""fio: real runs where fio is installed, known documents where it is not."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.agent_cloud import needs

from agent.errors import FiguresContradict, MeasurementTooShort, ToolFailed, WorkIncomplete
from agent.job import Step
from agent.machine import counters
from agent.machine.workspace import Workspaces
from agent.programs.processes import Armed, Command
from agent.workloads import fio
from agent.workloads.trial import ImpatientTrial
from contract import histogram
from contract.fio_job import FioJob


def fio_options(**changes):
    options = {
        "rw": "randrw",
        "bs": "4k",
        "size": "4m",
        "numjobs": 2,
        "ioengine": "psync",
        "time_based": True,
        "runtime": 1,
        "group_reporting": 1,
    }
    return {**options, **changes}


def test_a_path_with_a_colon_is_one_path_to_fio():
    assert "directory=/mnt/a\\:b\n" in fio.render([{"rw": "read"}], [Path("/mnt/a:b")], Path("/tmp"))


@needs("fio")
def test_for_one_job_our_percentiles_are_exactly_those_that_fio_prints(sampled, instance):
    [sample] = sampled("fio", [{"options": fio_options(numjobs=1, rw="randwrite")}])

    printed = instance.raw(sample, "fio.json")["jobs"][0]["write"]["lat_ns"]["percentile"]
    assert sample["metrics"]["write_lat_p50_us"] == printed["50.000000"] / 1000
    assert sample["metrics"]["write_lat_p99_us"] == printed["99.000000"] / 1000


@needs("fio")
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"rw": "write", "fdatasync": 1}, id="each write is followed by fdatasync"),
        pytest.param({"rw": "randread", "ioengine": "libaio"}, id="buffered libaio, whose submission blocks"),
    ],
)
def test_at_depth_one_the_mean_latency_is_one_over_the_rate(sampled, instance, changes):
    [sample] = sampled("fio", [{"options": fio_options(numjobs=1, **changes)}])

    histograms = instance.histograms(sample)
    waited_s = sum(int(value) * n for kind in histograms.values() for value, n in kind["bins"].items()) / 1e9
    # In flight = rate * latency (Little): one. fio itself takes a few microseconds of each operation.
    assert waited_s / sample["metrics"]["duration_s"] == pytest.approx(1, abs=0.3)
    if "fdatasync" in changes:
        assert histograms["sync_lat"]["samples"] == pytest.approx(sample["metrics"]["iops"], rel=0.1)
        assert sample["metrics"]["sync_lat_p50_us"] > sample["metrics"]["write_lat_p50_us"]
        assert any("write_lat ends in the page cache" in warning for warning in sample["warnings"])


@needs("fio")
def test_an_engine_that_this_fio_lacks_is_a_missing_tool(failure):
    failed = failure("fio", [{"options": fio_options(ioengine="warpdrive")}])

    assert failed["error"] == "ToolMissing"
    assert "no ioengine 'warpdrive'" in failed["message"]
    assert "psync" in failed["message"]


def test_the_log_of_each_second_is_summed_over_jobs_and_directions(tmp_path):
    log = tmp_path / "each-second_iops.log"
    # Two jobs that read and write; the last second is there of one of them only. Times are off by a tick or two.
    jobs = [(100, 10), (200, 20)]
    lines = [f"{1000 * s + s}, {mean}, {direction}, 0, 0" for means in jobs for direction, mean in enumerate(means)
             for s in (1, 2, 3)]  # fmt: skip
    log.write_text("\n".join([*lines, "4004, 100, 0, 0, 0"]) + "\n")

    assert fio.log_rates(log, ran(4001, 4002)) == [330, 330, 330]
    # What one of them does after the other is another load.
    assert fio.log_rates(log, ran(2990, 4002)) == [330, 330]
    # A second in which nothing was done has no line, at the end neither.
    assert fio.log_rates(log, ran(7001, 7002)) == [330, 330, 330, 100, 0, 0]
    assert fio.log_rates(tmp_path / "none", ran(9000)) == []


def ran(*runtimes_ms):
    return {"jobs": [{direction: {"runtime": ms} for direction in fio.DIRECTIONS} for ms in runtimes_ms]}


def test_a_job_is_steady_by_fios_own_rule_where_it_was_given_one_and_else_by_ours():
    judged = {"attained": 1, "duration": 5, "data": {"iops_mean": 50}}
    job = job_document(20_000, 2_000, {"1000": 2_000})
    document = {"jobs": [job | {"steadystate": judged}]}
    not_attained = {"jobs": [job | {"steadystate": judged | {"attained": 0}}]}

    assert fio.steadiness(document, {}, []).to_document() == {
        "state": "steady", "from_s": 15.0, "ratio": 0.5, "seconds": 20,
    }  # fmt: skip
    assert fio.steadiness(not_attained, {}, [100.0] * 20).state == "not steady"
    assert fio.steadiness({"jobs": [job]}, {}, [100.0] * 20).from_s == 0
    assert fio.steadiness({"jobs": [job]}, {"rate_iops": 100}, [100.0] * 20) is None
    assert fio.steadiness({"jobs": [job]}, {}, []) is None


def job_document(runtime_ms, ios, bins, syncs=None):
    idle = {"runtime": 0, "total_ios": 0, "io_bytes": 0, "lat_ns": {}}
    busy = {"runtime": runtime_ms, "total_ios": ios, "io_bytes": ios * 4096, "lat_ns": {"bins": bins}}
    # fio 3.33 leaves sync.total_ios at 0; the bins are right.
    return {"error": 0, "read": idle, "write": busy, "sync": {"total_ios": 0, "lat_ns": {"bins": syncs or {}}}}


def test_jobs_are_summed_over_the_longest_runtime_and_their_bins_merged():
    document = {"jobs": [job_document(2000, 90, {"1000": 90}), job_document(1000, 10, {"9000": 10})]}

    metrics = fio.metrics(document)

    assert metrics["write_iops"] == metrics["iops"] == 50
    assert metrics["write_lat_p50_us"] == metrics["write_lat_p90_us"] == 1
    assert metrics["write_lat_p99_us"] == 9
    assert "read_iops" not in metrics


@needs("fio")
def test_reads_that_memory_answered_are_warned_about(sampled, storage):
    if not counters.of_storage(storage):
        pytest.skip("the kernel counts nothing for the file system of this machine's temporary folder")
    # Each block of 4 MiB is read many times, so that nearly all reads come from the page cache.
    [sample] = sampled("fio", [{"options": fio_options(rw="randread", numjobs=1, norandommap=1)}])

    [warning] = [warning for warning in sample["warnings"] if warning.startswith("read: ")]
    assert "a cache or a compressor answered for the rest" in warning


@needs("fio")
def test_the_work_is_what_fio_timed_and_not_its_ramp(sampled):
    options = fio_options(numjobs=1, rw="randwrite", ramp_time=1)
    [sample] = sampled("fio", [{"options": options}])

    worked_s = sample["work_ended_at"] - sample["work_started_at"]
    assert worked_s == pytest.approx(sample["metrics"]["duration_s"], abs=0.001)
    assert sample["work_started_at"] - sample["started_at"] >= 1  # the ramp, and fio's start
    assert sum(sample["work"].values()) / 1e6 / worked_s == pytest.approx(sample["metrics"]["mb_per_s"], rel=0.01)


def test_the_slowest_operation_of_all_jobs_is_uploaded_as_fio_has_timed_it():
    # 60.000123 s: fio's bins end at 17.1 s, and the bin of ours in which it lies has another middle.
    jobs = [job_document(65_000, 2, {"1000000": 1, "17112760320": 1}) for _ in range(2)]
    for job, longest_ns in zip(jobs, (20_000_000_000, 60_000_123_000), strict=True):
        job["write"]["lat_ns"] |= {"max": longest_ns, "mean": (longest_ns + 1_000_000) / 2}

    uploaded = json.loads(fio.raw({"jobs": jobs}, "")["histograms.json"])["histograms"]["write_lat"]

    assert uploaded["max_ns"] == 60_000_123_000
    assert (uploaded["samples"], len(uploaded["bins"])) == (4, 3)


# One job for 2 s: 600 operations of 11 us fill 6.6 ms of it, 600 syncs of 3.3 ms the rest.
ELEVEN_US, SYNCS = {"11000": 600}, {"3300000": 600}


def test_a_rate_that_the_latencies_do_not_explain_is_refused_in_words():
    with pytest.raises(FiguresContradict, match=r"300 operations/s of 11\.0 us each mean 0\.0033 in flight") as refused:
        fio.refuse_contradictions({"jobs": [job_document(2000, 600, ELEVEN_US)]}, {}, processors=2)

    assert "the job keeps 1 in flight" in str(refused.value)
    fio.refuse_contradictions({"jobs": [job_document(2000, 600, ELEVEN_US, SYNCS)]}, {}, processors=2)


def test_more_in_flight_than_the_queue_holds_is_refused():
    # 2,000 operations of 20 ms in 2 s: 20 in flight.
    job = {"jobs": [job_document(2000, 2000, {"20000000": 2000})]}

    fio.refuse_contradictions(job, {"ioengine": "libaio", "iodepth": 20}, processors=2)
    for options in ({"ioengine": "libaio", "iodepth": 16}, {"ioengine": "psync", "iodepth": 20}):
        with pytest.raises(FiguresContradict, match="mean 20 in flight"):
            fio.refuse_contradictions(job, options, processors=2)


def test_any_number_may_wait_where_requests_are_due_whether_or_not_others_are_answered():
    # 2,000 requests in 2 s waited 1 s each: 1,000 at once, of a job that keeps 1 in flight.
    job = {"jobs": [job_document(2000, 2000, {"1000000000": 2000})]}
    open_loop = {"io_submit_mode": "offload", "rate_iops": 1000, "rate_process": "poisson"}

    fio.refuse_contradictions(job, open_loop, processors=2)
    with pytest.raises(FiguresContradict):
        fio.refuse_contradictions(job, open_loop | {"io_submit_mode": "inline"}, processors=2)


@needs("fio")
def test_fio_runs_an_open_loop_at_the_rate_that_was_asked_for(cloud, instance, make_job):
    open_loop = {"io_submit_mode": "offload", "rate_iops": 100, "rate_process": "poisson"}
    cloud.put("job.json", make_job("fio", [{"options": fio_options(numjobs=1, rw="randread", runtime=2, **open_loop)}]))

    status = instance.run()
    if status == 1 and "waits for itself" in instance.document("failed.json")["message"]:
        status = instance.run()  # a fault of fio, not ours
    assert status == 0

    [sample] = instance.samples()
    assert sample["metrics"]["iops"] == pytest.approx(100, rel=0.3)


def test_only_a_job_that_may_wait_for_itself_has_a_longest_time():
    open_loop = {"io_submit_mode": "offload", "time_based": 1, "runtime": "2m", "ramp_time": 5}

    assert fio.longest_s(open_loop) == 2 * (120 + 5) + 30
    assert fio.longest_s({**open_loop, "io_submit_mode": "inline"}) is None
    assert fio.longest_s({"io_submit_mode": "offload", "size": "1g"}) is None


def test_a_tool_that_stalls_is_ended_with_the_reason(tmp_path):
    def trial(command, at_most_s):
        return ImpatientTrial(Armed([Command(command, tmp_path)], tmp_path), 1, None, at_most_s, "it waits for itself")

    with pytest.raises(ToolFailed, match=r"no end within 0\.1 s: it waits for itself"):
        trial(["sleep", "600"], 0.1).run()
    with pytest.raises(ToolFailed, match="`false` ended with status 1"):
        trial(["false"], 600).run()
    assert trial(["true"], 600).run()[0].status == 0


@pytest.mark.parametrize(
    ("options", "job"),
    [
        ({"thinktime": 3000}, job_document(2000, 600, ELEVEN_US)),
        ({"rate_iops": 300}, job_document(2000, 600, ELEVEN_US)),
        ({"end_fsync": 1}, job_document(2000, 600, ELEVEN_US)),
        # From memory: 1 us of 5 is the operation, the rest is fio.
        ({}, job_document(2000, 400_000, {"1000": 400_000})),
        # A deep queue that is hardly filled before the job is over.
        ({"ioengine": "libaio", "iodepth": 64}, job_document(2000, 200, {"11000000": 200})),
    ],
)
def test_jobs_that_have_a_reason_to_be_idle_are_not_refused(options, job):
    fio.refuse_contradictions({"jobs": [job]}, options, processors=2)


def test_writes_that_end_in_the_page_cache_and_an_unsteady_job_are_warned_about():
    job = job_document(2000, 600, ELEVEN_US, SYNCS)
    unsteady = job | {"steadystate": {"ss": "iops:1.000000%", "attained": 0}}

    assert "page cache" in fio.warnings({"jobs": [job]}, {"fdatasync": 1})[0]
    assert fio.warnings({"jobs": [job]}, {"fdatasync": 1, "direct": 1}) == []
    assert (
        "did not become as steady as asked for (ss=iops:1.000000%)"
        in fio.warnings({"jobs": [unsteady]}, {"direct": 1})[0]
    )
    assert fio.warnings({"jobs": [job | {"steadystate": {"attained": 1}}]}, {"direct": 1}) == []


@pytest.mark.parametrize(
    ("options", "is_queued"),
    [
        ({"ioengine": "libaio", "iodepth": 16}, True),
        ({"ioengine": "libaio", "iodepth": 16, "buffered": 1}, True),
        ({"ioengine": "libaio", "iodepth": 16, "direct": 1}, False),
        ({"ioengine": "libaio", "iodepth": 16, "buffered": 0}, False),
        ({"ioengine": "libaio", "iodepth": 1}, False),
        ({"ioengine": "psync", "iodepth": 16}, False),
        ({"ioengine": "io_uring", "iodepth": 16}, False),
    ],
)
def test_latencies_of_a_buffered_queue_are_not_available_and_the_sample_says_why(options, is_queued):
    """Little's law: 16 in flight at 4,176 operations/s are 3.8 ms each, though one of them takes 0.24 ms."""
    document = {"jobs": [job_document(2000, 600, ELEVEN_US, SYNCS)]}

    metrics = fio.metrics(document, queued=FioJob(options).is_queued)
    [histograms] = [
        json.loads(content)["histograms"]
        for name, content in fio.raw(document, "{}", queued=FioJob(options).is_queued).items()
        if name != "fio.json"
    ]

    assert metrics["iops"] > 0
    assert any(name.startswith(("read_lat", "write_lat")) for name in metrics) is not is_queued
    assert "sync_lat_p50_us" in metrics
    assert ("read_lat" in histograms or "write_lat" in histograms) is not is_queued
    assert any("not available" in warning for warning in fio.warnings(document, options)) is is_queued


def test_a_run_below_a_second_is_not_a_measurement():
    with pytest.raises(MeasurementTooShort, match=r"fio ran for 0.9 s"):
        fio.metrics({"jobs": [job_document(900, 90, {"1000": 90})]})


def test_all_jobs_in_one_file_is_the_known_fiction_and_fails(tmp_path):
    (tmp_path / "work.0.0").write_bytes(b"x")
    document = {"jobs": [job_document(1000, 10, {"1": 10}), job_document(1000, 10, {"1": 10})]}

    with pytest.raises(WorkIncomplete, match="fio left 1 files"):
        fio._verify(document, [FioJob({"numjobs": 2})], [tmp_path])


def test_the_bins_are_those_of_fio():
    # Worked out by hand from fio's stat.c: exact below 128; 128..129 share a bin (129); 1000 ns has 3 dropped bits.
    assert [histogram.bin_value(histogram.bin_index(value)) for value in (0, 1, 63, 64, 127)] == [0, 1, 63, 64, 127]
    assert histogram.bin_index(128) == histogram.bin_index(129) == 128
    assert histogram.bin_value(128) == 129
    assert histogram.bin_index(1000) == (3 + 1) * 64 + (1000 >> 3) % 64
    assert histogram.bin_value(histogram.bin_index(1000)) == 1004
    assert histogram.FIO_LAST_VALUE_NS == 17_112_760_320


@pytest.mark.parametrize("seconds", [18, 60, 600, 3600, 30_000])
def test_latencies_have_bins_of_the_same_width_far_beyond_those_of_fio(seconds):
    [value_ns] = histogram.from_latencies([seconds * 10**9])

    assert value_ns == pytest.approx(seconds * 1e9, rel=1 / 128)


def cut_off(*latencies_s):
    """fio's bins, longest and sum of such latencies: what is slower than 17.05 s stands in its last bin."""
    bins = histogram.from_latencies(int(each * 1e9) for each in latencies_s)
    cut = {}
    for value, count in bins.items():
        cut[min(value, histogram.FIO_LAST_VALUE_NS)] = cut.get(min(value, histogram.FIO_LAST_VALUE_NS), 0) + count
    return cut, round(max(latencies_s) * 1e9), sum(latencies_s) * 1e9


@pytest.mark.parametrize(
    "latencies_s",
    [
        [0.001] * 5000 + [60.0],
        [0.001] * 5000 + [60.0, 20.0],  # the sum leaves the second
        [0.001] * 5000 + [30.0] * 16,  # one stall of all that were in flight
        [0.5, 0.7],
    ],
)
def test_what_fio_could_not_put_into_a_bin_is_put_where_its_maximum_and_its_mean_say(latencies_s):
    found = histogram.repaired(*cut_off(*latencies_s))

    assert found == histogram.from_latencies(int(each * 1e9) for each in latencies_s)


def test_what_nobody_knows_stays_in_fios_last_bin():
    found = histogram.repaired(*cut_off(*[0.001] * 5000, 20.0, 35.0, 60.0))

    assert found[histogram.FIO_LAST_VALUE_NS] == 2
    assert max(found) == pytest.approx(60e9, rel=1 / 128)


@pytest.mark.parametrize("stalls_s", [[60.0], [30.0] * 3, [20.0, 40.0]])
def test_a_job_that_stood_still_for_a_minute_is_not_a_contradiction(stalls_s):
    latencies_s = [0.001] * 5000 + stalls_s
    bins, longest_ns, total_ns = cut_off(*latencies_s)
    document = {"jobs": [job_document(round(sum(latencies_s) * 1000), len(latencies_s), bins)]}
    document["jobs"][0]["write"]["lat_ns"] |= {"max": longest_ns, "mean": total_ns / len(latencies_s)}

    fio.refuse_contradictions(document, {"rw": "randwrite", "ioengine": "psync"}, processors=2)

    assert max(fio.merged_bins(document, "write")) == pytest.approx(longest_ns, rel=1 / 128)


def test_a_fio_that_does_not_start_is_named_with_what_it_said(tmp_path):
    """As where a library of it is missing: it lists no engine, and none is what is wrong."""
    fake = tmp_path / "fio"
    fake.write_text("#!/bin/sh\necho 'fio: error while loading shared libraries: libdaos.so.2' >&2\nexit 127\n")
    fake.chmod(0o755)

    with pytest.raises(ToolFailed, match=r"--enghelp' ended with status 127: fio: error while loading"):
        fio.check_engine(str(fake), "psync")


@needs("fio")
def test_a_section_has_only_its_own_figures_and_the_work_of_those_beside_it(sampled):
    beside = {"slow writers": fio_options(numjobs=2, rw="write", rate_iops=50), "reader": fio_options(rw="read")}
    params = {"section": "limited", "options": fio_options(rw="randread", rate_iops=100, numjobs=1), "beside": beside}
    [sample] = sampled("fio", [params])

    assert sample["metrics"]["iops"] == pytest.approx(100, rel=0.1)
    assert not {"write_iops", "write_lat_p50_us"} & sample["metrics"].keys()
    assert sample["work"]["write_bytes"] == pytest.approx(100 * 4096, rel=0.2)
    assert sample["work"]["read_bytes"] > 200 * 4096
    assert "--name=slow writers --rw=write" in sample["tool"]["command"]


@needs("fio")
@pytest.mark.parametrize(
    ("changes", "is_kept"),
    [({"rw": "read"}, True), ({"rw": "randrw"}, False), ({"overwrite": 1}, False), ({"ioengine": "mmap"}, False)],
    ids=str,
)
def test_files_are_laid_out_before_the_start_of_the_fleet_and_again_only_if_they_were_written(
    changes, is_kept, tmp_path
):
    job = SimpleNamespace(mount={"kind": "directory"})
    options = {"rw": "randwrite", "bs": "64k", "size": "2m", "fallocate": "none", **changes}
    workspaces, inodes = Workspaces(tmp_path, "run", "cell", "i-1"), set()
    try:
        for number in range(2):
            workspace = workspaces.fresh(number)
            # Jobs with other blocks read the same files.
            bs = {"bs": f"{64 << number}k"}
            trial = fio.prepare(job, Step(number, "p01", 1, {"options": options | bs}), workspace)
            [file] = files_of(workspace.target.parent)
            before = file.stat()
            trial.run()
            assert before.st_blocks * 512 >= before.st_size == 2 << 20
            assert file.stat().st_ino == before.st_ino
            inodes.add((before.st_ino, before.st_mtime_ns))
            workspaces.done(workspace)
        assert (len(inodes) == 1) is is_kept
    finally:
        workspaces.close()


def files_of(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@needs("fio")
def test_all_instances_read_what_one_of_them_lays_out_once(tmp_path):
    job = SimpleNamespace(mount={"kind": "directory"}, instances=2)
    reading = {"rw": "randread", "bs": "64k", "size": "1m", "nrfiles": 2, "time_based": 1, "runtime": 1}
    params = {"data": "shared", "options": reading, "beside": {"alike": reading, "smaller": reading | {"size": "512k"}}}
    fleet = [Workspaces(tmp_path, "run", "cell", name) for name in ("i-1", "i-2")]
    seen = set()

    for number in range(2):
        workspaces = [spaces.fresh(number) for spaces in fleet]
        with ThreadPoolExecutor(2) as pool:
            trials = [pool.submit(fio.prepare, job, Step(number, "p01", 1, params), each) for each in workspaces]
        # Beside them each instance has an empty file.
        laid_out = [path.stat() for path in files_of(tmp_path / "run/cell/neighbours") if path.stat().st_size]
        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(lambda trial: trial.read(trial.run()), [t.result() for t in trials]))
        seen.add(tuple(sorted((file.st_ino, file.st_mtime_ns, file.st_size) for file in laid_out)))
        assert all(outcome.work.keys() == {"read_bytes"} for outcome in outcomes)
        for spaces, workspace in zip(fleet, workspaces, strict=True):
            assert files_of(workspace.target.parent) == []
            spaces.done(workspace)

    [of_both_steps] = seen
    assert sorted(size for _, _, size in of_both_steps) == [256 << 10] * 2 + [512 << 10] * 4
    for spaces in fleet:
        spaces.close()
    assert list(tmp_path.iterdir()) == []


@needs("fio")
def test_sections_and_processes_of_one_filename_use_one_file(tmp_path):
    job = SimpleNamespace(mount={"kind": "directory"})
    options = {
        "rw": "randread",
        "bs": "64k",
        "size": "2m",
        "filename": "mine",
        "numjobs": 3,
        "time_based": 1,
        "runtime": 1,
    }
    params = {"options": options | {"numjobs": 3}, "beside": {"writer": options | {"rw": "randwrite", "size": "1m"}}}
    workspaces = Workspaces(tmp_path, "run", "cell", "i-1")
    try:
        workspace = workspaces.fresh(0)
        trial = fio.prepare(job, Step(0, "p01", 1, params), workspace)
        [before] = files_of(workspace.target.parent)
        outcome = trial.read(trial.run())
        [after] = files_of(workspace.target.parent)
        assert (before, before.name, after.stat().st_size) == (after, "mine", 2 << 20)
        assert outcome.work.keys() == {"read_bytes", "write_bytes"}
        workspaces.done(workspace)
    finally:
        workspaces.close()


@needs("fio")
def test_a_verify_is_no_figure_of_its_job(sampled):
    # A rate makes the writes longer than what fio's clock of milliseconds tells.
    options = {"rw": "write", "bs": "64k", "size": "1m", "rate_iops": 10, "verify": "crc32c"}
    [sample] = sampled("fio", [{"options": options}])

    assert sample["metrics"]["iops"] == sample["metrics"]["write_iops"] == pytest.approx(10, rel=0.15)
    assert not {"read_iops", "read_lat_p50_us"} & sample["metrics"].keys()
    assert sample["work"] == {"read_bytes": 1 << 20, "write_bytes": 1 << 20}


@needs("fio")
def test_a_job_that_fio_refuses_fails_before_anything_is_filled_in_fios_words(failure, storage):
    good, bad = fio_options(), fio_options(bsrange="4k")

    failed = failure("fio", [{"options": good}, {"options": bad}])

    assert failed["error"] == "ToolFailed"
    assert "bsrange=4k" in failed["message"]
    assert failed["step"] is None
    assert files_of(storage) == []
