"""Comparing runs, and bringing in figures from elsewhere."""

import csv
import io
import json

import pytest
from support.cli_documents import CELLS, summary_document

from matrix.answer.rows import Origin, rows_of
from matrix.published.figures import sources


def values(center, count=12):
    """Columns of three samples for each of twelve instances: 1 % apart, and repetitions 0.1 %."""
    places = [(instance, repetition) for instance in range(count) for repetition in (1, 2, 3)]
    return {
        "instance": [f"i-{instance}" for instance, _ in places],
        "repetition": [repetition for _, repetition in places],
        "started_at": [1000.0] * len(places),
        "ended_at": [1001.0] * len(places),
        "start_skew_s": [None] * len(places),
        "metrics": {"files_per_s": [center * (1 + 0.01 * i) * (1 + 0.001 * r) for i, r in places]},
    }


# Of a cell that lost instances: what the others had measured so far is kept.
FAILED = {"state": "failed", "error": {"name": "InstancesLost", "message": "8 of 20 silent"}}


@pytest.fixture
def keep_measured(keep_run):
    """Keep a run whose cells have single values around `center`."""

    def keep(run, center, failed=()):
        cells = [{**cell, **(FAILED if cell["id"] in failed else {})} for cell in summary_document(run)["cells"]]
        folder = keep_run(run, cells=cells)
        for cell in cells:
            path = folder / "cells" / cell["id"] / "result.json"
            path.parent.mkdir(parents=True)
            points = [{**point, "samples": values(center)} for point in cell["points"]]
            path.write_text(json.dumps({**cell, "points": points}))

    return keep


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("base", "new"), 1),
        (("new", "base"), 0),
        (("base", "new", "--threshold", "60%"), 0),
        (("base", "base", "--require-verdict"), 0),
        (("base", "base", "--threshold", "much"), 2),
        (("base", "new", "--threshold", "files_per_s=60%"), 0),
        (("base", "new", "--threshold", "60%", "--threshold", "files_per_s=1%"), 1),
        (("base", "base", "--threshold", "nothing=1%"), 2),
    ],
)
def test_a_comparison_ends_with_1_only_if_a_run_is_slower_by_more_than_the_threshold(
    keep_measured, matrix, arguments, code
):
    keep_measured("base", 1000)
    keep_measured("new", 500)

    assert matrix("compare", *arguments).exit_code == code


@pytest.fixture
def three_runs(keep_measured, workdir):
    """Runs of three days, of which the third is half as fast."""
    for day, (run, center) in enumerate([("first", 1000), ("second", 1000), ("third", 500)]):
        keep_measured(run, center)
        summary = workdir / "runs" / run / "summary.json"
        summary.write_text(json.dumps(json.loads(summary.read_text()) | {"started_at": 1000.0 + 86_400 * day}))


def test_the_history_of_a_cell_is_a_document_for_programs(three_runs, matrix):
    [first, _] = json.loads(matrix("history", CELLS[1], "--json").stdout)

    assert [each["run"] for each in first["measured"]] == ["first", "second", "third"]
    assert [(change["before"], change["run"], change["verdict"]) for change in first["changes"]] == [
        ("second", "third", "slower")
    ]


def test_a_history_of_too_few_values_does_not_look_unchanged(keep_run, matrix):
    keep_run("first")
    keep_run("second")

    assert "1 run: too little was measured" in matrix("history", CELLS[1]).stdout


def test_a_cell_that_nobody_measured_is_answered_with_those_that_were(three_runs, matrix):
    seen = matrix("history", "ebs-gp2")

    assert seen.exit_code == 2
    assert all(cell in seen.stderr for cell in CELLS)


def test_a_check_that_compares_nothing_does_not_pass(keep_measured, keep_run, matrix):
    keep_measured("base", 1000)
    keep_run("empty", cells=[])

    seen = matrix("compare", "base", "empty")

    assert seen.exit_code == 1
    assert "nothing was compared" in seen.stderr
    assert f"Not measured: {CELLS[0]} (2 points): the run has no such cell" in seen.stdout


@pytest.mark.parametrize("center", [1000, 1500])
def test_a_cell_that_failed_fails_the_check_and_is_named_first(keep_measured, matrix, center):
    keep_measured("base", 1000)
    keep_measured("new", center, failed=CELLS[:1])

    seen = matrix("compare", "base", "new")

    assert seen.exit_code == 1
    words = " ".join(seen.stdout.split())
    assert words.startswith(f"Base base Run new Not measured: {CELLS[0]} (2 points): failed: InstancesLost: 8 of 20")
    assert "1 cell not measured of base. Nothing is shown" in words
    assert matrix("compare", "new", "base").exit_code == (0 if center == 1000 else 1)


