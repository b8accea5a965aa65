"""Logs of elbencho and warp, shown as rows and kept as runs that the commands of runs read.

Their formats are those of their sources: elbencho d085b19 (3.1-10), warp d06f8e6.
"""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from support.cli_documents import kept_results, kept_summary

EFS = '{"type": "efs"}'
GIB = 2**30
STARTED = datetime(2026, 6, 21, 10, 0, tzinfo=UTC)
COMMAND = ["./elbencho", "-w", "-r", "-t", "2", "-s", "1g", "-b", "1m", "--lat", "--jsonfile", "r.json", "/mnt/x"]
# Statistics::printPhaseStartISODateToStringVec, ProgArgs::getAsStringVec, Statistics::printPhaseResultsToStringVec.
LATENCY = [
    "Ent lat us [min]",
    "Ent lat us [avg]",
    "Ent lat us [max]",
    "IO lat us [min]",
    "IO lat us [avg]",
    "IO lat us [max]",
]
DONE = ["entries/s", "IOPS", "MiB/s"]
CSV_HEAD = [
    "ISO date", "label", "path type", "paths", "hosts", "threads", "dirs", "files", "file size", "block size",
    "direct IO", "random", "random aligned", "IO depth", "shared paths", "truncate", "operation",
    *(f"time ms [{end}]" for end in ("first", "last")),
    *(f"{name} [{end}]" for name in (*DONE, "CPU%", "entries", "MiB") for end in ("first", "last")),
    *LATENCY,
    *(f"rwmix read {name} [{end}]" for name in (*DONE, "entries", "MiB") for end in ("first", "last")),
    *(f"rwmix read {name}" for name in LATENCY),
    "version", "command",
]  # fmt: skip


def elbencho_phase(phase="WRITE", *, seconds=10.0, bytes_=None, iops=None, entries=None, latency=None, mixed=None,
                   command=COMMAND, after_s=0.0, **config):  # fmt: skip
    """One line of --jsonfile: Boost's property tree writes every value as text and escapes slashes."""
    done = {"elapsed_time_ms": str(int(seconds * 1000))}
    if entries:
        done |= {"entries/s": str(int(entries / seconds)), "entries": str(entries)}
    if iops:
        done["iops"] = str(iops)
    if bytes_:
        done |= {"bytes/s": str(int(bytes_ / seconds)), "bytes": str(bytes_)}
    if mixed:
        done["rwmix_read"] = {name: str(value) for name, value in mixed.items()}
    done["cpu%"] = "100"
    if latency:
        done["latency"] = latency
    whole = {
        "path_type": "file", "paths": "1", "hosts": "1", "threads": "2", "file_size": "1073741824",
        "block_size": "1048576", "direct_io": "true", "random_offsets": "false", "io_depth": "1",
        "truncate_files": "false", "version": "3.1-10",
        "command": "".join(f'"{word}" ' for word in command), **config,
    }  # fmt: skip
    document = {
        "phase_type": phase, "phase_id": "e1b86454-bef9-4bf7-b9f2-06cbe567921f",
        "iso_start_date": (STARTED + timedelta(seconds=after_s)).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "config": {name: value for name, value in whole.items() if value is not None},
        "first_done": {**done, "elapsed_time_ms": "1"}, "last_done": done,
    }  # fmt: skip
    return json.dumps(document, separators=(",", ":")).replace("/", "\\/") + "\n"


def elbencho_csv(*rows, version="3.1-10"):
    """A --csvfile: nothing is quoted, and missing values of a phase are empty."""
    usual = {
        "ISO date": "2026-06-21T10:00:00.000+0000", "path type": "file", "paths": "1", "hosts": "1", "threads": "2",
        "file size": "1073741824", "block size": "1048576", "direct IO": "1", "random": "0", "IO depth": "1",
        "truncate": "0", "version": version, "command": "".join(f'"{word}" ' for word in COMMAND),
    }  # fmt: skip
    lines = [",".join({**dict.fromkeys(CSV_HEAD, ""), **usual, **row}.values()) for row in rows]
    return "\n".join([",".join(CSV_HEAD), *lines]) + "\n"


