"""Files that fio wrote on this machine, kept as a run and read by the commands that read runs."""

import json
import shutil
import socket
import subprocess
import time

import pytest
from support.cli_documents import kept_results, kept_summary

from cli.messages.errors import ExitCode

GP3 = '{"type": "ebs", "volumeType": "gp3", "sizeGiB": 100}'
EFS = '{"type": "efs"}'

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")


def fio(tmp_path, name, *words, form="json+", rw="randrw", jobs=2):
    """Let fio read and write for a second; return the path of its JSON."""
    written, files = tmp_path / f"{name}.json", tmp_path / "files"
    files.mkdir(exist_ok=True)
    shared = ["--ioengine=psync", "--bs=4k", "--size=4m", "--time_based", "--runtime=1", f"--numjobs={jobs}"]
    command = ["fio", f"--output-format={form}", f"--output={written}", "--name=mine", f"--directory={files}"]
    subprocess.run([*command, *shared, f"--rw={rw}", *words], check=True, capture_output=True)
    return written


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for_listener(address):
    for _ in range(200):
        with socket.socket() as caller:
            if caller.connect_ex(address) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens at {address}")


def jobs_in(path):
    return json.loads(path.read_text())["jobs"]


def test_files_of_one_job_are_the_repetitions_of_one_point(matrix, tmp_path):
    files = [fio(tmp_path, f"r{i}") for i in range(3)]

    seen = matrix("import", *map(str, files), "--as", "old", "--storage", GP3, "--instance-type", "m6i.large")

    assert seen.exit_code == 0, seen.stderr
    (result,) = kept_results("old").values()
    (point,) = result["points"]
    # All I/O of a direction over its longest runtime, by what fio counted itself.
    for place, file in enumerate(files):
        for way in ("read", "write"):
            sides = [job[way] for job in jobs_in(file)]
            expected = sum(side["total_ios"] for side in sides) / max(side["runtime"] for side in sides) * 1000
            assert point["samples"]["metrics"][f"{way}_iops"][place] == pytest.approx(expected, rel=1e-3)
    assert (point["metrics"]["iops"]["n"], point["metrics"]["iops"]["expected_n"]) == (3, 3)
    assert result["storage"]["iops"] == 3000
    assert result["fleet"] == {"instanceType": "m6i.large", "count": 1}


def test_percentiles_of_several_jobs_are_those_of_their_merged_bins(matrix, tmp_path):
    file = fio(tmp_path, "bins")

    matrix("import", str(file), "--as", "old")

    (result,) = kept_results("old").values()
    point = result["points"][0]
    counts = {}
    for job in jobs_in(file):
        for value, count in job["read"]["clat_ns"]["bins"].items():
            counts[int(value)] = counts.get(int(value), 0) + count
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= 0.99 * sum(counts.values()):
            break
    assert point["metrics"]["read_completion_lat_p99_us"]["p50"] == value / 1000
    assert point["latency"]["read_completion_lat"]["operations"] == sum(counts.values())
    assert "read_lat_p99_us" not in point["metrics"]  # it kept no latency of whole operations


def test_plain_json_of_several_jobs_has_no_percentiles_and_says_why(matrix, tmp_path):
    apart = fio(tmp_path, "apart", form="json")
    grouped = fio(tmp_path, "grouped", "--group_reporting", form="json")

    matrix("import", str(apart), "--as", "apart")
    matrix("import", str(grouped), "--as", "grouped")

    (unmerged,), (printed,) = (kept_results(run).values() for run in ("apart", "grouped"))
    assert not [name for name in unmerged["points"][0]["metrics"] if "_lat_" in name]
    assert "cannot be merged" in json.dumps(unmerged["warnings"])
    (job,) = jobs_in(grouped)
    wanted = job["read"]["clat_ns"]["percentile"]["99.000000"] / 1000
    assert printed["points"][0]["metrics"]["read_completion_lat_p99_us"]["p50"] == wanted
    assert not printed["points"][0]["latency"]