def test_values_are_read_from_the_bucket_where_nothing_is_mirrored(cloud, matrix):
    for run, center in (("base", 1000), ("new", 500)):
        cloud.start(run)
        cloud.write_document(run, "summary.json", summary_document(run))
        for cell in summary_document(run)["cells"]:
            points = [{**point, "samples": values(center)} for point in cell["points"]]
            cloud.write_document(run, f"cells/{cell['id']}/result.json", {**cell, "points": points})

    assert matrix("compare", "base", "new", "--local").exit_code == 1


def five_nights(keep):
    """Five nights that differ by 3 %, and a run that is 14 % slower than the first: rates of files."""
    for night, center in enumerate([1080, 960, 940, 980, 930, 925]):
        keep(f"night{night}", center, 1000.0 + 86_400 * night)


def test_from_five_nights_on_a_run_fails_only_beyond_their_scatter(keep_measured, workdir, matrix):
    def keep(run, center, started_at):
        keep_measured(run, center)
        summary = workdir / "runs" / run / "summary.json"
        summary.write_text(json.dumps(json.loads(summary.read_text()) | {"started_at": started_at}))

    five_nights(keep)

    seen = matrix("compare", "night0", "night5", "--json")
    assert seen.exit_code == 0
    assert {pair["runs"] for pair in json.loads(seen.stdout)["compared"]} == {5}
    # With four earlier nights nobody knows.
    assert matrix("compare", "night0", "night4").exit_code == 1


def test_the_nights_of_a_stack_are_found_by_the_tables_index(stack, matrix):
    def keep(run, center, started_at):
        summary = summary_document(run, environment="aws") | {"started_at": started_at}
        origin = Origin(run, "small", "aws", "eu-central-1", started_at)
        for cell in summary["cells"]:
            points = [{**point, "samples": values(center)} for point in cell["points"]]
            stack.write_document(run, f"cells/{cell['id']}/result.json", {**cell, "points": points})
            rows = rows_of(origin, cell, None)
            keys = ("run", "cell", "cell_key", "measured_at")
            stack.write_rows(
                run,
                ({name: row[name] for name in keys} | {"SK": f"RESULT#{cell['id']}#{row['point']}"} for row in rows),
            )
        stack.write_document(run, "summary.json", summary)
        if run in ("night0", "night5"):  # Step Functions has forgotten the others
            stack.start(run)

    five_nights(keep)

    seen = matrix("compare", "night0", "night5", "--json", "--stack", "mine")

    assert seen.exit_code == 0, seen.output
    assert {pair["runs"] for pair in json.loads(seen.stdout)["compared"]} == {5}


# --- files of fio -----------------------------------------------------------------------------------------------------

FIO = {
    "global options": {"bs": "4k"},
    "jobs": [
        {
            "jobname": "log", "job options": {"rw": "randwrite", "numjobs": "16", "iodepth": "16"},
            "write": {"total_ios": 9, "iops": 4395.0, "bw_bytes": 18001920,
                      "clat_ns": {"percentile": {"50.000000": 3000000, "99.000000": 9000000}}},
        }
    ],
}  # fmt: skip


def test_fio_logs_become_rows_in_three_forms(matrix, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(FIO))

    table = matrix("import", "a.json").output
    (from_csv,) = csv.DictReader(io.StringIO(matrix("import", "a.json", "--format", "csv").stdout))
    (from_json,) = json.loads(matrix("import", "a.json", "--format", "json").stdout)

    assert all(word in table for word in ("a.json", "log", "randwrite", "4,395", "17.2", "3,000", "9,000"))
    assert (from_csv["block_kib"], from_csv["lat_p99_us"]) == ("4.0", "9000.0")
    assert from_json["mib_per_s"] == pytest.approx(18001920 / 2**20)


def test_a_file_that_is_none_of_fios_is_named_and_the_others_are_shown(matrix, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(FIO))
    (tmp_path / "b.txt").write_text("hello")

    seen = matrix("import", "b.txt", "a.json", "gone.json", "--format", "csv")

    assert seen.exit_code == 2
    assert "a.json,log" in seen.stdout
    assert "b.txt holds no JSON of fio" in seen.stderr
    assert "gone.json cannot be read" in seen.stderr


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_that_windows_wrote_is_read(matrix, tmp_path, encoding):
    (tmp_path / "a.json").write_text(json.dumps(FIO), encoding=encoding)

    (row,) = json.loads(matrix("import", "a.json", "--format", "json").stdout)
    assert row["iops"] == 4395