def moment(seconds):
    """A time in the format of Go's RFC3339Nano: without zeros at its end."""
    whole, ns = divmod(round(seconds * 1e9), 10**9)
    text = (STARTED + timedelta(seconds=whole)).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{ns:09d}".rstrip("0").rstrip(".") + "Z"


def warp_client(*, seconds=9.0, requests=900, bytes_=None, errors=0):
    """`aggregate.Throughput` of one client: `ops` and `bytes` count failed requests with the others."""
    return {
        "start_time": moment(0.25), "end_time": moment(0.25 + seconds), "errors": errors,
        "measure_duration_millis": int(seconds * 1000), "bytes": requests * 2**20 if bytes_ is None else bytes_,
        "objects": requests, "ops": requests,
    }  # fmt: skip


def warp_segment(requests, *, millis=40.0, size=2**20):
    """`aggregate.RequestSegment`: ten seconds of one client."""
    return {
        "start_time": moment(0), "end_time": moment(10),
        "single_sized_requests": {
            "dur_median_millis": millis, "fastest_millis": millis / 2, "slowest_millis": 9 * millis,
            "std_dev_millis": millis / 3, "dur_99_millis": 4 * millis, "dur_90_millis": 2 * millis,
            "dur_avg_millis": 1.2 * millis, "requests": requests, "obj_size": size, "merged_entries": 1,
        },
    }  # fmt: skip


def warp_json(operations, **changes):
    """`aggregate.Realtime`: {operation: {client: (throughput, segments)}}."""
    by_type = {
        name: {
            "Title": f"Operation: {name} (Final)", "concurrency": 8 * len(clients), "hosts": 1, "clients": len(clients),
            # The effect of merging: two seconds at each end are missing from the work, but not from the time.
            "throughput": {"measure_duration_millis": 10_000, "ops": 371, "bytes": 390025806.5},
            "throughput_by_client": {client: done for client, (done, _) in clients.items()},
            "requests_by_client": {client: segments for client, (_, segments) in clients.items()},
        }
        for name, clients in operations.items()
    }  # fmt: skip
    return json.dumps({"v": 2, "commandline": "warp get", "final": True, "warp_version": "v1.6.1",
                       "total": {}, "by_op_type": by_type, **changes}, indent=2)  # fmt: skip


WARP_HEAD = "idx thread op client_id n_objects bytes endpoint file error start first_byte last_byte end duration_ns cat"


def warp_csv(*requests):
    """All requests, of --full: (operation, client, thread, start s, duration ms, bytes, error)."""
    lines = [WARP_HEAD.replace(" ", "\t")]
    for number, (operation, client, thread, start, millis, size, error) in enumerate(requests):
        end, ns = start + millis / 1000, round(millis * 1e6)
        fields = [number, thread, operation, client, 1, size, "http://127.0.0.1:9000", "a/b.rnd", error,
                  moment(start), "", "", moment(end), ns, 0]  # fmt: skip
        lines.append("\t".join(map(str, fields)))
    return "\n".join([*lines, "# warp get --full"]) + "\n"


@pytest.fixture
def log(tmp_path):
    """Write a log; return its path."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def imported(log, matrix):
    """Keep a log of one cell as a run; return the cell's result."""

    def keep(name, text, *options):
        run = name.replace(".", "-")
        matrix("import-logs", log(name, text), "--as", run, *options)
        (result,) = kept_results(run).values()
        return result

    return keep


def medians(result):
    """The medians of its only point."""
    (point,) = result["points"]
    return {name: metric["p50"] for name, metric in point["metrics"].items()}


def points_of(result):
    return {tuple(value for name, value in point["params"].items() if name == "operation"): point
            for point in result["points"]}  # fmt: skip


def gets(count, client="b2Xk", *, millis=20, thread=0, size=2**20):
    """GETs one after another."""
    return [("GET", client, thread, i * millis / 1000, millis, size, "") for i in range(count)]


# --- elbencho ---------------------------------------------------------------------------------------------------------


