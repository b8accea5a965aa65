"""Files that are not a matrix, or one that would burst a machine, given to the real command: one answer, and soon."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from support.hostile import made
from support.tiers import first_is_quick

MATRIX = Path(sys.executable).with_name("matrix")
MAX_BYTES, MAX_S = 2 << 30, 120
GOOD = {
    "name": "small", "storage": [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 200}],
    "workload": [{"type": "touch", "files": 64}], "fleet": [{"instanceType": "m6i.large", "count": 1}],
}  # fmt: skip
FIO = {"type": "fio", "rw": "randwrite", "size": "1G", "time_based": 1, "runtime": 10}
SWEEP = list(range(1, 101))


def text(**changes: object) -> bytes:
    """A matrix with changes, as a file holds it."""
    return json.dumps(GOOD | changes).encode()


@pytest.mark.parametrize(
    "content",
    first_is_quick(
        [
            b"",
            lambda: b"\x00" * 10_000_000,
            lambda: b"[" * 10_000_000,
            lambda: text(name="x" * 10_000_000),
            b'{"a":' * 100_000,
            b"\xff\xfe{}",
            text().replace(b"64", b"NaN"),
            text().replace(b"64", b"1e999"),
            text().replace(b"64", b"9" * 100_000),
            text(name="\ud800\u202e\x1b[2J"),
            text(name="../../$(reboot)"),
            text(storage=[]),
            text(workload=[GOOD["workload"][0]] * 2),
            text(workload=[FIO | {"bs": {"type": ["4k"]}}]),
            text(
                workload=[
                    FIO | {"bs": None, "numjobs": True, "iodepth": [[1]], "rate": "$(reboot)", "exec_prerun": "x"}
                ]
            ),
            text(workload=[FIO | dict.fromkeys(("bs", "iodepth", "numjobs", "rate", "loops"), SWEEP)]),
            text(
                storage=[GOOD["storage"][0] | {"sizeGiB": 100 + n} for n in range(1000)],
                workload=[{"type": "touch", "files": 64 + n} for n in range(1000)],
                fleet=[{"instanceType": "m6i.large", "count": SWEEP}],
            ),
        ]
    ),
    ids=lambda content: repr(made(content)[:30]),
)
def test_a_hostile_file_has_one_answer_in_words(tmp_path, content):
    file = tmp_path / "hostile.json"
    file.write_bytes(made(content))

    said = subprocess.run(
        [MATRIX, "plan", file, "--json"], capture_output=True, timeout=MAX_S, cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES)),
    )  # fmt: skip

    assert said.returncode == 2
    assert b"Traceback" not in said.stdout + said.stderr
    assert json.loads(said.stdout)["problems"]
    assert len(said.stdout) < 200_000