def test_a_job_with_an_error_is_marked_in_every_form_and_its_file_named(matrix, tmp_path):
    failed = {**FIO, "jobs": [{**FIO["jobs"][0], "error": 5}]}
    (tmp_path / "a.json").write_text(json.dumps(failed))

    for words, mark in ((("--format", "csv"), ',5,"error 5; '), (("--json",), '"error": 5'), ((), "error 5")):
        seen = matrix("import", "a.json", *words)
        assert mark in seen.stdout
        assert seen.exit_code == 2
        assert "a.json has a job 'log' that ended with error 5" in seen.stderr


def test_a_trim_that_the_disk_refused_is_named_by_its_error(matrix, tmp_path):
    # fio 3.33 on a file: one trim was issued, error 25, and no rate.
    side = {**FIO["jobs"][0]["write"], "iops": 0.0, "total_ios": 0, "io_bytes": 0}
    failed = {**FIO["jobs"][0], "error": 25, "write": side, "trim": {**side, "total_ios": 1}}
    (tmp_path / "a.json").write_text(json.dumps({**FIO, "jobs": [failed]}))

    seen = matrix("import", "a.json")

    assert (seen.exit_code, "ended with error 25" in seen.stderr) == (2, True)


# --- published --------------------------------------------------------------------------------------------------------


RUNS = [run for about in sources().values() for run in about["runs"]]


def test_the_published_benchmarks_can_be_looked_at_like_any_run(matrix, workdir):
    assert matrix("import", "--published").exit_code == 0
    assert matrix("import", "--published").exit_code == 0

    for name in RUNS:
        summary = json.loads((workdir / f"runs/published-{name}/summary.json").read_text())
        assert (summary["run"], summary["environment"]) == (f"published-{name}", "published")
    assert "97m 42s" in matrix("results", "published-yocto", "--all").output
    assert "271 MB/s" in matrix("results", "published-efs-tutorial", "--format", "markdown").output
    assert "published-read-throughput" in matrix("runs").output
    beside_itself = matrix("results", "published-yocto", "--published")
    assert (beside_itself.exit_code, "for a run of yours" in beside_itself.stderr) == (2, True)
    compared = matrix("compare", "published-yocto", "published-yocto-2023-08")
    assert (compared.exit_code, "Not measured: " in compared.stdout) == (1, True)


def test_a_measured_run_is_never_overwritten_by_published_figures(keep_run, matrix, workdir):
    keep_run("mine-ebs-fio")

    seen = matrix("import", "--published", "--as", "mine")

    assert seen.exit_code == 2
    assert "measured here" in seen.stderr
    assert not (workdir / "runs/mine-yocto").exists()


@pytest.mark.parametrize("prefix", ["../up", "..", "a/b", ""])
def test_a_beginning_with_path_tricks_names_no_run(matrix, prefix):
    assert matrix("import", "--published", "--as", prefix).exit_code == 2


def test_ours_stand_beside_the_published_figures_with_what_speaks_against_it(keep_run, matrix):
    document = summary_document("r")
    cell = document["cells"][0]
    cell |= {
        "storage": {"type": "efs", "throughputMode": "bursting"},
        "fleet": {"instanceType": "t3.medium", "count": 1},
    }
    cell["points"] = [
        {**cell["points"][0], "params": {"files": 1024, "threads": 4, "directories": "own", "tool": "engine"}}
    ]
    keep_run("r", cells=[cell])

    (row,) = json.loads(matrix("results", "r", "--published", "--format", "json").stdout)
    assert (row["ours"], row["published"], row["comparable"]) == (305.0, 367.7, False)
    assert row["ratio"] == pytest.approx(305 / 367.7)
    assert {"measured on this machine's disk, not on AWS", "tool engine, published with parallel"} <= set(
        row["why_not"]
    )
    for form, ratio in (("markdown", "| 0.83 |"), ("csv", "0.829")):
        assert ratio in matrix("results", "r", "--published", "--format", form).output


def test_runs_of_which_nothing_can_be_judged_say_so_in_one_line_and_pass_only_where_that_is_allowed(keep_run, matrix):
    for run in ("base", "new"):
        keep_run(run)

    seen, strict = matrix("compare", "base", "new"), matrix("compare", "base", "new", "--require-verdict")
    listed = matrix("compare", "base", "new", "--all")

    assert (seen.exit_code, strict.exit_code) == (0, 1)
    assert "4 of 4 cannot be judged" in seen.stdout
    assert len(seen.stdout.splitlines()) < 10
    assert "Change" not in seen.stdout
    assert listed.stdout.count("+0.0 %") == 4