def test_each_phase_of_elbencho_is_a_point_and_each_time_it_was_done_a_repetition(log, matrix):
    texts = [
        elbencho_phase("MKDIRS", seconds=2.0, entries=400, after_s=at)
        + elbencho_phase("WRITE", bytes_=20 * GIB, iops=2048, after_s=at + 3)
        + elbencho_phase("SYNC", after_s=at + 14)
        + elbencho_phase("READ", bytes_=10 * GIB, iops=1024, after_s=at + 15)
        for at in (0, 30, 60)
    ]
    files = [log(f"r{number}.json", text) for number, text in enumerate(texts)]

    seen = matrix("import-logs", *files, "--as", "old", "--storage", EFS, "--instance-type", "m6i.large")

    assert seen.exit_code == 0, seen.stderr
    results = kept_results("old")
    assert sorted(results) == ["efs-elastic.elbencho-entries.m6i.large-x1", "efs-elastic.elbencho-io.m6i.large-x1"]
    io = points_of(results["efs-elastic.elbencho-io.m6i.large-x1"])
    # 20 GiB in 10 s.
    assert io[("WRITE",)]["metrics"]["write_mib_per_s"]["p50"] == 2048
    assert io[("WRITE",)]["metrics"]["mb_per_s"]["p50"] == pytest.approx(20 * GIB / 10 / 1e6)
    assert io[("READ",)]["metrics"]["read_iops"]["p50"] == 1024
    assert (io[("READ",)]["metrics"]["iops"]["n"], io[("READ",)]["metrics"]["iops"]["expected_n"]) == (3, 3)
    assert io[("WRITE",)]["params"]["block_bytes"] == 2**20
    (directories,) = results["efs-elastic.elbencho-entries.m6i.large-x1"]["points"]
    assert directories["metrics"]["entries_per_s"]["p50"] == 200
    assert directories["metrics"]["entries_per_s"]["unit"] == "entries/s"
    assert kept_summary("old")["started_at"] == STARTED.timestamp()


def test_a_mean_latency_makes_no_percentile_and_that_is_said(imported):
    latency = {"IO": {"min_us": "27", "avg_us": "318", "max_us": "80129",
                      "histogram": {"buckets": [{"range": "256-304us", "count": "900"}]}}}  # fmt: skip
    result = imported("r.json", elbencho_phase(bytes_=10 * GIB, iops=1024, latency=latency))

    metrics = medians(result)
    assert (metrics["io_lat_avg_us"], metrics["io_lat_max_us"]) == (318, 80129)
    assert not [name for name in metrics if re.search(r"_p[0-9]+_us$", name)]
    assert not result["points"][0]["latency"]
    assert "there are no percentiles" in json.dumps(result["warnings"])


def test_reads_and_writes_of_a_mix_are_kept_apart(imported):
    mixed = {"iops": 300, "bytes/s": 300 * 2**20, "bytes": 3000 * 2**20}
    result = imported("r.json", elbencho_phase("RWMIX30", bytes_=7000 * 2**20, iops=700, mixed=mixed))

    metrics = medians(result)
    assert (metrics["write_iops"], metrics["read_iops"], metrics["iops"]) == (700, 300, 1000)
    assert (metrics["write_mib_per_s"], metrics["read_mib_per_s"]) == (700, 300)


def test_the_sum_of_several_hosts_is_shown_and_makes_no_run(log, matrix, workdir):
    file = log("r.json", elbencho_phase(bytes_=40 * GIB, iops=4096, hosts="4"))

    shown = matrix("import-logs", file)
    refused = matrix("import-logs", file, "--as", "old")

    assert "4 hosts together" in " ".join(shown.output.split())
    assert refused.exit_code == 2
    assert "4 hosts, of which elbencho keeps only the sum" in refused.stderr
    assert not (workdir / "runs/old").exists()


def test_the_csv_of_elbencho_makes_the_points_of_its_json(log, matrix):
    row = {"operation": "WRITE", "time ms [last]": "10000", "IOPS [last]": "2048", "MiB/s [last]": "2048",
           "MiB [last]": "20480", "IO lat us [avg]": "318", "IO lat us [max]": "80129"}  # fmt: skip
    latency = {"IO": {"min_us": "27", "avg_us": "318", "max_us": "80129"}}
    as_csv = log("r.csv", elbencho_csv(row))
    as_json = log("r.json", elbencho_phase(bytes_=20 * GIB, iops=2048, latency=latency))

    for file, run in ((as_csv, "c"), (as_json, "j")):
        assert matrix("import-logs", file, "--as", run).exit_code == 0

    (of_csv,), (of_json,) = (kept_results(run).values() for run in ("c", "j"))
    assert of_csv["points"][0]["params"] == of_json["points"][0]["params"]
    assert medians(of_csv) == medians(of_json)


