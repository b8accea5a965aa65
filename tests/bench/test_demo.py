"""What `python -m bench.demo` works out of a kept run."""

import json

from bench import demo


def kept(folder, cell, row, samples):
    """Write a cell of a kept run: its row, and the samples of each of its instances."""
    values = {"SK": f"CELL#{cell}", "cell": cell, **row}
    with (folder / "rows.jsonl").open("a") as rows:
        rows.write(json.dumps({name: {"S": str(value)} for name, value in values.items()}) + "\n")
    for number, taken in enumerate(samples):
        instance = folder / "cells" / cell / "instances" / f"role:i-{number}"
        instance.mkdir(parents=True)
        (instance / "samples.json").write_text(json.dumps({"samples": taken}))


def sample(step, scheduled_at, started_at, ended_at):
    """One sample of an instance."""
    return {"step": step, "scheduled_at": scheduled_at, "started_at": started_at, "ended_at": ended_at}


def test_figures_are_those_of_the_whole_command_and_of_what_is_around_the_steps(tmp_path):
    quick = [sample(0, 102.0, 102.1, 103.0), sample(1, 104.0, 104.0, 106.0)]
    slow = [sample(0, 102.0, 102.0, 103.5), sample(1, 104.0, 104.0, 105.0)]
    kept(tmp_path, "fleet", {"started_at": 100.0, "state": "launching"}, [])
    kept(tmp_path, "fleet", {"started_at": 100.0, "finished_at": 107.0}, [quick, slow])
    kept(tmp_path, "alone", {"started_at": 90.0, "finished_at": 99.0}, [[sample(0, None, 91.0, 97.0)]])
    launched = {"SK": {"S": "RESOURCE#ec2#i-0"}, "kind": {"S": "instance"}, "created_at": {"N": "88.0"}}
    with (tmp_path / "rows.jsonl").open("a") as rows:
        rows.write(json.dumps(launched) + "\n")

    # Steps last from the common start, else the instance's own, to the end of the last instance: 1.5 + 2 and 6 s.
    assert [figure for _, figure in demo.figures(tmp_path, began=85.0, ended=109.5)] == [
        "3.0 s", "6.0 s", "3.5 s", "3.0 s", "0.50 s", "59%"
    ]  # fmt: skip
