"""A matrix to begin with: whatever is chosen, `matrix plan` takes it."""

import json

import pytest

from cli.inputs import planning, starting
from cli.messages import terminal
from matrix.input import workloads
from matrix.storages.models import MODELS

MOUNTED = [kind for kind, model in MODELS.items() if not model.traits.is_only_read]


def test_nobody_is_asked_in_a_script_and_the_defaults_are_planned_and_priced(matrix, tmp_path):
    done = matrix("new")

    assert done.exit_code == 0
    assert "4 cells, about" in done.stderr
    assert done.stderr.splitlines()[-2:] == ["  matrix plan my-matrix.json", "  matrix run my-matrix.json --local"]
    assert json.loads(matrix("plan", "my-matrix.json", "--json").stdout)["name"] == "my-matrix"


def test_options_say_what_nobody_is_asked(matrix):
    done = matrix("new", "-", "--storage", "ebs, instance-store", "--workload", "dd", "--count", "2", "--name", "mine")

    written = json.loads(done.stdout)
    assert [part["type"] for part in written["storage"]] == ["ebs", "instance-store"]
    assert (written["name"], written["workload"][0]["type"]) == ("mine", "dd")
    assert written["fleet"] == [{"instanceType": "m6id.large", "count": 2}]


def test_a_fio_job_file_becomes_the_workload_as_it_is_and_what_changes_is_said(matrix, tmp_path):
    (tmp_path / "timed.fio").write_text("size=1g\nruntime=1m\n")
    (tmp_path / "mine.fio").write_text("[global]\ndirectory=/srv/dev/bench\ninclude timed.fio\n[a]\nfilename=x\n")

    done = matrix("new", "-", "--from", "mine.fio", "--storage", "ebs", "--count", "1")

    assert done.exit_code == 0, done.stderr
    [workload] = json.loads(done.stdout)["workload"]
    text = "[global]\ndirectory=/srv/dev/bench\nsize=1g\nruntime=1m\n[a]\nfilename=x\n"
    assert workload == {"type": "fio", "jobFile": text}
    assert "filename=x becomes filename=srv-dev-bench-x" in done.stderr


def test_variables_of_a_job_file_and_options_of_its_command_line_are_set(matrix, tmp_path):
    (tmp_path / "mine.fio").write_text("[a]\nrw=randread\nnumjobs=${JOBS}\n")
    made = ("new", "-", "--from", "mine.fio", "--storage", "ebs", "--count", "1")

    done = matrix(*made, "--set", "JOBS=2", "--set", "size=1g")

    assert done.exit_code == 0, done.stderr
    [workload] = json.loads(done.stdout)["workload"]
    assert workload["jobFile"] == "[global]\nsize=1g\n[a]\nrw=randread\nnumjobs=2\n"
    assert matrix(*made, "--set", "size=1g").exit_code == 2


def test_who_can_be_asked_is_told_what_there_is_and_asked(matrix, monkeypatch, tmp_path):
    monkeypatch.setattr(terminal, "can_ask", lambda: True)

    done = matrix("new", "--count", "1", input="reads\ns3,ebs\n\nm6i.xlarge\n\n")

    assert done.exit_code == 0
    assert all(kind in done.stderr for kind in [*MODELS, *workloads.MODELS])
    written = json.loads((tmp_path / "reads.json").read_text())
    assert written["workload"][0]["type"] == "read"  # of S3 nothing else can be asked
    assert written["fleet"] == [{"instanceType": "m6i.xlarge", "count": 1}]
    assert written["repetitions"] == 3


def test_an_answer_that_is_wrong_is_asked_for_again_at_once(matrix, monkeypatch, tmp_path):
    monkeypatch.setattr(terminal, "can_ask", lambda: True)
    answers = ["no/name", "mine", "nvme", "ebs,efs", "touhc", "touch", "m6i.lrge", "m6i.large", "abc", "2", "0", "3"]

    done = matrix("new", input="\n".join(answers) + "\n")

    assert done.exit_code == 0, done.stderr
    written = json.loads((tmp_path / "mine.json").read_text())
    assert [storage["type"] for storage in written["storage"]] == ["ebs", "efs"]
    assert (written["fleet"][0]["count"], written["repetitions"]) == (2, 3)
    for wrong in ("'no/name' ", "'nvme' ", "'touhc' ", "'m6i.lrge' ", "'abc' is not a number", "  0 must"):
        assert done.stderr.count(wrong) == 1, (wrong, done.stderr)
    assert "did you mean touch?" in done.stderr