def test_whole_mib_of_a_csv_are_no_rate_where_they_are_few(imported):
    row = {"operation": "WRITE", "time ms [last]": "10000", "IOPS [last]": "900", "MiB/s [last]": "3",
           "MiB [last]": "35"}  # fmt: skip

    result = imported("r.csv", elbencho_csv(row))

    assert medians(result).keys() == {"duration_s", "iops", "write_iops"}
    assert "counts whole MiB" in json.dumps(result["warnings"])


def test_command_lines_that_differ_in_more_than_paths_are_named(log, matrix):
    other = [*COMMAND[:-1], "--sync", "/mnt/y"]
    same = [*COMMAND[:-3], "--jsonfile", "other.json", "/mnt/z"]
    first = log("a.json", elbencho_phase(iops=1000, bytes_=GIB))

    matrix("import-logs", first, log("b.json", elbencho_phase(iops=1000, bytes_=GIB, command=same)), "--as", "same")
    matrix("import-logs", first, log("c.json", elbencho_phase(iops=1000, bytes_=GIB, command=other)), "--as", "other")

    (alike,), (unlike,) = (kept_results(run).values() for run in ("same", "other"))
    assert "command lines" not in json.dumps(alike["warnings"])
    assert "--lat --sync" in json.dumps(unlike["warnings"])


# --- warp -------------------------------------------------------------------------------------------------------------


def test_rates_of_warp_are_those_of_each_client_and_not_of_its_trimmed_throughput(imported):
    clients = {"b2Xk": (warp_client(), [warp_segment(900)]), "qP9z": (warp_client(requests=450), [warp_segment(450)])}

    result = imported("w.json", warp_json({"GET": clients}), "--storage", "s3")

    assert result["fleet"]["count"] == 2
    (point,) = result["points"]
    assert point["params"] == {"operation": "get", "threads": 8, "object_bytes": 2**20}
    assert point["samples"]["instance"] == ["b2Xk", "qP9z"]
    assert point["samples"]["metrics"]["requests_per_s"] == [100, 50]
    assert point["samples"]["metrics"]["mb_per_s"] == [
        pytest.approx(100 * 2**20 / 1e6),
        pytest.approx(50 * 2**20 / 1e6),
    ]


def test_percentiles_of_ten_seconds_are_those_of_a_client_that_needed_no_more(imported):
    short = {"b2Xk": (warp_client(), [warp_segment(900, millis=40)])}
    long = {
        "b2Xk": (warp_client(seconds=25, requests=2500), [warp_segment(1000), warp_segment(1000), warp_segment(500)])
    }

    of_short = imported("s.json", warp_json({"GET": short}))
    of_long = imported("l.json", warp_json({"GET": long}))

    metrics = medians(of_short)
    assert [metrics[f"get_lat_p{p}_us"] for p in (50, 90, 99)] == [40_000, 80_000, 160_000]
    assert not [name for name in medians(of_long) if "_lat_" in name]
    assert "cannot be merged" in json.dumps(of_long["warnings"])
    assert medians(of_long)["requests_per_s"] == 100


def test_all_requests_of_warp_have_their_percentiles_and_histogram(imported):
    requests = [("GET", "b2Xk", 0, i * 0.1, 20 if i < 990 else 90, 2**20, "") for i in range(1000)]

    result = imported("w.csv", warp_csv(*requests))

    metrics = medians(result)
    assert result["points"][0]["latency"]["get_lat"]["operations"] == 1000
    assert metrics["get_lat_p50_us"] == pytest.approx(20_000, rel=1 / 128)
    assert metrics["get_lat_avg_us"] == pytest.approx(20_700)
    # From the start of the first request to the end of the last.
    assert metrics["requests_per_s"] == pytest.approx(1000 / (99.9 + 0.09), rel=1e-6)