def test_hosts_of_client_output_are_the_instances_of_a_fleet(matrix, tmp_path):
    # fio tells its servers by address and port, and its output has one host name for each address.
    addresses = [("127.0.0.1", free_port()), ("127.0.0.2", free_port())]
    servers = [subprocess.Popen(["fio", f"--server={host},{port}"]) for host, port in addresses]
    (tmp_path / "files").mkdir()
    job = tmp_path / "job.fio"
    job.write_text(f"[w]\ndirectory={tmp_path}/files\nsize=4m\nrw=randwrite\nbs=4k\ntime_based\nruntime=1\n")
    output = tmp_path / "clients.json"
    clients = [word for host, port in addresses for word in (f"--client={host},{port}", str(job))]
    try:
        for address in addresses:
            wait_for_listener(address)
        written = ["fio", "--output-format=json+", f"--output={output}", *clients]
        subprocess.run(written, capture_output=True, check=True)
    finally:
        for server in servers:
            server.terminate()
            server.wait()

    seen = matrix("import", str(output), "--as", "fleet", "--storage", EFS)

    assert seen.exit_code == 0, seen.stderr
    (result,) = kept_results("fleet").values()
    assert result["fleet"]["count"] == 2
    assert sorted(result["points"][0]["samples"]["instance"]) == ["127.0.0.1", "127.0.0.2"]
    assert len(result["points"][0]["fleet"]) == 1


def test_what_fio_does_not_tell_is_said_to_be_unknown(matrix, tmp_path):
    matrix("import", str(fio(tmp_path, "a")), "--as", "old")

    summary = kept_summary("old")
    assert summary["environment"] == "imported"
    assert summary["cells"][0]["storage"] == {"type": "unknown storage"}
    assert summary["decision"]["is_recommendation"] is False
    # It was not run here.
    assert matrix("results", "latest").exit_code == ExitCode.BAD_INPUT
    assert matrix("watch", "old").exit_code == ExitCode.FAILED
    said = matrix("results", "old", "--all").output
    assert "unknown: storage, instance type" in said
    assert "No storage is recommended" in said


def test_one_record_of_several_sections_has_no_parameters_and_is_not_a_repetition(matrix, tmp_path):
    """fio writes the name of the first section and the options of the last, whatever the others had."""
    words = ("--name=other", "--numjobs=2", "--directory=" + str(tmp_path / "files"), "--ioengine=psync", "--bs=4k",
             "--size=4m", "--time_based", "--runtime=1", "--rw=randread", "--group_reporting")  # fmt: skip
    files = [fio(tmp_path, f"r{i}", "--group_reporting", *words, rw="randread", jobs=1) for i in range(2)]

    rows = json.loads(matrix("import", *map(str, files), "--format", "json").stdout)
    matrix("import", *map(str, files), "--as", "apart")
    matrix("import", *map(str, files), "--as", "told", "--files-are", "repetitions")

    assert [(row["jobs"], row["iodepth"], row["block_kib"]) for row in rows] == [(None, None, 4)] * 2
    (apart,), (told,) = (kept_results(run).values() for run in ("apart", "told"))
    assert [point["params"] for point in apart["points"]] == [{"job": "mine", "file": str(file)} for file in files]
    assert [point["metrics"]["iops"]["n"] for point in told["points"]] == [2]


def test_reads_and_writes_that_fio_added_up_have_a_rate_and_no_direction(matrix, tmp_path):
    file = fio(tmp_path, "mixed", "--unified_rw_reporting=1", "--group_reporting")

    seen = matrix("import", str(file), "--as", "mixed", "--storage", EFS, "--instance-type", "m6i.large")

    assert seen.exit_code == 0, seen.stderr
    (point,) = next(iter(kept_results("mixed").values()))["points"]
    (job,) = jobs_in(file)
    assert point["metrics"]["iops"]["p50"] == pytest.approx(job["mixed"]["iops"], rel=1e-3)
    # A machine that is fast enough for 10,000 requests has a P99.99, too.
    assert {name for name in point["metrics"] if "_lat_" in name} - {"mixed_completion_lat_p9999_us"} == {
        f"mixed_completion_lat_{level}_us" for level in ("p50", "p90", "p99", "p999", "max")
    }
    # Which bytes were read, and cost less than written ones, is not known.
    assert not [name for name in point["fleet"][0] if "bytes" in name]