def test_the_users_own_command_is_asked_for_and_planned(matrix, monkeypatch, tmp_path):
    monkeypatch.setattr(terminal, "can_ask", lambda: True)
    number = [*workloads.MODELS].index("command") + 1
    answers = ["?", "mine", "1,2", str(number), "  ", "/usr/bin/git-lfs pull --all", "git clone x .", "x", "90"]

    done = matrix("new", "--count", "1", input="\n".join([*answers, "", ""]) + "\n")

    assert done.exit_code == 0, done.stderr
    written = json.loads((tmp_path / "mine.json").read_text())
    assert written["workload"] == [{
        "type": "command", "name": "git-lfs", "command": "/usr/bin/git-lfs pull --all", "expectedSeconds": 90,
        "prepare": "git clone x .",
    }]  # fmt: skip
    assert [part["type"] for part in written["storage"]] == [*MODELS][:2]


def test_a_script_gives_its_command_or_gets_one_that_needs_no_server(matrix):
    own = json.loads(matrix("new", "-", "--command", "make -j4", "--seconds", "5", "--count", "1").stdout)
    usual = json.loads(matrix("new", "-", "--workload", "command", "--count", "1").stdout)
    both = json.loads(matrix("new", "-", "--workload", "touch", "--command", "ls", "--count", "1").stdout)

    assert [part.get("name") for part in own["workload"]] == ["make"]
    assert (own["workload"][0]["command"], own["workload"][0]["expectedSeconds"]) == ("make -j4", 5)
    assert usual["workload"][0]["command"].startswith("tar ")
    assert [part["type"] for part in both["workload"]] == ["touch", "command"]
    assert matrix("new", "-", "--command", " ").exit_code == 2


def test_a_program_is_told_what_was_written_and_what_it_costs(matrix, tmp_path):
    answer = json.loads(matrix("new", "a.json", "--storage", "ebs", "--count", "1", "--json").stdout)

    assert json.loads((tmp_path / answer["matrix"]).read_text())["storage"]
    assert (tmp_path / answer["schema"]).is_file()
    assert answer["cells"] == 1
    assert answer["cost_usd"]["expected"] > 0


def test_what_does_not_go_together_is_said_and_not_written(matrix, tmp_path):
    done = matrix("new", "--storage", "s3,lustre", "--workload", "touch")

    assert done.exit_code == 2
    assert "is not a known type" in done.stderr
    assert "use workload read" in done.stderr
    assert not (tmp_path / "my-matrix.json").exists()


def test_a_file_that_is_there_is_not_written_over(matrix, tmp_path):
    (tmp_path / "my-matrix.json").write_text("mine")

    assert matrix("new").exit_code == 2
    assert (tmp_path / "my-matrix.json").read_text() == "mine"


@pytest.mark.parametrize("work", workloads.MODELS)
def test_each_workload_has_a_beginning_that_can_be_planned_on_every_storage(work):
    # Of a server that exists nobody would remove the cache of a build. What a mounted bucket cannot do is refused with
    # what to write instead (tests/matrix/check/test_mountpoint.py).
    lacking = {"nfs": {"yocto"}, "mountpoint": set(workloads.MODELS) - {"touch", "dd", "read", "command", "delete"}}
    kinds = [kind for kind in MOUNTED if work not in lacking.get(kind, set())]
    kinds = {"read": list(MODELS), "objects": ["s3", "s3-express"], "export": ["s3-files"]}.get(work, kinds)
    document = starting.Draft("x", kinds, [work]).document()

    assert len(planning.plan_text(starting.text(document).encode(), None).plan["cells"]) == 2 * len(kinds)