def test_a_percentile_that_too_few_requests_carry_is_left_out(imported):
    result = imported("w.csv", warp_csv(*gets(100)))

    assert "get_lat_p90_us" in medians(result)
    assert "get_lat_p99_us" not in medians(result)  # it takes 368


def test_failed_requests_are_in_no_rate(imported):
    requests = [*gets(99), ("GET", "b2Xk", 0, 1.98, 20, 2**20, "The specified key does not exist.")]
    failed = {"b2Xk": (warp_client(requests=900, errors=90), [warp_segment(900)])}

    of_all = imported("w.csv", warp_csv(*requests))
    of_sums = imported("w.json", warp_json({"GET": failed}))

    metrics = medians(of_all)
    assert metrics["requests_per_s"] == pytest.approx(99 / 2.0)
    assert metrics["mb_per_s"] == pytest.approx(99 * 2**20 / 2.0 / 1e6)
    # The JSON counts the bytes of failed requests with the others.
    assert medians(of_sums).keys() == {"duration_s", "requests_per_s"}
    assert medians(of_sums)["requests_per_s"] == 90
    for result in (of_all, of_sums):
        assert "failed and are in no figure" in json.dumps(result["warnings"])


def test_requests_at_the_same_time_are_another_point_than_those_alone(imported):
    mixed = [*gets(100), *(("PUT", "b2Xk", 1, i * 0.02, 20, 2**20, "") for i in range(100))]
    apart = [*gets(100), *(("PUT", "b2Xk", 1, 10 + i * 0.02, 20, 2**20, "") for i in range(100))]

    together = imported("m.csv", warp_csv(*mixed))
    alone = imported("a.csv", warp_csv(*apart))

    assert {point["params"]["operation"]: point["params"].get("mixed_with") for point in together["points"]} == {
        "get": "PUT",
        "put": "GET",
    }
    assert not [point for point in alone["points"] if "mixed_with" in point["params"]]


def test_clients_of_several_files_are_not_taken_for_the_same_machines(log, matrix, workdir):
    clients = {"b2Xk": (warp_client(), []), "qP9z": (warp_client(), [])}
    again = {"Lm0a": (warp_client(), []), "zz9z": (warp_client(), [])}
    files = [log("a.json", warp_json({"GET": clients})), log("b.json", warp_json({"GET": again}))]

    seen = matrix("import-logs", *files, "--as", "old")

    assert seen.exit_code == 2
    assert "warp names clients anew in each run" in seen.stderr
    assert not (workdir / "runs/old").exists()


def test_threads_that_a_log_does_not_have_are_unknown_and_such_files_are_no_repetitions(log, matrix):
    """By Little's law: 140 requests/s of 80 ms each are 11.2 in flight, which one thread does not have."""
    requests = [("PUT", "", 12, i / 140, 80, 2**20, "") for i in range(280)]
    told = {"IO": {"min_us": "27", "avg_us": "9000", "max_us": "80129"}}
    logs = {"w.csv": warp_csv(*requests), "v.csv": warp_csv(*requests).replace("T10:", "T11:"),
            "e.json": elbencho_phase(bytes_=GIB, iops=1000, latency=told)}  # fmt: skip
    files = [log(name, text) for name, text in logs.items()]

    rows = json.loads(matrix("import-logs", *files, "--format", "json").stdout)
    table = matrix("import-logs", *files).output
    matrix("import-logs", *files[:2], "--as", "apart")
    matrix("import-logs", *files[:2], "--as", "told", "--files-are", "repetitions")

    assert [(row["workers"], "in flight" in row["note"]) for row in rows] == [(None, True)] * 3
    assert "threads are unknown" in " ".join(table.split())
    (apart,), (told,) = (kept_results(run).values() for run in ("apart", "told"))
    assert [point["params"] for point in apart["points"]] == [
        {"operation": "put", "object_bytes": 2**20, "file": file} for file in files[:2]
    ]
    assert [point["metrics"]["requests_per_s"]["n"] for point in told["points"]] == [2]