def test_files_of_the_same_time_are_hosts(matrix, tmp_path):
    first = fio(tmp_path, "first")
    document = json.loads(first.read_text())
    document["timestamp_ms"] += 50
    (tmp_path / "second.json").write_text(json.dumps(document))

    for run, words in (("seen", ()), ("told", ("--files-are", "repetitions"))):
        matrix("import", str(first), "second.json", "--as", run, *words)

    (seen,), (told,) = (kept_results(run).values() for run in ("seen", "told"))
    assert (seen["fleet"]["count"], told["fleet"]["count"]) == (2, 1)
    assert "they count as hosts, not as repetitions" in json.dumps(seen["warnings"])


def test_a_second_storage_is_a_second_cell_of_the_same_run_and_again_replaces_it(matrix, tmp_path):
    first, second, again = (fio(tmp_path, name) for name in "abc")
    for file, storage in ((first, GP3), (second, EFS), (again, EFS)):
        assert matrix("import", str(file), "--as", "both", "--storage", storage).exit_code == 0

    summary = kept_summary("both")
    assert [cell["storage"]["type"] for cell in summary["cells"]] == ["ebs", "efs"]
    assert kept_results("both").keys() == {cell["id"] for cell in summary["cells"]}
    [question] = summary["decision"]["questions"]
    assert len(question["candidates"]) == 2
    assert summary["source"] == f"{first}; {second}; {again}"


def test_nothing_is_kept_where_a_file_is_none_of_fios_or_its_job_failed(matrix, workdir, tmp_path):
    good = fio(tmp_path, "good")
    (tmp_path / "bad.txt").write_text("hello")
    failed = json.loads(good.read_text())
    failed["jobs"][0]["error"] = 28
    (tmp_path / "failed.json").write_text(json.dumps(failed))

    for bad, why in (("bad.txt", "bad.txt holds no JSON of fio: it begins with 'hello'"),
                     ("failed.json", "ended with error 28"), ("gone", "gone")):  # fmt: skip
        seen = matrix("import", str(good), bad, "--as", "old")
        assert seen.exit_code == 2
        assert why in seen.stderr
    assert not (workdir / "runs/old").exists()


def test_a_storage_of_aws_is_checked_and_any_other_is_called_by_its_words(matrix, workdir, tmp_path):
    file = str(fio(tmp_path, "a"))

    refused = matrix("import", file, "--as", "old", "--storage", '{"type": "ebs", "volumeType": "gp9"}')
    assert refused.exit_code == 2
    assert "--storage.volumeType" in refused.stderr
    assert not (workdir / "runs/old").exists()

    matrix("import", file, "--as", "old", "--storage", "NVMe of the old server")
    assert "NVMe of the old server" in matrix("results", "old").output


def test_a_measured_run_is_never_overwritten_by_imported_files(keep_run, matrix, tmp_path):
    keep_run("mine")
    before = kept_summary("mine")

    seen = matrix("import", str(fio(tmp_path, "a")), "--as", "mine")

    assert seen.exit_code == 2
    assert kept_summary("mine") == before


@pytest.mark.parametrize("name", ["../up", "..", "a/b", ""])
def test_a_name_with_path_tricks_names_no_run(matrix, tmp_path, name):
    (tmp_path / "a.json").write_text("{}")

    assert matrix("import", "a.json", "--as", name).exit_code == 2


def test_cells_of_other_options_are_told_apart_by_them_however_they_came(matrix, tmp_path):
    cached, direct = fio(tmp_path, "cached", rw="randread"), fio(tmp_path, "direct", "--direct=1", rw="randread")

    matrix("import", str(cached), "--as", "old", "--storage", "efs")
    matrix("import", str(direct), "--as", "old", "--storage", GP3)

    labels = [point["label"] for cell in kept_summary("old")["cells"] for point in cell["points"]]
    assert len(set(labels)) == 2
    assert [("direct" in label) for label in labels] == [False, True]
