"""Emulated runs at the command line: refused where storages are real, marked where shown, never mixed with others."""

import pytest

TOUCH = {"type": "touch", "files": 64}


def test_an_emulated_matrix_is_refused_before_anything_is_started(matrix, scenario):
    seen = matrix("run", scenario(emulate=True, workload=[TOUCH]), "--yes")

    assert seen.exit_code == 2
    assert "on AWS storages are measured, this matrix wants them emulated" in " ".join(seen.output.split())
    assert "leave out emulate" in " ".join(seen.output.split())


@pytest.mark.parametrize("names", [("played", "measured"), ("measured", "played")])
def test_an_emulated_run_is_not_compared_with_a_measured_one(matrix, keep_run, names):
    keep_run("played", environment="emulated")
    keep_run("measured")

    seen = matrix("compare", *names)

    assert seen.exit_code == 2
    assert "the storages of played were emulated, those of measured were not" in " ".join(seen.output.split())