def test_elbencho_of_two_hosts_in_one_file_are_two_instances(imported):
    phases = elbencho_phase(bytes_=GIB, iops=1000), elbencho_phase(bytes_=GIB, iops=3000, after_s=0.4)

    result = imported("both.json", json.dumps([json.loads(phase) for phase in phases]))

    assert result["fleet"]["count"] == 2
    assert sorted(result["points"][0]["samples"]["metrics"]["iops"]) == [1000, 3000]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    "text",
    [
        f"OPERATION RESULT\n{elbencho_phase(bytes_=GIB, iops=1000)}",
        elbencho_csv({"operation": "WRITE", "time ms [last]": "10000", "IOPS [last]": "1000", "MiB [last]": "900"}),
        warp_csv(*gets(100)),
        "warp: done\n" + warp_json({"GET": {"b2Xk": (warp_client(), [warp_segment(900)])}}),
    ],
)
def test_a_log_is_read_in_the_encodings_of_windows_and_after_other_lines(matrix, tmp_path, text, encoding):
    (tmp_path / "a.log").write_text(text, encoding=encoding)

    (row,) = json.loads(matrix("import-logs", "a.log", "--format", "json").stdout)
    assert row["rate"] > 0


# --- both -------------------------------------------------------------------------------------------------------------


def test_the_commands_of_runs_read_imported_logs(log, matrix, tmp_path):
    for run, millis in (("before", 20), ("after", 30)):
        files = [log(f"{run}{number}.csv", warp_csv(*gets(200, millis=millis))) for number in range(3)]
        seen = matrix("import-logs", *files, "--as", run, "--storage", "s3", "--instance-type", "m6i.large")
        assert seen.exit_code == 0, seen.stderr

    (pair,) = json.loads(matrix("compare", "before", "after", "--json").stdout)["compared"]
    assert pair["base"]["n"] == pair["run"]["n"] == 3
    assert pair["ratio"] == pytest.approx(2 / 3, rel=1e-3)
    assert matrix("report", "before", "--output", "page.html").exit_code == 0
    page = (tmp_path / "page.html").read_text()
    assert "elsewhere, by warp" in page
    assert "of fio" not in page
    assert "files of warp" in matrix("results", "before").output
    (track,) = json.loads(matrix("history", "s3", "--json").stdout)
    assert {each["run"] for each in track["measured"]} == {"before", "after"}


FIO_JOB = {
    "jobname": "j", "groupid": 0, "error": 0, "job options": {"rw": "randrw", "bs": "4k"}, "job_runtime": 10_000,
    **{
        way: {"iops": rate / 4096, "bw_bytes": rate, "runtime": 10_000} for way, rate in (("read", 7e7), ("write", 3e7))
    },
}  # fmt: skip
FIO = json.dumps({"fio version": "fio-3.33", "timestamp_ms": 1_800_000_010_000, "jobs": [FIO_JOB]})
# m6i.large, its address and root volume (eu-central-1, the price book), and 100 GiB of gp3.
HOUR = 0.096 + 0.005 + 20 * 0.08 / 730
GP3_HOUR = HOUR + 100 * 0.08 / 730


@pytest.mark.parametrize(
    ("command", "text", "storage", "moved", "usd_per_tb"),
    [
        ("import-fio", FIO, "gp3", {"read": 7e8, "write": 3e8}, GP3_HOUR * 10 / 3600 / 1e-3),
        ("import-fio", FIO, "efs", {"read": 7e8, "write": 3e8},
         HOUR * 10 / 3600 / 1e-3 + (0.7 * 0.03 + 0.3 * 0.06) * 1e12 / GIB),
        ("import-logs", elbencho_phase(bytes_=10**9, iops=100), "gp3", {"write": 1e9}, GP3_HOUR * 10 / 3600 / 1e-3),
        ("import-logs", elbencho_phase("READ", bytes_=10**9, iops=100), "gp3", {"read": 1e9},
         GP3_HOUR * 10 / 3600 / 1e-3),
        ("import-logs", warp_csv(*gets(100)), "gp3", {"read": 100 * 2**20}, None),
    ],
)  # fmt: skip
def test_each_byte_of_an_import_is_counted_once_and_in_its_direction(
    log, matrix, command, text, storage, moved, usd_per_tb
):
    asked = {"gp3": '{"type": "ebs", "volumeType": "gp3", "sizeGiB": 100}', "efs": "efs"}[storage]
    matrix(command, log("f.json", text), "--as", "old", "--storage", asked, "--instance-type", "m6i.large")

    (result,) = kept_results("old").values()
    (rates,) = (point["fleet"][0] for point in result["points"])
    counted = {name: rates[name] * rates["span_s"] for name in rates if name.endswith("bytes_per_s")}
    assert counted == {f"{way}_bytes_per_s": pytest.approx(amount) for way, amount in moved.items()}
    if usd_per_tb:
        row = json.loads(matrix("results", "old", "--format", "jsonl").stdout.splitlines()[0])
        assert (row["usd_per"], row["usd"]) == ("TB moved", pytest.approx(usd_per_tb, rel=1e-3))


WARP = warp_json({"GET": {"b2Xk": (warp_client(), [warp_segment(900)])}})
BROKEN = {
    "empty.json": ("", "it is empty"),
    "hosts.txt": ("127.0.0.1 localhost\n", "holds no JSON of elbencho or warp"),
    "fio.json": ('{"fio version": "fio-3.33", "jobs": []}', "is a file of fio: matrix import-fio"),
    "other.json": ('{"jobs": []}', "holds no JSON of elbencho or warp"),
    "cut.json": (elbencho_phase(iops=1)[:300], "is not JSON"),
    "nothing.json": (elbencho_phase("SYNC"), "no phase of elbencho that did anything"),
    "early.json": (elbencho_phase(iops=1).replace('"config"', '"other"'), "3.0-37 or later"),
    "cut.csv": (elbencho_csv({"operation": "WRITE"})[:-5], "ends within a line"),
    "head.csv": ("ISO date,label\n", "lacks the columns"),
    "short.csv": (elbencho_csv({}) + "2026-06-21T10:00:00.000+0000,,file\n", "3 columns at line 3"),
    "minus.json": (elbencho_phase(iops=-5), "cannot be"),
    "warp.json.zst": ("\x28\xb5\x2f\xfd", "zstd -d warp.json.zst"),
    "cut-warp.json": (WARP[:500], "is not JSON"),
    "interim.json": (WARP.replace('"final": true', '"final": false'), "not final"),
    "later.json": (WARP.replace('"v": 2', '"v": 3'), "data of version 3"),
    "analysis.json": ('\n{"operations": [], "type": "single", "mixed": false}', "names no clients"),
    "cut-warp.csv": (warp_csv(*gets(3))[:-60], "is broken at line"),
    "failed.csv": (warp_csv(("GET", "b2Xk", 0, 0.0, 5, 1, "no")), "no request that went well"),
    "minus.csv": (warp_csv(("GET", "b2Xk", 0, 0.0, -5, 1, "")), "below 0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_is_named_with_its_reason_and_nothing_is_kept(log, matrix, workdir, tmp_path, name):
    text, why = BROKEN[name]
    (tmp_path / name).write_bytes(text.encode("latin-1" if name.endswith(".zst") else "utf-8"))
    good = log("good.json", elbencho_phase(iops=1000, bytes_=GIB))

    shown = matrix("import-logs", good, name, "--format", "csv")
    refused = matrix("import-logs", name, "--as", "old")

    assert (shown.exit_code, refused.exit_code) == (2, 2)
    assert "good.json,elbencho,WRITE" in shown.stdout
    for seen in (shown, refused):
        assert name in seen.stderr
        assert why in " ".join(seen.stderr.split())
    assert not (workdir / "runs/old").exists()


def test_files_of_two_tools_are_not_one_import(log, matrix):
    files = [log("r.json", elbencho_phase(iops=1000, bytes_=GIB)), log("w.csv", warp_csv(*gets(200)))]

    seen = matrix("import-logs", *files, "--as", "old")

    assert seen.exit_code == 2
    assert "files of elbencho and warp" in " ".join(seen.stderr.split())


def test_no_name_of_a_log_writes_an_escape_sequence_or_a_formula(log, matrix):
    file = log("r.json", elbencho_phase("=1+1\x1b[2J", iops=1000, bytes_=GIB).replace("\x1b", "\\u001b"))

    for format_ in ("table", "csv", "json"):
        seen = matrix("import-logs", file, "--format", format_)
        assert "\x1b" not in seen.output
        assert ",=1+1" not in seen.output
